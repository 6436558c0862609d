"""A table as CSV that Excel reads: UTF-8 with its mark, CRLF, numbers with a point, formulas made text."""

from __future__ import annotations

import csv
import io
from datetime import date
from decimal import Decimal

from api.export.safety import cell_text, inert
from api.export.tables import Cell, Table

MEDIA_TYPE = "text/csv; charset=utf-8"


def csv_file(table: Table) -> bytes:
    """The bytes of the file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([column.heading for column in table.columns])
    writer.writerows([_written(cell) for cell in row] for row in table.rows)
    # Without the mark Excel takes the bytes for the machine's old encoding.
    return text.getvalue().encode("utf-8-sig")


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return inert(cell_text(cell))
    if isinstance(cell, date):
        return cell.isoformat()
    # An amount like 1E+6 as people write it.
    return f"{cell:f}" if isinstance(cell, Decimal) else f"{cell}"
