"""A document goes, and leaves nothing: first out of sight, then its chunks, its uploads, and its row last."""

from __future__ import annotations

from typing import Final

from ingest import rows
from ingest.chunk_store import ChunkStore
from ingest.fields.resolve import Superseding
from ingest.lease import Watch, Worker
from ingest.ledger import Change, Ledger, Mark
from ingest.spool import Spool
from search_config import fields
from search_config.errors import NotFound, StateConflict
from search_config.records import DocumentState

# Each is lost only to a worker that moves the same document on; that one loses the next time.
MARK_ATTEMPTS: Final = 20


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
            changed = self._mark(document_id, mark)
            if changed is not None:
                self.finish(tenant, document_id, changed)

    def _begin(self, tenant: str, document_id: str) -> Mark:
        for _ in range(MARK_ATTEMPTS):
            stored = self._ledger.read(tenant, [document_id]).get(document_id)
            if stored is None:
                raise NotFound(
                    "There is no such document.", where=document_id, remedy="`mafteach documents list` shows their ids."
                )
            lease = stored.record.lease
            others = [] if lease is None or lease.owner == self._worker.id else [lease.owner]
            if stored.record.state is DocumentState.DELETING and others and not self._watch.dead(others):
                break
            mark = self._mark(document_id, stored.mark)
            if mark is not None:
                return mark
        raise StateConflict(
            "Another process deletes this document at this moment.",
            where=document_id,
            remedy="Nothing needs to be done; should that process have died, repeat this in a minute.",
        )

    def _mark(self, document_id: str, mark: Mark) -> Mark | None:
        """Take the document out of readers' sight and from every worker; None where another writer was faster."""
        part = {
            **rows.progress(DocumentState.DELETING),
            fields.LEASE: self._worker.lease().model_dump(mode="json"),
            fields.CONTENT_HASH: None,
        }
        return self._ledger.write([Change(document_id, part, mark)], visible=True).marks.get(document_id)
