"""`mafteach ingest`: files and folders become searchable."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, clean, print_json, print_line, print_table
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from ingest.worker import IngestReport, MakePool, OnEvent, ProgressEvent

# More processes than any machine of one node has cores for; each holds a model of its own.
MAX_WORKERS: Final = 128
# What Ray takes for the address of a cluster, and a word for none.
RAY_ADDRESS: Final = re.compile(r"local|auto|ray://\S+|[\w.-]+:\d{1,5}")

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
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and follow what comes, changes, moves and goes in one folder.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Share the work by Ray Data: on this machine, or on the cluster at ADDRESS (extra `ray`).",
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make files and folders searchable for a tenant; what did not change is left alone.

    A bad file is listed with its reason and the rest goes on; then the exit status is 1. A run that ends early leaves
    the rest queued: the same command, or `mafteach worker`, goes on from there.

    With --watch it stays until it is stopped (Ctrl-C, or SIGTERM) and prints a line for each event. Documents whose
    file is gone are deleted; where a share is not mounted, or the folder has lost all its files, it pauses instead.
    """
    from ingest.files import find_files
    from ingest.worker import ingest_paths
    from search_config.records import tenant_id

    # Slips are told before a node is started for them.
    tenant_id(tenant)
    if watch:
        # Its folder may be missing: a share that is not mounted yet.
        _watch(paths, tenant, workers, ray, as_json=as_json)
        return
    find_files(paths)
    with opened() as runtime:
        runtime.install()
        with _progress() as on_event:
            pool = None if workers == 1 and ray is None else _pool(runtime, workers, ray)
            report = ingest_paths(runtime.ingestor, paths, tenant=tenant, on_event=on_event, pool=pool)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report)
    if report.failed:
        raise typer.Exit(Exit.FAILED)


def _watch(paths: list[Path], tenant: str, workers: int, ray: str | None, *, as_json: bool) -> None:
    from ingest.watch import FolderWatch, WatchEvent

    if len(paths) != 1 or workers != 1 or ray is not None:
        raise InvalidRequest(
            "--watch follows one folder, in one process.", remedy="Start the command once for each folder."
        )

    def tell(event: WatchEvent) -> None:
        if as_json:
            print_json(asdict(event))
        else:
            print_line(f"{event.kind}\t{clean(event.path)}\t{clean(event.detail)}")
        sys.stdout.flush()

    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    with opened() as runtime:
        runtime.install()
        follow = FolderWatch(runtime.ingestor, runtime.settings, paths[0], tenant=tenant, on_event=tell)
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            follow.run(stop)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def with_ray_address(arguments: Sequence[str]) -> list[str]:
    """A command line where `--ray` without an address says that it is this machine: what follows it is no address."""
    whole: list[str] = []
    for place, word in enumerate(arguments):
        whole.append(word)
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if word == "--ray" and not RAY_ADDRESS.fullmatch(following):
            whole.append("local")
    return whole


def _pool(runtime: Runtime, workers: int, ray: str | None) -> MakePool:
    if ray is not None:
        from ingest.ray_pool import RayPool

        return lambda describe: RayPool(runtime.settings, runtime.engine.url, describe, address=ray, workers=workers)
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
