"""The registry of documents: states, reasons, counts, canonical text. Every read names a tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ingest.bulk import BulkRow, to_json, write
from ingest.chunk_store import ChunkStore
from search_config import fields
from search_config.client import BulkItem, Engine
from search_config.errors import EngineOverloaded, EngineRejected, NotFound
from search_config.install import IndexInfo
from search_config.records import DocumentRecord, DocumentState, tenant_id
from search_config.settings import Settings

Json = dict[str, Any]

# Rows of one page of a listing; without their text a thousand rows are about a megabyte.
PAGE_ROWS: Final = 1_000
# States of DocumentState, and room for those of a later version.
STATES_MAX: Final = 32
UPDATED_AT: Final = "updated_at"


class RegistrySummary(BaseModel):
    """A tenant's documents and chunks in numbers."""

    model_config = ConfigDict(frozen=True)

    documents: int
    by_state: dict[DocumentState, int]
    chunks_indexed: int


class Registry:
    """Rows of the documents index."""

    def __init__(self, engine: Engine, info: IndexInfo, settings: Settings) -> None:
        self._engine = engine
        self._index = info.names.documents
        self._settings = settings
        self._chunks = ChunkStore(engine, info, settings)

    def get(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """One document with its text, as last written; None where this tenant has none of that id."""
        answer = self._engine.get(self._index, document_id)
        record = None if answer is None else DocumentRecord.model_validate(answer["_source"])
        return record if record is not None and record.tenant == tenant_id(tenant) else None

    def require(self, tenant: str, document_id: str) -> DocumentRecord:
        """As `get`.

        Raises:
            NotFound: this tenant has no such document.
        """
        record = self.get(tenant, document_id)
        if record is None:
            raise NotFound(
                "There is no such document.", where=document_id, remedy="`mafteach documents list` shows their ids."
            )
        return record

    def get_many(self, tenant: str, document_ids: Sequence[str]) -> dict[str, DocumentRecord]:
        """Those of the documents that exist, without their text, as last written."""
        if not document_ids:
            return {}
        answer = self._engine.request(
            "POST",
            f"/{self._index}/_mget",
            body={"ids": list(document_ids)},
            params={"_source_excludes": fields.TEXT},
        )
        self._check_items(answer["docs"])
        records = [DocumentRecord.model_validate(row["_source"]) for row in answer["docs"] if row.get("found")]
        return {record.document_id: record for record in records if record.tenant == tenant_id(tenant)}

    def _check_items(self, rows: Iterable[Json]) -> None:
        for row in rows:
            if "error" in row:
                raise EngineRejected(f"A row could not be read: {row['error']}.", where=self._index)

    def list(
        self, tenant: str, *, state: DocumentState | None = None, size: int = PAGE_ROWS, after: str | None = None
    ) -> tuple[DocumentRecord, ...]:
        """One page, by id, without text.

        Args:
            tenant: whose documents.
            state: only those in this state.
            size: rows of the page.
            after: the last id of the page before.
        """
        body: Json = {
            "size": size,
            "query": _owned(tenant, state),
            "sort": [{fields.DOCUMENT_ID: "asc"}],
            "_source": {"excludes": [fields.TEXT]},
        }
        if after is not None:
            body["search_after"] = [after]
        hits = self._engine.search(self._index, body)["hits"]["hits"]
        return tuple(DocumentRecord.model_validate(hit["_source"]) for hit in hits)

    def iterate(self, tenant: str, *, state: DocumentState | None = None) -> Iterator[DocumentRecord]:
        """All documents of a tenant, page by page."""
        page = self.list(tenant, state=state)
        while page:
            yield from page
            page = self.list(tenant, state=state, after=page[-1].document_id)

    def summary(self, tenant: str) -> RegistrySummary:
        """Documents by state, and chunks."""
        body = {
            "size": 0,
            "track_total_hits": True,
            "query": _owned(tenant, None),
            "aggs": {
                "states": {"terms": {"field": fields.STATE, "size": STATES_MAX}},
                "chunks": {"sum": {"field": fields.CHUNKS_INDEXED}},
            },
        }
        answer = self._engine.search(self._index, body)
        buckets = answer["aggregations"]["states"]["buckets"]
        return RegistrySummary(
            documents=answer["hits"]["total"]["value"],
            by_state={DocumentState(bucket["key"]): bucket["doc_count"] for bucket in buckets},
            chunks_indexed=int(answer["aggregations"]["chunks"]["value"]),
        )

    def put(self, records: Iterable[DocumentRecord]) -> None:
        """Write whole rows."""
        self._write(BulkRow("index", one.document_id, to_json(_row(one))) for one in records)

    def begin(self, records: Iterable[DocumentRecord]) -> None:
        """Write that work on documents begins: a new row where there is none; else state, reason and attempts change,
        and the rest goes on describing the version that can be searched."""
        self._write(
            BulkRow(
                "update",
                one.document_id,
                to_json({"doc": _progress(one.state, one.reason, attempts=one.attempts), "upsert": _row(one)}),
            )
            for one in records
        )

    def set_state(self, document_ids: Iterable[str], state: DocumentState) -> None:
        """Write a state, without a reason."""
        self.set_reasons(dict.fromkeys(document_ids), state)

    def set_reasons(self, reasons: Mapping[str, str | None], state: DocumentState) -> None:
        """Write a state with a reason for each document id."""
        self._write(
            BulkRow("update", document, to_json({"doc": _progress(state, reason)}))
            for document, reason in reasons.items()
        )

    def delete(self, tenant: str, document_id: str) -> None:
        """Delete a document: its chunks first, its row last, so that an interrupted deletion can be repeated.

        Raises:
            NotFound: this tenant has no such document.
        """
        record = self.require(tenant, document_id)
        self.set_state([record.document_id], DocumentState.DELETING)
        self._chunks.refresh()
        self._chunks.delete_document(tenant, document_id)
        self._write([BulkRow("delete", document_id)])
        self.refresh()

    def refresh(self) -> None:
        """Make what was written visible to listings."""
        self._engine.request("POST", f"/{self._index}/_refresh")

    def _write(self, rows: Iterable[BulkRow]) -> None:
        items = write(
            self._engine,
            self._index,
            rows,
            max_items=self._settings.bulk_max_items,
            max_bytes=self._settings.bulk_max_bytes,
        )
        for item in items:
            if not item.ok:
                raise _refused(item, self._index)


def _refused(item: BulkItem, index: str) -> EngineRejected | EngineOverloaded:
    where = f"{index}/{item.id}"
    if item.transient:
        return EngineOverloaded(f"OpenSearch is overloaded: {item.error}.", where=where, remedy="Try again later.")
    return EngineRejected(f"The row of a document was refused: {item.error}.", where=where)


def _owned(tenant: str, state: DocumentState | None) -> Json:
    terms = [{"term": {fields.TENANT: tenant_id(tenant)}}]
    if state is not None:
        terms.append({"term": {fields.STATE: state.value}})
    return {"bool": {"filter": terms}}


def _row(record: DocumentRecord) -> Json:
    return record.model_dump(mode="json", exclude_none=True)


def _progress(state: DocumentState, reason: str | None, *, attempts: int | None = None) -> Json:
    part: Json = {fields.STATE: state.value, fields.REASON: reason, UPDATED_AT: datetime.now(UTC).isoformat()}
    if attempts is not None:
        part[fields.ATTEMPTS] = attempts
    return part
