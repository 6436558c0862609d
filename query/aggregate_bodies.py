"""Bodies for exact counts over the documents index. Pure.

Exact on any number of shards: totals are tracked in full, and values are paged through by a composite aggregation,
which no shard cuts; nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from query.filters import Clause, Condition, none_of
from search_config import fields
from search_config.records import DocumentState

Body = dict[str, Any]

# Documents that an answer names; the number counts all of them.
LISTED: Final = 100
# Values of one page of a composite aggregation.
PAGE: Final = 1_000
VALUES: Final = "values"
SOURCE: Final = (
    fields.DOCUMENT_ID,
    fields.NAME,
    fields.TITLE,
    fields.DATE,
    fields.SIGNED_ON,
    fields.EFFECTIVE_ON,
    fields.EXPIRES_ON,
    fields.AMOUNT_MINOR,
    fields.CURRENCY,
    fields.PARTIES,
)
READY: Final[Clause] = {"term": {fields.STATE: DocumentState.READY.value}}
GONE: Final[Clause] = {"term": {fields.STATE: DocumentState.DELETING.value}}


def listed(query: Clause, *, sort: Sequence[Mapping[str, Any]] = (), size: int = LISTED) -> Body:
    """The first documents, and how many there are."""
    return {
        "query": query,
        "size": size,
        "track_total_hits": True,
        "_source": list(SOURCE),
        "sort": [*sort, {fields.DOCUMENT_ID: "asc"}],
    }


def certain(clauses: Sequence[Clause]) -> Clause:
    """Ready documents that pass the filter."""
    return {"bool": {"filter": [*clauses, READY]}}


def doubtful(possible: Sequence[Clause], counted: Sequence[Clause], conditions: Sequence[Condition]) -> Body:
    """Ready documents that may pass the filter, by the field that was not found."""
    missing = {condition.name: condition.missing for condition in conditions if condition.missing is not None}
    body: Body = {
        "query": {"bool": {"filter": [*possible, READY], "must_not": [{"bool": {"filter": list(counted)}}]}},
        "size": 0,
        "track_total_hits": True,
    }
    return body | ({"aggs": {"missing": {"filters": {"filters": missing}}}} if missing else {})


def not_ready(possible: Sequence[Clause]) -> Body:
    """Documents whose fields may not be known yet, or ever, by their state; there are eight states."""
    return {
        "query": {"bool": {"filter": list(possible), "must_not": [READY, GONE]}},
        "size": 0,
        "track_total_hits": True,
        "aggs": {"states": {"terms": {"field": fields.STATE, "size": len(DocumentState)}}},
    }


def without(query: Clause, field: str, names: Sequence[str]) -> Body:
    """Of these documents, those without a field: how many, and how many of them state that there is none."""
    return {
        "query": {"bool": {"filter": [query], "must_not": [{"exists": {"field": field}}]}},
        "size": 0,
        "track_total_hits": True,
        "aggs": {"stated": {"filter": {"terms": {fields.STATED_NONE: list(names)}}}},
    }


def values_page(
    query: Clause, field: str, after: Mapping[str, Any] | None, *, amounts: bool = False, missing: bool = False
) -> Body:
    """One page of the values of a field with their numbers of documents."""
    composite: Body = {"size": PAGE, "sources": [{"value": {"terms": {"field": field, "missing_bucket": missing}}}]}
    if after is not None:
        composite["after"] = dict(after)
    page: Body = {"composite": composite}
    if amounts:
        page["aggs"] = {name: {name: {"field": fields.AMOUNT_MINOR}} for name in ("sum", "max", "min", "value_count")}
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {VALUES: page}}


def having(query: Clause, field: str, *, absent: bool = False) -> Clause:
    """Of these documents, those with a field, or without it."""
    exists = {"exists": {"field": field}}
    return {"bool": {"filter": [query, none_of([exists]) if absent else exists]}}
