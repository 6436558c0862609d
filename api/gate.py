"""The gate: no request reaches a route without a valid credential, unless the route's path is named open.

It stands before routing and before the body is read: a new route is closed until somebody opens it, and who has no
credential can't make the service read megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from api.auth import Authenticator
from api.caller import Caller
from api.errors import answer_of, noted
from api.jwt import refused
from api.rate import RateLimit
from api.routes.page import PAGE_PATHS
from api.turns import Turns
from search_config.errors import Busy, MafteachError, TenantBusy

# Paths that anyone may ask; they tell nothing of any tenant. /metrics checks for itself (`api.routes.metrics`).
OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json", "/metrics"}) | PAGE_PATHS


class Gate:
    """Puts the caller of a request into its state, or answers 401, 429 or 503."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: FastAPI,
        authenticator: Authenticator,
        rate: RateLimit,
        turns: Turns,
        apart: Mapping[str, Turns] | None = None,
    ) -> None:
        """Make one.

        Args:
            app: what stands behind it.
            routes: what a request must lead to.
            authenticator: checks credentials.
            rate: counts requests.
            turns: whose turn it is.
            apart: paths with turns of their own, since they wait for another machine and not for this one's cores.
        """
        self._app = app
        self._routes = routes
        self._authenticator = authenticator
        self._rate = rate
        self._turns = turns
        self._apart = dict(apart or {})
        self._fixed: set[tuple[str, str | None, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] == "lifespan" or scope.get("path") in OPEN_PATHS or not self._leads_somewhere(scope):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._admitted(Headers(scope=scope).getlist("authorization"))
        except MafteachError as error:
            noted(scope, error.code)
            await answer_of(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        try:
            async with self._apart.get(scope["path"], self._turns).turn(caller.tenant):
                await self._app(scope, receive, send)
        except (TenantBusy, Busy) as error:
            # Raised before the turn began: behind it, the application answers its own errors.
            noted(scope, error.code)
            await answer_of(error)(scope, receive, send)

    async def _admitted(self, headers: list[str]) -> Caller:
        if len(headers) > 1:
            # Whoever stands before this service may have looked at another one of them.
            raise refused()
        header = headers[0] if headers else None
        caller = self._authenticator.known(header)
        if caller is None:
            # Looked up in the engine; the loop goes on meanwhile.
            caller = await run_in_threadpool(self._authenticator.authenticate, header)
        self._rate.count(caller)
        return caller

    def _leads_somewhere(self, scope: Scope) -> bool:
        """Whether a route takes this request; where none does, 404 or 405 tells nothing that /docs does not.

        What leads to a route whose path is fixed is remembered: there are few, and comparing all takes its time.
        """
        place = (scope["type"], scope.get("method"), scope["path"])
        if place in self._fixed:
            return True
        for route in self._routes.router.routes:
            if route.matches(scope)[0] is Match.FULL:
                if getattr(route, "path", None) == scope["path"]:
                    self._fixed.add(place)
                return True
        return False
