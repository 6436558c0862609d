"""What a load test makes of its records."""

from __future__ import annotations

from evaluation.benchmark import load
from evaluation.benchmark.load import Held, Step
from evaluation.benchmark.load_client import Outcome, quantile_ms


def _outcome(status: int, seconds: float = 0.1, retry_after: str | None = None) -> Outcome:
    return Outcome("search", "t", status, seconds, 0.0, retry_after)


def test_a_refusal_counts_only_with_the_word_when_to_come_again() -> None:
    assert _outcome(429, retry_after="3").refused
    assert _outcome(503, retry_after="5").refused
    assert not _outcome(429).refused
    assert not _outcome(500, retry_after="5").refused
    outcomes = [_outcome(200), _outcome(202), _outcome(429, retry_after="1"), _outcome(429), _outcome(500), _outcome(0)]
    assert load._bad(outcomes) == 3


def test_latency_is_of_what_was_answered() -> None:
    outcomes = [_outcome(200, 0.1), _outcome(200, 0.3), _outcome(429, 9.0, "1")]
    assert quantile_ms(outcomes, 0.5) == 200.0
    assert quantile_ms([_outcome(429, retry_after="1")], 0.5) == float("inf")


def test_a_step_says_what_was_refused_and_how_much_was_done() -> None:
    step = Step(10.0, (_outcome(200), _outcome(200), _outcome(429, retry_after="1"), _outcome(200)), 2.0)
    assert (step.refused, step.throughput) == (0.25, 1.5)


def test_growth_is_seen_and_warming_up_is_not() -> None:
    def held(memory: list[int]) -> list[Held]:
        return [Held(one, 30, 14) for one in memory for _ in range(5)]

    warm = load._growth(held([100, 200, 201, 202]))
    assert all(check.holds for check in warm)
    grown = load._growth(held([100, 200, 300, 400]))
    assert [check.holds for check in grown] == [False, True, True]
    leaking = [Held(100, 30 + number, 14 + number) for number in range(40)]
    assert [check.holds for check in load._growth(leaking)] == [True, False, False]
