"""`mafteach ingest`: files and folders become searchable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, clean, print_json, print_line, print_table

if TYPE_CHECKING:
    from ingest.worker import IngestReport, MakePool, OnEvent, ProgressEvent

# More processes than any machine of one node has cores for; each holds a model of its own.
MAX_WORKERS: Final = 128

MS_PER_S: Final = 1000.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach ingest examples/documents --tenant demo")(ingest)


def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.")],
    tenant: Annotated[
        str, typer.Option("--tenant", "-t", metavar="TENANT", help="The tenant whose documents these become.")
    ],
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, max=MAX_WORKERS, help="Processes that share the work.")
    ] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Make files and folders searchable for a tenant; what did not change is left alone.

    A bad file is listed with its reason and the rest goes on; then the exit status is 1. A run that ends early leaves
    the rest queued: the same command, or `mafteach worker`, goes on from there.
    """
    from ingest.files import find_files
    from ingest.worker import ingest_paths
    from search_config.records import tenant_id

    # Slips are told before a node is started for them.
    tenant_id(tenant)
    find_files(paths)
    with opened() as runtime:
        runtime.install()
        with _progress() as on_event:
            pool = None if workers == 1 else _pool(runtime, workers)
            report = ingest_paths(runtime.ingestor, paths, tenant=tenant, on_event=on_event, pool=pool)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report)
    if report.failed:
        raise typer.Exit(Exit.FAILED)


def _pool(runtime: Runtime, workers: int) -> MakePool:
    from ingest.processes import Pool

    return lambda describe: Pool(runtime.settings, runtime.engine.url, describe, workers)


@contextmanager
def _progress() -> Iterator[OnEvent | None]:
    """A bar with counts and rate on standard error, where someone looks at it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    documents, counts = MofNCompleteColumn(), TextColumn("documents, {task.fields[counts]}", markup=False)
    columns = (SpinnerColumn(), BarColumn(), documents, counts, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None, counts="reading")

        def show(event: ProgressEvent) -> None:
            words = f"{event.chunks} passages, {event.chunks_per_second:.1f}/s" if event.chunks else "reading"
            failed = f", {event.failed} failed" if event.failed else ""
            progress.update(task, completed=event.done, total=event.total or event.done, counts=words + failed)

        yield show


def _rates(report: IngestReport) -> Iterator[str]:
    """What one process does a second at each stage."""
    stages = report.stages
    for stage, count, unit, spent in (
        ("reading", report.ready, "documents", stages.extract_ms),
        ("cutting", report.chunks, "passages", stages.chunk_ms),
        ("embedding", report.chunks, "passages", stages.embed_ms),
        ("indexing", report.chunks, "passages", stages.index_ms),
    ):
        if spent:
            yield f"{stage} {MS_PER_S * count / spent:,.0f} {unit}/s"


def _print(report: IngestReport) -> None:
    rate = report.chunks / report.seconds if report.seconds else 0.0
    waiting = sum(one.state == "quarantined" for one in report.failed)
    quarantined = f"{waiting} quarantined, " if waiting else ""
    print_line(
        f"{report.documents} documents: {report.ready} ingested, {report.unchanged} unchanged, {quarantined}"
        f"{len(report.failed) - waiting} failed; {report.chunks} passages in {report.seconds:.1f} s ({rate:.1f}/s)"
    )
    if report.ready:
        print_line(" · ".join(_rates(report)))
    for outcome in report.noted:
        print_line(f"note: {clean(outcome.name)}: {clean(' '.join(outcome.report))}")
    if report.failed:
        rows = [(one.source, one.state.value, one.code, one.reason) for one in report.failed]
        print_table(("not ready", "state", "code", "reason"), rows)
