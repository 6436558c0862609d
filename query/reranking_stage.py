"""The stage between fusion and diversity: reads what the reranker needs, and reorders the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from query.candidate import Candidate
from query.features import BM25, OF_TOKENS, Features, QueryTokens, collect
from query.profile import SPARSE
from query.reranking import POOL, Pool, Reranker, rerank
from query.retrieve import Plan
from search_config.client import Engine


@dataclass(frozen=True, slots=True)
class Reranked:
    """Candidates after the stage.

    Attributes:
        candidates: the pool in its new order, then the others in the old one.
        features: of the pool, in its old order; without rows where nothing was reranked.
    """

    candidates: tuple[Candidate, ...]
    features: Features = field(default_factory=lambda: _none(0))


def reranked(
    engine: Engine,
    plan: Plan,
    query: str,
    candidates: Sequence[Candidate],
    reranker: Reranker,
    tokens: QueryTokens | None,
) -> Reranked:
    """Rerank the first `POOL` candidates, asking the engine once at most.

    Where the reranker needs token codes or sparse terms and the model gives none, the order stays.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable, IndexMismatch, ModelUnavailable
    """
    best, rest = tuple(candidates[:POOL]), tuple(candidates[POOL:])
    if (tokens is None and reranker.needs & OF_TOKENS) or (plan.terms is None and SPARSE in reranker.needs):
        return Reranked((*best, *rest))
    searched = sorted(name.removeprefix(BM25) for name in reranker.needs if name.startswith(BM25))
    features = collect(engine, plan, best, searched, tokens) if reranker.needs else _none(len(best))
    return Reranked((*rerank(reranker, Pool(query, best, features)), *rest), features)


def _none(rows: int) -> Features:
    return Features((), np.zeros((rows, 0)))
