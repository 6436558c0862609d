"""One handler for everything that goes wrong: the error tree as `application/problem+json` (RFC 9457).

A problem has `type` (a URN of its code), `title`, `status`, `detail`, `code`, `where`, `remedy`, and, for a request
that does not validate, `errors` with every field at once. What lies behind the service (addresses, the engine's own
words) is logged, never sent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from api.headers import SECURITY_HEADERS
from api.trail import Trail
from search_config import errors
from search_config.errors import MafteachError

MEDIA_TYPE: Final = "application/problem+json"
# An overloaded engine drains its queues within seconds (see `search_config.client`); asking sooner only adds to them.
RETRY_AFTER_S: Final = 5
REQUEST_ID: Final = "X-Request-ID"
CHALLENGE: Final = 'Bearer realm="mafteach"'

log = logging.getLogger(__name__)

# The nearest class of an error's ancestry decides.
STATUSES: Final[Mapping[type[MafteachError], HTTPStatus]] = {
    MafteachError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidSettings: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.InvalidProfile: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.TenantError: HTTPStatus.FORBIDDEN,
    errors.AuthenticationError: HTTPStatus.UNAUTHORIZED,
    errors.NotPermitted: HTTPStatus.FORBIDDEN,
    errors.RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    errors.TimedOut: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.AlreadyExists: HTTPStatus.CONFLICT,
    errors.StateConflict: HTTPStatus.CONFLICT,
    errors.DocumentError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.DocumentTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.ModelUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.IndexMissing: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.IndexMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EngineError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.NodeError: HTTPStatus.SERVICE_UNAVAILABLE,
}
# Codes of problems that only HTTP has.
HTTP_CODES: Final[Mapping[int, str]] = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.NOT_FOUND: "no_such_route",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "body_too_large",
    HTTPStatus.UNPROCESSABLE_ENTITY: errors.InvalidRequest.code,
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal_error",
}
SERVER_DETAIL: Final = "The service can't do this at the moment; its operator finds the reason in the log."


class FieldProblem(BaseModel):
    """One thing that does not validate."""

    model_config = ConfigDict(frozen=True)

    where: str = Field(examples=["body.size"])
    what: str = Field(examples=["Input should be less than or equal to 100"])


class Problem(BaseModel):
    """What every error answers with."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(examples=["urn:mafteach:problem:empty_query"])
    title: str = Field(examples=["Empty query"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["There is nothing to search for."])
    code: str = Field(examples=["empty_query"], description="Stable; docs/errors.md lists all.")
    where: str | None = None
    remedy: str | None = None
    errors: tuple[FieldProblem, ...] = ()


def status_of(error: MafteachError | type[MafteachError]) -> HTTPStatus:
    """The HTTP status of an error or of a class of errors."""
    kind = error if isinstance(error, type) else type(error)
    return next(STATUSES[ancestor] for ancestor in kind.__mro__ if ancestor in STATUSES)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    where: str | None = None,
    remedy: str | None = None,
    fields: tuple[FieldProblem, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A response in the one shape."""
    body = Problem(
        type=f"urn:mafteach:problem:{code}",
        title=code.replace("_", " ").capitalize(),
        status=status,
        detail=detail,
        code=code,
        where=where,
        remedy=remedy,
        errors=fields,
    )
    return JSONResponse(body.model_dump(), status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's description of the errors that a route may answer with."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


def install_handlers(app: FastAPI) -> None:
    """Make every error of `app`, its own and the framework's, answer in the one shape."""
    app.add_exception_handler(MafteachError, _on_mafteach)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_unknown)


def noted(scope: Scope, code: str) -> None:
    """Leave an error's code on the request's trail."""
    trail = scope.get("state", {}).get("trail")
    if isinstance(trail, Trail):
        trail.code = code


def _on_mafteach(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, MafteachError):
        raise error
    noted(request.scope, error.code)
    return answer_of(error)


def answer_of(error: MafteachError) -> JSONResponse:
    """The response to one of our errors; what lies behind the service is logged and not told."""
    status = status_of(error)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # Being busy is nothing to look into, and there may be thousands a minute.
        if isinstance(error, errors.Busy):
            log.warning("%s: %s", error.code, error)
        else:
            log.error("%s: %s", error.code, error, exc_info=error)
        headers = {"Retry-After": str(RETRY_AFTER_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        return problem(status, error.code, SERVER_DETAIL, headers=headers)
    headers = {"WWW-Authenticate": CHALLENGE} if status == HTTPStatus.UNAUTHORIZED else {}
    if isinstance(error, errors.RateLimited):
        headers = {"Retry-After": str(error.retry_after_s)}
    return problem(status, error.code, error.what, where=_sendable(error.where), remedy=error.remedy, headers=headers)


def _on_validation(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    noted(request.scope, errors.InvalidRequest.code)
    found = tuple(_field_problem(item) for item in error.errors())
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.InvalidRequest.code,
        f"{len(found)} field(s) of the request do not hold.",
        where=", ".join(item.where for item in found),
        remedy="Correct them; /docs describes every request.",
        fields=found,
    )


def _field_problem(item: Mapping[str, Any]) -> FieldProblem:
    # The input itself is left out: it may be long, secret, or text that can't be encoded.
    return FieldProblem(
        where=_sendable(".".join(str(part) for part in item["loc"])) or "request", what=str(item["msg"])
    )


def _on_http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    code = HTTP_CODES.get(error.status_code, HTTPStatus(error.status_code).phrase.lower().replace(" ", "_"))
    noted(request.scope, code)
    return problem(error.status_code, code, str(error.detail), remedy="/docs lists every route.", headers=error.headers)


def _on_unknown(request: Request, error: Exception) -> JSONResponse:
    # Starlette answers this outside of all middleware, so the headers are set here.
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    code = HTTP_CODES[HTTPStatus.INTERNAL_SERVER_ERROR]
    trail = request.scope.get("state", {}).get("trail")
    own = {REQUEST_ID: trail.request_id} if isinstance(trail, Trail) else {}
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, code, SERVER_DETAIL, headers={**SECURITY_HEADERS, **own})


def _sendable(text: str | None) -> str | None:
    """Text without lone surrogates, which no JSON encoder takes."""
    return None if text is None else text.encode(errors="backslashreplace").decode()
