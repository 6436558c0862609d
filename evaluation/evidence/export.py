"""The sheet as CSV and XLSX; the same input gives the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from evaluation.evidence.file import CaseFile
from evaluation.evidence.limits import LIMITS
from evaluation.evidence.table import COLUMNS, table_rows

# A cell that begins so is a formula to a spreadsheet; an answer may begin as it likes.
FORMULA_MARKS: Final = ("=", "+", "-", "@", "\t", "\r")
# Excel's limit of a cell is 32,767 characters.
LONGEST_CELL: Final = 32_000
# The date that the file says it was made on: none, so that equal sheets are equal files.
EPOCH: Final = datetime(1980, 1, 1)  # the library takes a time without a zone
WIDTH: Final = 28


def to_csv(files: Sequence[CaseFile]) -> bytes:
    """CSV in UTF-8 with a byte order mark, as Excel needs it for Hebrew; the limits stand in lines above the header."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    for title, lines in LIMITS.values():
        writer.writerows([[title], *([line] for line in lines)])
    writer.writerow([])
    writer.writerow(COLUMNS)
    for file in files:
        writer.writerows([[_plain(cell) for cell in row] for row in table_rows(file)])
    return stream.getvalue().encode("utf-8-sig", errors="backslashreplace")


def to_xlsx(files: Sequence[CaseFile]) -> bytes:
    """A workbook: the limits, the sheet (right to left), and counts by verdict of each case."""
    # Only an export needs it.
    import xlsxwriter

    stream = io.BytesIO()
    book = xlsxwriter.Workbook(
        stream, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    )
    book.set_properties({"created": EPOCH})
    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    limits = book.add_worksheet("limits")
    limits.right_to_left()
    lines = [line for title, texts in LIMITS.values() for line in (title, *texts, "")]
    for place, line in enumerate(lines):
        limits.write_string(place, 0, line)
    sheet = book.add_worksheet("claims")
    sheet.right_to_left()
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(COLUMNS) - 1, WIDTH, wrapped)
    table = [COLUMNS, *(row for file in files for row in table_rows(file))]
    for place, row in enumerate(table):
        for column, cell in enumerate(row):
            sheet.write_string(place, column, cell[:LONGEST_CELL])
    counts = book.add_worksheet("counts")
    for place, file in enumerate(files, start=1):
        for column, (name, value) in enumerate(_counted(file).items()):
            counts.write_string(0, column, name)
            counts.write_string(place, column, value)
    book.close()
    return stream.getvalue()


def _counted(file: CaseFile) -> dict[str, str]:
    counts = file.counts()
    return {
        "case_id": file.case.case_id,
        "honest_miss": str(counts.honest_miss).lower(),
        "claims": str(counts.claims),
        "undecided": str(counts.undecided),
        "disagreed": str(counts.disagreed),
        **{verdict: str(number) for verdict, number in counts.by_verdict.items()},
    }


def _plain(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_MARKS) else cell
