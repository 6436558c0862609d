"""Tables as a workbook: from right to left in Hebrew, numbers as numbers, days as days, links that open."""

from __future__ import annotations

import io
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from api.export.safety import cell_text, is_formula
from api.export.tables import Cell, Kind, Table, Tables
from api.export.words import WORDS
from search_config.language import has_hebrew

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Widths in characters of the default font: a quote is wide and wraps, an id fits.
WIDTHS: Final[dict[Kind, int]] = {"text": 24, "number": 9, "amount": 16, "ratio": 10, "date": 12, "link": 30}
QUOTE_WIDTH: Final = 80
NAME_WIDTH: Final = 22
# Longest address of a hyperlink; a longer one is written as text.
MAX_LINK: Final = 2_079
# Excel's codes of the direction in which a cell is read.
LEFT_TO_RIGHT: Final = 1
RIGHT_TO_LEFT: Final = 2
NUMBER_FORMATS: Final[dict[Kind, str]] = {
    "number": "0",
    "amount": "#,##0.00",
    "ratio": "0.000",
    "date": "dd/mm/yyyy",
}


def xlsx_file(tables: Tables) -> bytes:
    """The bytes of the workbook: the summary, then a sheet for each table."""
    import xlsxwriter

    written = io.BytesIO()
    # Text stays text, whatever it looks like: nothing of a document becomes a formula, a number or a link by itself.
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_numbers": False,
        "strings_to_urls": False,
    }
    with xlsxwriter.Workbook(written, options) as book:
        writer = _Writer(book, tables)
        writer.pairs(WORDS[tables.language]["summary"])
        for table in tables.tables.values():
            writer.table(table)
    return written.getvalue()


class _Writer:
    def __init__(self, book: Any, tables: Tables) -> None:
        self._book = book
        self._tables = tables
        self._formats: dict[tuple[object, ...], Any] = {}

    def pairs(self, name: str) -> None:
        sheet = self._sheet(name)
        sheet.set_column(0, 0, NAME_WIDTH)
        sheet.set_column(1, 1, QUOTE_WIDTH)
        for row, (heading, value) in enumerate(self._tables.summary):
            self._text(sheet, row, 0, heading, bold=True)
            self._cell(sheet, row, 1, value, "amount" if isinstance(value, Decimal) else "number")

    def table(self, table: Table) -> None:
        sheet = self._sheet(table.name)
        quote = WORDS[self._tables.language]["quote"]
        for place, column in enumerate(table.columns):
            sheet.set_column(place, place, QUOTE_WIDTH if column.heading == quote else WIDTHS[column.kind])
            self._text(sheet, 0, place, column.heading, bold=True)
        for number, row in enumerate(table.rows, start=1):
            for place, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
                self._cell(sheet, number, place, cell, column.kind)
        sheet.freeze_panes(1, 0)
        if table.rows:
            sheet.autofilter(0, 0, len(table.rows), len(table.columns) - 1)

    def _sheet(self, name: str) -> Worksheet:
        sheet = self._book.add_worksheet(name)
        if self._tables.language == "he":
            sheet.right_to_left()
        return sheet

    def _cell(self, sheet: Worksheet, row: int, place: int, cell: Cell, kind: Kind) -> None:
        if cell is None or cell == "":
            return
        if isinstance(cell, date):
            sheet.write_datetime(row, place, cell, self._format(number="date"))
        elif not isinstance(cell, str):
            # A column of values may hold counts beside amounts of money; whole numbers have no pennies.
            shown: Kind = "number" if isinstance(cell, int) and kind == "amount" else kind
            sheet.write_number(row, place, float(cell), self._format(number=shown))
        elif kind == "link" and len(cell) <= MAX_LINK:
            sheet.write_url(row, place, cell, self._format(link=True), string=cell)
        else:
            self._text(sheet, row, place, cell)

    def _text(self, sheet: Worksheet, row: int, place: int, text: str, *, bold: bool = False) -> None:
        written = cell_text(text)
        # The quote prefix keeps it text after it was edited, too; the text itself stays to the letter.
        shown = self._format(bold=bold, hebrew=has_hebrew(written), quoted=is_formula(written))
        sheet.write_string(row, place, written, shown)

    def _format(
        self,
        *,
        number: Kind | None = None,
        link: bool = False,
        bold: bool = False,
        hebrew: bool = False,
        quoted: bool = False,
    ) -> Any:
        wanted = (number, link, bold, hebrew, quoted)
        if wanted not in self._formats:
            made = self._book.add_format({"valign": "top"})
            if number is not None:
                made.set_num_format(NUMBER_FORMATS[number])
            else:
                made.set_text_wrap()
                made.set_reading_order(RIGHT_TO_LEFT if hebrew else LEFT_TO_RIGHT)
            if link:
                made.set_font_color("blue")
                made.set_underline()
            if bold:
                made.set_bold()
            if quoted:
                made.set_quote_prefix()
            self._formats[wanted] = made
        return self._formats[wanted]
