"""XLSX: sheet by sheet, row by row, each value behind its column's name and shown as its format shows it.

Columns come in the order of their letters, which on a right-to-left sheet is the reading order as well. Formulas give
the value that was stored with them; nothing is computed, and macros are not run.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from ingest.extract.archive import open_archive
from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import Place, TextBuilder
from ingest.extract.cell_values import shown
from ingest.extract.foreign import parsing
from ingest.extract.kinds import XLSX
from ingest.extract.office import core_metadata, macro_report
from ingest.extract.options import ExtractOptions
from ingest.extract.tables import Row, add_table, filled
from search_config.errors import ExpansionTooLarge
from search_config.locators import Box, box_cells, cells_box

if TYPE_CHECKING:
    from openpyxl.cell.read_only import EmptyCell, ReadOnlyCell

# Merged areas of a sheet that are looked at, and cells of one that repeat its value: forms have dozens of small ones.
MERGES_MAX: Final = 20_000
MERGED_ROWS_MAX: Final = 10_000
READ_BYTES: Final = 1_048_576
# A cell or a merged area in a sheet's XML is shorter; blocks are read with so much of the one before.
OVERLAP_BYTES: Final = 4_096

# Empty rows below the last value that are worth a word to a person; a handful is in every file.
EMPTY_ROWS_TOLD: Final = 1_000

_VALUE_ENDS: Final = (b"</v>", b":v>", b"</t>", b":t>")
_ROW_NUMBER: Final = re.compile(rb"[<:]row\s[^>]*?\br=\"([0-9]{1,7})\"")
_MERGE: Final = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}[0-9]{1,7})\"")
_NO_VALUE: Final = re.compile(
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>)?\s*</(?:\w+:)?c>"
)


@dataclass(slots=True)
class _Raw:
    """What the library does not tell of a sheet."""

    merged: list[Box] = field(default_factory=list)
    formulas_without_value: int = 0
    last_value: int = 0
    """The last row that holds a value; 0 where the rows carry no numbers."""
    last_row: int = 0

    @property
    def empty_rows_below(self) -> int:
        """Rows below the last value."""
        return self.last_row - self.last_value if self.last_value else 0


def extract_xlsx(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a workbook.

    Raises:
        ExtractionFailed, EncryptedDocument
        ExpansionTooLarge: unpacked too large, or values beyond the limit of cells.
    """
    import openpyxl
    from openpyxl.utils.exceptions import CellCoordinatesException, InvalidFileException

    own = (CellCoordinatesException, InvalidFileException)
    builder = TextBuilder()
    with open_archive(data, name=name, options=options) as archive, parsing("XLSX", name, *own):
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        report = macro_report(archive.namelist())
        hidden = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state != "visible"]
        budget = _Budget(options.sheet_cells_max, name)
        group = 0
        for sheet in workbook.worksheets:
            if sheet.sheet_state != "visible":
                continue
            raw = _raw(archive, sheet._worksheet_path)
            builder.close_sections(1)
            names: tuple[str, ...] = ()
            edge, first_of_sheet = 0, True
            for left, table in _tables(_rows(sheet, raw, budget)):
                if first_of_sheet:
                    builder.heading(sheet.title, 1, place=Place(sheet=sheet.title))
                first_of_sheet = False
                group += 1
                # Lists often have blank rows between their parts: the names above go on where the columns do.
                names = add_table(builder, table, group=group, inherited=names if left == edge else ())
                edge = left
            if first_of_sheet:
                report.append(f"Sheet {sheet.title!r} is empty.")
            stopped = budget.stopped_at or (raw.last_value + 1 if raw.empty_rows_below > EMPTY_ROWS_TOLD else 0)
            if stopped:
                report.append(f"Sheet {sheet.title!r}: the empty rows from row {stopped} on were not looked at.")
                budget.stopped_at = 0
            if raw.formulas_without_value:
                report.append(
                    f"Sheet {sheet.title!r}: {raw.formulas_without_value} formula(s) have no stored value; "
                    "open and save the file in a spreadsheet program."
                )
        metadata = core_metadata(workbook.properties)
        if hidden:
            report.append(f"Hidden sheets, not read: {', '.join(hidden)}.")
    text, blocks = builder.build()
    title = metadata.get("title") or PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=blocks, media_type=XLSX, metadata=metadata, report=tuple(report)
    )


@dataclass(slots=True)
class _Budget:
    """Cells that may still be looked at; an empty row counts as one."""

    cells: int
    name: str
    stopped_at: int = 0
    _limit: int = 0

    def __post_init__(self) -> None:
        self._limit = self.cells

    def spend(self, row: int, cells: int, *, empty_since: int) -> bool:
        """Whether to go on; where what was left over is only empty rows, reading stops, and elsewhere it fails."""
        self.cells -= max(1, cells)
        if self.cells >= 0:
            return True
        if empty_since:
            self.cells, self.stopped_at = 0, empty_since
            return False
        raise ExpansionTooLarge(
            f"It has more than {self._limit:,} cells, up to row {row:,} of a sheet.",
            where=self.name,
            remedy="Split it, or raise MAFTEACH_SHEET_CELLS_MAX.",
        )


def _rows(sheet: Any, raw: _Raw, budget: _Budget) -> Iterator[tuple[int, Row]]:
    """Rows with something in them, each with its number."""
    # Sheets often claim another size than they have; the library then stops early, or goes on over nothing.
    sheet.reset_dimensions()
    merged = _Merged(raw.merged)
    empty_since = 0
    for number, cells in enumerate(sheet.iter_rows(max_row=raw.last_value or None), start=1):
        values = {cell.column: text for cell in cells if (text := _text(cell))}
        bold = bool(values) and all(_bold(cell) for cell in cells if cell.value is not None)
        merged.fill(number, values)
        empty_since = 0 if values else empty_since or number
        if not budget.spend(number, len(cells), empty_since=empty_since):
            return
        if values:
            first, last = min(values), max(values)
            place = Place(sheet=sheet.title, cells=box_cells((first, number, last, number)))
            yield number, Row(tuple(values.get(column, "") for column in range(1, last + 1)), place, strong=bold)


def _text(cell: ReadOnlyCell | EmptyCell) -> str:
    value = cell.value
    return "" if value is None else shown(value, cell.number_format).strip()


def _bold(cell: ReadOnlyCell | EmptyCell) -> bool:
    return bool(getattr(cell, "font", None) and cell.font.b)


class _Merged:
    """Values of merged areas, repeated in each row that they cover, so that a row is understood on its own."""

    def __init__(self, boxes: list[Box]) -> None:
        self._starting: dict[int, list[Box]] = {}
        for box in boxes:
            if 0 < box[3] - box[1] < MERGED_ROWS_MAX:
                self._starting.setdefault(box[1], []).append(box)
        self._open: list[tuple[Box, str]] = []

    def fill(self, row: int, values: dict[int, str]) -> None:
        """Complete the values of a row, and take note of areas that begin in it. Rows come in order."""
        self._open = [(box, text) for box, text in self._open if box[3] >= row]
        if values:  # a row of nothing but the area above says nothing
            for box, text in self._open:
                values.setdefault(box[0], text)
        for box in self._starting.get(row, ()):
            if box[0] in values:
                self._open.append((box, values[box[0]]))


def _tables(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, list[Row]]]:
    """Stretches of rows without an empty row between them, each with its left edge, and as wide as its widest row."""
    table: list[Row] = []
    last = 0
    for number, row in rows:
        if table and number > last + 1:
            yield _trimmed(table)
            table = []
        table.append(row)
        last = number
    if table:
        yield _trimmed(table)


def _trimmed(table: list[Row]) -> tuple[int, list[Row]]:
    left = min(next(i for i, cell in enumerate(row.cells) if cell) for row in table)
    width = max(len(row.cells) for row in table)
    bold_throughout = all(row.strong for row in table)
    return left, [
        Row(
            (*row.cells[left:], *[""] * (width - len(row.cells))),
            row.place,
            strong=row.strong and not bold_throughout and filled(row.cells) > 1,
        )
        for row in table
    ]


def _raw(archive: zipfile.ZipFile, part: str) -> _Raw:
    """Merged areas, formulas without a stored value, and the last row with a value, straight from the sheet's XML."""
    found = _Raw()
    before = b""
    with archive.open(part.lstrip("/")) as stream:
        while block := stream.read(READ_BYTES):
            window = before + block
            # What ends in the part that was seen before was counted then.
            found.formulas_without_value += sum(1 for one in _NO_VALUE.finditer(window) if one.end() > len(before))
            for one in _MERGE.finditer(window):
                box = cells_box(one[1].decode("ascii"))
                if one.end() > len(before) and box is not None and len(found.merged) < MERGES_MAX:
                    found.merged.append(box)
            found.last_row = _row_before(window, len(window)) or found.last_row
            value_end = max(window.rfind(end) for end in _VALUE_ENDS)
            if value_end >= len(before):
                found.last_value = _row_before(window, value_end) or found.last_row
            before = window[-OVERLAP_BYTES:]
    return found


def _row_before(window: bytes, end: int) -> int:
    """Number of the row that is open at `end`; 0 where it does not begin in this window, or has no number."""
    start = max(window.rfind(b"<row ", 0, end), window.rfind(b":row ", 0, end))
    numbered = _ROW_NUMBER.match(window, start) if start >= 0 else None
    return int(numbered[1]) if numbered else 0
