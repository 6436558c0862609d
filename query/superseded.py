"""Documents that were replaced: marked, and behind the ones that replace them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from query import build
from query.candidate import Candidate
from query.filters import Clause, none_of, tenant_filter
from query.request import Filters, Replacement, SearchRequest
from query.retrieve import Answer, raise_failure
from search_config import fields
from search_config.client import Engine

# Replaced documents that are looked at for one day; a tenant with more leaves the oldest ids' out, and none wrongly.
MOST: Final = 10_000


def replaced_body(filters: Sequence[Clause], documents: Sequence[str]) -> build.Body:
    """Which of these documents were replaced, and by which."""
    among = [{"terms": {fields.DOCUMENT_ID: list(documents)}}, {"exists": {"field": fields.SUPERSEDED_BY}}]
    return {
        "query": {"bool": {"filter": [*filters, *among]}},
        "size": max(1, len(documents)),
        "track_total_hits": False,
        "_source": [fields.DOCUMENT_ID, fields.SUPERSEDED_BY],
    }


def replaced_by(answer: Answer) -> dict[str, str]:
    """The id of the replacing document by the replaced one's, from the answer to `replaced_body`."""
    return {
        hit["_source"][fields.DOCUMENT_ID]: _flat(hit)["superseded_by"]
        for hit in answer["hits"]["hits"]
        if _flat(hit).get("superseded_by")
    }


def in_force_first(rows: Sequence[Candidate], replaced: Mapping[str, str]) -> tuple[Candidate, ...]:
    """The ranking, but the passages of a replaced document come behind the last one of the document that replaces it.

    Where the replacing document has no passage here, nothing moves. Chains move as one; a circle moves nothing.
    """
    last: dict[str, int] = {}
    for place, row in enumerate(rows):
        last[row.document_id] = place
    moved: list[tuple[int, int, int]] = []
    for place, row in enumerate(rows):
        chain = _chain(row.document_id, replaced)
        goes = max((place, *(last.get(replacing, -1) for replacing in chain)))
        moved.append((goes, len(chain) if goes > place else 0, place))
    return tuple(rows[place] for _, _, place in sorted(moved))


def replacements(
    engine: Engine, index: str, tenant: str, groups: Sequence[str] | None, replaced: Mapping[str, str]
) -> dict[str, Replacement]:
    """The mark of each replaced document; which one replaces it is told where the asker may see that one.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    if not replaced:
        return {}
    wanted = sorted(set(replaced.values()))
    body = {
        "query": {
            "bool": {"filter": tenant_filter(tenant, Filters.model_construct(document_id=tuple(wanted)), groups=groups)}
        },
        "size": len(wanted),
        "_source": [fields.DOCUMENT_ID, fields.NAME, fields.TITLE],
    }
    answer = engine.search(index, body)
    raise_failure(answer, index)
    titles = {
        hit["_source"][fields.DOCUMENT_ID]: hit["_source"].get(fields.TITLE) or hit["_source"][fields.NAME]
        for hit in answer["hits"]["hits"]
    }
    return {
        document: Replacement(document_id=by if by in titles else None, title=titles.get(by))
        for document, by in replaced.items()
    }


def replaced_on(engine: Engine, index: str, tenant: str, groups: Sequence[str] | None, day: date) -> tuple[str, ...]:
    """Ids of the documents that were replaced by this day: the replacing one was effective, else signed, by then.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    visible = tenant_filter(tenant, groups=groups)
    replaced_query = {"bool": {"filter": [*visible, {"exists": {"field": fields.SUPERSEDED_BY}}]}}
    body = {
        "query": replaced_query,
        "size": MOST,
        "sort": [{fields.DOCUMENT_ID: "asc"}],
        "_source": [fields.DOCUMENT_ID, fields.SUPERSEDED_BY],
    }
    answer = engine.search(index, body)
    raise_failure(answer, index)
    replaced = replaced_by(answer)
    if not replaced:
        return ()
    # Whether the replacing document had begun is no secret of it: it decides what the asker's own document says.
    begun = tenant_filter(tenant, _only(sorted(set(replaced.values()))))
    answer = engine.search(
        index,
        {
            "query": {"bool": {"filter": begun}},
            "size": MOST,
            "_source": [fields.DOCUMENT_ID, fields.EFFECTIVE_ON, fields.SIGNED_ON],
        },
    )
    raise_failure(answer, index)
    started = set()
    for hit in answer["hits"]["hits"]:
        stated = _flat(hit).get("effective_on") or _flat(hit).get("signed_on")
        if stated is not None and date.fromisoformat(str(stated)[:10]) <= day:
            started.add(hit["_source"][fields.DOCUMENT_ID])
    return tuple(sorted(document for document, by in replaced.items() if by in started))


def filters_of(engine: Engine, index: str, request: SearchRequest) -> tuple[Clause, ...]:
    """The filters of a request, the tenant's first; of a day that it names, without what was replaced by then.

    Args:
        index: the documents index.

    Raises:
        TenantError, InvalidRequest
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    filters = tuple(tenant_filter(request.tenant, request.filters, groups=request.groups))
    if (day := request.filters.in_force_on) is None:
        return filters
    gone = replaced_on(engine, index, request.tenant, request.groups, day)
    return (*filters, none_of([{"terms": {fields.DOCUMENT_ID: list(gone)}}])) if gone else filters


def _only(ids: Sequence[str]) -> Filters:
    """These documents; they may be more than a request may name."""
    return Filters.model_construct(document_id=tuple(ids))


def _chain(document: str, replaced: Mapping[str, str]) -> list[str]:
    """The documents that replace this one, one after another; nothing of a circle."""
    chain: list[str] = []
    current = document
    while current in replaced:
        current = replaced[current]
        if current == document or current in chain:
            return []
        chain.append(current)
    return chain


def _flat(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    flat: Mapping[str, Any] = hit["_source"].get(fields.FILTER_FIELDS) or {}
    return flat
