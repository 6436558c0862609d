"""Documents that wait: enqueued by whoever sends them, taken by workers, and put back by a person."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ingest import rows
from ingest.claims import WORKING
from ingest.documents import RawDocument
from ingest.lease import Watch
from ingest.ledger import Change, Ledger, Stored
from ingest.registry import Registry
from ingest.spool import Spool
from search_config import fields
from search_config.client import Engine
from search_config.errors import InvalidField, NotFound, StateConflict
from search_config.install import IndexInfo
from search_config.records import (
    DocumentRecord,
    DocumentState,
    IngestRequest,
    content_hash,
    document_id,
    folder_of,
    tenant_id,
)
from search_config.settings import Settings

Json = dict[str, Any]

# Writers that may come in between: each is a worker that moves the same document on, and does so a few times at most.
WRITE_ATTEMPTS: Final = 10
# Workers that are judged at once; those beyond have their turn when these are done with.
OWNERS_MAX: Final = 1_000
# States from which a document goes on by itself, as soon as a worker has time.
OPEN: Final = (DocumentState.QUEUED, *WORKING)


class Queue:
    """What waits, in the documents index itself: a row is its own place in the queue."""

    def __init__(self, engine: Engine, info: IndexInfo, settings: Settings) -> None:
        self._engine = engine
        self._index = info.names.documents
        self._ledger = Ledger(engine, info.names, settings)
        self._registry = Registry(engine, info, settings)
        self._spool = Spool(settings)
        self._watch = Watch(engine, info.names)

    def enqueue(self, raw: RawDocument) -> DocumentRecord:
        """Keep an upload's bytes, and let it wait for a worker. Whoever works on an older version of it stops.

        Returns:
            Its row, queued. What was searchable before stays so until the new version is.

        Raises:
            TenantError
            StateConflict: the document is being deleted.
            UnreadableDocument: the bytes cannot be kept.
            InvalidField: the engine does not take what came with it.
            EngineError, EngineRejected
        """
        id_ = document_id(tenant_id(raw.tenant), raw.source)
        payload = raw.payload or self._spool.keep(id_, raw.data)
        request = IngestRequest(
            payload=payload,
            content_hash=content_hash(raw.data),
            name=raw.name,
            title=raw.title,
            url=raw.url,
            groups=raw.groups,
            tags=raw.tags,
            media_type=raw.media_type,
        )
        return self._put(raw.tenant, id_, raw.source, request)

    def _put(self, tenant: str, id_: str, source: str, request: IngestRequest) -> DocumentRecord:
        for _ in range(WRITE_ATTEMPTS):
            stored = self._ledger.read(tenant, [id_]).get(id_)
            if stored is not None and stored.record.state is DocumentState.DELETING:
                # Nobody will: whoever deletes it may have looked into the spool already.
                self._spool.drop(id_)
                raise _deleting(id_)
            changed = self._ledger.write([_enqueued(tenant, id_, source, request, stored)], visible=True)
            if id_ in changed.refused:
                raise InvalidField(
                    f"The engine does not take what came with the document: {changed.refused[id_]}.",
                    where=request.name,
                    remedy="Shorten or correct its name, groups or other fields, and send it again.",
                )
            if id_ in changed.marks:
                return self._registry.require(tenant, id_)
        raise _busy(id_)

    def enqueue_files(self, tenant: str, files: Sequence[tuple[str, IngestRequest]]) -> set[str]:
        """Let files wait, by their source and request, so that all of a run are seen and none is forgotten if it ends
        early. Those that wait already, that a worker has, that are as they were or that are being deleted are left
        alone.

        Returns:
            The sources that had no row.

        Raises:
            EngineError, EngineRejected
        """
        ids = {document_id(tenant, source): (source, request) for source, request in files}
        stored = self._ledger.read(tenant, list(ids))
        changes = [
            _enqueued(tenant, id_, source, request, stored.get(id_))
            for id_, (source, request) in ids.items()
            if _must_wait(stored.get(id_), request)
        ]
        if changes:
            self._ledger.write(changes, visible=True)
        return {source for id_, (source, _) in ids.items() if id_ not in stored}

    def retry(self, tenant: str, id_: str, *, groups: Collection[str] | None = None) -> DocumentRecord:
        """Let a document wait again that failed, is quarantined, or was left by a worker that ended.

        Raises:
            NotFound
            StateConflict: it is ready, being deleted, or a worker has it at this moment.
            EngineError, EngineRejected
        """
        return self._again(tenant, id_, groups, {})

    def release(
        self,
        tenant: str,
        id_: str,
        *,
        corrections: Mapping[str, Any] | None = None,
        groups: Collection[str] | None = None,
    ) -> DocumentRecord:
        """Let a quarantined document in as it is, with the fields that a person corrected.

        Raises:
            NotFound
            StateConflict: it is not quarantined.
            EngineError, EngineRejected
        """
        given = {"released": True, "corrections": dict(corrections) if corrections else None}
        return self._again(tenant, id_, groups, given)

    def _again(self, tenant: str, id_: str, groups: Collection[str] | None, given: Json) -> DocumentRecord:
        for _ in range(WRITE_ATTEMPTS):
            self._registry.require(tenant, id_, groups=groups)
            stored = self._ledger.read(tenant, [id_]).get(id_)
            if stored is None:
                raise NotFound("There is no such document.", where=id_)
            self._check(stored.record, released=bool(given))
            before = stored.record.request or IngestRequest(name=stored.record.name, url=stored.record.url)
            part = rows.queued(before.model_copy(update=given))
            if id_ in self._ledger.write([Change(id_, part, stored.mark)], visible=True).marks:
                return self._registry.require(tenant, id_)
        raise _busy(id_)

    def _check(self, record: DocumentRecord, *, released: bool) -> None:
        state, lease = record.state, record.lease
        if state is DocumentState.DELETING:
            raise _deleting(record.document_id)
        if released and state is not DocumentState.QUARANTINED:
            raise StateConflict(
                f"Only a quarantined document can be released; this one is {state}.",
                where=record.document_id,
                remedy="Look at it: mafteach documents show ID.",
            )
        if state is DocumentState.READY:
            raise StateConflict(
                "The document is ready; there is nothing to retry.",
                where=record.document_id,
                remedy="Ingest a changed file with: mafteach ingest PATH.",
            )
        if state in WORKING and lease is not None and not self._watch.dead([lease.owner]):
            raise _busy(record.document_id)

    def retryable(self, tenant: str, *, reason: str | None = None) -> tuple[DocumentRecord, ...]:
        """Documents that failed, with a certain code of reason if one is given; without one, those too that wait or
        were left by a worker that ended. Quarantined ones only by their reason."""
        found = []
        for record in self._registry.iterate(tenant, reason=reason):
            left = record.state is DocumentState.QUEUED or (
                record.state in WORKING and (record.lease is None or bool(self._watch.dead([record.lease.owner])))
            )
            named = reason is not None and record.state is DocumentState.QUARANTINED
            if record.state is DocumentState.FAILED or left or named:
                found.append(record)
        return tuple(found)

    def retry_all(self, tenant: str, *, reason: str | None = None) -> list[str]:
        """Let all of `retryable` wait again; gives their ids. One that a worker takes meanwhile is left to it."""
        ids = []
        for record in self.retryable(tenant, reason=reason):
            with suppress(StateConflict, NotFound):
                ids.append(self.retry(tenant, record.document_id).document_id)
        return ids

    def waiting(self, limit: int) -> tuple[DocumentRecord, ...]:
        """Documents of all tenants that a worker could take, the longest waiting first: queued ones, and those of
        workers that ended. For workers alone.

        Raises:
            EngineError, EngineRejected
        """
        open_ = {"terms": {fields.STATE: [state.value for state in (*OPEN, DocumentState.DELETING)]}}
        owned = {"exists": {"field": fields.LEASE_OWNER}}
        free: list[Json] = [{"bool": {"must_not": [owned]}}]
        dead = self._watch.dead(self._owners({"bool": {"filter": [open_, owned]}}))
        if dead:
            free.append({"terms": {fields.LEASE_OWNER: sorted(dead)}})
        body = {
            "size": limit,
            "query": {"bool": {"filter": [open_], "should": free, "minimum_should_match": 1}},
            "sort": [{fields.UPDATED_AT: "asc"}, {fields.DOCUMENT_ID: "asc"}],
            "_source": {"excludes": list(fields.BULKY)},
        }
        hits = self._engine.search(self._index, body)["hits"]["hits"]
        return tuple(DocumentRecord.model_validate(hit["_source"]) for hit in hits)

    def _owners(self, query: Json) -> set[str]:
        """Workers that have documents of a query."""
        body = {
            "size": 0,
            "query": query,
            "aggs": {"owners": {"terms": {"field": fields.LEASE_OWNER, "size": OWNERS_MAX}}},
        }
        return {bucket["key"] for bucket in self._engine.search(self._index, body)["aggregations"]["owners"]["buckets"]}

    def load(self, record: DocumentRecord) -> RawDocument:
        """The document as it was sent, with its bytes.

        Raises:
            SourceGone, DocumentTooLarge, UnreadableDocument
        """
        bare = described(record)
        data = self._spool.read(bare.payload, name=record.name)
        return RawDocument(
            tenant=bare.tenant,
            source=bare.source,
            name=bare.name,
            data=data,
            url=bare.url,
            groups=bare.groups,
            tags=bare.tags,
            title=bare.title,
            media_type=bare.media_type,
            payload=bare.payload,
        )


def described(record: DocumentRecord) -> RawDocument:
    """The document as it was sent, without its bytes."""
    request = record.request or IngestRequest(name=record.name, url=record.url, groups=record.groups)
    return RawDocument(
        tenant=record.tenant,
        source=record.source,
        name=request.name or record.name,
        data=b"",
        url=request.url,
        groups=request.groups,
        tags=request.tags,
        title=request.title,
        media_type=request.media_type,
        payload=request.payload,
    )


def _enqueued(tenant: str, id_: str, source: str, request: IngestRequest, stored: Stored | None) -> Change:
    if stored is not None:
        return Change(id_, rows.queued(request), stored.mark)
    row = rows.waiting_row(tenant, id_, source, folder_of(source), request)
    return Change(id_, row.model_dump(mode="json", exclude_none=True), None)


def _must_wait(stored: Stored | None, request: IngestRequest) -> bool:
    if stored is None:
        return True
    record = stored.record
    if record.state in (*OPEN, DocumentState.DELETING):
        return False
    return record.state is not DocumentState.READY or record.content_hash != request.content_hash


def _deleting(id_: str) -> StateConflict:
    return StateConflict(
        "The document is being deleted.",
        where=id_,
        remedy="Send it again when it is gone; `mafteach documents delete ID` finishes an interrupted deletion.",
    )


def _busy(id_: str) -> StateConflict:
    return StateConflict(
        "A worker has the document at this moment.",
        where=id_,
        remedy="Wait until it is ready or failed; should the worker have died, another one takes over by itself.",
    )
