"""Distribution-based score fusion: each leg stretched over mean +- 3 sigma (M. Mazzeschi, "Distribution-Based Score
Fusion", 2023), then a convex sum.

    n(d) = (s(d) - low) / (6 sigma),  low = min(mean - 3 sigma, lowest score)

Nothing is cut off at either end, since that would make a leg's first or last hits equal: a score beyond three sigma
gives more than 1, and one below moves the lower end. Equal scores (one hit, too) sit at the mean: 0.5."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.fusion.base import Scored
from query.request import Leg

# Three standard deviations each way hold 99.7% of a normal distribution.
SIGMAS: Final = 3.0
AT_THE_MEAN: Final = 0.5


@dataclass(frozen=True, slots=True)
class DistributionBased:
    """Scores of each leg by their place in its distribution."""

    missing_as_last: bool = False

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:  # noqa: ARG002 - the same for every leg
        """0 or more; mostly in [0, 1]."""
        if not hits:
            return []
        scores = [hit.score for hit in hits]
        mean, sigma = statistics.fmean(scores), statistics.pstdev(scores)
        if sigma == 0:
            return [AT_THE_MEAN] * len(hits)
        low = min(mean - SIGMAS * sigma, *scores)
        return [(score - low) / (2 * SIGMAS * sigma) for score in scores]
