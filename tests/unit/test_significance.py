"""Intervals and paired tests against values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.significance import mean, proportion, sign_test, smallest_difference


def test_wilson_interval_against_the_formula() -> None:
    z, n, share = 1.959964, 20, 0.9
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * ((share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5)
    estimate = proportion(18, n)
    assert estimate.value == share
    assert estimate.low == pytest.approx(centre - half, abs=1e-6)
    assert estimate.high == pytest.approx(centre + half, abs=1e-6)


def test_nothing_asked_is_nothing_known() -> None:
    assert (proportion(0, 0).low, proportion(0, 0).high) == (0.0, 1.0)
    assert mean([]).value == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_a_mean_lies_in_its_interval_and_repeats(values: list[float]) -> None:
    estimate = mean(values)
    assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
    assert estimate == mean(values)


def test_six_wins_and_no_loss_are_the_least_that_shows() -> None:
    won = sign_test([1.0] * 6 + [0.0] * 94, [0.0] * 100, names=("a", "b"), metric="recall@1")
    assert (won.wins, won.losses) == (6, 0)
    assert won.p == pytest.approx(2 * 0.5**6)
    assert won.verdict == "a better"
    drawn = sign_test([1.0] * 5 + [0.0] * 95, [0.0] * 100, names=("a", "b"), metric="recall@1")
    assert not drawn.distinguishable
    assert "not distinguishable with 100 questions" in drawn.verdict
    assert smallest_difference(100) == pytest.approx(0.06)


def test_ties_alone_say_nothing() -> None:
    assert sign_test([1, 0], [1, 0], names=("a", "b"), metric="mrr").p == 1.0


def test_runs_of_different_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is longer"):
        sign_test([1.0], [1.0, 0.0], names=("a", "b"), metric="mrr")
