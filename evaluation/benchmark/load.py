"""`mafteach bench load`: the service under more than it can do, for long, and under one tenant that wants it all.

Three tenants send searches, answers and uploads, at rising rates to the knee and past it: then it must refuse what is
too much (429 or 503, with `Retry-After`), do as much as before, and be as quick as before within seconds after. One
tenant at full blast must not slow another down to less than half its speed. A soak must not grow.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import psutil

from evaluation.benchmark.corpus import GROUPS, LARGE, MEDIUM, PAGE, Corpus
from evaluation.benchmark.corpus_base import QUICK_BASE, load_base
from evaluation.benchmark.load_client import Call, Clients, Kind, Outcome, quantile_ms
from evaluation.benchmark.report import BenchReport, Check, Table
from evaluation.benchmark.scale_index import Variant, grow
from evaluation.benchmark.temporary import temporary_index
from models.factory import load_embedder
from search_config.client import Engine
from search_config.settings import Settings

TENANTS: Final = (LARGE, f"{MEDIUM}-0", f"{MEDIUM}-1")
# A tenant and one that wants everything.
QUIET, LOUD = f"{MEDIUM}-0", LARGE
# Requests of ten: what people do.
MIX: Final[tuple[Kind, ...]] = ("search",) * 7 + ("answer",) * 2 + ("upload",)
# Sources of one tenant's uploads: a source again replaces its document, so that what waits stays bounded.
SOURCES: Final = 8
CHUNKS, QUICK_CHUNKS = 10_000, 2_000
MINUTES, QUICK_MINUTES = 30.0, 1.0

CALM_S, STEP_S = 8.0, 4.0
# Rates of the steps, of what one client alone is served; the last ones are far past any knee.
STEPS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
# More clients than the service has threads and places to wait.
MOST: Final = 160
# The knee: the highest rate at which no more than one in a hundred is refused.
KNEE_REFUSED: Final = 0.01
# As many as the bare loop of `bench search` has; the longest that they may go on.
BLAST_CLIENTS, BLAST_S = 16, 300.0
FAIR_S, FAIR_ROUNDS, QUICK_FAIR_ROUNDS = 6.0, 4, 2
RECOVERY_S, RECOVERED = 10.0, 1.1
# Requests whose p95 is compared with the earlier one.
WINDOW: Final = 10
_SAMPLE_S: Final = 1.0
TARGET_FAIR, TARGET_THROUGHPUT = 2.0, 0.8
# What may come and go by itself: a library's pool, a log that rotates, an arena of the allocator.
MEMORY_GROWTH, FILES_GROWTH, THREADS_GROWTH = 0.05, 8, 4


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its address, a key for each tenant, the process."""

    url: str
    keys: Mapping[str, str]
    pid: int


# Starts a service for tenants whose keys are of groups, and ends it.
Serve = Callable[[Settings, Sequence[str], Sequence[str]], AbstractContextManager[Service]]


@dataclass(frozen=True, slots=True)
class Step:
    """One rate."""

    rate: float
    outcomes: tuple[Outcome, ...]
    seconds: float

    @property
    def refused(self) -> float:
        """Share."""
        return sum(outcome.refused for outcome in self.outcomes) / len(self.outcomes)

    @property
    def throughput(self) -> float:
        """Answers a second."""
        return sum(outcome.done for outcome in self.outcomes) / self.seconds


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds at one moment."""

    memory: int
    files: int
    threads: int


def run(
    settings: Settings,
    engine: Engine,
    serve: Serve,
    *,
    quick: bool,
    seed: int = 1,
    minutes: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> BenchReport:
    """Run all four parts.

    Args:
        serve: starts the service.
        minutes: of the soak, instead of 30 or of 1 in a quick run.

    Raises:
        EngineError, ModelError, InvalidDataset
    """
    embedder = load_embedder(settings)
    corpus = Corpus(load_base(settings, embedder, count=QUICK_BASE, seed=seed), seed=seed)
    groups = tuple(group for group in GROUPS if group)
    with temporary_index(engine, settings, embedder.description) as (info, own):
        chunks = QUICK_CHUNKS if quick else CHUNKS
        grow(engine, info.index, corpus, info, 0, -(-chunks // PAGE) * PAGE, Variant("load"))
        engine.request("POST", f"/{info.index}/_refresh")
        with serve(own, TENANTS, groups) as service:
            bench = _Bench(service, corpus, chunks, say)
            return bench.report(
                rounds=QUICK_FAIR_ROUNDS if quick else FAIR_ROUNDS,
                minutes=minutes if minutes is not None else QUICK_MINUTES if quick else MINUTES,
            )


class _Bench:
    def __init__(self, service: Service, corpus: Corpus, chunks: int, say: Callable[[str], None]) -> None:
        self._chunks = chunks
        self._service = service
        self._clients = Clients(service.url, service.keys)
        self._questions = corpus.queries(500)
        self._say = say
        self._never = threading.Event()

    def report(self, *, rounds: int, minutes: float) -> BenchReport:
        """Run, and say what was found."""
        self._alone(QUIET, CALM_S / 2)  # what is loaded at the first request is not measured
        calm = self._alone(QUIET, CALM_S)
        steps = self._steps(1000 / quantile_ms(calm, 0.5))
        recovery = self._recovery(quantile_ms(calm, 0.95), max(one.at - one.seconds for one in steps[-1].outcomes))
        fair = self._fairness(rounds)
        held, soaked = self._soak(minutes)
        every = [outcome for step in steps for outcome in step.outcomes] + soaked
        knee = max((step.throughput for step in steps if step.refused <= KNEE_REFUSED), default=0.0)
        past = min((step.throughput for step in steps if step.refused > KNEE_REFUSED), default=None)
        checks = (
            _at_most("answers that are neither done nor refused with Retry-After", _bad(every), 0),
            _at_least(
                "throughput past the knee over the best before", past and past / (knee or past), TARGET_THROUGHPUT
            ),
            _at_most("seconds until p95 is as before the overload", recovery, RECOVERY_S),
            _at_most(
                "p95 of another tenant beside one at full blast, over alone", statistics.median(fair), TARGET_FAIR
            ),
            *_growth(held),
        )
        return BenchReport(
            name="load",
            size=f"{self._chunks} chunks, three tenants, soak of {minutes:g} minutes",
            checks=checks,
            columns=("requests/s offered", "answered/s", "refused", "p50 ms", "p95 ms"),
            rows=tuple(
                (
                    f"{step.rate:.1f}",
                    f"{step.throughput:.1f}",
                    f"{step.refused:.0%}",
                    f"{quantile_ms(step.outcomes, 0.5):.0f}",
                    f"{quantile_ms(step.outcomes, 0.95):.0f}",
                )
                for step in steps
            ),
            more=(_soak_table(held, minutes), _statuses(every)),
        )

    def _calls(self, tenants: Sequence[str], mix: Sequence[Kind], seed: int) -> Iterator[Call]:
        dice = np.random.default_rng(seed)
        for number in itertools.count():
            kind, tenant = mix[int(dice.integers(len(mix)))], tenants[int(dice.integers(len(tenants)))]
            question = self._questions[int(dice.integers(len(self._questions)))]
            if kind == "upload":
                source = f"load-{dice.integers(SOURCES)}"
                yield Call(kind, tenant, {"source": source, "name": "load.txt", "text": f"{question} ({number})"})
            else:
                yield Call(kind, tenant, {"question" if kind == "answer" else "query": question})

    def _alone(self, tenant: str, seconds: float) -> list[Outcome]:
        return self._clients.in_turn([self._calls([tenant], ("search",), 1)], self._never, seconds)

    def _steps(self, rate_of_one: float) -> list[Step]:
        steps = []
        for number, share in enumerate(STEPS):
            rate = share * rate_of_one
            begin = time.monotonic()
            outcomes = self._clients.at_rate(self._calls(TENANTS, MIX, number), rate, STEP_S, most=MOST)
            steps.append(Step(rate, tuple(outcomes), time.monotonic() - begin))
            self._say(f"{rate:.0f} requests/s: {steps[-1].throughput:.1f} answered, {steps[-1].refused:.0%} refused.")
        return steps

    def _recovery(self, before_ms: float, over: float) -> float:
        """Seconds after the overload (its last request was sent at `over`) at which a window of requests began whose
        p95 is as it was."""
        found = self._alone(QUIET, RECOVERY_S * 2)
        for first in range(len(found) - WINDOW + 1):
            window = found[first : first + WINDOW]
            if quantile_ms(window, 0.95) <= before_ms * RECOVERED:
                return round(max(0.0, window[0].at - window[0].seconds - over), 1)
        return float("inf")

    def _fairness(self, rounds: int) -> list[float]:
        """p95 of the quiet tenant beside the loud one over alone, in turns."""
        ratios = []
        for number in range(rounds):
            alone = quantile_ms(self._alone(QUIET, FAIR_S), 0.95)
            with self._blast():
                beside = quantile_ms(self._alone(QUIET, FAIR_S), 0.95)
            ratios.append(round(beside / alone, 2))
            self._say(f"Round {number + 1}: p95 {alone:.0f} ms alone, {beside:.0f} ms beside a tenant at full blast.")
        return ratios

    @contextmanager
    def _blast(self) -> Iterator[None]:
        """One tenant wants everything as long as the context lasts."""
        ends = threading.Event()
        calls = [self._calls([LOUD], ("search",), 100 + client) for client in range(BLAST_CLIENTS)]
        thread = threading.Thread(target=self._clients.in_turn, args=(calls, ends, BLAST_S), name="blast")
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join()

    def _soak(self, minutes: float) -> tuple[list[Held], list[Outcome]]:
        """What the process holds, once a second, while three tenants work."""
        process, held, ends = psutil.Process(self._service.pid), list[Held](), threading.Event()

        def sample() -> None:
            while not ends.wait(_SAMPLE_S):
                with process.oneshot():
                    held.append(Held(process.memory_info().rss, process.num_fds(), process.num_threads()))

        sampler = threading.Thread(target=sample, name="sampler")
        sampler.start()
        try:
            calls = [self._calls([tenant], MIX, 200 + place) for place, tenant in enumerate(TENANTS)]
            outcomes = self._clients.in_turn(calls, self._never, minutes * 60)
        finally:
            ends.set()
            sampler.join()
        self._say(f"Soaked for {minutes:g} minutes: {len(outcomes)} requests.")
        return held, outcomes


def _bad(outcomes: Sequence[Outcome]) -> int:
    return sum(not (outcome.done or outcome.refused) for outcome in outcomes)


def _quarters(held: Sequence[Held]) -> tuple[Held, Held]:
    """Medians of the second and of the last quarter: the first one warms up."""
    size = max(1, len(held) // 4)
    second, last = held[size : 2 * size] or held, held[-size:]
    return _median(second), _median(last)


def _median(held: Sequence[Held]) -> Held:
    return Held(
        *(int(statistics.median(getattr(one, name) for one in held)) for name in ("memory", "files", "threads"))
    )


def _growth(held: Sequence[Held]) -> tuple[Check, ...]:
    if not held:
        return ()
    early, late = _quarters(held)
    return (
        _at_most("growth of memory over the soak", round(late.memory / early.memory - 1, 3), MEMORY_GROWTH),
        _at_most("more open files after the soak", late.files - early.files, FILES_GROWTH),
        _at_most("more threads after the soak", late.threads - early.threads, THREADS_GROWTH),
    )


def _at_most(name: str, value: float, target: float) -> Check:
    finite = None if value == float("inf") else value
    return Check(name=name, value=finite, target=f"<= {target:g}", holds=value <= target)


def _at_least(name: str, value: float | None, target: float) -> Check:
    shown = None if value is None else round(value, 2)
    return Check(name=name, value=shown, target=f">= {target:g}", holds=None if value is None else value >= target)


def _soak_table(held: Sequence[Held], minutes: float) -> Table:
    columns = ("quarter", "memory MiB", "open files", "threads")
    if not held:
        return Table(title="Soak: not run", columns=columns, rows=())
    rows = [
        (name, f"{one.memory / 2**20:.0f}", str(one.files), str(one.threads))
        for name, one in zip(("second", "last"), _quarters(held), strict=True)
    ]
    return Table(title=f"Soak of {minutes:g} minutes, medians", columns=columns, rows=tuple(rows))


def _statuses(outcomes: Sequence[Outcome]) -> Table:
    counted: dict[tuple[str, int], int] = {}
    for outcome in outcomes:
        counted[outcome.kind, outcome.status] = counted.get((outcome.kind, outcome.status), 0) + 1
    rows = tuple((kind, str(status), str(count)) for (kind, status), count in sorted(counted.items()))
    return Table(title="Answers (0: no answer)", columns=("request", "status", "count"), rows=rows)
