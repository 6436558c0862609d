"""Limits of every request."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import HTTP_CODES, problem
from search_config.errors import InvalidRequest

# A search is a few kilobytes even with the longest query and all filters; 1 MB leaves room for what others add.
MAX_BODY_BYTES: Final = 1_000_000
TOO_LARGE: Final = f"The body is over {MAX_BODY_BYTES:,} bytes."


def no_parameters(request: Request) -> None:
    """Refuse a query string where a route takes none: whoever sends `?tenant=…` must not believe that it counts.

    Raises:
        InvalidRequest
    """
    if request.query_params:
        raise InvalidRequest(
            "This route takes no parameters in its URL.",
            where=", ".join(f"query.{name}" for name in request.query_params),
            remedy="Leave them out; /docs describes every request.",
        )


# After the tenant in a route's signature, so that who has no key learns nothing else.
NoParameters = Annotated[None, Depends(no_parameters)]


class BodyLimit:
    """Refuses a body over the limit: by its announced length before it is read, else as soon as it grows over it."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced) > self._max_bytes:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            answer = problem(status, HTTP_CODES[status], TOO_LARGE, remedy="Shorten the request.")
            await answer(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)
            return message

        await self._app(scope, receive_counted, send)
