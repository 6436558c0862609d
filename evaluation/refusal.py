"""The refusal: a logistic probability that the top passages answer, its whole curve, and the point chosen. Pure.

Only out-of-domain questions count against an answer: a question about a document that does not answer it tests the
answer stage. Both classes weigh the same, so that the probability does not depend on how many questions of each a data
set happens to have. Everything that is told is of held-out folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from evaluation.dataset import Question
from evaluation.logistic import logistic
from evaluation.significance import proportion
from evaluation.tuning import FOLDS
from evaluation.word_model import enough_words, fit_words
from query.judging import Observed
from query.profile_parts import (
    AS_EXPECTED,
    MOST_DEVIATIONS,
    UNSAID,
    CurvePoint,
    Interval,
    RefusalFeature,
    RefusalModel,
    RefusalSpec,
)
from query.request import Language
from query.word_model import SeenWords, WordModel

# Ridge on the standardised weights, against the summed loss of the questions: for 1,450 of them 3e-3 against the mean.
# The fewer questions a class of queries has, the more its weights are held back.
RIDGE: Final = 4.35
# Which way a feature can speak, whatever the questions are; products of two may speak either way, beside their parts.
# A class of few questions takes what is so by chance for what is so: most English ones ask about Hebrew passages, which
# hold none of their words, so missing words spoke for an answer, and English passages that hold all against it.
SIGNS: Final[Mapping[str, int]] = {
    "lift_by_word": 1,
    "lift_by_rarity_and_length": 1,
    "lift_over_next": 1,
    "coverage": 1,
    "coverage_as_written": 1,
    "coverage_by_sentence": 1,
    "coverage_by_title": 1,
    "rarity_missing": -1,
    "marks_missing": -1,
    "identifiers_missing": -1,
    "rarity_unmatched": -1,
    AS_EXPECTED: 1,
    "cosine_best": 1,
    "cosine_rank": -1,
    "maxsim_mean": 1,
    "maxsim_mean_rank": -1,
}
# Questions of a class from which on its weights may have any sign: among many that overlap, one then takes back what
# others say too much (out of domain .079 answered at .052 lost of Hebrew questions, else .083).
MANY: Final = 500
# Share of the words that stand where nothing answers, at which no probability is left: half of them or more do in .6%
# of HeQ's answerable questions, in 3.4% of those that only look so, and in two thirds of the cases `verbatim`.
MOST_UNSAID: Final = 0.5
# Fewer questions of one kind of a class place no threshold: with 40 at a share of 5%, two questions decide.
LEAST_OF_A_KIND: Final = 40
# Points of the printed curve, by the share of answerable questions lost.
CURVE_LOST: Final = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.10, 0.15, 0.20, 0.30)
# Lengths that the curve is told for, in words: keywords, short questions, long ones.
LENGTHS: Final[tuple[tuple[str, int, int], ...]] = (("1-2 words", 1, 2), ("3-6 words", 3, 6), ("7+ words", 7, 10_000))

Rule = Literal["max-lost", "max-bluffs", "cost-ratio"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with the features of its top passages.

    Attributes:
        features: by name, `query.refusal.features_of`.
        answerable: or out of domain.
        near: whether an out-of-domain question is near the corpus's subjects; None where nobody said.
        fold: of its document, or of itself.
        words: of the query.
        seen: its content words, where they can be told by their tokens.
    """

    id: str
    query: str
    features: Mapping[str, float]
    language: Language
    answerable: bool
    near: bool | None
    fold: int
    words: int
    seen: SeenWords | None = None

    def probability(self, spec: RefusalSpec) -> float:
        """That its top passages answer, by the weights of its class of queries."""
        model = spec.model_for(self.language)
        return model.probability(model.completed(self.features, self.seen))


@dataclass(frozen=True, slots=True)
class Choice:
    """How the point of the curve is picked: one of the three.

    Attributes:
        rule: `max-lost`: the fewest out-of-domain questions answered while at most this share of answerable ones is
            refused; `max-bluffs`: the fewest refused while at most this share is answered; `cost-ratio`: the least
            total cost where an out-of-domain question answered costs this many times an answerable one refused.
        value: share, or ratio.
    """

    rule: Rule
    value: float

    @property
    def label(self) -> str:
        """As it stands on the command line."""
        return f"--{self.rule} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was learnt and measured.

    Attributes:
        asked: the questions of the classes that were calibrated.
        spec: learnt on everything, with the chosen threshold.
        fold_specs: learnt without each fold, with a threshold chosen without it.
        probabilities: held out, by question id.
    """

    asked: tuple[Asked, ...]
    spec: RefusalSpec
    fold_specs: tuple[RefusalSpec, ...]
    probabilities: Mapping[str, float]


def asked_of(question: Question, language: Language, found: Observed, *, fold: int, prefix: str = "") -> Asked:
    """A question of a data set, with what a search for it found; `prefix` goes before its id."""
    return Asked(
        id=prefix + question.id,
        query=question.query,
        features=found.features,
        language=language,
        answerable=question.answerable,
        near=question.near,
        fold=fold,
        words=len(question.query.split()),
        seen=found.words,
    )


def can_calibrate(asked: Sequence[Asked]) -> bool:
    """Whether some class of queries has enough questions, of both kinds outside each fold."""
    classes = calibrated_classes(asked)
    usable = [question for question in asked if question.language in classes]
    return bool(usable) and all(
        len({question.answerable for question in usable if question.fold != fold}) == len((True, False))
        for fold in range(FOLDS)
    )


def calibrate(asked: Sequence[Asked], choice: Choice, features: Sequence[str] | None = None) -> Calibration:
    """Learn, cross-validate and choose, for the classes of queries that there are enough questions of.

    Args:
        asked: questions of which `can_calibrate` holds.
        choice: how to pick the threshold.
        features: names that take part; all that every question has, where they are not given.
    """
    classes = calibrated_classes(asked)
    asked = [question for question in asked if question.language in classes]
    if features is None:
        features = sorted(set.intersection(*(set(one.features) for one in asked)) - {UNSAID})
    probabilities: dict[str, float] = {}
    models = []
    for fold in range(FOLDS):
        spec = fit_by_class([question for question in asked if question.fold != fold], features, choice)
        models.append(spec)
        probabilities |= {question.id: question.probability(spec) for question in asked if question.fold == fold}
    # A fold's threshold is chosen on the other folds' held-out probabilities: on what it is then applied to, and on
    # what a model was fitted to, probabilities are too good.
    fold_specs = tuple(
        spec.model_copy(
            update={"threshold": chosen_threshold(_outside(asked, fold), probabilities, choice)},
        )
        for fold, spec in enumerate(models)
    )
    threshold = chosen_threshold(asked, probabilities, choice)
    point = point_at(asked, probabilities, threshold)
    return Calibration(
        asked=tuple(asked),
        spec=fit_by_class(asked, features, choice).model_copy(update={"threshold": threshold, "chosen": point}),
        fold_specs=fold_specs,
        probabilities=probabilities,
    )


def calibrated_classes(asked: Sequence[Asked]) -> tuple[Language, ...]:
    """Classes of queries with enough questions of both kinds to be judged."""
    return tuple(
        language
        for language in get_args(Language)
        if all(
            sum(question.answerable is answerable for question in asked if question.language == language)
            >= LEAST_OF_A_KIND
            for answerable in (True, False)
        )
    )


def fit_by_class(asked: Sequence[Asked], features: Sequence[str], choice: Choice) -> RefusalSpec:
    """One model a class of queries, under one threshold; the class with most questions gives the spec's own weights.

    One model for all would learn what tells the classes apart: English words are names in a Hebrew question, and words
    in an English one.
    """
    by_language = {
        language: [one for one in asked if one.language == language]
        for language in get_args(Language)
        if any(one.language == language for one in asked)
    }
    most, *others = sorted(by_language, key=lambda language: -len(by_language[language]))
    spec = fit_refusal(by_language[most], features, choice)
    own = {language: fit_refusal(by_language[language], features, choice) for language in others}
    return spec.model_copy(
        update={
            "languages": tuple(by_language),
            "by_class": {
                language: RefusalModel(
                    features=model.features,
                    intercept=model.intercept,
                    most_unsaid=model.most_unsaid,
                    words=model.words,
                )
                for language, model in own.items()
            },
        }
    )


def fit_refusal(asked: Sequence[Asked], features: Sequence[str], choice: Choice) -> RefusalSpec:
    """Logistic regression with a ridge on standardised, clipped features; the threshold is still .5.

    Its classes of queries are those of the questions given. Where there are enough words, a model of words is learnt
    too: `as_expected` of a question is then of a model that was learnt without the question's fold, as that of a
    question to come will be.
    """
    words, expected = _words(asked)
    names = [*features, AS_EXPECTED] if words is not None else list(features)
    languages = tuple(language for language in get_args(Language) if any(one.language == language for one in asked))
    values = np.array([[question.features[name] for name in features] for question in asked])
    if words is not None:
        values = np.column_stack([values, [expected[question.id] for question in asked]])
    labels = np.array([question.answerable for question in asked])
    means, deviations = values.mean(axis=0), values.std(axis=0)
    deviations = np.where(deviations > 0, deviations, 1.0)
    scaled = np.clip((values - means) / deviations, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    shares = np.where(labels, 0.5 / max(1, labels.sum()), 0.5 / max(1, (~labels).sum()))
    signs = [SIGNS.get(name, 0) for name in names] if len(asked) < MANY else None
    weights = logistic(scaled, labels, shares, RIDGE / len(asked), signs)
    return RefusalSpec(
        features={
            name: RefusalFeature(weight=float(weight), mean=float(mean), deviation=float(deviation))
            for name, weight, mean, deviation in zip(names, weights[:-1], means, deviations, strict=True)
        },
        intercept=float(weights[-1]),
        most_unsaid=MOST_UNSAID if all(UNSAID in one.features for one in asked) else None,
        words=words,
        threshold=0.5,
        languages=languages,
        chosen_by=choice.label,
    )


def _words(asked: Sequence[Asked]) -> tuple[WordModel | None, dict[str, float]]:
    """The model of words of some questions, and `as_expected` of each by a model without its fold; None and {} where
    there are too few words, or some question has none."""
    seen = [(one.fold, one.answerable, one.seen) for one in asked if one.seen is not None]
    if len(seen) < len(asked) or not enough_words(*_kinds(seen)):
        return None, {}
    without = {fold: fit_words(*_kinds(one for one in seen if one[0] != fold)) for fold in {one[0] for one in seen}}
    expected = {one.id: without[one.fold].as_expected(one.seen) for one in asked if one.seen is not None}
    return fit_words(*_kinds(seen)), expected


def _kinds(seen: Iterable[tuple[int, bool, SeenWords]]) -> tuple[list[SeenWords], list[SeenWords]]:
    """Words of answerable questions, and of the others."""
    answered, others = list[SeenWords](), list[SeenWords]()
    for _, answerable, words in seen:
        (answered if answerable else others).append(words)
    return answered, others


def chosen_threshold(asked: Sequence[Asked], probabilities: Mapping[str, float], choice: Choice) -> float:
    """The threshold that the choice picks among all that make a difference; below it a question is refused."""
    kept = np.sort([probabilities[question.id] for question in asked if question.answerable])
    others = np.sort([probabilities[question.id] for question in asked if not question.answerable])
    # Between two neighbouring probabilities every threshold is the same; the middle suits questions to come.
    values = np.unique(np.concatenate([kept, others]))
    candidates = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    lost = np.searchsorted(kept, candidates, side="left") / len(kept)
    answered = 1 - np.searchsorted(others, candidates, side="left") / len(others)
    match choice.rule:
        case "max-lost":
            allowed = np.flatnonzero(lost <= choice.value)
            place = allowed[-1]
        case "max-bluffs":
            allowed = np.flatnonzero(answered <= choice.value)
            place = allowed[0]
        case "cost-ratio":
            place = np.argmin(lost + choice.value * answered)
    return float(candidates[place])


def curve(asked: Sequence[Asked], probabilities: Mapping[str, float]) -> tuple[CurvePoint, ...]:
    """One point for each share of answerable questions lost (`CURVE_LOST`), thresholds rising."""
    return tuple(
        point_at(asked, probabilities, chosen_threshold(asked, probabilities, Choice("max-lost", lost)))
        for lost in CURVE_LOST
    )


def point_at(asked: Sequence[Asked], probabilities: Mapping[str, float], threshold: float) -> CurvePoint:
    """What a threshold does to these questions."""
    return point_of(asked, {question.id: probabilities[question.id] < threshold for question in asked}, threshold)


def groups(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    """Near and far: with all answerable questions; classes of queries and lengths: of both kinds."""
    answerable = [question for question in asked if question.answerable]
    found = {}
    for name, wanted in (("near", True), ("far", False)):
        others = [question for question in asked if not question.answerable and question.near is wanted]
        if others:
            found[name] = answerable + others
    languages = [language for language in get_args(Language) if any(one.language == language for one in asked)]
    if len(languages) > 1:
        found |= {language: [one for one in asked if one.language == language] for language in languages}
    for name, least, most in LENGTHS:
        found[name] = [question for question in asked if least <= question.words <= most]
    return found


def point_of(asked: Sequence[Asked], refused: Mapping[str, bool], threshold: float) -> CurvePoint:
    """Shares of these questions that were refused and answered."""
    lost = [refused[question.id] for question in asked if question.answerable]
    answered = [not refused[question.id] for question in asked if not question.answerable]
    return CurvePoint(threshold=threshold, answerable_refused=_share(lost), out_of_domain_answered=_share(answered))


def _share(happened: Sequence[bool]) -> Interval:
    estimate = proportion(sum(happened), len(happened))
    return Interval(value=estimate.value, low=estimate.low, high=estimate.high)


def _outside(asked: Sequence[Asked], fold: int) -> list[Asked]:
    return [question for question in asked if question.fold != fold]
