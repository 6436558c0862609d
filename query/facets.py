"""Counts of documents by the values of a field, exact: paged through to the end, never cut by a shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from query.aggregate_bodies import PAGE, READY, VALUES, Body, having
from query.filters import Clause
from query.request import Facet, FacetName, FacetValue
from query.retrieve import raise_failure
from search_config import fields
from search_config.client import Engine

# Values that an answer shows of one facet; `distinct` tells how many there are.
SHOWN: Final = 50
STORED: Final[dict[FacetName, str]] = {
    "type": fields.TYPE,
    "language": fields.LANGUAGE,
    "tags": fields.TAGS,
    "party": fields.PARTIES,
    "vendor": fields.PARTY_KINDS,
    "client": fields.PARTY_KINDS,
    "currency": fields.CURRENCY,
}
YEAR_DIGITS: Final = 4


@dataclass(slots=True)
class _Walk:
    """One aggregation that is paged through."""

    facet: FacetName
    found: bool
    query: Clause
    source: Body
    after: Mapping[str, Any] | None = None


def facets(
    engine: Engine, index: str, names: Sequence[FacetName], filters: Sequence[Clause], found: Sequence[str]
) -> tuple[Facet, ...]:
    """Count the documents that pass the filters by each field.

    Args:
        index: the documents index.
        filters: by `query.filters`, the tenant's first.
        found: ids of the documents among the hits that can be reached.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    everything: Clause = {"bool": {"filter": [*filters, READY]}}
    reached: Clause = {"bool": {"filter": [everything, {"terms": {fields.DOCUMENT_ID: list(found)}}]}}
    wanted = list(dict.fromkeys(names))
    walks = [
        _Walk(name, is_found, query, source)
        for name in wanted
        for is_found, query in ((False, everything), (True, reached))
        for query, source in _sources(name, query)
    ]
    counts: dict[tuple[FacetName, bool], Counter[str]] = {
        (name, is_found): Counter() for name in wanted for is_found in (False, True)
    }
    while walks:
        header = {"index": index, "allow_partial_search_results": False}
        answers = engine.msearch([(dict(header), _page(walk)) for walk in walks])
        still = []
        for walk, answer in zip(walks, answers, strict=True):
            raise_failure(answer, index)
            page = answer["aggregations"][VALUES]
            for bucket in page["buckets"]:
                value = _value(walk.facet, bucket["key"]["value"])
                if value is not None:
                    counts[walk.facet, walk.found][value] += bucket["doc_count"]
            walk.after = page.get("after_key")
            if walk.after is not None and len(page["buckets"]) == PAGE:
                still.append(walk)
        walks = still
    return tuple(_facet(name, counts[name, False], counts[name, True]) for name in wanted)


def _facet(name: FacetName, everything: Counter[str], found: Counter[str]) -> Facet:
    order = sorted(everything, key=lambda value: (-found[value], -everything[value], value))
    values = tuple(FacetValue(value=value, documents=everything[value], found=found[value]) for value in order[:SHOWN])
    return Facet(field=name, values=values, distinct=len(everything))


def _sources(name: FacetName, query: Clause) -> list[tuple[Clause, Body]]:
    """The field of a facet; years are of the day of signing, of other documents of the date that came with them."""
    if name != "year":
        return [(query, {"terms": {"field": STORED[name]}})]
    unsigned = having(query, fields.SIGNED_ON, absent=True)
    return [(query, _years(fields.SIGNED_ON)), (unsigned, _years(fields.DATE))]


def _years(field: str) -> Body:
    return {"date_histogram": {"field": field, "calendar_interval": "year", "format": "yyyy"}}


def _page(walk: _Walk) -> Body:
    composite: Body = {"size": PAGE, "sources": [{"value": walk.source}]}
    if walk.after is not None:
        composite["after"] = dict(walk.after)
    return {"query": walk.query, "size": 0, "track_total_hits": False, "aggs": {VALUES: {"composite": composite}}}


def _value(name: FacetName, key: Any) -> str | None:
    """What is shown of a stored value; None for a party in another part."""
    if name in {"vendor", "client"}:
        part, _, party = str(key).partition(":")
        return party if part == name else None
    return str(key)[:YEAR_DIGITS] if name == "year" else str(key)
