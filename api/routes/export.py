"""`POST /search/export`: a search's result as a file for a spreadsheet."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from api.auth import Reader, ServicesHere
from api.errors import described
from api.export.files import MEDIA_TYPES, Format, exported
from api.export.tables import TableName
from api.schemas import SearchBody
from api.trail import TrailHere
from query.search import search

router = APIRouter(tags=["search"], responses=described(400, 401, 403, 413, 422, 429, 500, 503))


class ExportParameters(BaseModel):
    """Which file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Format = Field("xlsx", description="A workbook with all tables, or one table as CSV in UTF-8.")
    table: TableName | Literal["auto"] = Field(
        "auto",
        description="The table of a CSV; auto is the passages, or the documents of a metadata answer without passages.",
    )


@router.post(
    "/search/export",
    summary="A search's result as XLSX or CSV",
    response_class=Response,
    responses={
        200: {
            "description": "The file.",
            "content": {
                media_type.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
                for media_type in MEDIA_TYPES.values()
            },
        }
    },
)
def export_search(
    body: SearchBody,
    parameters: Annotated[ExportParameters, Query()],
    caller: Reader,
    here: ServicesHere,
    trail: TrailHere,
) -> Response:
    """The same search as `POST /search`. Every row has its citation: document, version, place, link, quote. Sheets of
    Hebrew questions run from right to left; what looks like a formula stays text."""
    request = body.request(caller)
    result = trail.searched(request, search(request, here.context))
    file = exported(
        result,
        parameters.format,
        registry=here.registry,
        tenant=caller.tenant,
        groups=caller.groups,
        table=parameters.table,
    )
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.data, media_type=file.media_type, headers=headers)
