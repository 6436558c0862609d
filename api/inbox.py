"""Where uploads go: into the queue of the documents index, and to a worker of this process where it has one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from typing import Any, Final

from ingest.documents import DocumentOutcome, RawDocument
from ingest.pipeline import Ingestor
from ingest.queue import Queue
from ingest.service import work_queue
from search_config.errors import MafteachError, NotFound, SourceGone
from search_config.records import DocumentRecord, content_hash

# How long ending waits for the documents under way; what is not finished is left to the next worker.
CLOSE_S: Final = 10.0
# How long a worker rests that the engine refused something of.
REST_S: Final = 5.0

log = logging.getLogger(__name__)


class Inbox:
    """The queue as the routes use it, and a worker for it on a thread of this process."""

    def __init__(self, queue: Queue, ingestor: Ingestor | None) -> None:
        """Make one.

        Args:
            queue: of all tenants.
            ingestor: works on what waits; None leaves that to other processes.
        """
        self._queue = queue
        self._ingestor = ingestor
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._users = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to work, where this process works on documents; applications that share an inbox share its worker."""
        with self._lock:
            self._users += 1
            if self._users == 1 and self._ingestor is not None:
                self._ends.clear()
                self._thread = threading.Thread(target=self._run, args=(self._ingestor,), name="worker", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End with the last application, after the documents in hand."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._thread is not None:
                self._ends.set()
                self._thread.join(CLOSE_S)
                self._thread = None

    def accept(self, raw: RawDocument) -> DocumentRecord:
        """Keep a document and let it wait; gives its row, which is `queued`.

        Raises:
            as `Queue.enqueue`.
        """
        return self._queue.enqueue(raw)

    def retry(self, tenant: str, document_id: str, *, groups: Collection[str]) -> DocumentRecord:
        """Let a document wait again that failed.

        Raises:
            NotFound, StateConflict
        """
        return self._queue.retry(tenant, document_id, groups=groups)

    def release(
        self,
        tenant: str,
        document_id: str,
        *,
        groups: Collection[str],
        corrections: Mapping[str, Any] | None = None,
    ) -> DocumentRecord:
        """Let a quarantined document in, with the fields that a person corrected.

        Raises:
            NotFound, StateConflict
        """
        return self._queue.release(tenant, document_id, groups=groups, corrections=corrections)

    def original(self, record: DocumentRecord) -> bytes:
        """The bytes of a document as they were sent.

        Raises:
            NotFound: they were not kept, or are not there any more, or another file is in their place.
        """
        missing = NotFound(
            "The file of this document is not there.", where=record.document_id, remedy="Its text may be."
        )
        try:
            data = self._queue.load(record).data
        except SourceGone as error:
            raise missing from error
        # A file that was ingested where it lay may be another one by now; that one nobody sent.
        if record.request is None or record.request.content_hash != content_hash(data):
            raise missing
        return data

    def _run(self, ingestor: Ingestor) -> None:
        while not self._ends.is_set():
            try:
                work_queue(ingestor, self._queue, self._ends, once=False, on_outcome=_told)
            except MafteachError:
                log.exception("the worker rests")
                self._ends.wait(REST_S)


def _told(outcome: DocumentOutcome) -> None:
    log.info("document", extra={"document_id": outcome.document_id, "state": str(outcome.state), "code": outcome.code})
