"""The HTTP door: composes routes, limits and the one error handler over given services."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from api import headers, limits, reference
from api.errors import Problem, install_handlers
from api.routes import documents, health, search
from api.services import Services
from api.version import version

DESCRIPTION: Final = (
    "Hebrew-aware search over a tenant's documents. The key names the tenant; a request never does. "
    "Errors are application/problem+json with a stable code."
)


def create_app(services: Services) -> FastAPI:
    """The application over composed services; whoever composed them closes them."""
    app = FastAPI(
        title="Mafteach",
        version=version(),
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # A redirect would send a key a second time, to a path that is not a route.
        redirect_slashes=False,
    )
    app.state.services = services
    install_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(limits.BodyLimit)
    app.add_middleware(headers.SecurityHeaders)
    for module in (health, search, documents):
        app.include_router(module.router)
    _describe(app)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(reference.page(app.openapi()))

    return app


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
