"""The one filter builder. Every read of chunks and of documents passes through it; it fails closed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, TypeVar

from query.request import Filters
from search_config import fields
from search_config.document_fields import MINOR_UNITS, PartyKind, party_kind
from search_config.errors import InvalidRequest, InvalidTenant
from search_config.records import tenant_id
from search_config.visibility import visible_clause

Clause = dict[str, Any]
Bound = TypeVar("Bound", date, int)

# A row that no query gives: the id of no document.
NOTHING: Final[Clause] = {"match_none": {}}


def tenant_filter(tenant: str, filters: Filters | None = None, *, groups: Sequence[str] | None = None) -> list[Clause]:
    """Filter clauses that limit a read to one tenant, to what the asker may see, and to what the request narrows by.

    Chunks and rows of the documents index have these fields under the same names, so that the clauses serve both.

    Args:
        tenant: exactly one tenant's name; a wildcard, a list or a blank is refused.
        filters: what else must hold; the fields are joined by "and", the values of one field by "or".
        groups: the asker's; None sees every document of the tenant, a sequence sees documents without groups and
            those with one of them.

    Returns:
        Clauses for a `bool.filter`, the tenant's first.

    Raises:
        MissingTenant, InvalidTenant: tenancy fails closed.
        InvalidRequest: a range that ends before it begins; an amount without its one currency.
    """
    if tenant is not None and not isinstance(tenant, str):
        raise InvalidTenant("A tenant is one name, not several.", where=type(tenant).__name__)
    clauses: list[Clause] = [{"term": {fields.TENANT: {"value": tenant_id(tenant)}}}]
    if isinstance(groups, str):
        raise InvalidRequest("Groups are a list of names.", where="groups")
    clauses += visible_clause(groups)
    clauses += [condition.clause for condition in conditions(filters or Filters(), groups)]
    return clauses


def possible_filter(
    tenant: str, filters: Filters | None = None, *, groups: Sequence[str] | None = None
) -> list[Clause]:
    """As `tenant_filter`, wider by the rows whose field was not found: what may match, for all that is known.

    Raises:
        as `tenant_filter`.
    """
    base = tenant_filter(tenant, groups=groups)
    return base + [
        condition.clause if condition.missing is None else any_of([condition.clause, condition.missing])
        for condition in conditions(filters or Filters(), groups, strict=True)
    ]


def certain_filter(tenant: str, filters: Filters | None = None, *, groups: Sequence[str] | None = None) -> list[Clause]:
    """As `tenant_filter`, but a field that was not found fulfils nothing: an expiry that nobody found is no "never".

    Raises:
        as `tenant_filter`.
    """
    base = tenant_filter(tenant, groups=groups)
    return base + [condition.clause for condition in conditions(filters or Filters(), groups, strict=True)]


@dataclass(frozen=True, slots=True)
class Condition:
    """What one filter demands.

    Attributes:
        name: of the field, as a document's `not_found` has it.
        clause: holds for rows that fulfil it.
        missing: holds for rows of which it can't be told; None where a row without the field does not fulfil it.
    """

    name: str
    clause: Clause
    missing: Clause | None = None


def conditions(filters: Filters, groups: Sequence[str] | None, *, strict: bool = False) -> list[Condition]:
    """The conditions of all filters that were given.

    Args:
        strict: that a document ends needs to be stated, or that it does not.

    Raises:
        InvalidRequest: as `tenant_filter`.
    """
    found = [
        Condition(name, {"terms": {field: list(values)}}, missing)
        for name, field, values, missing in (
            ("document_id", fields.DOCUMENT_ID, filters.document_id, None),
            ("type", fields.TYPE, filters.type, not_told(fields.TYPE, "type")),
            ("language", fields.LANGUAGE, filters.language, not_told(fields.LANGUAGE, "language")),
            ("tags", fields.TAGS, filters.tags, None),
            ("parties", fields.PARTIES, filters.party, not_told(fields.PARTIES, "parties")),
            ("currency", fields.CURRENCY, filters.currency, not_told(fields.CURRENCY, "currency", "amount")),
        )
        if values
    ]
    found += [Condition("groups", clause) for clause in _asked_groups(filters.groups, groups)]
    if filters.reference:
        own = list(filters.reference)
        either = any_of([{"terms": {fields.REFERENCE: own}}, {"terms": {fields.REFERENCES: own}}])
        found.append(Condition("references", either))
    found += [Condition("parties", clause, not_told(fields.PARTIES, "parties")) for clause in _parts(filters)]
    found += [Condition("amount", clause, not_told(fields.AMOUNT_MINOR, "amount")) for clause in _amounts(filters)]
    for field, name in (
        (fields.DATE, "date"),
        (fields.SIGNED_ON, "signed"),
        (fields.EFFECTIVE_ON, "effective"),
        (fields.EXPIRES_ON, "expires"),
    ):
        bounds = _range(field, getattr(filters, f"{name}_from"), getattr(filters, f"{name}_to"), f"{name}_from")
        found += [Condition(name, clause, not_told(field, name)) for clause in bounds]
    found += _dated(filters)
    if filters.in_force_on is not None:
        found += _in_force(filters.in_force_on, strict=strict)
    if filters.excluded_document_id:
        excluded = none_of([{"terms": {fields.DOCUMENT_ID: list(filters.excluded_document_id)}}])
        found.append(Condition("document_id", excluded))
    return found


def not_told(field: str, *names: str) -> Clause:
    """The row has no such value, and does not say that there is none."""
    return none_of([{"exists": {"field": field}}, {"terms": {fields.STATED_NONE: list(names)}}])


def any_of(clauses: Sequence[Clause]) -> Clause:
    """At least one of the clauses holds."""
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def none_of(clauses: Sequence[Clause]) -> Clause:
    """None of the clauses holds."""
    return {"bool": {"must_not": list(clauses)}}


def _asked_groups(asked: Sequence[str], groups: Sequence[str] | None) -> list[Clause]:
    """Narrows to groups of a request, those of the asker alone: that a document has further groups is not told."""
    if not asked:
        return []
    kept = sorted(set(asked) if groups is None else set(asked) & set(groups))
    return [{"terms": {fields.GROUPS: kept}}] if kept else [NOTHING]


def _parts(filters: Filters) -> list[Clause]:
    """Parties in their part."""
    parts = {
        PartyKind.VENDOR: filters.vendor,
        PartyKind.CLIENT: filters.client,
        PartyKind.AUTHORITY: filters.authority,
        PartyKind.PERSON: filters.person,
    }
    return [
        {"terms": {fields.PARTY_KINDS: [party_kind(kind, name) for name in names]}}
        for kind, names in parts.items()
        if names
    ]


def _amounts(filters: Filters) -> list[Clause]:
    least, most = filters.amount_min, filters.amount_max
    if least is None and most is None:
        return []
    if len(filters.currency) != 1:
        raise InvalidRequest(
            "A range of amounts needs one currency.",
            where="filters.currency",
            remedy="Name it, for example currency ILS: amounts of several currencies can't be compared.",
        )
    return _range(fields.AMOUNT_MINOR, _minor(least), _minor(most), "amount_min")


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount * MINOR_UNITS)


def _range(field: str, first: Bound | None, last: Bound | None, name: str) -> list[Clause]:
    if first is not None and last is not None and first > last:
        raise InvalidRequest(
            f"The range ends ({last}) before it begins ({first}).", where=f"filters.{name}", remedy="Swap them."
        )
    bounds = {"gte": first, "lte": last}
    given = {
        bound: value.isoformat() if isinstance(value, date) else value
        for bound, value in bounds.items()
        if value is not None
    }
    return [{"range": {field: given}}] if given else []


def _dated(filters: Filters) -> list[Condition]:
    """By the day of signing, and for documents that tell none by the date that came with the file."""
    first, last = filters.dated_from, filters.dated_to
    unsigned = none_of([{"exists": {"field": fields.SIGNED_ON}}])
    return [
        Condition(
            "signed",
            any_of([signed, {"bool": {"filter": [unsigned, dated]}}]),
            {"bool": {"filter": [not_told(fields.SIGNED_ON, "signed"), none_of([{"exists": {"field": fields.DATE}}])]}},
        )
        for signed, dated in zip(
            _range(fields.SIGNED_ON, first, last, "dated_from"),
            _range(fields.DATE, first, last, "dated_from"),
            strict=True,
        )
    ]


def _in_force(day: date, *, strict: bool) -> list[Condition]:
    """Begun and not ended by the document's own dates. One that states no day of beginning is in force for nobody."""
    begun = {"lte": day.isoformat()}
    undated = none_of([{"exists": {"field": fields.EFFECTIVE_ON}}])
    signed = {"bool": {"filter": [undated, {"range": {fields.SIGNED_ON: begun}}]}}
    without_end = (
        {"term": {fields.STATED_NONE: "expires"}} if strict else none_of([{"exists": {"field": fields.EXPIRES_ON}}])
    )
    unknown = [not_told(fields.EFFECTIVE_ON, "effective"), not_told(fields.SIGNED_ON, "signed")]
    return [
        Condition(
            "effective",
            any_of([{"range": {fields.EFFECTIVE_ON: begun}}, signed]),
            {"bool": {"filter": unknown}},
        ),
        Condition(
            "expires",
            any_of([without_end, {"range": {fields.EXPIRES_ON: {"gte": day.isoformat()}}}]),
            not_told(fields.EXPIRES_ON, "expires"),
        ),
    ]
