"""Marks in the engine: a data stream, so that nothing is written over. Taking a mark back adds a row that says so."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from evaluation.feedback.marks import Mark, MarkBody, MarkView
from query.filters import Clause, tenant_filter
from search_config import fields
from search_config.client import Engine
from search_config.errors import EvidenceCorrupt, NotFound
from search_config.names import Names
from search_config.records import tenant_id

# Rows of one request; a mark with its citations is some kilobytes at most.
PAGE: Final = 500
ID_BYTES: Final = 16
# The kind of rows that take a mark back; all other kinds are marks.
WITHDRAWAL: Final = "withdrawal"


class FeedbackStore:
    """Marks of all tenants; every call names one."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._engine = engine
        self._stream = names.feedback

    def add(self, tenant: str, body: MarkBody, *, caller: str) -> Mark:
        """Write a mark.

        Raises:
            TenantError, EngineRejected, EngineError
        """
        mark = Mark(
            **{name: getattr(body, name) for name in MarkBody.model_fields},
            id=secrets.token_hex(ID_BYTES),
            at=datetime.now(UTC),
            tenant=tenant_id(tenant),
            caller=caller,
        )
        self._write(
            {
                fields.AT: mark.at.isoformat(),
                fields.TENANT: mark.tenant,
                fields.FEEDBACK_ID: mark.id,
                fields.CALLER: caller,
                fields.KIND: mark.kind,
                fields.VERDICT: mark.verdict,
                fields.QUERY: mark.query,
                fields.DOCUMENT_ID: [passage.document_id for passage in mark.passages],
                fields.RECORD: mark.model_dump(mode="json", by_alias=True, exclude_none=True),
            }
        )
        return mark

    def withdraw(self, tenant: str, feedback_id: str, *, caller: str, anyones: bool = False) -> MarkView:
        """Take a mark back; one that is taken back already stays so.

        Args:
            tenant: whose.
            feedback_id: the mark.
            caller: who takes it back.
            anyones: whether marks of others may be taken back too.

        Raises:
            NotFound: this tenant, or this caller, has no such mark.
        """
        found = next(self._marks(tenant, [{"term": {fields.FEEDBACK_ID: feedback_id}}]), None)
        if found is None or not (anyones or found.caller == caller):
            raise NotFound("There is no such mark of yours.", remedy="GET /feedback lists them.")
        if feedback_id not in self._withdrawn(tenant, [feedback_id]):
            self._write(
                {
                    fields.AT: datetime.now(UTC).isoformat(),
                    fields.TENANT: tenant_id(tenant),
                    fields.FEEDBACK_ID: secrets.token_hex(ID_BYTES),
                    fields.CALLER: caller,
                    fields.KIND: WITHDRAWAL,
                    fields.WITHDRAWS: feedback_id,
                }
            )
        return MarkView(**dict(found), withdrawn=True)

    def page(
        self, tenant: str, *, caller: str | None = None, size: int = PAGE, after: str | None = None
    ) -> list[MarkView]:
        """One page of marks, newest first.

        Args:
            tenant: whose.
            caller: only those of this caller.
            size: marks of the page.
            after: id of the last mark of the page before; one that is not there begins anew.
        """
        clauses = [] if caller is None else [{"term": {fields.CALLER: caller}}]
        return list(self._viewed(tenant, clauses, size=size, after=after))

    def iterate(self, tenant: str) -> Iterator[MarkView]:
        """All marks of a tenant, newest first, those that were taken back too."""
        after = None
        while page := list(self._viewed(tenant, [], size=PAGE, after=after)):
            yield from page
            after = page[-1].id

    def _viewed(self, tenant: str, clauses: Sequence[Clause], *, size: int, after: str | None) -> Iterator[MarkView]:
        page = list(self._marks(tenant, clauses, size=size, after=after))
        gone = self._withdrawn(tenant, [mark.id for mark in page])
        for mark in page:
            yield MarkView(**dict(mark), withdrawn=mark.id in gone)

    def _marks(
        self, tenant: str, clauses: Sequence[Clause], *, size: int = 1, after: str | None = None
    ) -> Iterator[Mark]:
        body: dict[str, Any] = {
            "size": size,
            "query": {
                "bool": {
                    "filter": [*tenant_filter(tenant), *clauses],
                    "must_not": [{"term": {fields.KIND: WITHDRAWAL}}],
                }
            },
            "sort": [{fields.AT: "desc"}, {fields.FEEDBACK_ID: "asc"}],
        }
        if after is not None and (place := self._sort_values(tenant, after)) is not None:
            body["search_after"] = place
        for hit in self._engine.search(self._stream, body)["hits"]["hits"]:
            try:
                yield Mark.model_validate(hit["_source"][fields.RECORD])
            except (ValidationError, KeyError) as error:
                raise EvidenceCorrupt("A mark is damaged.", where=hit["_source"].get(fields.FEEDBACK_ID)) from error

    def _sort_values(self, tenant: str, feedback_id: str) -> list[Any] | None:
        body = {
            "size": 1,
            "_source": False,
            "query": {"bool": {"filter": [*tenant_filter(tenant), {"term": {fields.FEEDBACK_ID: feedback_id}}]}},
            "sort": [{fields.AT: "desc"}, {fields.FEEDBACK_ID: "asc"}],
        }
        hits = self._engine.search(self._stream, body)["hits"]["hits"]
        return list(hits[0]["sort"]) if hits else None

    def _withdrawn(self, tenant: str, ids: Sequence[str]) -> frozenset[str]:
        """Those of the marks that were taken back."""
        if not ids:
            return frozenset()
        # A mark may be taken back several times at once; counted by value, each is told once.
        body = {
            "size": 0,
            "query": {"bool": {"filter": [*tenant_filter(tenant), {"terms": {fields.WITHDRAWS: list(ids)}}]}},
            "aggs": {"gone": {"terms": {"field": fields.WITHDRAWS, "size": len(ids)}}},
        }
        buckets = self._engine.search(self._stream, body)["aggregations"]["gone"]["buckets"]
        return frozenset(str(bucket["key"]) for bucket in buckets)

    def _write(self, row: dict[str, Any]) -> None:
        # By an id of its own, so that a retry can't double it; a retry that meets its own first try is a conflict.
        path = f"/{self._stream}/_create/{row[fields.FEEDBACK_ID]}"
        self._engine.request("PUT", path, body=row, params={"refresh": "wait_for"}, retry=False)
