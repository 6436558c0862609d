"""What `rank` gives: the order of every stage, with what it was made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from query.candidate import Candidate
from query.evidence import Counts
from query.features import Features, QueryTokens
from query.request import Degraded, Expansion, Language, Leg
from query.retrieve import Plan, Rows


@dataclass(frozen=True, slots=True)
class StagedRanking:
    """The ordered candidates of every stage, best first.

    Attributes:
        query: as it was searched, cleaned.
        weights: as they were used: 0 for a leg that was not asked or failed.
        plan: what was sent.
        reranked: the fused order, its first candidates by the reranker; the fused order itself where none ran.
        features: of those first candidates, in their fused order; without rows where no reranker ran.
        tokens: of the query, where the model compares tokens.
        sparse: empty where that leg was not asked.
        diversified: what `search` pages through; the stage before it, where MMR is off.
        expansions: what the tenant's glossary widened the lexical leg by.
        counted: gives the counts of the query's content words under the plan's filters, where they were asked for.
        uncompared: what the legs found, where it was not compared with the registry's versions yet; None where it was.
        took_ms: `embed`, `engine`, `fuse`; `rerank` and `diversify` where they were done.
    """

    query: str
    language: Language
    weights: Mapping[Leg, float]
    plan: Plan
    lexical: tuple[Candidate, ...]
    dense: tuple[Candidate, ...]
    fused: tuple[Candidate, ...]
    reranked: tuple[Candidate, ...]
    features: Features
    tokens: QueryTokens | None
    diversified: tuple[Candidate, ...]
    degraded: tuple[Degraded, ...]
    notes: tuple[str, ...]
    took_ms: Mapping[str, float]
    expansions: tuple[Expansion, ...] = ()
    sparse: tuple[Candidate, ...] = ()
    counted: Callable[[], Counts] | None = None
    uncompared: Rows | None = None
