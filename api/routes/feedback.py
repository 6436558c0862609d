"""`/feedback`: passages and answers marked right or wrong, and "this is the passage"; labels for `mafteach tune`."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from api.auth import Reader, ServicesHere, Writer
from api.caller import Caller, Permission
from api.documents import text_of
from api.errors import described
from api.limits import NoParameters
from api.services import Services
from evaluation.feedback.marks import FeedbackId, Mark, MarkBody, MarkedPassage, MarkView
from evaluation.feedback.store import FeedbackStore
from query.validation import clean_query
from search_config.errors import InvalidRequest, StateConflict

router = APIRouter(prefix="/feedback", tags=["feedback"], responses=described(401, 403, 422, 429, 500, 503))

MAX_PAGE: Final = 500
OneMark = Annotated[FeedbackId, Path(description="A mark's id, as it was answered.")]


class FeedbackParameters(BaseModel):
    """Pages through marks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(100, ge=1, le=MAX_PAGE, description="Marks of one page.")
    after: FeedbackId | None = Field(None, description="The id of the last mark of the page before.")


@router.post(
    "",
    summary="Mark a passage or an answer",
    status_code=HTTPStatus.CREATED,
    responses=described(400, 404, 409, 413),
)
def post_feedback(body: MarkBody, caller: Writer, _: NoParameters, here: ServicesHere) -> Mark:
    """Right, wrong, or "this is the passage". Take `document_id`, `content_hash`, `chunk_id` and `locator` from the hit
    or the citation. Nothing is written over: of several marks of one caller on one place, the latest counts."""
    # What is no query can't be learnt from.
    clean_query(body.query, max_chars=here.settings.max_query_chars)
    for passage in body.passages:
        _check(passage, caller, here)
    return _store(here).add(caller.tenant, body, caller=caller.id)


@router.get("", summary="List marks")
def get_feedback(
    parameters: Annotated[FeedbackParameters, Query()], caller: Reader, here: ServicesHere
) -> list[MarkView]:
    """One's own marks, newest first; with the permission `review` those of the whole tenant. Marks on documents that
    the caller may not see are left out, so that a page may be short."""
    own = None if Permission.REVIEW in caller.permissions else caller.id
    page = _store(here).page(caller.tenant, caller=own, size=parameters.size, after=parameters.after)
    visible = _visible(page, caller, here)
    return [mark for mark in page if all(passage.document_id in visible for passage in mark.passages)]


@router.delete("/{feedback_id}", summary="Take a mark back", responses=described(404))
def delete_feedback(feedback_id: OneMark, caller: Writer, _: NoParameters, here: ServicesHere) -> MarkView:
    """One's own; with the permission `review` anybody's of the tenant. The mark stays, and a row beside it says that it
    counts no longer; to undo that, mark again."""
    anyones = Permission.REVIEW in caller.permissions
    return _store(here).withdraw(caller.tenant, feedback_id, caller=caller.id, anyones=anyones)


def _check(passage: MarkedPassage, caller: Caller, here: Services) -> None:
    """A place in a document that the caller sees, in the version that is there.

    Raises:
        NotFound, StateConflict, InvalidRequest
    """
    record = here.registry.require(caller.tenant, passage.document_id, groups=caller.groups)
    if record.content_hash != passage.content_hash:
        raise StateConflict(
            "The document has changed since it was shown.", where=passage.document_id, remedy="Search again, then mark."
        )
    if not text_of(record)[passage.locator.from_ : passage.locator.to].strip() or passage.locator.to > len(
        text_of(record)
    ):
        raise InvalidRequest(
            "There is no text at this place of the document.",
            where="body.passages.locator",
            remedy="Take the locator from the hit or the citation.",
        )


def _visible(page: Iterable[MarkView], caller: Caller, here: Services) -> set[str]:
    ids = sorted({passage.document_id for mark in page for passage in mark.passages})
    return set(here.registry.get_many(caller.tenant, ids, groups=caller.groups)) if ids else set()


def _store(here: Services) -> FeedbackStore:
    return FeedbackStore(here.engine, here.info.names)
