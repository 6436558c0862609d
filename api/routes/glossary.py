"""`/glossary`: words that stand for each other in the documents of the caller's tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from api.auth import Reader, ServicesHere, Writer
from api.errors import described
from api.limits import NoParameters
from api.schemas import GlossaryBody, GlossaryChange, GlossaryView
from api.services import Services
from query.glossary import GlossaryStore
from search_config.errors import NotFound


class TermParameters(BaseModel):
    """Names one entry; closed, so that `?tenant=` is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term: str = Field(min_length=1, max_length=100, description="The entry's term.")


router = APIRouter(prefix="/glossary", tags=["glossary"], responses=described(401, 403, 422, 429, 500, 503))


@router.get("", summary="The glossary of the key's tenant")
def get_glossary(caller: Reader, _: NoParameters, here: ServicesHere) -> GlossaryView:
    """Every entry, by its term."""
    return GlossaryView(entries=_store(here).entries(caller.tenant))


@router.put("", summary="Write entries", responses=described(400, 413))
def put_glossary(body: GlossaryBody, caller: Writer, _: NoParameters, here: ServicesHere) -> GlossaryChange:
    """Entries that are searched from now on; one with a term that is there already takes its place."""
    changed = _store(here).put(caller.tenant, body.entries, replace=body.replace)
    _forget(here, caller.tenant)
    return GlossaryChange(written=changed.written, deleted=changed.deleted)


@router.delete("", summary="Delete an entry", responses=described(404))
def delete_term(
    parameters: Annotated[TermParameters, Query()],
    caller: Writer,
    here: ServicesHere,
) -> GlossaryChange:
    """One entry, by its term."""
    if not _store(here).delete(caller.tenant, parameters.term):
        raise NotFound("The glossary has no such term.", where="term", remedy="List the entries: GET /glossary.")
    _forget(here, caller.tenant)
    return GlossaryChange(written=0, deleted=1)


def _store(here: Services) -> GlossaryStore:
    return GlossaryStore(here.engine, here.info.names)


def _forget(here: Services, tenant: str) -> None:
    if here.context.glossaries is not None:
        here.context.glossaries.forget(tenant)
