"""A version becomes the one that is searched: new chunks, then the row that names them, then the old chunks go.

Readers show of each document the version that its row names (`query.published`), and the row changes in one write. What
an interrupted run leaves is therefore never seen, and the next run clears it away.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from ingest import rows
from ingest.chunk_store import ChunkStore
from ingest.claims import Claims
from ingest.fields.resolve import Superseding, names_of, resolve_references, superseded_ids
from ingest.lease import Worker
from ingest.ledger import Ledger
from ingest.spool import Spool
from ingest.work import MS, Work, by_tenant, share, stamp_of
from search_config.client import BulkItem, disk_full
from search_config.errors import EngineOverloaded, IndexingIncomplete
from search_config.records import DocumentRecord, DocumentState, Stamps


class Publisher:
    """Writes chunks, counts them, and publishes what is whole."""

    def __init__(
        self,
        store: ChunkStore,
        ledger: Ledger,
        claims: Claims,
        worker: Worker,
        spool: Spool,
        stamps: Stamps,
        superseding: Superseding,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._claims = claims
        self._worker = worker
        self._spool = spool
        self._stamps = stamps
        self._superseding = superseding

    def publish(self, works: Sequence[Work]) -> None:
        """Take works with vectors to the state ready. Those that do not get there have an error, or are lost.

        Raises:
            EngineOverloaded, EngineDiskFull: chunks were not taken for now; nothing of their documents is seen.
            EngineUnreachable, EngineRejected
        """
        started = time.perf_counter()
        # Visible before the first chunk is: a reader who meets one must find that its version is not published.
        self._claims.enter(works, DocumentState.INDEXING, visible=True)
        going = [work for work in works if work.going]
        if not going:
            return
        self._clear(going)
        self._write(going)
        self._count(going)
        fresh = [work for work in going if not work.published]
        replaced = [work for work in going if work.published]
        self._claims.write(
            fresh, lambda work: rows.published(work, self._stamps, DocumentState.READY, None), whole=True
        )
        if replaced:
            self._replace(replaced)
        self._take_back(going)
        self._relate([work for work in going if work.going])
        share(going, "index_ms", (time.perf_counter() - started) * MS)

    def _relate(self, works: Sequence[Work]) -> None:
        """Mark both sides of replacing, now that the rows of these works name their content."""
        read = [(work, work.read.extracted) for work in works]
        known = [(work, fields) for work, fields in read if fields is not None]
        if not known:
            return
        self._ledger.refresh()
        for work, fields in known:
            tenant = work.raw.tenant
            # Once more: what came in the same batch was not there yet when this one was read.
            replaced = superseded_ids(resolve_references(fields, self._superseding.lookup(tenant, own_id=work.id)))
            # Only a version that could be searched can have given marks.
            if replaced or work.published:
                self._superseding.mark(tenant, work.id, replaced)
            self._superseding.mark_replaced(tenant, work.id, names_of(fields, work.document.title))

    def mend(self, tenant: str, works: Sequence[Work]) -> None:
        """Set right the rows of works whose version is whole in the index already; what stands beside it goes."""
        self._store.refresh()
        self._store.delete_others(tenant, {work.id: (work.stamp,) for work in works})
        self._claims.write(works, rows.finished)

    def _clear(self, works: Sequence[Work]) -> None:
        """Delete what earlier attempts left: whatever is neither the published version nor the one being made."""
        begun = [work for work in works if work.begun and work.attempts > 1]
        if begun:
            self._store.refresh()
        for tenant, own in by_tenant(begun):
            self._store.delete_others(tenant, {work.id: _kept(work) for work in own})

    def _write(self, works: Sequence[Work]) -> None:
        now = datetime.now(UTC)
        items = iter(self._store.write(row for work in works for row in rows.chunk_rows(work, self._stamps, now)))
        later: list[BulkItem] = []
        for work in works:
            refused = [item for item in (next(items) for _ in work.chunks) if not item.ok]
            later += [item for item in refused if item.transient or item.disk_full]
            if refused:
                work.error = _incomplete(work, f"were refused: {refused[0].error}", len(refused))
        if later:
            for work in works:
                work.error = None
            if later[0].disk_full:
                raise disk_full(str(later[0].error), later[0].id)
            raise EngineOverloaded(
                f"OpenSearch is overloaded: {later[0].error}.", where=later[0].id, remedy="Try again later."
            )
        self._store.refresh()

    def _count(self, works: Sequence[Work]) -> None:
        """Count in the index what was written."""
        for tenant, own in by_tenant(works):
            counts = self._store.counts(tenant, {work.id: work.stamp for work in own})
            for work in own:
                work.indexed = counts[work.id]
                if work.error is None and work.indexed != len(work.chunks):
                    missing = len(work.chunks) - work.indexed
                    work.error = _incomplete(work, "are not in the index after they were written", missing)

    def _replace(self, works: Sequence[Work]) -> None:
        """Publish new versions, then delete the old ones, and count again."""
        lease = self._worker.lease()
        self._claims.write(
            works,
            lambda work: rows.published(work, self._stamps, DocumentState.INDEXING, lease),
            whole=True,
            visible=True,
        )
        for tenant, own in by_tenant([work for work in works if work.going]):
            self._store.delete_others(tenant, {work.id: (work.stamp,) for work in own})
            totals = self._store.totals(tenant, [work.id for work in own])
            for work in own:
                work.indexed = totals[work.id]
                if work.indexed != len(work.chunks):
                    work.error = IndexingIncomplete(
                        f"{work.indexed} chunks are in the index where {len(work.chunks)} belong.",
                        where=work.raw.name,
                        remedy="Another writer changes this index; stop it and retry the document.",
                    )
        self._claims.write(works, rows.finished)

    def _take_back(self, works: Sequence[Work]) -> None:
        """Delete the new chunks of works that failed, or that another writer took over in the middle. Whoever deletes a
        document and waits for this is told that no more of it comes."""
        for tenant, own in by_tenant([work for work in works if not work.going]):
            stored = self._ledger.read(tenant, [work.id for work in own if work.lost])
            gone = []
            for work in own:
                now = stored.get(work.id)
                if _kept_after(work, None if now is None else now.record):
                    continue
                gone.append(work.stamp)
                work.indexed = 0
            if gone:
                self._store.refresh()
                self._store.delete_made(tenant, gone)
            self._claims.let_go(stored.values())
        for work in works:
            if work.going:
                self._spool.drop(work.id, but=work.raw.payload)


def _kept_after(work: Work, now: DocumentRecord | None) -> bool:
    """Whether what was written of a work that did not come to its end belongs to what can be searched, or will.

    Args:
        now: the row of a work that another writer took; None where it is gone, or for one that failed.
    """
    if work.lost and (now is None or now.state is DocumentState.DELETING):
        return False
    # Where content is the same, old and new chunks are the same rows: what was written of them is good.
    return work.same_content or (now is not None and _needs(now, work))


def _needs(record: DocumentRecord, work: Work) -> bool:
    """Whether whoever has the document now publishes the same chunks, or did."""
    same_wish = record.request is not None and record.request.content_hash == work.hash
    return same_wish or record.content_hash == work.hash


def _kept(work: Work) -> tuple[str, ...]:
    known = work.previous
    if known is None or known.content_hash is None or known.stamps is None:
        return (work.stamp,)
    return (work.stamp, stamp_of(work.id, known.content_hash, known.stamps))


def _incomplete(work: Work, what: str, count: int) -> IndexingIncomplete:
    return IndexingIncomplete(
        f"{count} of {len(work.chunks)} chunks {what}.",
        where=work.raw.name,
        remedy="The version before, if any, stays searchable. Mend the cause and ingest the file again.",
    )
