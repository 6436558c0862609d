"""A search result as tables: passages, the documents and values behind a metadata answer, and what was asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal

from api.export.words import WORDS
from query.citations import citation_of
from query.metadata_result import CountedDocument, MetadataAnswer
from query.request import Hit, SearchResult
from query.wording import Tongue
from search_config.document_fields import FieldReading, Place
from search_config.language import language_of
from search_config.records import DocumentRecord

Kind = Literal["text", "number", "amount", "ratio", "date", "link"]
Cell = str | int | float | Decimal | date | None
TableName = Literal["passages", "documents", "values"]

# Fields of a document's readings that a metadata answer may be about, by the answer's name for them.
_READ: Final = ("amount", "signed", "effective", "expires", "type", "currency")
_WEB: Final = re.compile(r"https?://[^\s#]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and what stands in it."""

    heading: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, as many cells in each."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of a result.

    Attributes:
        language: of the headings; Hebrew ones are read from right to left.
        summary: what was asked and what it is, as pairs.
        tables: those that have rows, at least one; by their name in requests.
    """

    language: Tongue
    summary: tuple[tuple[str, Cell], ...]
    tables: Mapping[TableName, Table]

    def chosen(self, wanted: TableName | Literal["auto"]) -> Table:
        """One table: the wanted one, or the first that there is; an empty one where the result has none such."""
        if wanted == "auto":
            return next(iter(self.tables.values()))
        return self.tables.get(wanted, Table(WORDS[self.language][wanted], (), ()))


def tables_of(result: SearchResult, records: Mapping[str, DocumentRecord]) -> Tables:
    """The tables of a result.

    Args:
        result: of a search.
        records: rows of the documents that its metadata answer names, by id; those that are not there lack a citation.
    """
    language = _language(result)
    words = WORDS[language]
    tables: dict[TableName, Table] = {}
    if result.hits or result.metadata is None:
        tables["passages"] = _passages(result, words)
    if result.metadata is not None and (result.metadata.documents or not tables):
        tables["documents"] = _documents(result.metadata, records, words)
    if result.metadata is not None and result.metadata.values:
        tables["values"] = _values(result.metadata, words)
    return Tables(language=language, summary=tuple(_summary(result, words)), tables=tables)


def _language(result: SearchResult) -> Tongue:
    """The question's; for an identifier alone, or another script, that of what was found."""
    said = result.language
    if said not in ("he", "en"):
        said = language_of(" ".join(hit.content for hit in result.hits))
    return "he" if said == "he" else "en"


def _passages(result: SearchResult, words: Mapping[str, str]) -> Table:
    columns = (
        Column(words["rank"], "number"),
        Column(words["title"]),
        Column(words["section"]),
        Column(words["quote"]),
        Column(words["place"]),
        Column(words["link"], "link"),
        Column(words["document_id"]),
        Column(words["version"], "number"),
        Column(words["content_hash"]),
        Column(words["from"], "number"),
        Column(words["to"], "number"),
        Column(words["confidence"], "ratio"),
        Column(words["distance"], "ratio"),
        Column(words["score"], "ratio"),
        Column(words["superseded"]),
        Column(words["remark"]),
    )
    remark = words["nearest"] if result.refused else ""
    return Table(words["passages"], columns, tuple((*_passage(hit), remark) for hit in result.hits))


def _passage(hit: Hit) -> tuple[Cell, ...]:
    cited = citation_of(hit.rank, hit, (0, len(hit.content)))
    replaced = hit.superseded
    return (
        hit.rank,
        cited.document_name,
        hit.section,
        cited.quote,
        cited.locator_label,
        link(cited.url, cited.fragment),
        cited.document_id,
        cited.version,
        cited.content_hash,
        cited.locator.from_,
        cited.locator.to,
        hit.confidence,
        hit.cosine_distance,
        hit.scores.fused if hit.scores.rerank is None else hit.scores.rerank,
        "" if replaced is None else replaced.title or replaced.document_id or "…",
    )


def _documents(answer: MetadataAnswer, records: Mapping[str, DocumentRecord], words: Mapping[str, str]) -> Table:
    columns = (
        Column(words["title"]),
        Column(words["value"], "amount"),
        Column(words["currency"]),
        Column(words["parties"]),
        Column(words["quote"]),
        Column(words["place"]),
        Column(words["link"], "link"),
        Column(words["document_id"]),
        Column(words["version"], "number"),
        Column(words["content_hash"]),
        Column(words["from"], "number"),
        Column(words["to"], "number"),
    )
    rows = tuple(_document(one, records.get(one.id), answer.field) for one in answer.documents)
    return Table(words["documents"], columns, rows)


def _document(counted: CountedDocument, record: DocumentRecord | None, field: str | None) -> tuple[Cell, ...]:
    place = None if record is None else _place(record, field)
    return (
        counted.name,
        counted.value,
        counted.currency,
        ", ".join(counted.parties),
        "" if place is None else place.as_read,
        "" if place is None else place.label,
        "" if record is None else link(record.url, "" if place is None else f"#char={place.from_},{place.to}"),
        counted.id,
        None if record is None else record.version,
        "" if record is None else record.content_hash,
        None if place is None else place.from_,
        None if place is None else place.to,
    )


def _place(record: DocumentRecord, field: str | None) -> Place | None:
    """Where the field was read; None where the answer is about none, or it came with the file."""
    reading = getattr(record.extracted, field, None) if field in _READ and record.extracted is not None else None
    return reading.place if isinstance(reading, FieldReading) else None


def _values(answer: MetadataAnswer, words: Mapping[str, str]) -> Table:
    columns = (
        Column(words["name"]),
        Column(words["part"]),
        Column(words["counted_documents"], "number"),
        Column(words["total"], "amount"),
        Column(words["currency"]),
    )
    rows = tuple((one.name, one.part, one.documents, one.total, one.currency) for one in answer.values)
    return Table(words["values"], columns, rows)


def _summary(result: SearchResult, words: Mapping[str, str]) -> list[tuple[str, Cell]]:
    pairs: list[tuple[str, Cell]] = [
        (words["query"], result.query),
        (words["label"], words["label_text"]),
        (words["refused"], words["yes" if result.refused else "no"]),
        (words["reason"], result.reason),
        (words["filters"], _filters(result.filters.given())),
        (words["derived"], _filters(result.derived.given())),
        (words["as_of"], result.as_of),
        (words["hits"], len(result.hits)),
        (words["reachable"], result.total),
    ]
    if (answer := result.metadata) is not None:
        excluded = "; ".join(f"{one.reason} {one.field or ''}: {one.documents}" for one in answer.excluded)
        pairs += [
            (words["answer"], answer.text),
            (words["value"], answer.value),
            (words["currency"], answer.currency),
            (words["counted"], answer.counted),
            (words["listed"], len(answer.documents)),
            (words["exact"], words["yes" if answer.exact else "no"]),
            (words["excluded"], excluded),
        ]
    pairs += [
        (words["notes"], " ".join(result.notes)),
        (words["profile"], result.profile),
        (words["index"], result.index.name),
    ]
    return [(name, value) for name, value in pairs if value not in (None, "")]


def _filters(given: Mapping[str, object]) -> str:
    return "; ".join(
        f"{name}={'|'.join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value}"
        for name, value in given.items()
    )


def link(url: str | None, fragment: str) -> str:
    """The address that opens a place; nothing for an address that is none of the web, or has a fragment already."""
    return f"{url}{fragment}" if url and _WEB.fullmatch(url) else ""
