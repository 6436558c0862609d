"""`POST /search` and `GET /search`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.auth import Reader, ServicesHere
from api.errors import described
from api.limits import NoParameters
from api.schemas import SearchBody, SearchParameters
from api.trail import TrailHere
from query.request import SearchResult
from query.search import search

router = APIRouter(tags=["search"], responses=described(400, 401, 403, 413, 422, 429, 500, 503))


@router.post("/search", summary="Search the passages of the key's tenant")
def post_search(
    body: SearchBody, caller: Reader, _: NoParameters, here: ServicesHere, trail: TrailHere
) -> SearchResult:
    """Ranked passages with exact offsets, scores by stage, and the reason where nothing relevant was found."""
    request = body.request(caller)
    return trail.searched(request, search(request, here.context))


@router.get("/search", summary="The same in a URL")
def get_search(
    parameters: Annotated[SearchParameters, Query()], caller: Reader, here: ServicesHere, trail: TrailHere
) -> SearchResult:
    """As `POST /search`, without filters."""
    request = parameters.request(caller)
    return trail.searched(request, search(request, here.context))
