"""Z-score normalisation, then a convex sum.

    z(d) = (s(d) - mean) / sigma;  n(d) = z(d) - min z + FLOOR

Plain z-scores give a hit that a leg did not return the value of that leg's average hit, 0, above half of those it did
return. Counting from the leg's lowest hit changes nothing between two returned hits, and puts the missing one below
them. Equal scores (one hit, too) have no sigma: each counts as one sigma."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.fusion.base import Scored
from query.request import Leg

# As in min-max: being returned last is a little more than not being returned.
FLOOR: Final = 0.001
# What each of several equal hits counts, in sigmas.
EQUAL_SCORES: Final = 1.0


@dataclass(frozen=True, slots=True)
class ZScore:
    """Scores of each leg in standard deviations above its lowest hit."""

    missing_as_last: bool = False

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:  # noqa: ARG002 - the same for every leg
        """FLOOR or more, without an upper limit."""
        if not hits:
            return []
        scores = [hit.score for hit in hits]
        sigma, low = statistics.pstdev(scores), min(scores)
        if sigma == 0:
            return [EQUAL_SCORES] * len(hits)
        return [FLOOR + (score - low) / sigma for score in scores]
