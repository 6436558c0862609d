"""Rows of the documents index behind citations: names of files, and where each field was read. By the asker's own
filter, so that no citation tells of a document that the asker may not see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from query.candidate import Passage, passage_of
from query.filters import Clause, tenant_filter
from query.request import Filters, SearchRequest
from query.retrieve import raise_failure
from search_config import fields
from search_config.client import Engine
from search_config.document_fields import DocumentFields, FieldReading, Place

# Fields by which a document passes a filter, the most telling first: of several, the first that has a place is quoted.
TELLING: Final = ("amount", "signed", "expires", "effective", "parties", "references", "type", "language", "currency")
# The field of a filter, where their names differ: `signed_from` is of `signed` without a word here.
OF_FILTER: Final = {
    "party": "parties",
    "vendor": "parties",
    "client": "parties",
    "authority": "parties",
    "person": "parties",
    "reference": "references",
    "dated": "signed",
    "in_force_on": "effective",
}
PARTY_NAMES: Final = ("party", "vendor", "client", "authority", "person")
# What a citation is made of.
CITED: Final = (
    fields.DOCUMENT_ID,
    fields.NAME,
    fields.TITLE,
    fields.VERSION,
    fields.CONTENT_HASH,
    fields.URL,
    fields.EXTRACTED,
)
# Longest line that is quoted of a document whose title is not in its text.
LINE: Final = 200


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document, and the words of it that are quoted.

    Attributes:
        name: of its file.
        place: characters of the canonical text; None where the document has no text.
    """

    id: str
    name: str
    title: str
    version: int
    content_hash: str
    url: str | None
    place: Place | None


def document_names(engine: Engine, index: str, request: SearchRequest, ids: Collection[str]) -> dict[str, str]:
    """Names of the documents' files, by id; a document without a row is absent.

    Args:
        index: the documents index.
        request: whose tenant and groups ask.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    rows = _rows(engine, index, request, ids, [fields.DOCUMENT_ID, fields.NAME])
    return {row[fields.DOCUMENT_ID]: row[fields.NAME] for row in rows if row.get(fields.NAME)}


def cited_documents(
    engine: Engine, index: str, request: SearchRequest, ids: Sequence[str], *, asked: str | None, filters: Filters
) -> tuple[CitedDocument, ...]:
    """The documents, in the order of their ids, each with the place of the field that it is counted by.

    Args:
        index: the documents index.
        request: whose tenant and groups ask.
        asked: the field that is summed, compared or told.
        filters: by which the documents were counted.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    rows = {row[fields.DOCUMENT_ID]: row for row in _rows(engine, index, request, ids, CITED)}
    order = quoted_fields(asked, filters)
    places = {id_: _place(row.get(fields.EXTRACTED), order, filters) for id_, row in rows.items()}
    # Texts are long; they are read where a title has to be found in one.
    without = [id_ for id_, place in places.items() if place is None]
    for row in _rows(engine, index, request, without, [fields.DOCUMENT_ID, fields.TEXT]):
        id_ = row[fields.DOCUMENT_ID]
        places[id_] = title_place(row.get(fields.TEXT) or "", rows[id_].get(fields.TITLE) or "")
    return tuple(
        CitedDocument(
            id=id_,
            name=rows[id_].get(fields.NAME) or "",
            title=rows[id_].get(fields.TITLE) or rows[id_].get(fields.NAME) or id_,
            version=rows[id_].get(fields.VERSION, 1),
            content_hash=rows[id_].get(fields.CONTENT_HASH) or "",
            url=rows[id_].get(fields.URL),
            place=places[id_],
        )
        for id_ in ids
        if id_ in rows
    )


def passages_at(
    engine: Engine, index: str, request: SearchRequest, documents: Iterable[CitedDocument]
) -> dict[str, Passage]:
    """The passage around the place of each document, by the document's id; a place that no passage holds whole is
    absent. It knows the page, sheet or second.

    Args:
        index: the chunks index.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    placed = [one for one in documents if one.place is not None]
    if not placed:
        return {}
    header = {"index": index, "allow_partial_search_results": False}
    visible = tenant_filter(request.tenant, groups=request.groups)
    answers = engine.msearch([(dict(header), _around(one, visible)) for one in placed])
    found = {}
    for one, answer in zip(placed, answers, strict=True):
        raise_failure(answer, index)
        for row in answer["hits"]["hits"]:
            found[one.id] = passage_of(row["_source"])
    return found


def quoted_fields(asked: str | None, filters: Filters) -> tuple[str, ...]:
    """Fields by which documents are counted: the one that is asked for, then those of the filters."""
    own = OF_FILTER.get(asked or "", asked or "")
    named = {_of_filter(name) for name in filters.given()}
    return tuple(dict.fromkeys(name for name in (own, *(one for one in TELLING if one in named)) if name in TELLING))


def title_place(text: str, title: str) -> Place | None:
    """Where a document's title stands in its text, or else its first line; None for no text."""
    start = text.find(title) if title.strip() else -1
    if start >= 0:
        return Place(from_=start, to=start + len(title), as_read=title)
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            start = at + len(line) - len(line.lstrip())
            quote = line.strip()[:LINE]
            return Place(from_=start, to=start + len(quote), as_read=quote)
        at += len(line)
    return None


def _of_filter(name: str) -> str:
    bare = name.removesuffix("_from").removesuffix("_to").removesuffix("_min").removesuffix("_max")
    return OF_FILTER.get(bare, bare)


def _place(extracted: Any, order: Sequence[str], filters: Filters) -> Place | None:
    """The first of these fields that has a place; of the parties, those that were asked for first."""
    if not extracted:
        return None
    read = DocumentFields.model_validate(extracted)
    for name in order:
        value = getattr(read, name)
        readings: tuple[FieldReading[Any], ...] = value if isinstance(value, tuple) else (value,)
        if name == "parties":
            wanted = {party for one in PARTY_NAMES for party in getattr(filters, one)}
            readings = tuple(sorted(readings, key=lambda one: one.value is None or one.value.name not in wanted))
        for reading in readings:
            if reading.place is not None:
                return reading.place
    return None


def _around(document: CitedDocument, visible: Sequence[Clause]) -> dict[str, Any]:
    place = document.place
    if place is None:
        raise ValueError("no place, no passage around it")
    inside = [
        {"term": {fields.DOCUMENT_ID: document.id}},
        {"term": {fields.VERSION: document.version}},
        {"range": {f"{fields.LOCATOR}.from": {"lte": place.from_}}},
        {"range": {f"{fields.LOCATOR}.to": {"gte": place.to}}},
    ]
    excluded = [fields.EMBEDDING, fields.TOKEN_CODES]
    return {"query": {"bool": {"filter": [*visible, *inside]}}, "size": 1, "_source": {"excludes": excluded}}


def _rows(
    engine: Engine, index: str, request: SearchRequest, ids: Collection[str], wanted: Sequence[str]
) -> list[Mapping[str, Any]]:
    if not ids:
        return []
    mine = {"terms": {fields.DOCUMENT_ID: sorted(ids)}}
    body = {
        "size": len(ids),
        "query": {"bool": {"filter": [*tenant_filter(request.tenant, groups=request.groups), mine]}},
        "_source": list(wanted),
    }
    answer = engine.search(index, body, ignore_unavailable="true")
    raise_failure(answer, index)
    return [hit["_source"] for hit in answer["hits"]["hits"]]
