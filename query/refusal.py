"""Whether the top passages answer: features of the query and of what it found, and the decision. Pure.

What tells an answer from the nearest of nothing is not how high the first passage scores but how far it stands above
the rest for what the query asks: a rare word that it holds lifts it, one that nothing holds lifts none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from query.evidence import Evidence
from query.features import COSINE, MAXSIM_MEAN
from query.profile_parts import RefusalSpec

# Passages that an answer is usually written from.
TOP: Final = 5
# Rare words count more than in proportion: a question is told by the one or two that name its subject.
RARITY_POWER: Final = 2.0


@dataclass(frozen=True, slots=True)
class Judged:
    """One passage of the pool as the deciding stage saw it.

    Attributes:
        score: what the pool is ordered by: the reranked score, or the fused one.
        features: raw values by name; those that are there depend on the index.
    """

    chunk_id: str
    score: float
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Decision:
    """The score that decides, and against what.

    Attributes:
        probability: that the top passages answer.
        threshold: below it the search refuses.
        profile: whose threshold it is.
    """

    probability: float
    threshold: float
    profile: str

    @property
    def refused(self) -> bool:
        return self.probability < self.threshold

    @property
    def reason(self) -> str:
        """For people: the score, the threshold, the profile."""
        return (
            f"The probability that the nearest passages answer is {self.probability:.3f}, "
            f"below the threshold {self.threshold:.3f} of the profile {self.profile}."
        )


def decide(spec: RefusalSpec, features: Mapping[str, float], profile: str) -> Decision:
    """Weigh the features.

    Raises:
        KeyError: a feature of the spec is not among them.
    """
    return Decision(probability=spec.probability(features), threshold=spec.threshold, profile=profile)


def features_of(pool: Sequence[Judged], found: Evidence) -> dict[str, float]:
    """Features of one query, by name, in their own units.

    Args:
        pool: the candidates in their order, best first; empty gives the features of a search that found nothing.
        found: the words of the query in the first passages of the pool.

    Returns:
        Always the same names but for `maxsim…`, which need token vectors in the index.
    """
    words = len(found.words)
    mass = sum(word.rarity for word in found.words)
    scores = [judged.score for judged in pool]
    lift = scores[0] - statistics.median(scores) if scores else 0.0
    margin = scores[0] - scores[1] if len(scores) > 1 else 0.0
    first = pool[0].chunk_id if pool else ""
    top = [judged.chunk_id for judged in pool[:TOP]]
    loosely, exactly = found.loosely.get(first, frozenset()), found.exactly.get(first, frozenset())
    together = frozenset[int]().union(*(found.loosely.get(chunk, frozenset()) for chunk in top))
    next_best = statistics.fmean(scores[1 : TOP + 1]) if len(scores) > 1 else (scores[0] if scores else 0.0)
    values = {
        "lift_by_rarity": _ratio(lift, mass),
        "lift_by_word": _ratio(lift, words),
        "lift_over_next": _ratio(scores[0] - next_best if scores else 0.0, mass),
        "margin_by_word": _ratio(margin, words),
        "coverage": _coverage(found, loosely),
        "coverage_of_rare": _coverage(found, loosely, RARITY_POWER),
        "coverage_exact": _coverage(found, exactly, RARITY_POWER),
        "coverage_together": _coverage(found, together),
        "coverage_by_sentence": max((_coverage(found, one | found.title) for one in found.sentences), default=0.0),
        "coverage_by_title": _coverage(found, found.title),
        "unknown": _coverage_of(found, [not word.known for word in found.words]),
        "marks_missing": _ratio(
            sum(_has_mark(word.text) for place, word in enumerate(found.words) if place not in exactly), words
        ),
        "length": math.log(max(1, words)),
    }
    return values | _similarity(pool, COSINE) | _similarity(pool, MAXSIM_MEAN)


def _similarity(pool: Sequence[Judged], name: str) -> dict[str, float]:
    """The first passage's value, the greatest, the first one's rank by it, and how far it stands above the middle."""
    values = [judged.features[name] for judged in pool if name in judged.features]
    if not values and name != COSINE:
        return {}
    first = pool[0].features.get(name, 0.0) if pool else 0.0
    return {
        name: first,
        f"{name}_best": max(values, default=0.0),
        f"{name}_rank": math.log(1 + sum(value > first for value in values)),
        f"{name}_lift": first - statistics.median(values) if values else 0.0,
    }


def _coverage(found: Evidence, held: frozenset[int], power: float = 1.0) -> float:
    """Share of the words that are held, each counted by its rarity."""
    return _coverage_of(found, [place in held for place in range(len(found.words))], power)


def _coverage_of(found: Evidence, chosen: Sequence[bool], power: float = 1.0) -> float:
    weights = [word.rarity**power for word in found.words]
    return _ratio(sum(weight for weight, one in zip(weights, chosen, strict=True) if one), sum(weights))


def _has_mark(word: str) -> bool:
    """Digits and Latin letters: names and numbers, which have no other form."""
    return any(character.isdigit() or (character.isascii() and character.isalpha()) for character in word)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
