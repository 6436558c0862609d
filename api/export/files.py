"""A search result as a file, in the one way that both doors have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from api.export.csv_file import MEDIA_TYPE as CSV_MEDIA_TYPE
from api.export.csv_file import csv_file
from api.export.tables import TableName, tables_of
from api.export.xlsx_file import MEDIA_TYPE as XLSX_MEDIA_TYPE
from api.export.xlsx_file import xlsx_file
from ingest.registry import Registry
from query.request import SearchResult
from search_config.records import DocumentRecord

Format = Literal["xlsx", "csv"]
MEDIA_TYPES: dict[Format, str] = {"xlsx": XLSX_MEDIA_TYPE, "csv": CSV_MEDIA_TYPE}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """Bytes, and what they are."""

    data: bytes
    media_type: str
    name: str


def exported(
    result: SearchResult,
    form: Format,
    *,
    registry: Registry,
    tenant: str,
    groups: Sequence[str] | None,
    table: TableName | Literal["auto"] = "auto",
) -> ExportedFile:
    """The result as a file.

    Args:
        result: what the tenant and groups were answered.
        form: xlsx has all tables; csv has one.
        registry: where a metadata answer's documents are looked up.
        tenant: whose.
        groups: of who asks.
        table: the one of a csv; `auto` is passages, or the documents of a metadata answer without passages.
    """
    records: dict[str, DocumentRecord] = {}
    if result.metadata is not None and result.metadata.documents:
        records = registry.get_many(tenant, [one.id for one in result.metadata.documents], groups=groups)
    tables = tables_of(result, records)
    data = xlsx_file(tables) if form == "xlsx" else csv_file(tables.chosen(table))
    return ExportedFile(data=data, media_type=MEDIA_TYPES[form], name=f"mafteach-search.{form}")
