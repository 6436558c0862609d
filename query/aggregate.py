"""Exact answers to questions about the documents themselves, from the fields of the documents index.

A number is exact where every document that may belong to it has been read, and says what is counted. Where one has
not, the answer says how many, and why; where a sum would join currencies, it gives each and no total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from query import aggregate_bodies as bodies
from query.aggregate_rows import Row, row_of
from query.filters import Clause, certain_filter, conditions, possible_filter
from query.metadata_result import CountedDocument, CountedValue, Excluded, Kind, MetadataAnswer, Reason
from query.metadata_text import sentence
from query.question import Understanding
from query.question_text import CORRECTED_FROM, FINALS, bare_words, normal, one_slip, without_prefixes
from query.request import Filters
from query.retrieve import Answer, raise_failure
from search_config import fields
from search_config.client import Engine
from search_config.document_fields import MINOR_UNITS
from search_config.records import DocumentState

# The engine sums in double precision: whole numbers are exact up to here.
EXACT_TO: Final = 2**53
CENT: Final = Decimal("0.01")
# Documents among which one is found by the words of its name.
NAMED_AMONG: Final = 1_000
DATE_FIELDS: Final = {"signed": fields.SIGNED_ON, "effective": fields.EFFECTIVE_ON, "expires": fields.EXPIRES_ON}
# Measures of one document, which may be described by its name.
OF_ONE: Final = frozenset(("when", "who", "amount", "latest", "earliest"))
REASONS: Final[dict[str, Reason]] = {
    DocumentState.QUARANTINED.value: "quarantined",
    DocumentState.FAILED.value: "failed",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose documents are counted.

    Attributes:
        index: the documents index.
        groups: the asker's; None sees all.
        as_of: the day that periods were counted from.
        language: of the sentence, `he` or else English.
    """

    engine: Engine
    index: str
    tenant: str
    groups: tuple[str, ...] | None
    as_of: date
    language: str


@dataclass(slots=True)
class _Found:
    """What one measure gives."""

    kind: Kind
    name: str | None = None
    value: int | Decimal | date | None = None
    currency: str | None = None
    values: list[CountedValue] = field(default_factory=list)
    documents: list[CountedDocument] = field(default_factory=list)
    counted: int = 0
    excluded: list[Excluded] = field(default_factory=list)
    exact: bool = True


def metadata_answer(scope: Scope, found: Understanding, filters: Filters) -> MetadataAnswer:
    """Answer a question that `understand` read.

    Args:
        scope: whose documents.
        found: the question; its measure is given.
        filters: what is counted: those of the request, joined with the derived ones.

    Raises:
        TenantError, InvalidRequest
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    counter = _Counter(scope, filters)
    unread = [*found.content, *found.unknown, *found.names, *found.unclear]
    if unread and (found.measure in OF_ONE or found.pick) and not (found.content or found.unclear):
        described = counter.described(unread)
        if described is not None:
            filters = filters.model_copy(update={"document_id": described})
            counter, unread = _Counter(scope, filters), []
    if unread or found.measure is None:
        result = _Found(found.measure or "list", exact=False)
    else:
        result = counter.measure(found)
        result.excluded = [*counter.excluded(), *result.excluded]
        result.exact = result.exact and all(entry.reason == "stated_none" for entry in result.excluded)
    answer = MetadataAnswer(
        kind=result.kind,
        field=result.name,
        value=result.value,
        currency=result.currency,
        values=tuple(result.values),
        documents=tuple(result.documents),
        counted=result.counted,
        excluded=tuple(result.excluded),
        exact=result.exact,
        not_understood=tuple(dict.fromkeys(unread)),
        filters=filters,
        as_of=scope.as_of,
        text="",
    )
    return answer.model_copy(update={"text": sentence(answer, scope.language)})


def picked(scope: Scope, found: Understanding, filters: Filters) -> tuple[str, ...]:
    """Ids of the documents that a superlative means ("the last contract"); none where it can't be told exactly.

    Raises:
        as `metadata_answer`.
    """
    if found.pick is None or found.unclear:
        return ()
    best = _Counter(scope, filters).picked(found)
    return tuple(document.id for document in best.documents) if best.exact else ()


class _Counter:
    """Counts among the documents that pass one filter."""

    def __init__(self, scope: Scope, filters: Filters) -> None:
        self._scope = scope
        self._filters = filters
        self._clauses = certain_filter(scope.tenant, filters, groups=scope.groups)
        self._query = bodies.certain(self._clauses)

    def measure(self, found: Understanding) -> _Found:
        """The measure of a question."""
        query, picked = self._query, None
        if found.pick is not None:
            picked = self.picked(found)
            if found.measure == found.pick or not picked.exact or not picked.counted:
                return picked
            query = _only(picked.documents)
            # More ties than are listed: what is told of the listed ones is not all of it.
            picked.exact = picked.counted == len(picked.documents)
        measured = self._measured(found, query)
        if picked is not None:
            measured.excluded += picked.excluded
            measured.exact &= picked.exact
        return measured

    def _measured(self, found: Understanding, query: Clause) -> _Found:
        match found.measure:
            case "sum" | "average":
                return self._amounts(query, found.measure)
            case "who":
                return self._names("who", query, found.part or "party")
            case "when":
                return self._told(query, "when", found.date_field or "signed")
            case "amount":
                return self._told(query, "amount", "amount")
            case "count" if found.by is not None:
                return self._names("count", query, found.by, grouped=True)
            case "count" if found.part is not None:
                return self._names("count", query, found.part)
            case "count":
                result = self._listing("count", query)
                result.value = result.counted
                return result
            case _:
                return self._listing("list", query)

    def excluded(self) -> list[Excluded]:
        """Documents that may pass the filter and were not counted."""
        scope, asked = self._scope, conditions(self._filters, self._scope.groups, strict=True)
        possible = possible_filter(scope.tenant, self._filters, groups=scope.groups)
        doubtful, unready = self._ask(bodies.doubtful(possible, self._clauses, asked), bodies.not_ready(possible))
        found = []
        if total := _total(doubtful):
            missing = doubtful.get("aggregations", {}).get("missing", {}).get("buckets", {})
            counts = {name: bucket["doc_count"] for name, bucket in missing.items() if bucket["doc_count"]}
            first = min(counts, key=lambda name: (-counts[name], name)) if counts else None
            found.append(Excluded(reason="not_found", field=first, documents=total))
        by_reason: dict[Reason, int] = {}
        for bucket in unready["aggregations"]["states"]["buckets"]:
            reason = REASONS.get(bucket["key"], "in_progress")
            by_reason[reason] = by_reason.get(reason, 0) + bucket["doc_count"]
        return found + [Excluded(reason=reason, documents=count) for reason, count in by_reason.items()]

    def described(self, words: Sequence[str]) -> tuple[str, ...] | None:
        """Ids of the documents whose names hold all the words; None where no document does, or too many to look at."""
        (answer,) = self._ask(bodies.listed(self._query, size=NAMED_AMONG))
        rows = _rows(answer)
        if _total(answer) > len(rows):
            return None
        ids = tuple(row.id for row in rows if _names_all(f"{row.name} {row.title}", words))
        return ids or None

    def _ask(self, *asked: bodies.Body) -> list[Answer]:
        header = {"index": self._scope.index, "allow_partial_search_results": False}
        answers = self._scope.engine.msearch([(dict(header), body) for body in asked])
        for answer in answers:
            raise_failure(answer, self._scope.index)
        return list(answers)

    def _listing(self, kind: Kind, query: Clause) -> _Found:
        (answer,) = self._ask(bodies.listed(query))
        return _Found(kind, documents=[row.counted() for row in _rows(answer)], counted=_total(answer))

    def _told(self, query: Clause, kind: Kind, name: str) -> _Found:
        """A field of each document."""
        stored = fields.AMOUNT_MINOR if name == "amount" else DATE_FIELDS[name]
        held, absent = self._ask(bodies.listed(bodies.having(query, stored)), bodies.without(query, stored, [name]))
        documents = [row.counted(name) for row in _rows(held)]
        result = _Found(kind, name, documents=documents, counted=_total(held), excluded=_absent(absent, name))
        if len(documents) == 1:
            result.value, result.currency = documents[0].value, documents[0].currency
        return result

    def _amounts(self, query: Clause, kind: Kind) -> _Found:
        """Sums by currency, and one total where there is one currency."""
        held = bodies.having(query, fields.AMOUNT_MINOR)
        listed, absent = self._ask(bodies.listed(held), bodies.without(query, fields.AMOUNT_MINOR, ["amount"]))
        result = _Found(kind, "amount", documents=[row.counted("amount") for row in _rows(listed)])
        result.counted = _total(listed)
        result.excluded = _absent(absent, "amount")
        buckets = self._pages(held, fields.CURRENCY, amounts=True, missing=True)
        for bucket in buckets:
            currency, total = bucket["key"]["value"], int(bucket["sum"]["value"])
            result.exact &= abs(total) < EXACT_TO
            if currency is None:
                result.excluded.append(Excluded(reason="not_found", field="currency", documents=bucket["doc_count"]))
            else:
                result.values.append(
                    CountedValue(name=currency, documents=bucket["doc_count"], total=_major(total), currency=currency)
                )
        if len(buckets) > 1:
            result.exact = False
        elif result.values and result.exact:
            (only,) = result.values
            result.currency, total_amount = only.currency, only.total or Decimal(0)
            average = (total_amount / only.documents).quantize(CENT, ROUND_HALF_EVEN)
            result.value = total_amount if kind == "sum" else average
        return result

    def picked(self, found: Understanding) -> _Found:
        """The documents of the largest or smallest amount, or of the latest or earliest day."""
        if found.pick in {"max", "min"}:
            return self._extreme_amount(found.pick)
        kind: Kind = "latest" if found.pick == "latest" else "earliest"
        name = found.date_field or "signed"
        order = "desc" if kind == "latest" else "asc"
        stored = DATE_FIELDS[name]
        with_day = bodies.having(self._query, stored)
        first, absent = self._ask(
            bodies.listed(with_day, sort=[{stored: order}], size=1), bodies.without(self._query, stored, [name])
        )
        result = _Found(kind, name, excluded=_absent(absent, name))
        day = next((row.day(name) for row in _rows(first)), None)
        if day is not None:
            ties = {"bool": {"filter": [with_day, {"term": {stored: day.isoformat()}}]}}
            (answer,) = self._ask(bodies.listed(ties))
            result.documents = [row.counted(name) for row in _rows(answer)]
            result.counted, result.value = _total(answer), day
        return result

    def _extreme_amount(self, kind: Kind) -> _Found:
        result = self._amounts(self._query, kind)
        if result.value is None:
            return result
        bucket = self._pages(bodies.having(self._query, fields.AMOUNT_MINOR), fields.CURRENCY, amounts=True)[0]
        minor = int(bucket[kind]["value"])
        (answer,) = self._ask(
            bodies.listed({"bool": {"filter": [self._query, {"term": {fields.AMOUNT_MINOR: minor}}]}})
        )
        result.value, result.counted, result.values = _major(minor), _total(answer), []
        result.documents = [row.counted("amount") for row in _rows(answer)]
        return result

    def _names(self, kind: Kind, query: Clause, part: str, *, grouped: bool = False) -> _Found:
        """Names of parties, each with its documents; their number where they are counted."""
        stored = fields.PARTIES if part == "party" else fields.PARTY_KINDS
        listed, absent = self._ask(bodies.listed(query), bodies.without(query, fields.PARTIES, ["parties"]))
        result = _Found(kind, part, documents=[row.counted() for row in _rows(listed)], counted=_total(listed))
        result.excluded = _absent(absent, "parties")
        for bucket in self._pages(query, stored):
            key = str(bucket["key"]["value"])
            of, _, name = key.partition(":") if part != "party" else ("", "", key)
            if part in {"party", of}:
                result.values.append(CountedValue(name=name, part=of or None, documents=bucket["doc_count"]))
        if kind == "count" and not grouped:
            result.value = len(result.values)
        return result

    def _pages(
        self, query: Clause, stored: str, *, amounts: bool = False, missing: bool = False
    ) -> list[Mapping[str, Any]]:
        """Every value of a field, page by page, to the end."""
        buckets: list[Mapping[str, Any]] = []
        after: Mapping[str, Any] | None = None
        while True:
            (answer,) = self._ask(bodies.values_page(query, stored, after, amounts=amounts, missing=missing))
            page = answer["aggregations"][bodies.VALUES]
            buckets += page["buckets"]
            after = page.get("after_key")
            if after is None or len(page["buckets"]) < bodies.PAGE:
                return buckets


def _only(documents: Sequence[CountedDocument]) -> Clause:
    return {"terms": {fields.DOCUMENT_ID: [document.id for document in documents]}}


def _total(answer: Answer) -> int:
    return int(answer["hits"]["total"]["value"])


def _rows(answer: Answer) -> list[Row]:
    return [row_of(hit["_source"]) for hit in answer["hits"]["hits"]]


def _absent(answer: Answer, name: str) -> list[Excluded]:
    """Documents without a value: those that state so, and those of which it is not known."""
    stated = int(answer["aggregations"]["stated"]["doc_count"])
    counts: dict[Reason, int] = {"stated_none": stated, "not_found": _total(answer) - stated}
    return [Excluded(reason=reason, field=name, documents=count) for reason, count in counts.items() if count]


def _major(minor: int) -> Decimal:
    return (Decimal(minor) / MINOR_UNITS).quantize(CENT)


def _names_all(name: str, words: Sequence[str]) -> bool:
    held = {form.translate(FINALS) for word, _ in bare_words(normal(name)) for form in without_prefixes(word)}
    return all(any(_held(form.translate(FINALS), held) for form in without_prefixes(word)) for word in words)


def _held(form: str, held: set[str]) -> bool:
    return form in held or (
        len(form) >= CORRECTED_FROM and any(len(other) >= CORRECTED_FROM and one_slip(form, other) for other in held)
    )
