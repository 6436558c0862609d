"""What a load test makes of its records."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil

from evaluation.benchmark.load import Step
from evaluation.benchmark.load_client import Outcome, quantile_ms
from evaluation.benchmark.load_soak import Held, Soak, growth, held_now, soak_report, unclear


def _outcome(status: int, seconds: float = 0.1, retry_after: str | None = None) -> Outcome:
    return Outcome("search", "t", status, seconds, 0.0, retry_after)


def test_a_refusal_counts_only_with_the_word_when_to_come_again() -> None:
    assert _outcome(429, retry_after="3").refused
    assert _outcome(503, retry_after="5").refused
    assert not _outcome(429).refused
    assert not _outcome(500, retry_after="5").refused
    outcomes = [_outcome(200), _outcome(202), _outcome(429, retry_after="1"), _outcome(429), _outcome(500), _outcome(0)]
    assert unclear(outcomes) == 3


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

    warm = growth(held([100, 200, 201, 202]))
    assert all(check.holds for check in warm)
    grown = growth(held([100, 200, 300, 400]))
    assert [check.holds for check in grown] == [False, True, True]
    leaking = [Held(100, 30 + number, 14 + number) for number in range(40)]
    assert [check.holds for check in growth(leaking)] == [True, False, False]


def test_a_soak_has_a_row_for_each_minute_and_none_for_the_last_seconds() -> None:
    held = tuple(Held(2**20 * (50 + minute), 30, 14, 100.0 + 60 * minute) for minute in range(3))
    outcomes = tuple(Outcome("search", "t", 200, 0.05, 130.0 + 60 * minute) for minute in range(2))
    found = soak_report(Soak(2.0, 2, 100.0, held, (*outcomes, Outcome("upload", "t", 500, 0.1, 131.0))), 2_000)
    assert [row[:5] for row in found.rows] == [("1", "50.0", "30", "14", "50"), ("2", "51.0", "30", "14", "50")]
    assert [row[-2:] for row in found.rows] == [("1", "0"), ("1", "0")]
    assert [check.holds for check in found.checks][-1] is False


def test_what_a_service_started_counts_as_its_own() -> None:
    own = psutil.Process(os.getpid())
    before = held_now(own)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        beside = held_now(own)
        assert beside.memory > before.memory
        assert beside.threads > before.threads
    finally:
        child.communicate(b"\n")
    assert held_now(own).threads == before.threads
