"""The soak of `mafteach bench load`: a service that is used for long, at a modest rate, and does not grow."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import psutil

from evaluation.benchmark.load_client import Call, Clients, Outcome, quantile_ms
from evaluation.benchmark.report import BenchReport, Check, Table

# Requests a second of three tenants: a third of what two idle cores answer, so that a machine that does something else
# for a while still answers all of them. Half an hour of it is 7,200 requests, 720 of them uploads.
RATE: Final = 4.0
# Clients that may wait at once: at this rate more than two are rare.
CLIENTS: Final = 16
# What may come and go by itself: a library's pool, a log that rotates, an arena of the allocator.
MEMORY_GROWTH, FILES_GROWTH, THREADS_GROWTH = 0.05, 8, 4
MIB: Final = 2**20
UNCLEAR: Final = "answers that are neither done nor refused with Retry-After"
_SAMPLE_S: Final = 1.0
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Held:
    """What a process and its children hold at one moment: resident bytes (shared ones once for each), handles,
    threads."""

    memory: int
    files: int
    threads: int
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Soak:
    """All that a soak gave; `begin` is on the clock of the outcomes and of what was held."""

    rate: float
    minutes: float
    begin: float
    held: tuple[Held, ...]
    outcomes: tuple[Outcome, ...]


def soak(clients: Clients, calls: Iterator[Call], *, pid: int, minutes: float, rate: float = RATE) -> Soak:
    """Send calls at a rate, whether or not earlier ones are answered, and look at the service once a second.

    Args:
        pid: of the service.
        rate: requests a second.
    """
    begin = time.monotonic()
    with _sampled(pid) as held:
        outcomes = clients.at_rate(calls, rate, minutes * _MINUTE_S, most=CLIENTS)
    return Soak(rate, minutes, begin, tuple(held), tuple(outcomes))


@contextmanager
def _sampled(pid: int) -> Iterator[list[Held]]:
    held, ends, process = list[Held](), threading.Event(), psutil.Process(pid)

    def sample() -> None:
        while not ends.wait(_SAMPLE_S):
            # One that ended meanwhile holds nothing any more.
            with suppress(psutil.NoSuchProcess):
                held.append(held_now(process))

    sampler = threading.Thread(target=sample, name="sampler")
    sampler.start()
    try:
        yield held
    finally:
        ends.set()
        sampler.join()


def held_now(process: psutil.Process) -> Held:
    """Of a process and of all that it started: parsers of uploads have a process of their own.

    Raises:
        psutil.NoSuchProcess: it ended.
    """
    memory = files = threads = 0
    for one in (process, *process.children(recursive=True)):
        try:
            with one.oneshot():
                own = one.memory_info().rss, one.num_fds(), one.num_threads()
        except psutil.NoSuchProcess:
            if one is process:
                raise
            continue
        memory, files, threads = memory + own[0], files + own[1], threads + own[2]
    return Held(memory, files, threads, time.monotonic())


def unclear(outcomes: Sequence[Outcome]) -> int:
    """Answers that are neither done nor refused as they should be."""
    return sum(not (outcome.done or outcome.refused) for outcome in outcomes)


def growth(held: Sequence[Held]) -> tuple[Check, ...]:
    """Of the last quarter over the second: the first one warms up."""
    if not held:
        return ()
    early, late = _quarters(held)
    return (
        _at_most("growth of memory over the soak", round(late.memory / early.memory - 1, 3), MEMORY_GROWTH),
        _at_most("more open files after the soak", late.files - early.files, FILES_GROWTH),
        _at_most("more threads after the soak", late.threads - early.threads, THREADS_GROWTH),
    )


def soak_report(done: Soak, chunks: int) -> BenchReport:
    """Of a soak alone: a row for each minute."""
    bad = unclear(done.outcomes)
    return BenchReport(
        name="soak",
        size=f"{chunks} chunks, three tenants, {done.minutes:g} minutes at {done.rate:.1f} requests/s",
        checks=(
            *growth(done.held),
            Check(name=f"soak, {UNCLEAR}", value=bad, target="<= 0", holds=bad == 0),
        ),
        columns=("minute", "memory MiB", "open files", "threads", "p95 ms", "p50 ms", "answered", "refused"),
        rows=tuple(_minutes(done)),
        more=(quarters_table(done.held, done.minutes), statuses(done.outcomes)),
    )


def _minutes(done: Soak) -> Iterator[tuple[str, ...]]:
    def minute_of(one: Held | Outcome) -> int:
        return int((one.at - done.begin) / _MINUTE_S)

    for minute in range(max(map(minute_of, done.held), default=-1) + 1):
        held = [one for one in done.held if minute_of(one) == minute]
        outcomes = [one for one in done.outcomes if minute_of(one) == minute]
        # The last seconds are no minute.
        if not held or not any(one.done for one in outcomes):
            continue
        middle = _median(held)
        yield (
            str(minute + 1),
            f"{middle.memory / MIB:.1f}",
            str(middle.files),
            str(middle.threads),
            f"{quantile_ms(outcomes, 0.95):.0f}",
            f"{quantile_ms(outcomes, 0.5):.0f}",
            str(sum(one.done for one in outcomes)),
            str(sum(one.refused for one in outcomes)),
        )


def quarters_table(held: Sequence[Held], minutes: float) -> Table:
    """Medians of the two quarters that are compared."""
    columns = ("quarter", "memory MiB", "open files", "threads")
    if not held:
        return Table(title="Soak: not run", columns=columns, rows=())
    rows = [
        (name, f"{one.memory / MIB:.1f}", str(one.files), str(one.threads))
        for name, one in zip(("second", "last"), _quarters(held), strict=True)
    ]
    return Table(title=f"Soak of {minutes:g} minutes, medians", columns=columns, rows=tuple(rows))


def statuses(outcomes: Sequence[Outcome]) -> Table:
    """How many of each kind of request were answered how."""
    counted: dict[tuple[str, int], int] = {}
    for outcome in outcomes:
        counted[outcome.kind, outcome.status] = counted.get((outcome.kind, outcome.status), 0) + 1
    rows = tuple((kind, str(status), str(count)) for (kind, status), count in sorted(counted.items()))
    return Table(title="Answers (0: no answer)", columns=("request", "status", "count"), rows=rows)


def _quarters(held: Sequence[Held]) -> tuple[Held, Held]:
    size = max(1, len(held) // 4)
    second, last = held[size : 2 * size] or held, held[-size:]
    return _median(second), _median(last)


def _median(held: Sequence[Held]) -> Held:
    memory, files, threads = (
        int(statistics.median(values))
        for values in zip(*((one.memory, one.files, one.threads) for one in held), strict=True)
    )
    return Held(memory, files, threads)


def _at_most(name: str, value: float, target: float) -> Check:
    return Check(name=name, value=value, target=f"<= {target:g}", holds=value <= target)
