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

from query import wording
from query.evidence import Evidence
from query.exactness import asked_exactly
from query.features import COSINE, MAXSIM_MEAN
from query.profile_parts import UNSAID, RefusalSpec
from query.request import Language
from query.wording import Tongue, told

# Passages behind the first that it is compared with.
NEXT: Final = 5
# What is missing says less where the first passage stands out, or is close in meaning: above these, about their means
# over the questions that the default profile was learnt from, it counts the other way.
STANDS_OUT: Final = 0.3
CLOSE: Final = 0.84


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
        unsaid: how far the probability was lowered because nothing of the asked kind stands there.
    """

    probability: float
    threshold: float
    profile: str
    unsaid: float = 0.0

    @property
    def refused(self) -> bool:
        return self.probability < self.threshold

    def reason(self, language: Tongue) -> str:
        """For people: the score, the threshold, the profile."""
        score = told(
            wording.IMPROBABLE,
            language,
            probability=self.probability,
            threshold=self.threshold,
            profile=self.profile,
        )
        return score + (told(wording.KIND_MISSING, language) if self.unsaid else "")


def decide(spec: RefusalSpec, features: Mapping[str, float], profile: str, language: Language) -> Decision:
    """Weigh the features as the query's class does.

    Raises:
        KeyError: a feature of the spec is not among them.
    """
    model = spec.model_for(language)
    return Decision(
        probability=model.probability(features),
        threshold=spec.threshold,
        profile=profile,
        unsaid=features.get(UNSAID, 0.0) if model.most_unsaid is not None else 0.0,
    )


def features_of(
    pool: Sequence[Judged], found: Evidence, unsaid: float = 0.0, unmatched: float = 0.0
) -> dict[str, float]:
    """Features of one query, by name, in their own units.

    Args:
        pool: the candidates in their order, best first; empty gives the features of a search that found nothing.
        found: the words of the query in the first passage of the pool.
        unsaid: `query.answer_type.Found.unsaid` of that passage.
        unmatched: `query.word_matches.rarity_unmatched` of that passage.

    Returns:
        Always the same names but for `maxsim_mean`, `maxsim_mean_rank`, `rarity_unmatched` and
        `unmatched_beside_others`, which need token vectors in the index.
    """
    words = len(found.words)
    mass = sum(word.rarity for word in found.words)
    length = math.log(max(1, words))
    scores = [judged.score for judged in pool]
    # What stands first for an identifier may have a lower score than what stands behind it.
    best, *behind = sorted(scores[: NEXT + 1], reverse=True) or [0.0]
    lift = best - statistics.median(scores) if scores else 0.0
    over_next = _ratio(best - statistics.fmean(behind), mass) if behind else 0.0
    not_held = sum(word.rarity for place, word in enumerate(found.words) if place not in found.loosely)
    missing = sum(_has_mark(word.text) for place, word in enumerate(found.words) if place not in found.exactly)
    cosines = [judged.features[COSINE] for judged in pool if COSINE in judged.features]
    closest = max(cosines, default=0.0)
    values = {
        "lift_by_word": _ratio(lift, words),
        "lift_by_rarity_and_length": _ratio(lift, mass) * length,
        "lift_over_next": over_next,
        "coverage": _coverage(found, found.loosely),
        "coverage_as_written": _share(found, found.exactly),
        "coverage_by_sentence": max((_share(found, one | found.title) for one in found.sentences), default=0.0),
        "coverage_by_title": _share(found, found.title),
        "rarity_missing": not_held,
        "missing_from_afar": not_held * (CLOSE - closest),
        "marks_missing": _ratio(missing, words),
        "identifiers_missing": _identifiers_missing(found),
        "length": length,
        "cosine_best": closest,
        "cosine_rank": _rank(pool, COSINE),
        UNSAID: unsaid,
    }
    if any(MAXSIM_MEAN in judged.features for judged in pool):
        values["maxsim_mean_rank"] = _rank(pool, MAXSIM_MEAN)
        values["maxsim_mean"] = pool[0].features.get(MAXSIM_MEAN, 0.0)
        values["rarity_unmatched"] = unmatched
        values["unmatched_beside_others"] = unmatched * (STANDS_OUT - over_next)
    return values


def _identifiers_missing(found: Evidence) -> float:
    """Share of the query's identifiers that the first passage does not hold as they are written."""
    asked = [place for place, word in enumerate(found.words) if asked_exactly(word.text)]
    return _ratio(sum(place not in found.exactly for place in asked), len(asked))


def _rank(pool: Sequence[Judged], name: str) -> float:
    """Logarithm of the first passage's rank by a feature; 0 where nothing stands above it."""
    if not pool or name not in pool[0].features:
        return math.log(1 + len(pool))
    first = pool[0].features[name]
    return math.log(1 + sum(judged.features.get(name, first) > first for judged in pool))


def _share(found: Evidence, held: frozenset[int]) -> float:
    """Share of the words that are held, each counted by its rarity."""
    return _weighed(held, [word.rarity for word in found.words])


def _coverage(found: Evidence, held: frozenset[int]) -> float:
    """The same, each word counted by its pieces too."""
    return _weighed(held, [word.rarity * word.pieces for word in found.words])


def _weighed(held: frozenset[int], weights: Sequence[float]) -> float:
    return _ratio(sum(weight for place, weight in enumerate(weights) if place in held), sum(weights))


def _has_mark(word: str) -> bool:
    """Digits and Latin letters: names and numbers, which have no other form."""
    return any(character.isdigit() or (character.isascii() and character.isalpha()) for character in word)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
