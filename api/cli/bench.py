"""`mafteach bench NAME|all`: measures this machine against the targets of the documentation."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli.failures import Exit
from api.cli.output import print_line, print_table, write_json
from search_config.errors import InvalidRequest, MafteachError

if TYPE_CHECKING:
    from evaluation.benchmark.report import BenchReport, Check
    from search_config.client import Engine
    from search_config.settings import Settings

Benchmark = Callable[["Settings", bool], "BenchReport"]
ALL: Final = "all"
FAULTS: Final = "faults"
MUTATE: Final = "mutate"
INGEST: Final = "ingest"
PEERS: Final = "peers"
SEARCH: Final = "search"
SCALE: Final = "scale"
LOAD: Final = "load"
WORKERS: Final = "workers"


def _embed(settings: Settings, quick: bool) -> BenchReport:
    from evaluation.benchmark import embed

    return embed.run(settings, quick=quick)


def _rerank(settings: Settings, quick: bool) -> BenchReport:
    from evaluation.benchmark import rerank

    with _engine(settings) as engine:
        return rerank.run(settings, engine, quick=quick)


def _faults(
    settings: Settings, quick: bool, *, seed: int = 1, documents: int | None = None, kills: int | None = None
) -> BenchReport:
    from api.cli.output import say
    from evaluation.benchmark import faults

    return faults.run(settings, quick=quick, seed=seed, documents=documents, kills=kills, say=say)


def _mutate(settings: Settings, quick: bool, *, seed: int = 1, files: int | None = None) -> BenchReport:
    from evaluation.benchmark import mutate

    return mutate.run(settings, quick=quick, seed=seed, files=files)


def _search(settings: Settings, quick: bool, *, seed: int = 1, chunks: int | None = None) -> BenchReport:
    from api.cli.bench_service import serve
    from evaluation.benchmark import search

    with _engine(settings) as engine:
        own = settings.model_copy(update={"opensearch_url": engine.url})
        return search.run(own, engine, serve, quick=quick, seed=seed, chunks=chunks)


def _ingest(settings: Settings, quick: bool, *, seed: int = 1, chunks: int | None = None) -> BenchReport:
    from evaluation.benchmark import ingest

    with _engine(settings) as engine:
        return ingest.run(settings, engine, quick=quick, seed=seed, rows=chunks)


def _workers(settings: Settings, quick: bool, *, seed: int = 1, documents: int | None = None) -> BenchReport:
    from api.cli.output import say
    from evaluation.benchmark import workers

    with _engine(settings) as engine:
        return workers.run(settings, engine, quick=quick, seed=seed, documents=documents, say=say)


def _peers(
    settings: Settings, quick: bool, *, seed: int = 1, chunks: int | None = None, folders: Sequence[Path] = ()
) -> BenchReport:
    from api.cli.output import say
    from evaluation.benchmark import peers

    with _engine(settings) as engine:
        return peers.run(settings, engine, quick=quick, seed=seed, chunks=chunks, folders=folders, say=say)


def _cold(settings: Settings, quick: bool) -> BenchReport:
    from evaluation.benchmark import cold

    with _engine(settings) as engine:
        return cold.run(settings, engine, quick=quick)


def _scale(
    settings: Settings, quick: bool, *, seed: int = 1, sizes: str | None = None, out: Path | None = None
) -> BenchReport:
    from api.cli.output import say
    from evaluation.benchmark import scale

    return scale.run(settings, quick=quick, sizes=_sizes(sizes), seed=seed, out=out, say=say)


def _sizes(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InvalidRequest("These are no sizes.", where="--sizes", remedy="For example: --sizes 10000,100000,200000")
    return tuple(int(part) for part in parts)


def _cluster(settings: Settings, quick: bool) -> BenchReport:
    from api.cli.output import say
    from evaluation.benchmark import cluster

    return cluster.run(settings, quick=quick, say=say)


def _load(
    settings: Settings, quick: bool, *, seed: int = 1, minutes: float | None = None, soak: bool = False
) -> BenchReport:
    from api.cli.bench_load_service import serve_tenants
    from api.cli.output import say
    from evaluation.benchmark import load

    with _engine(settings) as engine:
        own = settings.model_copy(update={"opensearch_url": engine.url})
        return load.run(own, engine, serve_tenants, quick=quick, seed=seed, minutes=minutes, soak_alone=soak, say=say)


@contextmanager
def _engine(settings: Settings) -> Iterator[Engine]:
    from api.cli.context import Runtime
    from api.cli.output import say

    runtime = Runtime(settings, say)
    try:
        yield runtime.engine
    finally:
        runtime.close()


# A benchmark is registered here and nowhere else; each imports its module when it runs. In the order of `all`: where a
# machine is slow, the last ones are left out.
BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    SEARCH: _search,
    PEERS: _peers,
    "rerank": _rerank,
    INGEST: _ingest,
    SCALE: _scale,
    "cold": _cold,
    FAULTS: _faults,
    "cluster": _cluster,
    LOAD: _load,
    "embed": _embed,
    WORKERS: _workers,
    MUTATE: _mutate,
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach bench embed --quick --json embed.json")(bench)


def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"{', '.join(BENCHMARKS)}, or {ALL}.")],
    quick: Annotated[bool, typer.Option("--quick", help="A shorter run, whose figures are rougher.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the checks to this file, as JSON.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Keep the run here: JSON, tables and a plot of each.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="FILE", help="Compare with a kept --json file; exit 1 only where it is worse."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Repeats the same run: documents, questions, damage.")] = 1,
    chunks: Annotated[
        int | None, typer.Option("--chunks", min=1000, help=f"{SEARCH}, {INGEST}, {PEERS}: how many, in thousands.")
    ] = None,
    folders: Annotated[
        list[Path] | None, typer.Option("--folder", metavar="DIR", help=f"{PEERS}: a data set beside examples/.")
    ] = None,
    documents: Annotated[int | None, typer.Option("--documents", min=1, help=f"{FAULTS}, {WORKERS}: how many.")] = None,
    kills: Annotated[int | None, typer.Option("--kills", min=0, help=f"{FAULTS}: how many.")] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="N,N", help=f"{SCALE}: numbers of chunks, instead of its own.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0.1, help=f"{LOAD}: how long the soak takes.")
    ] = None,
    soak: Annotated[bool, typer.Option("--soak", help=f"{LOAD}: the soak alone.")] = False,
    files: Annotated[int | None, typer.Option("--files", min=1, help=f"{MUTATE}: how many damaged files.")] = None,
) -> None:
    """Measure, and compare with the targets. Exits 1 where a target is missed."""
    from search_config.settings import load_settings

    if name != ALL and name not in BENCHMARKS:
        raise InvalidRequest(
            "There is no such benchmark.", where=name[:80], remedy=f"Benchmarks: {', '.join((*BENCHMARKS, ALL))}."
        )
    from evaluation.benchmark.regression import load_kept

    # Before anything is measured.
    kept = None if against is None else load_kept(against)
    settings = load_settings()
    known: dict[str, Benchmark] = {
        **BENCHMARKS,
        FAULTS: partial(_faults, seed=seed, documents=documents, kills=kills),
        WORKERS: partial(_workers, seed=seed, documents=documents),
        MUTATE: partial(_mutate, seed=seed, files=files),
        SEARCH: partial(_search, seed=seed, chunks=chunks),
        INGEST: partial(_ingest, seed=seed, chunks=chunks),
        SCALE: partial(_scale, seed=seed, sizes=sizes, out=out),
        LOAD: partial(_load, seed=seed, minutes=minutes, soak=soak),
        PEERS: partial(_peers, seed=seed, chunks=chunks, folders=tuple(folders or ())),
    }
    given: dict[str, object] = {
        "--chunks": chunks,
        "--folder": folders,
        "--documents": documents,
        "--kills": kills,
        "--sizes": sizes,
        "--minutes": minutes,
        "--soak": soak,
        "--files": files,
    }
    reports = _measured(settings, known if name == ALL else {name: known[name]}, quick=quick, whole=name == ALL)
    checks = [check for report in reports for check in report.checks]
    if json_file is not None:
        said = {report.name: report.size for report in reports if report.size}
        write_json(json_file, {"checks": [check.model_dump(mode="json") for check in checks], "sizes": said})
    for report in reports:
        _print(report)
        if out is not None:
            _keep(settings, report, out, _command(report.name if name == ALL else name, quick, seed, given), seed)
    words = {True: "yes", False: "NO", None: "-"}
    print_table(
        ("check", "value", "target", "holds"),
        [(one.name, "-" if one.value is None else f"{one.value:g}", one.target, words[one.holds]) for one in checks],
    )
    failed = any(check.holds is False for check in checks) if kept is None else _is_worse(kept, checks)
    if failed:
        raise typer.Exit(Exit.FAILED)


def _measured(settings: Settings, wanted: Mapping[str, Benchmark], *, quick: bool, whole: bool) -> list[BenchReport]:
    """The reports; in a run of all, one that cannot run here, or would end too late, is told and leaves its targets
    open."""
    from api.cli.output import say
    from evaluation.benchmark.all_run import ends_in_time
    from evaluation.benchmark.report import BenchReport
    from evaluation.benchmark.targets import TARGETS, not_run, open_rows

    reports: list[BenchReport] = []
    began = time.monotonic()
    for name, run in wanted.items():
        start = time.monotonic()
        if whole and quick and not ends_in_time(name, start - began, [one.name for one in reports]):
            say(f"{name} did not run: it would not end within a quarter of an hour.")
            reports.append(not_run(name))
            continue
        try:
            report = run(settings, quick)
        except MafteachError as error:
            if not whole:
                raise
            say(f"{name} did not run: {error}")
            report = not_run(name)
        # A part of a benchmark that needs what is not here.
        left = open_rows([name], report.checks) if whole else ()
        reports.append(report.model_copy(update={"checks": (*report.checks, *left)}))
        if whole:
            say(f"{name}: {time.monotonic() - start:.0f} s")
    others = list(dict.fromkeys(one.benchmark for one in TARGETS if one.benchmark not in wanted))
    if whole and others:
        reports.append(BenchReport(name="others", checks=open_rows(others, [])))
    return reports


def _command(name: str, quick: bool, seed: int, given: Mapping[str, object]) -> str:
    """What repeats a run: every option that changes what is measured, and the folder for what is kept."""
    words = ["mafteach", "bench", name, *(["--quick"] if quick else []), *(["--seed", str(seed)] if seed != 1 else [])]
    for option, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words += [option, f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join([*words, "--out", "FOLDER"])


def _print(report: BenchReport) -> None:
    if report.size:
        print_line(f"{report.name}: {report.size}")
    if report.rows:
        print_table(report.columns, report.rows)
        print_line()
    for table in report.more:
        print_line(table.title)
        print_table(table.columns, table.rows)
        print_line()


def _keep(settings: Settings, report: BenchReport, folder: Path, command: str, seed: int) -> None:
    from api.cli.output import say
    from evaluation.benchmark.keep import keep

    if not report.rows:
        return
    with _engine(settings) as engine:
        version = str(engine.request("GET", "/")["version"]["number"])
    for path in keep(report, folder, command=command, seed=seed, engine=version, load=os.getloadavg()[0]):
        say(f"Written: {path}")


def _is_worse(kept: Sequence[Check], checks: Sequence[Check]) -> bool:
    """Print both runs side by side."""
    from evaluation.benchmark.regression import compared

    rows = compared(kept, checks)
    shown = {True: "WORSE", False: "kept", None: "-"}
    print_line()
    print_table(
        ("check", "kept", "now", ""),
        [
            (row.name, *("-" if one is None else f"{one:g}" for one in (row.before, row.now)), shown[row.worse])
            for row in rows
        ],
    )
    return any(row.worse for row in rows)
