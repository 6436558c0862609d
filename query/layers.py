"""Which layer answers a question, and what the documents' fields say to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from query.aggregate import Scope, metadata_answer, picked
from query.metadata_result import MetadataAnswer
from query.question import Understanding, understand
from query.request import Filters, RouteTaken, SearchRequest
from query.routing import RouteDecision, Router
from query.superseded import replaced_on
from query.vocabulary import vocabulary
from search_config.client import Engine


@dataclass(frozen=True, slots=True)
class FieldsSay:
    """What the fields say, and what of the question narrows a search.

    Attributes:
        answer: None where the question asks nothing of fields.
        derived: filters that the question named and the asker did not take off.
        narrowed: the request's filters joined with them.
    """

    understanding: Understanding
    answer: MetadataAnswer | None
    derived: Filters
    narrowed: Filters


def decided(request: SearchRequest, query: str, as_of: date, router: Router | None) -> RouteDecision:
    """The route of a request: the one that it names, or the router's; passages alone where there is no router."""
    if request.route == "auto" and router is not None:
        return router.route(query, as_of)
    route = "semantic" if request.route == "auto" else request.route
    return RouteDecision(route, "the request names the route", "asked")


def taken(request: SearchRequest, decision: RouteDecision) -> RouteTaken | None:
    """How the route was chosen, for the answer."""
    return None if request.route != "auto" else RouteTaken(by=decision.by, reason=decision.reason)


def fields_say(engine: Engine, index: str, request: SearchRequest, query: str, as_of: date, language: str) -> FieldsSay:
    """Read the question with the names that the asker's documents know, and answer it from their fields.

    Args:
        index: the documents index.

    Raises:
        TenantError, InvalidRequest
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    found = understand(query, as_of, vocabulary(engine, index, request.tenant, request.groups))
    derived = kept(found.filters, request.without) if request.derived else Filters()
    narrowed = joined(request.filters, derived)
    scope = Scope(engine, index, request.tenant, request.groups, as_of, language)
    if narrowed.in_force_on is not None:
        gone = replaced_on(engine, index, request.tenant, request.groups, narrowed.in_force_on)
        left_out = tuple(dict.fromkeys((*narrowed.excluded_document_id, *gone)))
        counted = narrowed.model_copy(update={"excluded_document_id": left_out})
    else:
        counted = narrowed
    answer = metadata_answer(scope, found, counted) if found.measure else None
    if found.pick is not None and (ids := picked(scope, found, counted)):
        derived = joined(derived, Filters.model_construct(document_id=ids))
        narrowed = joined(request.filters, derived)
    return FieldsSay(found, answer, derived, narrowed)


def joined(first: Filters, second: Filters) -> Filters:
    """Both; a field that the first one gives is the first one's."""
    given = {name: getattr(second, name) for name in second.given() if name not in first.given()}
    return first.model_copy(update=given)


def kept(filters: Filters, without: Iterable[str]) -> Filters:
    """The filters without some fields; each end of a range is a field."""
    gone = set(without)
    return Filters.model_construct(**{name: getattr(filters, name) for name in filters.given() if name not in gone})
