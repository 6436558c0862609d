"""Min-max normalisation, then a convex sum.

    n(d) = (s(d) - min) / (max - min),  mapped to [FLOOR, 1]

The leg's last hit gets FLOOR, more than a hit the leg did not return. Equal scores (one hit, too) all get 1: each of
them is the leg's best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.fusion.base import Scored
from query.request import Leg

# Being returned last is a little more than not being returned; the engine's own normalisation uses the same floor.
FLOOR: Final = 0.001


@dataclass(frozen=True, slots=True)
class MinMax:
    """Scores of each leg stretched between its worst and its best hit."""

    missing_as_last: bool = False

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:  # noqa: ARG002 - the same for every leg
        """In [FLOOR, 1]."""
        if not hits:
            return []
        low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
        if high == low:
            return [1.0] * len(hits)
        return [FLOOR + (1 - FLOOR) * ((hit.score - low) / (high - low)) for hit in hits]
