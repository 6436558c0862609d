"""What a request leaves behind: filled in by its route, read by metrics, logs, traces and the query log."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from query import wording
from query.answer_result import AnswerResult
from query.request import SearchRequest, SearchResult
from query.wording import tells

# Notes by which a search says that it read a part of the query alone.
QUERY_CUT: Final = (wording.CUT_FOR_BOTH, wording.CUT_FOR_ONE, wording.LONG)

# Why a search refuses: a name that can be counted, where its result has a sentence with figures.
NOTHING_RELEVANT: Final = "nothing_relevant"
# What is told of a leg that failed.
LEG_FAILED: Final = "This leg did not answer; the service's operator finds the reason in its log."

log = logging.getLogger(__name__)


@dataclass
class Trail:
    """Notes on one request; everything is optional but its id.

    Attributes:
        request_id: of this request, in every line of the log about it.
        code: of the error that it ended with.
        reason: why it refused, as a name.
        derived: filters that the question itself named.
        hits: rows of the answer; None where no passages were searched.
        took_ms: milliseconds by stage, those of an answer beside those of its search.
        truncated: parts of the request that were not read whole.
    """

    request_id: str
    code: str | None = None
    query: str | None = None
    language: str | None = None
    mode: str | None = None
    route: str | None = None
    filters: dict[str, Any] = field(default_factory=dict)
    derived: dict[str, Any] = field(default_factory=dict)
    refused: bool | None = None
    reason: str | None = None
    hits: int | None = None
    total: int | None = None
    degraded: tuple[str, ...] = ()
    profile: str | None = None
    took_ms: dict[str, float] = field(default_factory=dict)
    truncated: tuple[str, ...] = ()

    def searched(self, request: SearchRequest, result: SearchResult) -> SearchResult:
        """Note a search and what came of it; gives what of it may be sent."""
        self.mode = request.mode
        self._found(request.query, result)
        return sendable(result)

    def answered(self, answer: AnswerResult) -> AnswerResult:
        """Note an answer, its search included; gives what of it may be sent."""
        self._found(answer.question, answer.search)
        self.mode = answer.method
        self.refused, self.reason = answer.refused, answer.reason
        self.took_ms |= answer.took_ms
        return answer.model_copy(update={"search": sendable(answer.search)})

    def _found(self, query: str, result: SearchResult) -> None:
        self.query = query
        self.language, self.route, self.profile = result.language, result.route, result.profile
        self.filters = result.filters.model_dump(mode="json", exclude_defaults=True)
        self.refused, self.reason = result.refused, NOTHING_RELEVANT if result.refused else None
        self.derived = result.derived.model_dump(mode="json", exclude_defaults=True)
        # A count over fields that searched no passages is no search that found nothing.
        searched = result.route != "metadata"
        self.hits, self.total = (len(result.hits), result.total) if searched else (None, None)
        self.degraded = tuple(sorted({entry.leg for entry in result.degraded}))
        self.took_ms = dict(result.took_ms)
        self.truncated = ("query",) if any(tells(note, *QUERY_CUT) for note in result.notes) else ()


def sendable(result: SearchResult) -> SearchResult:
    """The result without what lies behind the service: why a leg failed (addresses, the engine's words) is logged."""
    if not result.degraded:
        return result
    for entry in result.degraded:
        log.warning("the leg %s did not answer: %s", entry.leg, entry.reason)
    told = tuple(entry.model_copy(update={"reason": LEG_FAILED}) for entry in result.degraded)
    return result.model_copy(update={"degraded": told})


async def trail(request: Request) -> Trail:
    """The trail of this request."""
    found: Trail = request.state.trail
    return found


TrailHere = Annotated[Trail, Depends(trail)]
