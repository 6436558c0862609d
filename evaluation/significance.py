"""Intervals and paired tests, from scipy. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy import stats

ALPHA: Final = 0.05
CONFIDENCE: Final = 1 - ALPHA
# Resamples of a bootstrap interval: its ends then move by less than .001 for figures like ours.
RESAMPLES: Final = 2_000
BOOTSTRAP_SEED: Final = 20_260_101


class Estimate(BaseModel):
    """A figure with its 95% interval."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float


class PairedTest(BaseModel):
    """An exact two-sided sign test between two runs over the same questions; ties say nothing and are left out."""

    model_config = ConfigDict(frozen=True)

    a: str
    b: str
    metric: str
    wins: int
    losses: int
    p: float
    n: int

    @property
    def distinguishable(self) -> bool:
        return self.p < ALPHA

    @property
    def verdict(self) -> str:
        """In words, for tables."""
        if not self.distinguishable:
            least = smallest_difference(self.n)
            return f"not distinguishable with {self.n} questions (they could show {least:.3f} or more)"
        return f"{self.a} better" if self.wins > self.losses else f"{self.b} better"


def proportion(successes: int, n: int) -> Estimate:
    """A share with Wilson's 95% interval (Wilson 1927); n = 0 gives 0 with the whole range."""
    if n == 0:
        return Estimate(value=0.0, low=0.0, high=1.0)
    interval = stats.binomtest(successes, n).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return Estimate(value=successes / n, low=float(interval.low), high=float(interval.high))


def mean(values: Sequence[float]) -> Estimate:
    """A mean with a percentile bootstrap interval (Efron 1979) over questions; seeded, so that it repeats."""
    if not values:
        return Estimate(value=0.0, low=0.0, high=1.0)
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    means = sample[rng.integers(0, len(sample), size=(RESAMPLES, len(sample)))].mean(axis=1)
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2])
    return Estimate(value=float(sample.mean()), low=float(low), high=float(high))


def sign_test(a: Sequence[float], b: Sequence[float], *, names: tuple[str, str], metric: str) -> PairedTest:
    """Compare two runs question by question: `a[i]` and `b[i]` are of one question, higher is better.

    p is the exact two-sided binomial probability of a split as uneven as this one among the discordant questions
    (McNemar's exact test where the values are 0 and 1).
    """
    wins = sum(x > y for x, y in zip(a, b, strict=True))
    losses = sum(x < y for x, y in zip(a, b, strict=True))
    discordant = wins + losses
    p = float(stats.binomtest(wins, discordant, 0.5).pvalue) if discordant else 1.0
    return PairedTest(a=names[0], b=names[1], metric=metric, wins=wins, losses=losses, p=p, n=len(a))


def smallest_difference(n: int) -> float:
    """The smallest share of questions, all won by one side, that a two-sided sign test with `n` questions can show.

    With d discordant questions that all go one way, p = 2^(1-d); the least d with p < .05 is 6.
    """
    least = math.floor(1 - math.log2(ALPHA)) + 1
    return min(1.0, least / n) if n else 1.0
