"""Documents of the caller's tenant: sent, listed, shown, worked on again, deleted; and the text of offsets."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Body, Path, Query, Response
from fastapi.responses import PlainTextResponse

from api.auth import Reader, ServicesHere, Writer
from api.documents import text_of
from api.errors import described
from api.inbox import Inbox
from api.limits import NoParameters
from api.schemas import DocumentParameters, DocumentRow, DocumentView
from api.services import Services
from api.uploads import FORM, JSON, FileUpload, SentHere, TextUpload
from ingest.fields.corrections import Corrections
from search_config.errors import DocumentTooLarge, EmptyDocument, ModelUnavailable, NotPermitted
from search_config.records import document_id as id_of

router = APIRouter(prefix="/documents", tags=["documents"], responses=described(401, 403, 422, 429, 500, 503))

# What a browser would run as a page of this service, were it shown: originals are saved, never opened here.
ORIGINAL_TYPE: Final = "application/octet-stream"
LINK: Final = "Link"
OneDocument = Annotated[str, Path(description="A document's id, as listings and hits give it.", max_length=200)]

_FORM: Final = {
    **FileUpload.model_json_schema(),
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "The file's bytes."},
        **FileUpload.model_json_schema()["properties"],
    },
    "required": ["file"],
}
UPLOAD_BODY: Final = {
    "required": True,
    "content": {FORM: {"schema": _FORM}, JSON: {"schema": TextUpload.model_json_schema()}},
}


@router.post(
    "",
    summary="Send a document",
    status_code=HTTPStatus.ACCEPTED,
    responses=described(400, 409, 413),
    openapi_extra={"requestBody": UPLOAD_BODY},
)
def send_document(
    caller: Writer, _: NoParameters, here: ServicesHere, sent: SentHere, response: Response
) -> DocumentRow:
    """A file in a form, or a text in JSON. The answer is its row, `queued`; ask for it again to see it `ready`, or why
    it failed. The same source again replaces the document; it stays searchable until the new version is."""
    raw = sent.raw(caller)
    limit = here.settings.max_file_bytes
    if not raw.data.strip():
        raise EmptyDocument("There is nothing in this document.", where=raw.name, remedy="Send one with content.")
    if len(raw.data) > limit:
        raise DocumentTooLarge(f"The file is over {limit:,} bytes.", where=raw.name, remedy="Part it.")
    there = here.registry.get(raw.tenant, id_of(raw.tenant, raw.source))
    if there is not None and here.registry.get(raw.tenant, there.document_id, groups=caller.groups) is None:
        raise NotPermitted(
            "This source is taken.",
            where=raw.source,
            remedy="Give another `source`, or use a credential of its groups.",
        )
    row = _inbox(here).accept(raw)
    response.headers["Location"] = f"/documents/{quote(row.document_id)}"
    return DocumentRow.of(row)


@router.get("", summary="List documents")
def list_documents(
    parameters: Annotated[DocumentParameters, Query()], caller: Reader, here: ServicesHere, response: Response
) -> list[DocumentRow]:
    """The documents that the caller may see, by id; a page at a time. Where there are more, the header `Link` has the
    address of the next page."""
    # One more than the page tells whether there is another.
    found = here.registry.list(
        caller.tenant,
        state=parameters.state,
        issue=parameters.issue,
        type=parameters.type,
        size=parameters.size + 1,
        after=parameters.after,
        groups=caller.groups,
    )
    page = found[: parameters.size]
    if len(found) > len(page):
        following = {
            "state": parameters.state,
            "issue": parameters.issue,
            "type": parameters.type,
            "size": parameters.size,
            "after": page[-1].document_id,
        }
        given = urlencode({name: value for name, value in following.items() if value is not None})
        response.headers[LINK] = f'</documents?{given}>; rel="next"'
    return [DocumentRow.of(record) for record in page]


@router.get("/{document_id}", summary="Show a document", responses=described(404))
def show_document(document_id: OneDocument, caller: Reader, _: NoParameters, here: ServicesHere) -> DocumentView:
    """One document's state and metadata."""
    return DocumentView.of(here.registry.require(caller.tenant, document_id, groups=caller.groups))


@router.get(
    "/{document_id}/text",
    summary="A document's canonical text",
    response_class=PlainTextResponse,
    responses=described(404),
)
def show_text(document_id: OneDocument, caller: Reader, _: NoParameters, here: ServicesHere) -> PlainTextResponse:
    """The text that locators point into: `text[from:to]`, counted in Unicode code points, is a hit's content."""
    return PlainTextResponse(text_of(here.registry.require(caller.tenant, document_id, groups=caller.groups)))


@router.get(
    "/{document_id}/file",
    summary="A document's file, as it was sent",
    response_class=Response,
    responses={**described(404), 200: {"content": {ORIGINAL_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
def show_file(document_id: OneDocument, caller: Reader, _: NoParameters, here: ServicesHere) -> Response:
    """The bytes as they were sent, to be saved; 404 where they were not kept."""
    record = here.registry.require(caller.tenant, document_id, groups=caller.groups)
    data = _inbox(here).original(record)
    named = f"attachment; filename*=UTF-8''{quote(record.name, safe='')}"
    return Response(data, media_type=ORIGINAL_TYPE, headers={"Content-Disposition": named})


@router.post(
    "/{document_id}/retry",
    summary="Work on a failed document again",
    status_code=HTTPStatus.ACCEPTED,
    responses=described(404, 409),
)
def retry_document(document_id: OneDocument, caller: Writer, _: NoParameters, here: ServicesHere) -> DocumentRow:
    """Puts it back into the queue; 409 where there is nothing to retry, or a worker has it."""
    return DocumentRow.of(_inbox(here).retry(caller.tenant, document_id, groups=caller.groups))


@router.post(
    "/{document_id}/release",
    summary="Let a quarantined document in",
    status_code=HTTPStatus.ACCEPTED,
    responses=described(400, 404, 409, 413),
)
def release_document(
    document_id: OneDocument,
    caller: Writer,
    _: NoParameters,
    here: ServicesHere,
    corrections: Annotated[Corrections | None, Body(examples=[{"signed": "2024-02-15", "expires": "none"}])] = None,
) -> DocumentRow:
    """For a person who looked at the doubts and lets it in: as it is, or with the fields that the body corrects. 409
    where it is not in quarantine."""
    given = None if corrections is None else corrections.model_dump(mode="json", exclude_unset=True)
    row = _inbox(here).release(caller.tenant, document_id, groups=caller.groups, corrections=given)
    return DocumentRow.of(row)


@router.delete(
    "/{document_id}", summary="Delete a document", status_code=HTTPStatus.NO_CONTENT, responses=described(404, 409)
)
def remove_document(document_id: OneDocument, caller: Writer, _: NoParameters, here: ServicesHere) -> None:
    """Deletes it with all its passages; afterwards no search finds it."""
    here.registry.delete(caller.tenant, document_id, groups=caller.groups)


def _inbox(here: Services) -> Inbox:
    if here.inbox is None:
        raise ModelUnavailable("This process takes no documents.", remedy="Start it with an inbox.")
    return here.inbox
