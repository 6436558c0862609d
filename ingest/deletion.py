"""A document goes, and leaves nothing: first out of sight, then its chunks, its uploads, and its row last.

A worker that has the document learns of it at its next write of the row. One that is writing chunks at that moment
writes some more of them before, and takes them back then: its lease stays on the row until it has, so that whoever
deletes looks for chunks after it and not before. Should it die, its lease ends; and whoever deletes waits for a while
only.
"""

from __future__ import annotations

import time
from typing import Final

from ingest import rows
from ingest.chunk_store import ChunkStore
from ingest.fields.resolve import Superseding
from ingest.lease import Watch, Worker
from ingest.ledger import Change, Ledger, Mark
from ingest.spool import Spool
from search_config import fields
from search_config.errors import NotFound, StateConflict
from search_config.records import DocumentState, Lease

# Each is lost only to a worker that moves the same document on; that one loses the next time.
MARK_ATTEMPTS: Final = 20
# States in which a lease says that its worker changes chunks at this moment.
CHANGING: Final = frozenset({DocumentState.INDEXING, DocumentState.DELETING})
# How long a deletion waits for a worker that writes the document's chunks, and between two looks: a batch is written in
# less than a second; beyond this, an engine hangs.
WRITER_S: Final = 20.0
LOOK_S: Final = 0.05


class Deleter:
    """Deletes documents, and finishes deletions that were interrupted."""

    def __init__(
        self,
        ledger: Ledger,
        store: ChunkStore,
        spool: Spool,
        worker: Worker,
        watch: Watch,
        superseding: Superseding,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._spool = spool
        self._worker = worker
        self._watch = watch
        self._superseding = superseding

    def delete(self, tenant: str, document_id: str) -> None:
        """Delete a document. Whoever works on it loses it; a reader sees all of it, or nothing.

        Raises:
            NotFound: this tenant has no such document.
            StateConflict: another process deletes it at this moment.
            EngineError, EngineRejected: what was begun is finished by the next call, or by a worker.
        """
        with self._worker.working():
            mark = self._begin(tenant, document_id)
            if mark is not None:
                self.finish(tenant, document_id, mark)

    def finish(self, tenant: str, document_id: str, mark: Mark) -> None:
        """Delete all that a document has; its row, if it is still the one of `mark`, last."""
        # What it replaced is in force again.
        self._superseding.clear(tenant, document_id)
        self._store.delete_document(tenant, document_id)
        self._spool.drop(document_id)
        self._ledger.write([Change(document_id, None, mark)], visible=True)

    def take_over(self, tenant: str, document_id: str, mark: Mark) -> None:
        """Finish the deletion that another process began and did not end; where a third one does, leave it."""
        with self._worker.working():
            changed = self._mark(document_id, mark, self._worker.lease())
            if changed is not None:
                self.finish(tenant, document_id, changed)

    def _begin(self, tenant: str, document_id: str) -> Mark | None:
        """Take the document; None where it is gone meanwhile."""
        for _ in range(MARK_ATTEMPTS):
            stored = self._ledger.read(tenant, [document_id]).get(document_id)
            if stored is None:
                raise NotFound(
                    "There is no such document.", where=document_id, remedy="`mafteach documents list` shows their ids."
                )
            state, lease = stored.record.state, stored.record.lease
            writer = lease if state in CHANGING and self._is_anothers(lease) else None
            if writer is not None and state is DocumentState.DELETING:
                break
            mark = self._mark(document_id, stored.mark, writer or self._worker.lease())
            if mark is not None:
                # Out of sight at once; its chunks are looked for when the worker has let it go.
                return mark if writer is None else self._after_writer(tenant, document_id)
        raise StateConflict(
            "Another process deletes this document at this moment.",
            where=document_id,
            remedy="Nothing needs to be done; should that process have died, repeat this in a minute.",
        )

    def _after_writer(self, tenant: str, document_id: str) -> Mark | None:
        """Take a document that is out of sight when the worker that wrote it has let it go, has died, or takes too
        long; None where somebody else has finished its deletion, or is about to."""
        ends_at = time.monotonic() + WRITER_S
        while True:
            stored = self._ledger.read(tenant, [document_id]).get(document_id)
            if stored is None or stored.record.state is not DocumentState.DELETING:
                return None
            if time.monotonic() > ends_at or not self._is_anothers(stored.record.lease):
                return self._mark(document_id, stored.mark, self._worker.lease())
            time.sleep(LOOK_S)

    def _is_anothers(self, lease: Lease | None) -> bool:
        """Whether a lease is that of another worker that lives."""
        return lease is not None and lease.owner != self._worker.id and not self._watch.dead([lease.owner])

    def _mark(self, document_id: str, mark: Mark, lease: Lease) -> Mark | None:
        """Take the document out of readers' sight and from every worker; None where another writer was faster."""
        part = {
            **rows.progress(DocumentState.DELETING),
            fields.LEASE: lease.model_dump(mode="json"),
            fields.CONTENT_HASH: None,
        }
        return self._ledger.write([Change(document_id, part, mark)], visible=True).marks.get(document_id)
