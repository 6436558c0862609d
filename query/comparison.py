"""Questions that set documents against each other: which documents they name, and hits of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from query.aggregate_bodies import READY
from query.aggregate_rows import row_of
from query.filters import tenant_filter
from query.layers import joined
from query.names import NameIndex
from query.question import Understanding
from query.question_text import normal, words_of
from query.request import Filters, Hit, SearchRequest, SearchResult, Side
from query.retrieve import raise_failure
from search_config import fields
from search_config.client import Engine

# Documents whose titles a question is compared with; a tenant with more names them by number or party.
MOST_TITLES: Final = 2_000
# Documents that one question compares.
MOST_SIDES: Final = 4


def sides_of(
    engine: Engine, index: str, tenant: str, groups: Sequence[str] | None, query: str, found: Understanding
) -> list[tuple[str, Filters]]:
    """What a comparison is between: documents by number, by party, or by title; nothing where it names fewer than two.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    if not found.compares:
        return []
    sides = [(_name(side), side) for side in found.sides]
    body = {
        "query": {"bool": {"filter": [*tenant_filter(tenant, groups=groups), READY]}},
        "size": MOST_TITLES,
        "sort": [{fields.DOCUMENT_ID: "asc"}],
        "_source": [fields.DOCUMENT_ID, fields.NAME, fields.TITLE],
    }
    answer = engine.search(index, body)
    raise_failure(answer, index)
    titled: dict[str, list[str]] = {}
    for hit in answer["hits"]["hits"]:
        row = row_of(hit["_source"])
        for name in {row.title, row.name.rpartition(".")[0] or row.name} - {""}:
            titled.setdefault(name, []).append(row.id)
    named = []
    for entry in NameIndex(titled, partly=False).find(words_of(normal(query))):
        ids = tuple(dict.fromkeys(id_ for name in entry.names for id_ in titled[name]))
        named.append((entry.names[0], Filters.model_construct(document_id=ids)))
    # A title may hold a party's name, which is no second side then.
    sides = named if len(named) > 1 else [*sides, *named]
    return sides[:MOST_SIDES] if len(sides) > 1 else []


def _name(side: Filters) -> str:
    values = next(iter(side.given().values()))
    return str(values[0])


def side_by_side(results: Sequence[tuple[str, SearchResult]], size: int) -> tuple[tuple[Hit, ...], tuple[Side, ...]]:
    """The hits of all sides in turn, each once, and which documents each side gave."""
    turns = zip_longest(*(result.hits for _, result in results))
    hits = {hit.chunk_id: hit for turn in turns for hit in turn if hit is not None}
    shown = list(hits.values())[:size]
    placed = tuple(hit.model_copy(update={"rank": place}) for place, hit in enumerate(shown, start=1))
    sides = tuple(
        Side(name=name, document_ids=tuple(dict.fromkeys(hit.document_id for hit in result.hits)))
        for name, result in results
    )
    return placed, sides


def compared(
    request: SearchRequest, sides: Sequence[tuple[str, Filters]], passages: Callable[[SearchRequest], SearchResult]
) -> SearchResult:
    """Hits of each of the documents that a question compares, in turn.

    Args:
        passages: one search.
    """
    each = -(-request.size // len(sides))
    found = []
    for name, side in sides:
        narrowed = joined(request.filters, side)
        own = request.model_copy(update={"filters": narrowed, "size": each, "from_": 0, "facets": ()})
        found.append((name, passages(own)))
    hits, named = side_by_side(found, request.size)
    results = [result for _, result in found]
    refused = all(result.refused for result in results)
    return results[0].model_copy(
        update={
            "hits": hits,
            "sides": named,
            "refused": refused,
            "reason": results[0].reason if refused else None,
            "total": sum(len(result.hits) for result in results),
            "notes": tuple(dict.fromkeys(note for result in results for note in result.notes)),
            "degraded": tuple(dict.fromkeys(leg for result in results for leg in result.degraded)),
        }
    )
