"""References to other documents, resolved to those of the corpus; replacing has two sides.

A replaced document's row says by which one, in `filter_fields.superseded_by`. Its chunks do not: a partial update of a
chunk would lose the columns that its source leaves out (token codes), and writing chunks anew would cost an embedding.
Whoever answers asks the rows of the documents that were found. What refers to a document that comes later is resolved
when that one comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ingest.ledger import Change, Ledger
from search_config import fields
from search_config.client import Engine
from search_config.document_fields import DocumentFields, DocumentReference, FieldStatus, Relation
from search_config.errors import StateConflict
from search_config.names import Names
from search_config.records import DocumentRecord, DocumentState, tenant_id
from search_config.settings import Settings

Json = dict[str, Any]
Lookup = Callable[[str], str | None]
"""Finds the id of the document that a number or a name means; None where there is none, or more than one."""

# Two rows are enough to see that a number means more than one document.
CLAIMS_MAX: Final = 100
REFERS_TO: Final = f"{fields.FILTER_FIELDS}.refers_to"
# A row that is changed under our hands is read again; whoever changes it that often works on it.
ATTEMPTS: Final = 10
# States in which a row describes content that can be searched.
SEARCHABLE: Final = DocumentState.READY.value


def resolve_references(read: DocumentFields, lookup: Lookup) -> DocumentFields:
    """The fields with the ids of those references that are in the corpus. Pure but for `lookup`."""
    resolved = tuple(
        one.model_copy(update={"document_id": one.document_id or lookup(one.reference)}) for one in read.refers_to
    )
    return read.model_copy(update={"refers_to": resolved})


def superseded_ids(read: DocumentFields) -> tuple[str, ...]:
    """Ids of the documents that this one replaces."""
    found = (one.document_id for one in read.refers_to if one.relation is Relation.SUPERSEDES)
    return tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))


def names_of(read: DocumentFields, title: str) -> tuple[str, ...]:
    """What other documents call this one: its numbers, and its title."""
    numbers = [one.value for one in read.references if one.status is FieldStatus.VALUE and one.value is not None]
    return tuple(dict.fromkeys(name for name in (*numbers, title.strip()) if name))


class Superseding:
    """Both sides of replacing, in the documents index. Every call is of one tenant."""

    def __init__(self, engine: Engine, names: Names, settings: Settings) -> None:
        self._engine = engine
        self._index = names.documents
        self._ledger = Ledger(engine, names, settings)

    def lookup(self, tenant: str, *, own_id: str) -> Lookup:
        """A lookup among the tenant's documents, but for the document itself. Refresh the index before.

        Raises:
            TenantError: an invalid tenant.
        """
        owned = _owned(tenant)

        def find(reference: str) -> str | None:
            means = [
                {"term": {fields.REFERENCE: reference}},
                {"term": {fields.REFERENCES: reference}},
                {"term": {fields.TITLE: reference}},
            ]
            query = {
                "bool": {
                    "filter": owned,
                    "should": means,
                    "minimum_should_match": 1,
                    "must_not": [{"term": {fields.DOCUMENT_ID: own_id}}],
                }
            }
            hits = self._search(query, size=2)
            return hits[0].document_id if len(hits) == 1 else None

        return find

    def replacing(self, tenant: str, document_id: str, names: Sequence[str]) -> str | None:
        """The document that came before and says that it replaces this one, by its id or by one of its names.

        The latest by its signing date, then by id, where several say so.
        """
        means: list[Json] = [{"term": {fields.SUPERSEDES: document_id}}]
        if names:
            means.append({"terms": {REFERS_TO: list(names)}})
        query = {
            "bool": {
                "filter": _owned(tenant),
                "should": means,
                "minimum_should_match": 1,
                "must_not": [{"term": {fields.DOCUMENT_ID: document_id}}],
            }
        }
        claims = [one for one in self._search(query, size=CLAIMS_MAX) if _claims(one, document_id, names)]
        latest = max(claims, default=None, key=lambda one: (str(one.filter_fields.signed_on or ""), one.document_id))
        return None if latest is None else latest.document_id

    def mark_replaced(self, tenant: str, document_id: str, names: Sequence[str]) -> None:
        """Write on a document's own row which one replaces it, if that one came before; `names` as for `replacing`.

        Raises:
            StateConflict, EngineError, EngineRejected
        """
        by = self.replacing(tenant, document_id, names)
        if by is not None:
            self._write(tenant, {document_id: by})

    def mark(self, tenant: str, document_id: str, replaced: Iterable[str]) -> None:
        """Write that a document replaces exactly these: they are marked, and marks that it no longer gives are gone.

        An id that is not of this tenant is left alone.

        Raises:
            StateConflict: another writer changes a row all the time.
            EngineError, EngineRejected
        """
        wanted = {one for one in replaced if one != document_id}
        query = {"bool": {"filter": [*_owned(tenant), {"term": {fields.SUPERSEDED_BY: document_id}}]}}
        marked = {one.document_id for one in self._search(query, size=CLAIMS_MAX)}
        self._write(tenant, dict.fromkeys(wanted - marked, document_id) | dict.fromkeys(marked - wanted, None))

    def clear(self, tenant: str, document_id: str) -> None:
        """Take back every mark that a document gave; for its deletion."""
        self.mark(tenant, document_id, ())

    def _write(self, tenant: str, marks: dict[str, str | None]) -> None:
        for _ in range(ATTEMPTS):
            if not marks:
                return
            stored = self._ledger.read(tenant, list(marks))
            done = self._ledger.write(
                (
                    Change(id_, {fields.FILTER_FIELDS: {"superseded_by": marks[id_]}}, row.mark)
                    for id_, row in stored.items()
                ),
                visible=True,
            )
            marks = {id_: marks[id_] for id_ in done.lost}
        raise StateConflict(
            "A document changed all the time.", where=next(iter(marks)), remedy="Ingest the newer document again."
        )

    def _search(self, query: Json, *, size: int) -> list[DocumentRecord]:
        body = {
            "size": size,
            "query": query,
            "sort": [{fields.DOCUMENT_ID: "asc"}],
            "_source": {"excludes": list(fields.BULKY)},
        }
        hits = self._engine.search(self._index, body)["hits"]["hits"]
        return [DocumentRecord.model_validate(hit["_source"]) for hit in hits]


def _claims(record: DocumentRecord, document_id: str, names: Sequence[str]) -> bool:
    """Whether a document says that it replaces this one, and does not only mention it."""
    refers: tuple[DocumentReference, ...] = record.extracted.refers_to if record.extracted is not None else ()
    return document_id in record.filter_fields.supersedes or any(
        one.relation is Relation.SUPERSEDES and one.reference in names for one in refers
    )


def _owned(tenant: str) -> list[Json]:
    return [{"term": {fields.TENANT: tenant_id(tenant)}}, {"term": {fields.STATE: SEARCHABLE}}]
