"""Documents of the registry written anew into the next version of the chunks: from their text, never from old chunks.

What was done is kept in an index of its own, a row a document with the fingerprint of all that its chunks show. A
document is done while both agree, so that a pass can be repeated at any time, and finds what changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ingest import rows
from ingest.bulk import BulkRow, to_json, write
from ingest.chunk_store import ChunkStore
from ingest.chunking import ChunkingSpec, chunk_document
from ingest.documents import RawDocument
from ingest.encoding import Encoder, unwatched
from ingest.layout import extraction_of
from ingest.ledger import Change, Ledger, Mark, Stored
from ingest.work import Work, by_tenant, stamp_of
from models.base import Embedder
from search_config import fields
from search_config.client import Engine, disk_full
from search_config.errors import EngineOverloaded, IndexingIncomplete, MigrationRefused
from search_config.install import IndexInfo
from search_config.records import DocumentRecord, Stamps
from search_config.settings import Settings

Json = dict[str, Any]

# Documents of one page; without their text a thousand rows are about a megabyte.
PAGE_DOCUMENTS: Final = 500
# Documents and chunks that are embedded together: memory stays bounded, and an interrupted run repeats little.
BATCH_DOCUMENTS: Final = 16
BATCH_CHUNKS: Final = 256
# Ids that one message names.
SHOWN_IDS: Final = 5
# What chunks show of their document, beside its content.
SHOWN: Final = (
    fields.VERSION,
    fields.CONTENT_HASH,
    fields.TITLE,
    fields.URL,
    fields.GROUPS,
    fields.MEDIA_TYPE,
    fields.TYPE,
    fields.TAGS,
    fields.DATE,
    fields.REFERENCE,
    fields.FILTER_FIELDS,
)
_PROGRESS_MAPPING: Final[Json] = {
    "dynamic": "strict",
    "properties": {fields.FINGERPRINT: {"type": "keyword"}, fields.CHUNKS: {"type": "integer"}},
}


@dataclass(frozen=True, slots=True)
class Pass:
    """One look at all documents.

    Attributes:
        documents: that can be searched.
        copied: of these, written in this pass.
    """

    documents: int
    copied: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Both versions compared: documents, and chunks before and after. Another model may read other lengths."""

    documents: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class _Done:
    fingerprint: str
    chunks: int


OnBatch = Callable[[int, int], None]
"""Told the documents and chunks that a batch has added."""


class Rebuilder:
    """Fills one version of the chunks that nobody searches yet. All tenants: for migrations alone."""

    def __init__(self, engine: Engine, target: IndexInfo, embedder: Embedder, settings: Settings) -> None:
        self._engine = engine
        self._target = target
        self._embedder = embedder
        self._settings = settings
        self._registry = target.names.documents
        self._progress = target.names.migrated(target.index)
        self._store = ChunkStore(engine, target, settings)
        self._ledger = Ledger(engine, target.names, settings)
        self._encoder = Encoder(embedder, target)
        self._spec = ChunkingSpec(
            strategy=settings.chunk_strategy, target=settings.chunk_target, window=embedder.passage_window
        )

    def prepare(self) -> None:
        """Make the index of what was done, where it is not there; and make visible what an interrupted run wrote."""
        if not self._engine.exists(f"/{self._progress}"):
            body = {
                "settings": {"index": {"number_of_shards": 1, "number_of_replicas": self._settings.replicas}},
                "mappings": _PROGRESS_MAPPING,
            }
            self._engine.request("PUT", f"/{self._progress}", body=body)
        self._store.refresh()

    def forget(self) -> None:
        """Delete the index of what was done."""
        self._engine.request("DELETE", f"/{self._progress}", params={"ignore_unavailable": "true"})

    def copy(self, on_batch: OnBatch) -> Pass:
        """One pass: write every document that is not in the next version as it is now.

        Raises:
            IndexingIncomplete: a row cannot be cut anew, or its chunks are not whole after they were written.
            InvalidVector, ModelUnavailable, EngineError, EngineRejected
        """
        documents = copied = 0
        for page in self._pages():
            done = self._done([one.record.document_id for one in page])
            documents += len(page)
            todo = [one.record for one in page if not _is_done(one.record, done)]
            for batch in _batches(todo):
                chunks = self._copy(batch)
                copied += len(batch)
                on_batch(len(batch), chunks)
        return Pass(documents, copied)

    def compare(self) -> Counts:
        """Count both sides, document by document; what the next version has of documents that are gone is deleted.

        Raises:
            MigrationRefused: a document is missing, or has other chunks than were made of it.
        """
        documents = chunks = 0
        wrong: list[str] = []
        for tenant, counts in self._counted():
            stored, done = self._ledger.read(tenant, list(counts)), self._done(list(counts))
            there = {id_ for id_ in counts if id_ in stored and stored[id_].record.content_hash is not None}
            self._store.delete_all_of(tenant, [id_ for id_ in counts if id_ not in there])
            documents += len(there)
            chunks += sum(counts[id_] for id_ in there)
            wrong += [id_ for id_ in there if id_ not in done or done[id_].chunks != counts[id_]]
        before = [(one.record.document_id, one.record.chunks_indexed) for page in self._pages() for one in page]
        if wrong or documents != len(before):
            raise MigrationRefused(
                f"The next version has {documents} of {len(before)} documents, {len(wrong)} of them with other chunks "
                "than were made.",
                where=", ".join([self._target.index, *wrong[:SHOWN_IDS]]),
                remedy="Give it up (mafteach migrate --abandon), and migrate again.",
            )
        return Counts(documents=documents, before=sum(count for _, count in before), after=chunks)

    def _counted(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Chunks of each document in the next version, by tenant, page by page."""
        self._store.refresh()
        sources = [{name: {"terms": {"field": name}}} for name in (fields.TENANT, fields.DOCUMENT_ID)]
        composite: Json = {"size": PAGE_DOCUMENTS, "sources": sources}
        while True:
            body = {"size": 0, "aggs": {"documents": {"composite": composite}}}
            page = self._engine.search(self._target.index, body)["aggregations"]["documents"]
            by_tenant_: dict[str, dict[str, int]] = {}
            for bucket in page["buckets"]:
                key = bucket["key"]
                by_tenant_.setdefault(key[fields.TENANT], {})[key[fields.DOCUMENT_ID]] = bucket["doc_count"]
            yield from by_tenant_.items()
            if "after_key" not in page:
                return
            composite["after"] = page["after_key"]

    def stamp(self) -> int:
        """Write on every document's row what its chunks are made with from now on; gives how many were changed.

        Raises:
            EngineError, EngineRejected
        """
        changed = 0
        while True:
            lost = False
            for page in self._pages():
                changes = list(self._stamped([one for one in page if one.record.stamps != self.stamps_of(one.record)]))
                done = self._ledger.write(changes)
                changed += len(done.marks)
                # Somebody queued or deleted it at this moment: it is looked at again.
                lost = lost or bool(done.lost)
            if not lost:
                return changed

    def _stamped(self, page: Sequence[Stored]) -> Iterator[Change]:
        done = self._done([one.record.document_id for one in page])
        by: dict[str, dict[str, str]] = {}
        for one in page:
            record = one.record
            stamp = stamp_of(record.document_id, record.content_hash or "", self.stamps_of(record))
            by.setdefault(record.tenant, {})[record.document_id] = stamp
        counts = {id_: count for tenant, own in by.items() for id_, count in self._store.counts(tenant, own).items()}
        for one in page:
            id_ = one.record.document_id
            generated = done[id_].chunks if id_ in done else counts[id_]
            part = {
                fields.STAMPS: self.stamps_of(one.record).model_dump(mode="json"),
                fields.CHUNKS_GENERATED: generated,
                fields.CHUNKS_INDEXED: counts[id_],
            }
            yield Change(id_, part, one.mark)

    def stamps_of(self, record: DocumentRecord) -> Stamps:
        """What a document's chunks are made with in the next version; it is read from its file no second time."""
        extractor = record.stamps.extractor if record.stamps is not None else ""
        made = self._target
        return Stamps(model=made.model.identity, analyzer=made.analyzer, extractor=extractor, pipeline=made.pipeline)

    def _pages(self) -> Iterator[list[Stored]]:
        """All documents of which a version can be searched, in whatever state, without their text."""
        self._ledger.refresh()
        body: Json = {
            "size": PAGE_DOCUMENTS,
            "query": {"exists": {"field": fields.CONTENT_HASH}},
            "sort": [{fields.DOCUMENT_ID: "asc"}],
            "_source": {"excludes": [*fields.BULKY, fields.EXTRACTED]},
            "seq_no_primary_term": True,
        }
        while hits := self._engine.search(self._registry, body)["hits"]["hits"]:
            yield [_stored(hit) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def _done(self, ids: Sequence[str]) -> dict[str, _Done]:
        if not ids:
            return {}
        answer = self._engine.request("POST", f"/{self._progress}/_mget", body={"ids": list(ids)})
        return {
            row["_id"]: _Done(row["_source"][fields.FINGERPRINT], row["_source"][fields.CHUNKS])
            for row in answer["docs"]
            if row.get("found")
        }

    def _copy(self, records: Sequence[DocumentRecord]) -> int:
        """Write documents anew; gives their number of chunks."""
        answer = self._engine.request(
            "POST", f"/{self._registry}/_mget", body={"ids": [record.document_id for record in records]}
        )
        whole = [_stored(row).record for row in answer["docs"] if row.get("found")]
        # One that was deleted meanwhile names no content any more.
        works = [self._work(record) for record in whole if record.content_hash is not None]
        self._encoder.embed(works, unwatched)
        for work in works:
            if work.error is not None:
                raise work.error
        for tenant, own in by_tenant(works):
            # What an earlier version of the document, or an interrupted run, left.
            left = self._store.totals(tenant, [work.id for work in own])
            self._store.delete_all_of(tenant, [id_ for id_, count in left.items() if count])
        self._write(works)
        fingerprints = {record.document_id: fingerprint(record) for record in whole}
        self._keep(self._still_there(works), fingerprints)
        return sum(len(work.chunks) for work in works)

    def _work(self, record: DocumentRecord) -> Work:
        stamps, hash_ = self.stamps_of(record), record.content_hash or ""
        read = extraction_of(record)
        raw = RawDocument(
            tenant=record.tenant,
            source=record.source,
            name=record.name,
            data=b"",
            url=record.url,
            groups=record.groups,
        )
        # Made in the same way as before, by what the row is told: so the number of its version stays.
        known = record.model_copy(update={"stamps": stamps})
        stamp = stamp_of(record.document_id, hash_, stamps)
        work = Work(raw=raw, id=record.document_id, hash=hash_, stamp=stamp, previous=known, extraction=read)
        work.chunks = chunk_document(read.document, self._spec, self._embedder)
        return work

    def _write(self, works: Sequence[Work]) -> None:
        now = datetime.now(UTC)
        stamps = {work.id: work.previous.stamps for work in works if work.previous is not None}
        items = self._store.write(
            row for work in works if (made := stamps[work.id]) is not None for row in rows.chunk_rows(work, made, now)
        )
        refused = [item for item in items if not item.ok]
        if any(item.disk_full for item in refused):
            raise disk_full(str(refused[0].error), self._target.index)
        if any(item.transient for item in refused):
            raise EngineOverloaded(
                f"OpenSearch is overloaded: {refused[0].error}.", where=refused[0].id, remedy="Run it again later."
            )
        self._store.refresh()
        for tenant, own in by_tenant(works):
            counts = self._store.counts(tenant, {work.id: work.stamp for work in own})
            for work in own:
                if counts[work.id] != len(work.chunks):
                    why = f": {refused[0].error}" if refused else ""
                    raise IndexingIncomplete(
                        f"{counts[work.id]} of {len(work.chunks)} chunks are in the next version{why}.",
                        where=f"{work.raw.name} ({work.id})",
                        remedy="Mend the cause, or ingest the document again; then run the migration again.",
                    )

    def _still_there(self, works: Sequence[Work]) -> list[Work]:
        """Works whose document was not deleted meanwhile. Whoever deletes marks the row first, and looks for chunks
        then; we write chunks first and look at the row then."""
        there: list[Work] = []
        for tenant, own in by_tenant(works):
            stored = self._ledger.read(tenant, [work.id for work in own])
            gone = [work.id for work in own if work.id not in stored or stored[work.id].record.content_hash is None]
            self._store.delete_all_of(tenant, gone)
            there += [work for work in own if work.id not in gone]
        return there

    def _keep(self, works: Sequence[Work], fingerprints: dict[str, str]) -> None:
        write(
            self._engine,
            self._progress,
            (
                BulkRow(
                    "index",
                    work.id,
                    to_json({fields.FINGERPRINT: fingerprints[work.id], fields.CHUNKS: len(work.chunks)}),
                )
                for work in works
            ),
            max_items=self._settings.bulk_max_items,
            max_bytes=self._settings.bulk_max_bytes,
        )


def fingerprint(record: DocumentRecord) -> str:
    """Changes with all that a document's chunks are made of or show."""
    shown = record.model_dump(mode="json", include=set(SHOWN))
    shown[fields.STAMPS] = None if record.stamps is None else record.stamps.extractor
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _is_done(record: DocumentRecord, done: dict[str, _Done]) -> bool:
    return record.document_id in done and done[record.document_id].fingerprint == fingerprint(record)


def _stored(row: Json) -> Stored:
    return Stored(DocumentRecord.model_validate(row["_source"]), Mark(row["_seq_no"], row["_primary_term"]))


def _batches(records: Sequence[DocumentRecord]) -> Iterator[list[DocumentRecord]]:
    batch: list[DocumentRecord] = []
    chunks = 0
    for record in records:
        if batch and (len(batch) >= BATCH_DOCUMENTS or chunks + record.chunks_indexed > BATCH_CHUNKS):
            yield batch
            batch, chunks = [], 0
        batch.append(record)
        chunks += record.chunks_indexed
    if batch:
        yield batch
