"""`mafteach worker`: works on what waits, until it is stopped."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, clean, print_json, print_line

if TYPE_CHECKING:
    from ingest.documents import DocumentOutcome


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach worker --once")(worker)


def worker(
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits any more.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Work on documents that wait, of all tenants, until it is stopped (Ctrl-C, or SIGTERM).

    Any number of workers on any number of machines share the work; what a worker leaves that dies, another one takes
    over. Asked to stop, it finishes the documents in its hands. With --once it exits 1 where a document failed.
    """
    from ingest.service import work_queue

    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    unready: list[DocumentOutcome] = []

    def tell(outcome: DocumentOutcome) -> None:
        if outcome.reason is not None:
            unready.append(outcome)
        if as_json:
            print_json(outcome.model_dump(mode="json"))
        else:
            print_line(f"{outcome.state}\t{outcome.document_id}\t{clean(outcome.name)}\t{clean(outcome.reason or '')}")
        sys.stdout.flush()

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # It writes a line for each request to the engine; failures are errors of ours, logged once.
    logging.getLogger("opensearch").setLevel(logging.ERROR)
    with opened() as runtime:
        runtime.install()
        ingestor = runtime.ingestor
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            work_queue(ingestor, ingestor.queue, stop, once=once, on_outcome=tell)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    if once and unready:
        raise typer.Exit(Exit.FAILED)
