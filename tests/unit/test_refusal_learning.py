"""The refusal's learning: a monotone curve, the right point for each rule, no threshold that saw its questions."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from evaluation.refusal import (
    MANY,
    Asked,
    Choice,
    calibrate,
    can_calibrate,
    chosen_threshold,
    curve,
    fit_refusal,
    groups,
    point_at,
)
from evaluation.refusal_report import refusal_report
from evaluation.tuning import FOLDS

FIVE_PERCENT = Choice("max-lost", 0.05)
FEATURES = ("cosine", "coverage")


def _asked(number: int, answerable: bool, value: float, *, near: bool | None = None, words: int = 5) -> Asked:
    return Asked(
        id=f"q{number}",
        query=f"question {number}",
        features={"cosine": value, "coverage": value / 2, "unused": 0.0},
        language="he",
        answerable=answerable,
        near=near,
        fold=number % FOLDS,
        words=words,
    )


def _questions(count: int = 400, seed: int = 3) -> list[Asked]:
    rng = np.random.default_rng(seed)
    return [
        _asked(number, answerable, float(rng.normal(1.5 if answerable else 0.0)), words=1 + number % 9)
        for number, answerable in ((number, number % 2 == 0) for number in range(count))
    ]


def _held(pairs: list[tuple[bool, float]]) -> tuple[list[Asked], dict[str, float]]:
    asked = [_asked(number, answerable, 0.0) for number, (answerable, _) in enumerate(pairs)]
    return asked, {f"q{number}": probability for number, (_, probability) in enumerate(pairs)}


def test_the_curve_is_monotone() -> None:
    found = calibrate(_questions(), FIVE_PERCENT, FEATURES)
    points = curve(found.asked, found.probabilities)
    for before, after in itertools.pairwise(points):
        assert before.threshold <= after.threshold
        assert before.answerable_refused.value <= after.answerable_refused.value
        assert before.out_of_domain_answered.value >= after.out_of_domain_answered.value
    assert points[0].answerable_refused.value == 0.0


def test_max_lost_loses_as_much_as_it_may_and_no_more() -> None:
    asked, held = _held([(True, 0.9), (True, 0.8), (True, 0.3), (True, 0.7), (False, 0.5), (False, 0.2)])
    assert chosen_threshold(asked, held, Choice("max-lost", 0.0)) == pytest.approx(0.25)
    threshold = chosen_threshold(asked, held, Choice("max-lost", 0.25))
    assert 0.5 < threshold <= 0.7
    assert point_at(asked, held, threshold).out_of_domain_answered.value == 0.0


def test_max_bluffs_answers_as_many_as_it_may_and_no_more() -> None:
    asked, held = _held([(True, 0.9), (True, 0.4), (False, 0.5), (False, 0.2)])
    point = point_at(asked, held, chosen_threshold(asked, held, Choice("max-bluffs", 0.5)))
    assert point.out_of_domain_answered.value == 0.5
    assert point.answerable_refused.value == 0.0
    none = point_at(asked, held, chosen_threshold(asked, held, Choice("max-bluffs", 0.0)))
    assert none.out_of_domain_answered.value == 0.0


def test_a_dear_bluff_refuses_more_than_a_cheap_one() -> None:
    asked, held = _held([(True, 0.9), (True, 0.4), (True, 0.6), (False, 0.5), (False, 0.2), (False, 0.1)])
    cheap = chosen_threshold(asked, held, Choice("cost-ratio", 0.1))
    dear = chosen_threshold(asked, held, Choice("cost-ratio", 100.0))
    assert point_at(asked, held, cheap).answerable_refused.value == 0.0
    assert point_at(asked, held, dear).out_of_domain_answered.value == 0.0
    assert cheap < dear


def test_equal_probabilities_are_never_parted() -> None:
    asked, held = _held([(True, 0.5), (True, 0.5), (False, 0.5), (False, 0.5)])
    point = point_at(asked, held, chosen_threshold(asked, held, Choice("max-lost", 0.4)))
    assert point.answerable_refused.value == 0.0
    assert point.out_of_domain_answered.value == 1.0


def test_each_question_is_judged_by_what_never_saw_it() -> None:
    asked = _questions()
    found = calibrate(asked, FIVE_PERCENT, FEATURES)
    for fold, spec in enumerate(found.fold_specs):
        learnt = fit_refusal([question for question in asked if question.fold != fold], FEATURES, FIVE_PERCENT)
        assert spec.features == learnt.features
        for question in asked:
            if question.fold == fold:
                assert found.probabilities[question.id] == spec.probability(question.features)
    report = refusal_report([(one, found.fold_specs[one.fold]) for one in found.asked], found.spec)
    assert report.answerable_refused.value == pytest.approx(0.05, abs=0.03)


def test_the_probability_is_shown_by_the_score_that_decides() -> None:
    asked = _questions()
    found = calibrate(asked, FIVE_PERCENT, FEATURES)
    assert found.spec.threshold == chosen_threshold(asked, found.probabilities, FIVE_PERCENT)
    assert found.spec.chosen == point_at(asked, found.probabilities, found.spec.threshold)
    assert found.spec.chosen_by == "--max-lost 0.05"


def test_the_worst_and_the_best_are_named() -> None:
    asked = [_asked(0, True, 1.0), _asked(1, True, -1.0), _asked(2, False, -2.0), _asked(3, False, 2.0)]
    spec = fit_refusal(_questions(), FEATURES, FIVE_PERCENT)
    report = refusal_report([(one, spec) for one in asked], spec)
    assert report.worst_answerable is not None
    assert report.best_out_of_domain is not None
    assert report.worst_answerable.query == "question 1"
    assert report.best_out_of_domain.query == "question 3"


def test_a_class_without_a_threshold_is_never_refused() -> None:
    asked = replace(_asked(0, True, -100.0), language="en")
    spec = fit_refusal(_questions(), FEATURES, FIVE_PERCENT)
    assert spec.languages == ("he",)
    report = refusal_report([(asked, spec), (_asked(1, True, -100.0), spec)], spec)
    assert report.answerable_refused.value == 0.5


def test_more_of_one_kind_does_not_move_the_probability() -> None:
    asked = _questions()
    doubled = asked + [question for question in asked if not question.answerable]
    once, twice = (fit_refusal(given, FEATURES, FIVE_PERCENT) for given in (asked, doubled))
    value = {"cosine": 0.7, "coverage": 0.3}
    assert once.probability(value) == pytest.approx(twice.probability(value), abs=0.03)


@pytest.mark.parametrize(("count", "turned"), [(MANY - 2, False), (MANY, True)])
def test_few_questions_turn_no_feature_round(count: int, turned: bool) -> None:
    # By chance, or by what the questions are about, those that are answered hold less of their words.
    against = [
        replace(one, features={"cosine": one.features["cosine"], "coverage": -one.features["coverage"]})
        for one in _questions(count)
    ]
    weights = {name: one.weight for name, one in fit_refusal(against, FEATURES, FIVE_PERCENT).features.items()}
    assert weights["cosine"] > 0
    assert weights["coverage"] < 0 if turned else weights["coverage"] == 0


def test_values_far_outside_what_was_seen_are_clipped() -> None:
    spec = fit_refusal(_questions(), FEATURES, FIVE_PERCENT)
    assert spec.probability({"cosine": 1e9, "coverage": 1e9}) == spec.probability({"cosine": 1e6, "coverage": 1e6})
    assert 0.0 <= spec.probability({"cosine": -1e300, "coverage": -1e300}) <= 1.0


def test_without_out_of_domain_questions_nothing_is_calibrated() -> None:
    assert not can_calibrate([question for question in _questions() if question.answerable])
    assert not can_calibrate(_questions(8))
    assert can_calibrate(_questions())


def test_groups_by_length_and_by_nearness() -> None:
    asked = [
        _asked(0, True, 1.0, words=1),
        _asked(1, False, 0.0, near=True, words=4),
        _asked(2, False, 0.0, near=False, words=12),
    ]
    found = groups(asked)
    assert [question.id for question in found["near"]] == ["q0", "q1"]
    assert [question.id for question in found["far"]] == ["q0", "q2"]
    assert [[q.id for q in found[name]] for name in ("1-2 words", "3-6 words", "7+ words")] == [["q0"], ["q1"], ["q2"]]


def test_the_curve_has_intervals() -> None:
    asked, held = _held([(True, 0.9), (False, 0.1)] * 10)
    for point in curve(asked, held):
        share = point.answerable_refused
        assert share.low <= share.value <= share.high
        assert share.high > 0.0


def test_what_is_not_said_is_no_feature_of_the_sum_but_lowers_the_whole() -> None:
    asked = [replace(one, features={**one.features, "unsaid": 0.0}) for one in _questions()]
    spec = calibrate(asked, FIVE_PERCENT).spec
    assert "unsaid" not in spec.features
    assert spec.most_unsaid is not None
    suits = asked[0].features
    assert spec.probability({**suits, "unsaid": spec.most_unsaid}) == 0.0
    assert calibrate(_questions(), FIVE_PERCENT).spec.most_unsaid is None
