"""`POST /search` and `GET /search`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.auth import CurrentTenant, ServicesHere
from api.errors import described
from api.limits import NoParameters
from api.schemas import SearchBody, SearchParameters
from query.request import SearchResult
from query.search import search

router = APIRouter(tags=["search"], responses=described(401, 403, 413, 422, 500, 503))


@router.post("/search", summary="Search the passages of the key's tenant")
def post_search(body: SearchBody, tenant: CurrentTenant, _: NoParameters, here: ServicesHere) -> SearchResult:
    """Ranked passages with exact offsets, scores by stage, and the reason where nothing relevant was found."""
    return search(body.request(tenant), here.context)


@router.get("/search", summary="The same in a URL")
def get_search(
    parameters: Annotated[SearchParameters, Query()], tenant: CurrentTenant, here: ServicesHere
) -> SearchResult:
    """As `POST /search`, without filters."""
    return search(parameters.request(tenant), here.context)
