"""Chunks in the index: written whole, counted, deleted by version. Every query names a tenant."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ingest.bulk import BulkRow, to_json, write
from models.base import Terms
from search_config import fields
from search_config.client import BulkItem, Engine, disk_full
from search_config.errors import EngineRejected
from search_config.install import IndexInfo
from search_config.records import ChunkRecord, tenant_id
from search_config.settings import Settings

Json = dict[str, Any]

# A float32 value of a unit vector is exact to about 6e-8 at its largest; more digits would only make rows longer.
VECTOR_DECIMALS: Final = 8
# The engine keeps nine significant bits of a term's weight.
TERM_DECIMALS: Final = 4
# Rows of one page of ids; the engine gives at most 10,000 at once.
PAGE_ROWS: Final = 5_000
# Two bulk requests keep an engine of two cores busy while a third is made ready; more only wait in its queue.
SENDERS: Final = 2
# Versions of the chunks at one time: two or three.
VERSIONS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it is written: its record, its vector of shape `(dim,)`, its token code and its sparse terms where the
    model gives them."""

    record: ChunkRecord
    vector: NDArray[np.float32]
    code: bytes | None = None
    terms: Terms | None = None


class ChunkStore:
    """Rows of one version of the chunks, by its own name: the alias may move to an index of another model at any time,
    and a writer that holds this model's vectors must not follow it."""

    def __init__(self, engine: Engine, info: IndexInfo, settings: Settings) -> None:
        self._engine = engine
        self._index = info.index
        self._everywhere = info.names.all_chunks
        self._settings = settings

    def write(self, rows: Iterable[ChunkRow]) -> list[BulkItem]:
        """Write chunks; one outcome a row, in order.

        Raises:
            EngineUnreachable, EngineOverloaded, EngineRejected
        """
        return write(
            self._engine,
            self._index,
            (BulkRow("index", row.record.chunk_id, row_json(row)) for row in rows),
            max_items=self._settings.bulk_max_items,
            max_bytes=self._settings.bulk_max_bytes,
            senders=SENDERS,
        )

    def refresh(self) -> None:
        """Make what was written visible to searches."""
        self._engine.request("POST", f"/{self._index}/_refresh")

    def counts(self, tenant: str, stamps: Mapping[str, str]) -> dict[str, int]:
        """Chunks of each document that were made from one content in one way.

        Args:
            tenant: whose documents.
            stamps: document id to the beginning that the ids of those chunks share.
        """
        if not stamps:
            return {}
        body = {
            "size": 0,
            "query": {"bool": {"filter": [_owned(tenant), {"terms": {fields.DOCUMENT_ID: list(stamps)}}]}},
            "aggs": {
                "made": {
                    "filters": {
                        "filters": {
                            document: {"prefix": {fields.CHUNK_ID: stamp}} for document, stamp in stamps.items()
                        }
                    }
                }
            },
        }
        buckets = self._engine.search(self._index, body)["aggregations"]["made"]["buckets"]
        return {document: bucket["doc_count"] for document, bucket in buckets.items()}

    def totals(self, tenant: str, document_ids: Collection[str]) -> dict[str, int]:
        """Chunks of each document, of whatever version."""
        if not document_ids:
            return {}
        terms = {"terms": {fields.DOCUMENT_ID: list(document_ids)}}
        body = {
            "size": 0,
            "query": {"bool": {"filter": [_owned(tenant), terms]}},
            "aggs": {"documents": {"terms": {"field": fields.DOCUMENT_ID, "size": len(document_ids)}}},
        }
        buckets = self._engine.search(self._index, body)["aggregations"]["documents"]["buckets"]
        return dict.fromkeys(document_ids, 0) | {bucket["key"]: bucket["doc_count"] for bucket in buckets}

    def delete_others(self, tenant: str, stamps: Mapping[str, Collection[str]]) -> None:
        """Delete all chunks of each document but those whose ids begin with one of its stamps. Refresh before."""
        self._delete(
            tenant,
            [
                {
                    "bool": {
                        "filter": [{"term": {fields.DOCUMENT_ID: document}}],
                        "must_not": [{"prefix": {fields.CHUNK_ID: stamp}} for stamp in kept],
                    }
                }
                for document, kept in stamps.items()
            ],
        )

    def delete_made(self, tenant: str, stamps: Iterable[str]) -> None:
        """Delete the chunks whose ids begin with one of the stamps. Refresh before."""
        self._delete(tenant, [{"prefix": {fields.CHUNK_ID: stamp}} for stamp in stamps])

    def delete_all_of(self, tenant: str, document_ids: Collection[str]) -> None:
        """Delete all chunks of documents in this version. Refresh before."""
        self._delete(tenant, [{"terms": {fields.DOCUMENT_ID: list(document_ids)}}] if document_ids else [])

    def delete_document(self, tenant: str, document_id: str) -> None:
        """Delete all chunks of a document in every version: the live one, the one before, one that is being built."""
        self._engine.request("POST", f"/{self._everywhere}/_refresh")
        for index in self._holders(tenant, document_id):
            self._delete(tenant, [{"term": {fields.DOCUMENT_ID: document_id}}], index=index)

    def _holders(self, tenant: str, document_id: str) -> list[str]:
        """Versions that hold chunks of a document."""
        body = {
            "size": 0,
            "query": {"bool": {"filter": [_owned(tenant), {"term": {fields.DOCUMENT_ID: document_id}}]}},
            "aggs": {"versions": {"terms": {"field": "_index", "size": VERSIONS_MAX}}},
        }
        answer = self._engine.search(self._everywhere, body)
        return [bucket["key"] for bucket in answer["aggregations"]["versions"]["buckets"]]

    def _delete(self, tenant: str, any_of: list[Json], *, index: str | None = None) -> None:
        """Delete by id what a search finds: the engine's own delete-by-query is a module that not every node has."""
        index = index or self._index
        if not any_of:
            return
        query = {"bool": {"filter": [_owned(tenant)], "should": any_of, "minimum_should_match": 1}}
        items = write(
            self._engine,
            index,
            (BulkRow("delete", id_) for id_ in list(self._ids(index, query))),
            max_items=self._settings.bulk_max_items,
            max_bytes=self._settings.bulk_max_bytes,
        )
        refused = [item for item in items if not item.ok]
        if any(item.disk_full for item in refused):
            raise disk_full(str(refused[0].error), index)
        if refused:
            raise EngineRejected(
                f"{len(refused)} of {len(items)} old chunks were not deleted: {refused[0].error}.", where=index
            )
        if items:
            self._engine.request("POST", f"/{index}/_refresh")

    def _ids(self, index: str, query: Json) -> Iterator[str]:
        """Ids of all rows that a query finds, page by page."""
        body: Json = {"size": PAGE_ROWS, "query": query, "sort": [{fields.CHUNK_ID: "asc"}], "_source": False}
        hits = self._engine.search(index, body)["hits"]["hits"]
        while hits:
            yield from (hit["_id"] for hit in hits)
            body["search_after"] = hits[-1]["sort"]
            hits = self._engine.search(index, body)["hits"]["hits"]


def _owned(tenant: str) -> Json:
    return {"term": {fields.TENANT: tenant_id(tenant)}}


def row_json(row: ChunkRow) -> str:
    """A chunk as the index has it."""
    columns = row.record.model_dump(mode="json", by_alias=True, exclude_none=True)
    columns[fields.EMBEDDING] = np.round(row.vector.astype(np.float64), VECTOR_DECIMALS).tolist()
    if row.code is not None:
        columns[fields.TOKEN_CODES] = base64.b64encode(row.code).decode("ascii")
    if row.terms:
        rounded = {term: round(weight, TERM_DECIMALS) for term, weight in row.terms.items()}
        # The engine refuses a weight of 0.
        columns[fields.SPARSE] = {term: weight for term, weight in rounded.items() if weight > 0}
    return to_json(columns)
