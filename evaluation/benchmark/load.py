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

from evaluation.benchmark.corpus import GROUPS, LARGE, MEDIUM, PAGE, Corpus
from evaluation.benchmark.corpus_base import QUICK_BASE, load_base
from evaluation.benchmark.load_client import MS, Call, Clients, Kind, Outcome, quantile_ms
from evaluation.benchmark.load_soak import (
    UNCLEAR,
    Soak,
    growth,
    quarters_table,
    soak,
    soak_report,
    statuses,
    unclear,
)
from evaluation.benchmark.report import BenchReport, Check
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
TARGET_FAIR, TARGET_THROUGHPUT = 2.0, 0.8
PAST_KNEE: Final = "throughput past the knee over the best before"
RECOVERS: Final = "seconds until p95 is as before the overload"
FAIR: Final = "p95 of another tenant beside one at full blast, over alone"


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


def run(
    settings: Settings,
    engine: Engine,
    serve: Serve,
    *,
    quick: bool,
    seed: int = 1,
    minutes: float | None = None,
    soak_alone: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> BenchReport:
    """Run all four parts, or the soak alone.

    Args:
        serve: starts the service.
        minutes: of the soak, instead of 30 or of 1 in a quick run.
        soak_alone: leave the rising rates, the recovery and the tenant at full blast out.

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
            lasts = minutes if minutes is not None else QUICK_MINUTES if quick else MINUTES
            if soak_alone:
                return soak_report(bench.soak(lasts), chunks)
            return bench.report(rounds=QUICK_FAIR_ROUNDS if quick else FAIR_ROUNDS, minutes=lasts)


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
        calm = self._calm()
        steps = self._steps(MS / quantile_ms(calm, 0.5))
        recovery = self._recovery(quantile_ms(calm, 0.95), max(one.at - one.seconds for one in steps[-1].outcomes))
        fair = self._fairness(rounds)
        soaked = self.soak(minutes)
        every = [outcome for step in steps for outcome in step.outcomes] + list(soaked.outcomes)
        knee = max((step.throughput for step in steps if step.refused <= KNEE_REFUSED), default=0.0)
        past = min((step.throughput for step in steps if step.refused > KNEE_REFUSED), default=None)
        checks = (
            _at_most(UNCLEAR, unclear(every), 0),
            _at_least(PAST_KNEE, past and past / (knee or past), TARGET_THROUGHPUT),
            _at_most(RECOVERS, recovery, RECOVERY_S),
            _at_most(FAIR, statistics.median(fair), TARGET_FAIR),
            *growth(soaked.held),
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
            more=(quarters_table(soaked.held, minutes), statuses(every)),
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

    def _calm(self) -> list[Outcome]:
        self._alone(QUIET, CALM_S / 2)  # what is loaded at the first request is not measured
        return self._alone(QUIET, CALM_S)

    def soak(self, minutes: float) -> Soak:
        """Three tenants work at a modest rate."""
        done = soak(self._clients, self._calls(TENANTS, MIX, 200), pid=self._service.pid, minutes=minutes)
        self._say(f"Soaked for {minutes:g} minutes: {len(done.outcomes)} requests.")
        return done


def _at_most(name: str, value: float, target: float) -> Check:
    finite = None if value == float("inf") else value
    return Check(name=name, value=finite, target=f"<= {target:g}", holds=value <= target)


def _at_least(name: str, value: float | None, target: float) -> Check:
    shown = None if value is None else round(value, 2)
    return Check(name=name, value=shown, target=f">= {target:g}", holds=None if value is None else value >= target)
