"""Maximal marginal relevance: a page of near-duplicates gives way to passages that say something else. Pure.

Carbonell and Goldstein: *The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries*,
SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.base import Vectors
from query.candidate import Candidate

# How many of the ranking's first passages are reordered: as many as are reranked, and more than two pages. The rest
# keeps its order behind them, so that the order does not depend on the size of the page.
POOL: Final = 50
# Relevance against novelty where diversity is asked for and no other value is given: the most common one, measured in
# docs/query.md.
DEFAULT_LAMBDA: Final = 0.7
# This one gives the ranking as it is.
OFF: Final = 1.0
# Cosines this near to 1 are of equal vectors: float32 components round at 6e-8, and a cosine sums hundreds of them.
SAME: Final = 1e-6


def mmr(scores: Sequence[float], vectors: Vectors, lam: float, size: int) -> list[int]:
    """Positions of `scores`, in the order of maximal marginal relevance.

    Each step takes the passage with the greatest `lam * relevance - (1 - lam) * similarity`, where similarity is the
    greatest one with a passage that was taken before (0 in the first step). A longer selection begins with the
    shorter one.

    Both sides are scaled to [0, 1] over all passages given, so that `lam` weighs like against like: scores from the
    lowest to the highest (1 for each where they are equal), cosines from the lowest to 1. The cosines of one model
    may all lie between .7 and 1; as they are, they would hardly count.

    Args:
        scores: of the passages in their ranking's order, best first; finite. A passage that a rule put above a better
            score counts as that score: a ranking is never contradicted by its own scores.
        vectors: `(n, dim)`, unit vectors in the same order.
        lam: 1 gives the ranking exactly, 0 looks at novelty alone (after the first passage).
        size: how many to take; more than there are takes all.

    Returns:
        `min(size, n)` different positions; equal values stand in the ranking's order.
    """
    count = len(scores)
    if count == 0:
        return []
    relevance = lam * _relevance(scores)
    similarity = _similarity(vectors)
    taken: list[int] = []
    nearest = np.zeros(count)
    for _ in range(min(size, count)):
        value = relevance - (1.0 - lam) * nearest
        value[taken] = -np.inf
        # The first of equal ones, which is the higher in the ranking.
        best = int(np.argmax(value))
        nearest = similarity[best] if not taken else np.maximum(nearest, similarity[best])
        taken.append(best)
    return taken


def pool(ranking: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The passages that are reordered: the first `POOL`, as far as their scores are of one kind."""
    reranked = bool(ranking) and ranking[0].scores.rerank is not None
    return tuple(takewhile(lambda hit: (hit.scores.rerank is not None) == reranked, ranking[:POOL]))


def diversified(ranking: Sequence[Candidate], vectors: Mapping[str, Vectors], lam: float) -> tuple[Candidate, ...]:
    """A ranking whose pool stands by maximal marginal relevance; scores stay what they were.

    Args:
        ranking: best first, all with a fused score.
        vectors: `(dim,)` of the pool's passages by chunk id, in any order. Passages without one (replaced since they
            were found) and those beyond the pool follow in their order.
        lam: as in `mmr`.
    """
    known = [candidate for candidate in pool(ranking) if candidate.chunk_id in vectors]
    if not known:
        return tuple(ranking)
    rows = np.stack([vectors[candidate.chunk_id] for candidate in known])
    first = [known[place] for place in mmr([_score(candidate) for candidate in known], rows, lam, len(known))]
    chosen = {candidate.chunk_id for candidate in first}
    return (*first, *(candidate for candidate in ranking if candidate.chunk_id not in chosen))


def _score(candidate: Candidate) -> float:
    """The score that ranked it: the reranker's, else the fused one."""
    scores = candidate.scores
    return float(scores.rerank if scores.rerank is not None else scores.fused or 0.0)


def _relevance(scores: Sequence[float]) -> NDArray[np.float64]:
    """Scores in [0, 1], never rising down the ranking."""
    values = np.asarray(scores, dtype=np.float64)
    falling = np.maximum.accumulate(values[::-1])[::-1]
    span = falling[0] - falling[-1]
    if span <= 0:
        return np.ones(len(values))
    return np.asarray((falling - falling[-1]) / span, dtype=np.float64)


def _similarity(vectors: Vectors) -> NDArray[np.float64]:
    """`(n, n)` cosines of unit vectors, the lowest at 0, a vector with itself at 1; all 1 where none differs."""
    rows = np.asarray(vectors, dtype=np.float64)
    cosines = rows @ rows.T
    lowest = float(cosines.min())
    if 1.0 - lowest <= SAME:
        return np.ones_like(cosines)
    return np.asarray((cosines - lowest) / (1.0 - lowest), dtype=np.float64)
