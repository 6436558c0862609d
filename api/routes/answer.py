"""`POST /answer`: an answer with citations, whole or as server-sent events."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Generator
from typing import Annotated, Any, Final

from anyio import CancelScope
from fastapi import APIRouter, Header
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from api.auth import Reader, ServicesHere
from api.errors import SERVER_DETAIL, described, status_of
from api.limits import NoParameters
from api.recent import RecentHere
from api.schemas import AnswerBody
from api.trail import Trail, TrailHere
from query.answer_events import AnswerEvent, Done, Drafted, SentenceChecked, SourcesFound
from query.answer_result import AnswerResult
from query.answering import answer, stream
from search_config.errors import MafteachError

router = APIRouter(tags=["answer"], responses=described(400, 401, 403, 413, 422, 429, 500, 503))

EVENT_STREAM: Final = "text/event-stream"
# A proxy that waits for the whole answer would undo the stream.
UNBUFFERED: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
SERVER_ERROR: Final = 500

log = logging.getLogger(__name__)


@router.post(
    "/answer",
    summary="Answer a question with citations",
    response_model=AnswerResult,
    responses={
        200: {
            "description": "The answer; as events `sources`, `delta`, `sentence`, `done` (or `error`) where asked for.",
            "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
        }
    },
)
def post_answer(
    body: AnswerBody,
    caller: Reader,
    _: NoParameters,
    here: ServicesHere,
    trail: TrailHere,
    given: RecentHere,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> AnswerResult | Response:
    """Sentences with marks [n] and the citations behind them, quoted to the letter; or a refusal, with the nearest
    passages. What is quoted is not checked for truth.

    As events, `delta` is what the model is writing, unchecked; `sentence` is checked, and `done` has the whole answer,
    which alone is final.
    """
    request = body.request(caller)
    streaming = EVENT_STREAM in accept.lower() if body.stream is None else body.stream
    if not streaming:
        return given.keep(caller, trail.answered(answer(request, here.context, model=here.language_model)))
    events = stream(request, here.context, model=here.language_model)
    kept = _sent(events, trail, lambda final: given.keep(caller, final))
    return StreamingResponse(kept, media_type=EVENT_STREAM, headers=UNBUFFERED)


async def _sent(
    events: Generator[AnswerEvent, None, None], trail: Trail, keep: Callable[[AnswerResult], AnswerResult]
) -> AsyncIterator[str]:
    """The events as text; a client that leaves ends the model's call with its next piece."""
    try:
        while (event := await run_in_threadpool(next, events, None)) is not None:
            if isinstance(event, Done):
                event = Done(keep(trail.answered(event.result)))
            yield _text(event)
    except MafteachError as error:
        trail.code = error.code
        log.exception("an answer broke off: %s", error.code)
        detail = SERVER_DETAIL if status_of(error) >= SERVER_ERROR else error.what
        yield _event("error", {"code": error.code, "detail": detail})
    finally:
        with CancelScope(shield=True):
            await run_in_threadpool(events.close)


def _text(event: AnswerEvent) -> str:
    match event:
        case SourcesFound(sources):
            return _event("sources", {"sources": [one.model_dump(mode="json", by_alias=True) for one in sources]})
        case Drafted(text):
            return _event("delta", {"text": text, "checked": False})
        case SentenceChecked(sentence):
            return _event("sentence", sentence.model_dump(mode="json", by_alias=True))
        case Done(result):
            return _event("done", result.model_dump(mode="json", by_alias=True))


def _event(name: str, data: dict[str, Any]) -> str:
    # Escapes only: no character of a text can end a line of the stream.
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
