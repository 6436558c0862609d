"""Documents of the key's tenant: what is there, in which state, and the canonical text that offsets are into."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse

from api.auth import CurrentTenant, ServicesHere
from api.documents import text_of
from api.errors import described
from api.limits import NoParameters
from api.schemas import DocumentParameters, DocumentRow, DocumentView

router = APIRouter(prefix="/documents", tags=["documents"], responses=described(401, 403, 422, 500, 503))

DocumentId = Annotated[str, Path(description="A document's id, as listings and hits give it.", max_length=200)]


@router.get("", summary="List documents")
def list_documents(
    parameters: Annotated[DocumentParameters, Query()], tenant: CurrentTenant, here: ServicesHere
) -> list[DocumentRow]:
    """All documents of the tenant, or those in one state."""
    return [DocumentRow.of(record) for record in here.registry.iterate(tenant, state=parameters.state)]


@router.get("/{document_id}", summary="Show a document", responses=described(404))
def show_document(document_id: DocumentId, tenant: CurrentTenant, _: NoParameters, here: ServicesHere) -> DocumentView:
    """One document's state and metadata."""
    return DocumentView.of(here.registry.require(tenant, document_id))


@router.get(
    "/{document_id}/text",
    summary="A document's canonical text",
    response_class=PlainTextResponse,
    responses=described(404),
)
def show_text(document_id: DocumentId, tenant: CurrentTenant, _: NoParameters, here: ServicesHere) -> PlainTextResponse:
    """The text that locators point into: `text[from:to]`, counted in Unicode code points, is a hit's content."""
    return PlainTextResponse(text_of(here.registry.require(tenant, document_id)))


@router.delete(
    "/{document_id}", summary="Delete a document", status_code=HTTPStatus.NO_CONTENT, responses=described(404)
)
def remove_document(document_id: DocumentId, tenant: CurrentTenant, _: NoParameters, here: ServicesHere) -> None:
    """Deletes it with all its passages; afterwards no search finds it."""
    here.registry.delete(tenant, document_id)
