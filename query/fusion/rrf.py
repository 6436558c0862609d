"""Weighted reciprocal rank fusion: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
individual Rank Learning Methods", SIGIR 2009.

    RRF(d) = sum over legs of  w_leg / (k + rank_leg(d)),  ranks from 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from query.fusion.base import Scored
from query.request import Leg


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """RRF with constant `k`: a large one rewards agreement, a small one the first places. Scores do not matter, so a
    hit without a rank contributes nothing."""

    k: int
    missing_as_last: bool = False

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:  # noqa: ARG002 - the same for every leg
        """`1 / (k + rank)`."""
        return [0.0 if hit.rank is None else 1.0 / (self.k + hit.rank) for hit in hits]
