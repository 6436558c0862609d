"""The outermost layer: every request gets an id and a trail, and leaves a line in the log, numbers in the metrics, a
span where traces are wanted, and a row in the query log where it had a valid credential."""

from __future__ import annotations

import logging
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import logs
from api.caller import Caller
from api.errors import REQUEST_ID
from api.metrics import Metrics
from api.query_log import QueryLog, QueryRow
from api.telemetry import Tracing
from api.trail import Trail

MS: Final = 1000.0
TOTAL: Final = "request"
# Where a row has the filters that a question named, beside those that its request gave.
DERIVED: Final = "derived"

log = logging.getLogger("mafteach.requests")


class Observed:
    """Watches every request from outside of everything else."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        query_log: QueryLog | None,
        keeps_text: bool,
        tracing: Tracing | None,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._query_log = query_log
        self._keeps_text = keeps_text
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        trail = Trail(logs.request_id(Headers(scope=scope).get(REQUEST_ID)))
        scope.setdefault("state", {})["trail"] = trail
        logs.bind(trail.request_id)
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = trail.request_id
            await send(message)

        self._metrics.begun()
        began = time.perf_counter()
        began_at = datetime.now(UTC)
        try:
            await self._app(scope, receive, send_noted)
        finally:
            seconds = time.perf_counter() - began
            self._note(scope, trail, status, seconds, began_at)

    def _note(
        self, scope: MutableMapping[str, Any], trail: Trail, status: int, seconds: float, began_at: datetime
    ) -> None:
        path = getattr(scope.get("route"), "path", None)
        caller = scope["state"].get("caller")
        self._metrics.ended(scope["method"], path, status, seconds, trail)
        details = {
            "method": scope["method"],
            # The route and not the path, which may hold anything.
            "path": path,
            "status": status,
            "code": trail.code,
            "took_ms": round(seconds * MS, 1),
            "tenant": caller.tenant if isinstance(caller, Caller) else None,
            "caller": caller.id if isinstance(caller, Caller) else None,
        }
        log.info("request", extra={name: value for name, value in details.items() if value is not None})
        if self._tracing is not None:
            self._tracing.request(details, trail, began_at, seconds)
        if self._query_log is not None and isinstance(caller, Caller) and path is not None:
            self._query_log.write(self._row(caller, f"{scope['method']} {path}", trail, status, seconds, began_at))

    def _row(
        self, caller: Caller, path: str, trail: Trail, status: int, seconds: float, began_at: datetime
    ) -> QueryRow:
        return QueryRow(
            at=began_at,
            request_id=trail.request_id,
            tenant=caller.tenant,
            caller=caller.id,
            path=path,
            status=status,
            code=trail.code,
            query=trail.query if self._keeps_text else None,
            language=trail.language,
            mode=trail.mode,
            route=trail.route,
            filters={**trail.filters, **self._derived(trail)},
            filter_names=tuple(sorted([*trail.filters, *(f"{DERIVED}.{name}" for name in trail.derived)])),
            refused=trail.refused,
            reason=trail.reason,
            hits=trail.hits,
            total=trail.total,
            no_result=None if trail.hits is None else trail.hits == 0,
            degraded=trail.degraded,
            profile=trail.profile,
            took_ms={**trail.took_ms, TOTAL: seconds * MS},
        )

    def _derived(self, trail: Trail) -> dict[str, Any]:
        """Their values are words of the question: kept only where those are."""
        return {DERIVED: trail.derived} if trail.derived and self._keeps_text else {}
