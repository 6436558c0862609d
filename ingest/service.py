"""The long-running worker: takes what waits, of all tenants, until it is asked to stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from ingest.documents import DocumentOutcome, RawDocument
from ingest.pipeline import Ingestor
from ingest.queue import Queue, described
from search_config.errors import DocumentError, EngineError, IndexClosing, ModelError, NotFound, StateConflict
from search_config.records import DocumentRecord, DocumentState

log = logging.getLogger(__name__)

# Documents taken at once: few enough that others find some too, enough to embed texts of like length together.
TAKE_DOCUMENTS: Final = 16
TAKE_BYTES: Final = 2_000_000
# Seconds between two looks at an empty queue.
IDLE_S: Final = 1.0
# Seconds after which an engine or model that went away is asked again.
RECOVER_S: Final = 2.0

OnOutcome = Callable[[DocumentOutcome], None]


def work_queue(ingestor: Ingestor, queue: Queue, stop: threading.Event, *, once: bool, on_outcome: OnOutcome) -> None:
    """Work on what waits until `stop` is set; the documents in hand are finished first.

    An engine or a model that goes away is waited for: the documents in hand stay this worker's.

    Args:
        once: end when nothing waits any more.
        on_outcome: told what became of each document.
    """
    with ingestor.worker.working():
        while not stop.is_set():
            try:
                found = queue.waiting(TAKE_DOCUMENTS)
                done = take(ingestor, queue, found, on_outcome)
            except (EngineError, ModelError, IndexClosing) as error:
                if once:
                    raise
                log.warning("The worker waits: %s", error)
                stop.wait(RECOVER_S)
                continue
            if not done:
                if once and not found:
                    return
                stop.wait(IDLE_S)


def take(
    ingestor: Ingestor, queue: Queue, records: Sequence[DocumentRecord], on_outcome: OnOutcome, *, wait: bool = False
) -> int:
    """Work on documents that wait; gives how many were finished here. Others have what is missing.

    Args:
        records: documents whose bytes can be had are worked on in batches; for the others that is their outcome.
        on_outcome: told what became of each that was finished.
        wait: whether to wait for those that another worker has.

    Raises:
        EngineError, EngineRejected, ModelError
    """
    done = 0
    batch: list[RawDocument] = []
    size = 0

    def send() -> None:
        nonlocal done, size
        for outcome in ingestor.ingest(batch, wait=wait) if batch else ():
            if outcome.state in (DocumentState.READY, DocumentState.FAILED, DocumentState.QUARANTINED):
                done += 1
                on_outcome(outcome)
        batch.clear()
        size = 0

    for record in records:
        if record.state is DocumentState.DELETING:
            done += _finish_deletion(ingestor, record)
            continue
        try:
            raw = queue.load(record)
        except DocumentError as error:
            on_outcome(ingestor.refuse(described(record), error))
            done += 1
            continue
        if size + len(raw.data) > TAKE_BYTES or len(batch) >= TAKE_DOCUMENTS:
            send()
        batch.append(raw)
        size += len(raw.data)
    send()
    return done


def _finish_deletion(ingestor: Ingestor, record: DocumentRecord) -> int:
    try:
        ingestor.registry.delete(record.tenant, record.document_id)
    except (NotFound, StateConflict):
        return 0
    log.info("A deletion that was interrupted is finished: %s", record.document_id)
    return 1
