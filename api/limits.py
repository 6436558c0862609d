"""Limits of every request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import HTTP_CODES, answer_of, noted, problem
from search_config.errors import InvalidRequest, TimedOut

# A search is a few kilobytes even with the longest query and all filters; 1 MB leaves room for what others add.
MAX_BODY_BYTES: Final = 1_000_000

log = logging.getLogger(__name__)


async def no_parameters(request: Request) -> None:
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

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES, larger: Mapping[str, int] | None = None) -> None:
        """Make one.

        Args:
            app: what stands behind it.
            max_bytes: of a body.
            larger: paths that take more, each with its own limit.
        """
        self._app = app
        self._max_bytes = max_bytes
        self._larger = dict(larger or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], self._max_bytes)
        said = f"The body is over {limit:,} bytes."
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced) > limit:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            noted(scope, HTTP_CODES[status])
            answer = problem(status, HTTP_CODES[status], said, remedy="Shorten the request.")
            await answer(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)
            return message

        await self._app(scope, receive_counted, send)


class TimeLimit:
    """Answers 503 where a request takes longer than it may before its answer begins: its body too slow to come, or the
    work too long. An answer that has begun, a stream for one, goes on."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds
        # A task that nobody holds may be collected while it runs.
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer for it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()
        late = False

        async def send_in_time(message: Message) -> None:
            if not late:
                begun.set()
                await send(message)

        work = asyncio.create_task(self._run(scope, receive, send_in_time))
        first = asyncio.create_task(begun.wait())
        try:
            await asyncio.wait({work, first}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done() or begun.is_set():
                await work
                return
            late = True
        except asyncio.CancelledError:
            work.cancel()
            raise
        finally:
            first.cancel()
        # A thread can't be ended: it goes on to its own end (the engine's time limit), and what it answers is dropped.
        work.cancel()
        self._late.add(work)
        work.add_done_callback(self._forget)
        error = TimedOut(
            f"The request took longer than {self._seconds:g} seconds.", remedy="Ask for less, or try again later."
        )
        noted(scope, error.code)
        await answer_of(error)(scope, receive, send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def _forget(self, work: asyncio.Task[None]) -> None:
        self._late.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            log.warning("a request that was too late ended with %s", type(error).__name__)
