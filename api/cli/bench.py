"""`mafteach bench NAME|all`: measures this machine against the targets of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli.failures import Exit
from api.cli.output import print_line, print_table, write_json
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from evaluation.benchmark.report import BenchReport
    from search_config.settings import Settings

Benchmark = Callable[["Settings", bool], "BenchReport"]
ALL: Final = "all"
FAULTS: Final = "faults"
MUTATE: Final = "mutate"


def _embed(settings: Settings, quick: bool) -> BenchReport:
    from evaluation.benchmark import embed

    return embed.run(settings, quick=quick)


def _rerank(settings: Settings, quick: bool) -> BenchReport:
    from api.cli.context import Runtime
    from api.cli.output import say
    from evaluation.benchmark import rerank

    runtime = Runtime(settings, say)
    try:
        return rerank.run(settings, runtime.engine, quick=quick)
    finally:
        runtime.close()


def _faults(
    settings: Settings, quick: bool, *, seed: int = 1, documents: int | None = None, kills: int | None = None
) -> BenchReport:
    from evaluation.benchmark import faults

    return faults.run(settings, quick=quick, seed=seed, documents=documents, kills=kills)


def _mutate(settings: Settings, quick: bool, *, seed: int = 1, files: int | None = None) -> BenchReport:
    from evaluation.benchmark import mutate

    return mutate.run(settings, quick=quick, seed=seed, files=files)


def _search(settings: Settings, quick: bool) -> BenchReport:
    from api.cli.bench_service import serve
    from api.cli.context import Runtime
    from api.cli.output import say
    from evaluation.benchmark import search

    runtime = Runtime(settings, say)
    try:
        own = settings.model_copy(update={"opensearch_url": runtime.engine.url})
        return search.run(own, runtime.engine, serve, quick=quick)
    finally:
        runtime.close()


# A benchmark is registered here and nowhere else; each imports its module when it runs.
BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "embed": _embed,
    "rerank": _rerank,
    "search": _search,
    FAULTS: _faults,
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
    seed: Annotated[int, typer.Option("--seed", help=f"{FAULTS}, {MUTATE}: repeats the same run.")] = 1,
    documents: Annotated[int | None, typer.Option("--documents", min=1, help=f"{FAULTS}: how many.")] = None,
    kills: Annotated[int | None, typer.Option("--kills", min=0, help=f"{FAULTS}: how many.")] = None,
    files: Annotated[int | None, typer.Option("--files", min=1, help=f"{MUTATE}: how many damaged files.")] = None,
) -> None:
    """Measure, and compare with the targets. Exits 1 where a target is missed."""
    from search_config.settings import load_settings

    if name != ALL and name not in BENCHMARKS:
        raise InvalidRequest(
            "There is no such benchmark.", where=name[:80], remedy=f"Benchmarks: {', '.join((*BENCHMARKS, ALL))}."
        )
    settings = load_settings()
    faults = partial(_faults, seed=seed, documents=documents, kills=kills)
    mutate = partial(_mutate, seed=seed, files=files)
    known: dict[str, Benchmark] = {**BENCHMARKS, FAULTS: faults, MUTATE: mutate}
    wanted = known if name == ALL else {name: known[name]}
    reports = [run(settings, quick) for run in wanted.values()]
    checks = [check for report in reports for check in report.checks]
    if json_file is not None:
        write_json(json_file, {"checks": [check.model_dump(mode="json") for check in checks]})
    for report in reports:
        if report.rows:
            print_table(report.columns, report.rows)
            print_line()
    words = {True: "yes", False: "NO", None: "-"}
    print_table(
        ("check", "value", "target", "holds"),
        [(one.name, "-" if one.value is None else f"{one.value:g}", one.target, words[one.holds]) for one in checks],
    )
    if any(check.holds is False for check in checks):
        raise typer.Exit(Exit.FAILED)
