"""The HTTP door: composes routes, limits and the one error handler over given services."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from api import headers, limits, reference
from api.auth import Authenticator
from api.errors import Problem, install_handlers
from api.gate import Gate
from api.metrics import Metrics
from api.observe import Observed
from api.query_log import QueryLog
from api.rate import RateLimit
from api.recent import RecentAnswers
from api.routes import answer, documents, evidence, export, feedback, glossary, health, metrics, page, search
from api.services import Services
from api.telemetry import Tracing
from api.turns import REMOTE_CORES, TOTAL_REMOTE, Turns
from api.verified import VerifiedKeys
from api.version import version

DESCRIPTION: Final = (
    "Hebrew-aware search over a tenant's documents. The key names the tenant; a request never does. "
    "Errors are application/problem+json with a stable code."
)


# Routes that take files.
UPLOADS: Final = ("/documents",)


def create_app(services: Services) -> FastAPI:
    """The application over composed services; whoever composed them closes them.

    Raises:
        MissingExtra: traces are configured and their package is missing.
    """
    settings = services.settings
    counted = Metrics(services.engine, services.info.names)
    query_log = (
        QueryLog(services.engine, services.info.names, days=settings.query_log_days) if settings.query_log else None
    )
    tracing = Tracing.of(settings)
    app = FastAPI(
        lifespan=_lifespan(services, query_log, tracing),
        title="Mafteach",
        version=version(),
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # A redirect would send a key a second time, to a path that is not a route.
        redirect_slashes=False,
    )
    app.state.services = services
    app.state.metrics = counted
    app.state.recent = RecentAnswers()
    services.engine.observe_bulk(counted.bulk)
    if query_log is not None:
        query_log.observe_lost(counted.lost)
    install_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(limits.BodyLimit, larger=dict.fromkeys(UPLOADS, settings.upload_max_bytes))
    app.add_middleware(
        Gate,
        routes=app,
        authenticator=Authenticator(VerifiedKeys(services.keys, seconds=settings.key_cache_s), services.tokens),
        rate=RateLimit(settings.rate_limit_per_minute),
        turns=Turns(cores=os.cpu_count() or 1, waiting=settings.waiting_requests),
        apart=_apart(services),
    )
    app.add_middleware(limits.TimeLimit, seconds=settings.request_limit_s)
    app.add_middleware(headers.SecurityHeaders)
    app.add_middleware(
        Observed, metrics=counted, query_log=query_log, keeps_text=settings.query_log_text, tracing=tracing
    )
    for module in (health, metrics, search, answer, documents, glossary, evidence, feedback, export, page):
        app.include_router(module.router)
    _describe(app)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(reference.page(app.openapi()))

    return app


def _apart(services: Services) -> dict[str, Turns]:
    """Turns of answers where a language model writes them: that takes seconds, of which this machine works little."""
    if services.language_model is None:
        return {}
    waiting = services.settings.waiting_requests
    return {"/answer": Turns(cores=REMOTE_CORES, waiting=waiting, total=TOTAL_REMOTE)}


def _lifespan(
    services: Services, query_log: QueryLog | None, tracing: Tracing | None
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Starts what works beside the requests, and ends it in order: no new documents, then the rows that are left."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if query_log is not None:
            query_log.start()
        if services.inbox is not None:
            services.inbox.start()
        try:
            yield
        finally:
            for part in (services.inbox, query_log, tracing):
                if part is not None:
                    await run_in_threadpool(part.close)

    return lifespan


def _describe(app: FastAPI) -> None:
    """OpenAPI with the shape of errors in place of the framework's own."""
    framework = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schemas = framework()["components"]["schemas"]
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs"))
            schemas["Problem"] = problem
            for own in ("HTTPValidationError", "ValidationError"):
                schemas.pop(own, None)
        described: dict[str, Any] = framework()
        return described

    app.openapi = openapi  # type: ignore[method-assign]
