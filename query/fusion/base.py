"""What every fusion rule has in common: legs in, one stable order out. Pure.

A rule says what each hit of one leg contributes; the fused score is the weighted sum of the contributions. All rules
keep one promise: a contribution is never negative, never rises down a leg's order, and a hit that a leg did not return
gets nothing from it. So a hit that only one leg returned never stands above a better hit of that leg."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from query.request import Leg

# Sums run over the legs in this order, whatever order they came in, so that rounding is the same everywhere.
LEG_ORDER: Final[tuple[Leg, ...]] = ("bm25", "knn", "sparse")


class Scored(NamedTuple):
    """One hit of one leg: `score` is BM25, a cosine, or the sum over shared terms of both weights' product; `rank`
    counts from 1, None for the most that a hit can have which the leg did not return."""

    chunk_id: str
    score: float
    rank: int | None


class Fused(NamedTuple):
    """One hit with its fused score."""

    chunk_id: str
    score: float


class FusionRule(Protocol):
    """One way to make the scores of the legs comparable."""

    @property
    def missing_as_last(self) -> bool:
        """Whether a hit that a leg did not return counts as that leg's last one where the leg may have more hits, and
        not as nothing."""

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:
        """What each hit of one leg contributes, in the order of `hits`: finite and not negative; empty for an empty
        leg."""


def fuse(rule: FusionRule, legs: Mapping[Leg, Sequence[Scored]], weights: Mapping[Leg, float]) -> list[Fused]:
    """Fuse the legs.

    Args:
        rule: how scores become comparable.
        legs: the hits of each leg, best first; a chunk at most once in a leg. An empty leg adds nothing.
        weights: of each leg, not negative. A leg of weight 0 is left out as if it had not been asked.

    Returns:
        Every hit of the legs once: by score, then by its best rank in a leg (a rule may give several hits of a leg
        nothing, and they keep that leg's order), then by chunk id. Independent of the engine's segments and replicas.

    Raises:
        ValueError: a score or weight that is not finite, a negative weight, a chunk twice in a leg.
    """
    totals: dict[str, float] = {}
    best_rank: dict[str, float] = {}
    for leg in LEG_ORDER:
        hits, weight = legs.get(leg, ()), weights.get(leg, 0.0)
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"the weight of {leg} is {weight}")
        if weight == 0:
            continue
        _check(leg, hits)
        for (chunk_id, _, place), contribution in zip(hits, rule.contributions(leg, hits), strict=True):
            totals[chunk_id] = totals.get(chunk_id, 0.0) + weight * contribution
            rank = math.inf if place is None else place
            known = best_rank.get(chunk_id)
            if known is None or rank < known:
                best_rank[chunk_id] = rank
    order = sorted(totals, key=lambda chunk_id: (-totals[chunk_id], best_rank[chunk_id], chunk_id))
    return [Fused(chunk_id, totals[chunk_id]) for chunk_id in order]


def _check(leg: Leg, hits: Sequence[Scored]) -> None:
    for hit in hits:
        if not math.isfinite(hit.score):
            raise ValueError(f"the score of {hit.chunk_id} in {leg} is {hit.score}")
    if len({hit.chunk_id for hit in hits}) != len(hits):
        raise ValueError(f"a chunk stands twice in {leg}")
