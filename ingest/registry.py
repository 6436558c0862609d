"""The registry of documents: states, reasons, counts, canonical text. Every read names a tenant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ingest.chunk_store import ChunkStore
from ingest.deletion import Deleter
from ingest.fields.resolve import Superseding
from ingest.lease import Watch, Worker
from ingest.ledger import Ledger
from ingest.spool import Spool
from search_config import fields
from search_config.client import Engine
from search_config.errors import NotFound
from search_config.install import IndexInfo
from search_config.records import DocumentRecord, DocumentState, tenant_id
from search_config.settings import Settings
from search_config.visibility import may_see, visible_clause

Json = dict[str, Any]
Groups = Collection[str] | None

# Rows of one page of a listing; without their text a thousand rows are about a megabyte.
PAGE_ROWS: Final = 1_000
# States of DocumentState, and room for those of a later version.
STATES_MAX: Final = 32
# Folders of one page of a summary; the same of its other groups.
PAGE_FOLDERS: Final = 1_000


class FolderSummary(BaseModel):
    """The documents of one folder in numbers."""

    model_config = ConfigDict(frozen=True)

    folder: str
    documents: int
    by_state: dict[DocumentState, int]
    chunks_generated: int
    chunks_indexed: int


class RegistrySummary(BaseModel):
    """A tenant's documents and chunks in numbers.

    Attributes:
        by_issue: documents by the code of a doubt; one with two doubts is in both.
        by_type: documents of each kind by state; those whose kind was not found are under the empty name.
    """

    model_config = ConfigDict(frozen=True)

    documents: int
    by_state: dict[DocumentState, int]
    chunks_generated: int
    chunks_indexed: int
    by_issue: dict[str, int] = {}
    by_type: dict[str, dict[DocumentState, int]] = {}
    folders: tuple[FolderSummary, ...] = ()


class Registry:
    """Rows of the documents index. `groups` are those of who asks: `search_config.visibility` says what they show."""

    def __init__(self, engine: Engine, info: IndexInfo, settings: Settings) -> None:
        self._engine = engine
        self._index = info.names.documents
        self._ledger = Ledger(engine, info.names, settings)
        self._store = ChunkStore(engine, info, settings)
        self._spool = Spool(settings)
        self._watch = Watch(engine, info.names)
        self._names = info.names
        self._lease_s = settings.lease_s
        self._superseding = Superseding(engine, info.names, settings)

    def get(self, tenant: str, document_id: str, *, groups: Groups = None) -> DocumentRecord | None:
        """One document with its text, as last written; None where this tenant has none of that id, or none to show."""
        answer = self._engine.get(self._index, document_id)
        record = None if answer is None else DocumentRecord.model_validate(answer["_source"])
        return record if record is not None and _shown(record, tenant, groups) else None

    def require(self, tenant: str, document_id: str, *, groups: Groups = None) -> DocumentRecord:
        """As `get`.

        Raises:
            NotFound: this tenant has no such document.
        """
        record = self.get(tenant, document_id, groups=groups)
        if record is None:
            raise NotFound(
                "There is no such document.", where=document_id, remedy="`mafteach documents list` shows their ids."
            )
        return record

    def get_many(self, tenant: str, document_ids: Sequence[str], *, groups: Groups = None) -> dict[str, DocumentRecord]:
        """Those of the documents that exist, without their text, as last written."""
        stored = self._ledger.read(tenant, document_ids)
        return {id_: row.record for id_, row in stored.items() if _shown(row.record, tenant, groups)}

    def list(
        self,
        tenant: str,
        *,
        state: DocumentState | None = None,
        reason: str | None = None,
        issue: str | None = None,
        type: str | None = None,
        folder: str | None = None,
        size: int = PAGE_ROWS,
        after: str | None = None,
        groups: Groups = None,
    ) -> tuple[DocumentRecord, ...]:
        """One page, by id, without text.

        Args:
            tenant: whose documents.
            state: only those in this state.
            reason: only those with this code of a reason, or of a doubt.
            issue: only those with this code of a doubt.
            type: only those of this kind.
            folder: only those in this folder, or below it.
            size: rows of the page.
            after: the last id of the page before.
            groups: the asker's.
        """
        body: Json = {
            "size": size,
            "query": _owned(tenant, groups, state=state, reason=reason, issue=issue, type=type, folder=folder),
            "sort": [{fields.DOCUMENT_ID: "asc"}],
            "_source": {"excludes": list(fields.BULKY)},
        }
        if after is not None:
            body["search_after"] = [after]
        hits = self._engine.search(self._index, body)["hits"]["hits"]
        return tuple(DocumentRecord.model_validate(hit["_source"]) for hit in hits)

    def iterate(
        self,
        tenant: str,
        *,
        state: DocumentState | None = None,
        reason: str | None = None,
        issue: str | None = None,
        type: str | None = None,
        folder: str | None = None,
        groups: Groups = None,
    ) -> Iterator[DocumentRecord]:
        """All documents of a tenant, page by page; the arguments are those of `list`."""
        after: str | None = None
        while page := self.list(
            tenant, state=state, reason=reason, issue=issue, type=type, folder=folder, groups=groups, after=after
        ):
            yield from page
            after = page[-1].document_id

    def summary(self, tenant: str, *, groups: Groups = None) -> RegistrySummary:
        """Documents by state, and chunks, of those that the asker may see; the same for every folder."""
        body: Json = {
            "size": 0,
            "track_total_hits": True,
            "query": _owned(tenant, groups),
            "aggs": {
                **_NUMBERS,
                "folders": {
                    "composite": {
                        "size": PAGE_FOLDERS,
                        "sources": [{"folder": {"terms": {"field": fields.FOLDER, "missing_bucket": True}}}],
                    },
                    "aggs": _NUMBERS,
                },
            },
        }
        answer = self._engine.search(self._index, body)
        totals, documents = answer["aggregations"], answer["hits"]["total"]["value"]
        folders: list[FolderSummary] = []
        page = totals["folders"]
        while page["buckets"]:
            folders += [
                FolderSummary(folder=bucket["key"]["folder"] or "", documents=bucket["doc_count"], **_numbers(bucket))
                for bucket in page["buckets"]
            ]
            if "after_key" not in page:
                break
            body["aggs"]["folders"]["composite"]["after"] = page["after_key"]
            page = self._engine.search(self._index, body)["aggregations"]["folders"]
        by_type: dict[str, dict[DocumentState, int]] = {}
        for (kind, state), count in self._counts(tenant, groups, fields.TYPE, fields.STATE):
            by_type.setdefault(kind, {})[DocumentState(state)] = count
        return RegistrySummary(
            documents=documents,
            folders=tuple(folders),
            by_issue={code: count for (code,), count in self._counts(tenant, groups, fields.ISSUE_CODES) if code},
            by_type=by_type,
            **_numbers(totals),
        )

    def _counts(self, tenant: str, groups: Groups, *names: str) -> Iterator[tuple[tuple[str, ...], int]]:
        """How many documents have each combination of values, all of them; "" for a document without one."""
        sources = [{name: {"terms": {"field": name, "missing_bucket": True}}} for name in names]
        composite: Json = {"size": PAGE_FOLDERS, "sources": sources}
        body = {"size": 0, "query": _owned(tenant, groups), "aggs": {"counts": {"composite": composite}}}
        while (page := self._engine.search(self._index, body)["aggregations"]["counts"])["buckets"]:
            for bucket in page["buckets"]:
                yield tuple(bucket["key"][name] or "" for name in names), bucket["doc_count"]
            if "after_key" not in page:
                return
            composite["after"] = page["after_key"]

    def same_content(self, tenant: str, content_hashes: Collection[str]) -> tuple[DocumentRecord, ...]:
        """Searchable documents of a tenant with one of these contents, without text; no more than a page of them."""
        query = _owned(tenant, None, state=DocumentState.READY)
        query["bool"]["filter"].append({"terms": {fields.CONTENT_HASH: list(content_hashes)}})
        body = {"size": PAGE_ROWS, "query": query, "_source": {"excludes": list(fields.BULKY)}}
        hits = self._engine.search(self._index, body)["hits"]["hits"]
        return tuple(DocumentRecord.model_validate(hit["_source"]) for hit in hits)

    def delete(self, tenant: str, document_id: str, *, groups: Groups = None) -> None:
        """Delete a document: out of readers' sight first, its row last; an interrupted deletion can be repeated.

        Raises:
            NotFound: this tenant has no such document, or none to show.
            StateConflict: another process deletes it at this moment.
        """
        record = self.require(tenant, document_id, groups=groups)
        # A worker of its own for each call: requests delete on several threads.
        worker = Worker(self._engine, self._names, lease_s=self._lease_s)
        deleter = Deleter(self._ledger, self._store, self._spool, worker, self._watch, self._superseding)
        deleter.delete(record.tenant, document_id)

    def refresh(self) -> None:
        """Make what was written visible to listings."""
        self._engine.request("POST", f"/{self._index}/_refresh")


def _shown(record: DocumentRecord, tenant: str, groups: Groups) -> bool:
    return record.tenant == tenant_id(tenant) and may_see(record.groups, groups)


_NUMBERS: Final[Json] = {
    "states": {"terms": {"field": fields.STATE, "size": STATES_MAX}},
    "generated": {"sum": {"field": fields.CHUNKS_GENERATED}},
    "indexed": {"sum": {"field": fields.CHUNKS_INDEXED}},
}


def _numbers(found: Json) -> Json:
    """What `_NUMBERS` gave."""
    return {
        "by_state": {DocumentState(bucket["key"]): bucket["doc_count"] for bucket in found["states"]["buckets"]},
        "chunks_generated": int(found["generated"]["value"]),
        "chunks_indexed": int(found["indexed"]["value"]),
    }


def _owned(
    tenant: str,
    groups: Groups,
    *,
    state: DocumentState | None = None,
    reason: str | None = None,
    issue: str | None = None,
    type: str | None = None,
    folder: str | None = None,
) -> Json:
    clauses: list[Json] = [{"term": {fields.TENANT: tenant_id(tenant)}}, *visible_clause(groups)]
    if state is not None:
        clauses.append({"term": {fields.STATE: state.value}})
    if reason is not None:
        clauses.append(_any({"term": {fields.REASON_CODE: reason}}, {"term": {fields.ISSUE_CODES: reason}}))
    if issue is not None:
        clauses.append({"term": {fields.ISSUE_CODES: issue}})
    if type is not None:
        clauses.append({"term": {fields.TYPE: type}})
    if folder is not None:
        inside = folder.rstrip("/")
        clauses.append(_any({"term": {fields.FOLDER: inside or "/"}}, {"prefix": {fields.FOLDER: f"{inside}/"}}))
    return {"bool": {"filter": clauses}}


def _any(*clauses: Json) -> Json:
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}
