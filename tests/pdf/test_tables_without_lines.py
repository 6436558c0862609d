"""Tables without lines: cells as close as words, cells of several lines, tables that go on overleaf, and no tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from ingest.extract.base import BlockKind, ExtractedDocument
from tests.pdf.makers import FONT, FONT_FILE, PAGE_TOP, PITCH, RIGHT, read, shown

SIZE = 11
# As browsers set cells apart without a style: less than a blank of this font.
GAP = 3.0
BOLD = "DejaVuSans-Bold"
TEXT = "הסכומים נקובים בשקלים חדשים, ואינם כוללים מס ערך מוסף אלא אם נאמר אחרת."


class Sheet:
    """Draws cells from the right; each cell's lines are set in the middle of its row, as browsers do."""

    def __init__(self) -> None:
        for name, file in ((FONT, FONT_FILE), (BOLD, FONT_FILE.with_name("DejaVuSans-Bold.ttf"))):
            if name not in pdfmetrics.getRegisteredFontNames():
                pdfmetrics.registerFont(TTFont(name, str(file)))
        self._out = io.BytesIO()
        self._canvas = canvas.Canvas(self._out)
        self.y = float(PAGE_TOP)

    def text(self, *lines: str, font: str = FONT) -> None:
        for line in lines:
            self._line(line, RIGHT, self.y, font)
            self.y -= PITCH
        self.y -= PITCH

    def table(self, rows: Sequence[Sequence[str]], widths: Sequence[float], *, names: bool = True) -> None:
        for number, row in enumerate(rows):
            lines = [cell.split("\n") for cell in row]
            height = max(map(len, lines)) * (SIZE + 2)
            x = float(RIGHT)
            for cell, width in zip(lines, widths, strict=True):
                top = self.y - (height - len(cell) * (SIZE + 2)) / 2
                for i, line in enumerate(cell):
                    self._line(line, x, top - i * (SIZE + 2), BOLD if names and number == 0 else FONT)
                x -= width + GAP
            self.y -= height + 4
        self.y -= PITCH

    def page(self) -> None:
        self._canvas.showPage()
        self.y = float(PAGE_TOP)

    def read(self) -> ExtractedDocument:
        self._canvas.save()
        return read(self._out.getvalue())

    def _line(self, line: str, right: float, y: float, font: str) -> None:
        self._canvas.setFont(font, SIZE)
        self._canvas.drawRightString(right, y, shown(line))


def widths_of(rows: Sequence[Sequence[str]]) -> list[float]:
    return [
        max(pdfmetrics.stringWidth(line, BOLD, SIZE) for row in rows for line in row[i].split("\n"))
        for i in range(len(rows[0]))
    ]


def rows_read(document: ExtractedDocument) -> list[str]:
    blocks = [block for block in document.blocks if block.kind is BlockKind.TABLE_ROW]
    return [document.text[block.locator.from_ : block.locator.to] for block in blocks]


ROWS = [
    ("מס'", "תיאור התשלום", "סכום"),
    ("1", "מקדמה עם חתימת ההסכם", '25,000 ש"ח'),
    ("2", "סיום שלב א'", '40,000 ש"ח'),
    ("3", "מסירה", '5 ש"ח'),
]
NAMED = [
    "מס': 1 | תיאור התשלום: מקדמה עם חתימת ההסכם | סכום: 25,000 ש\"ח",
    "מס': 2 | תיאור התשלום: סיום שלב א' | סכום: 40,000 ש\"ח",
    "מס': 3 | תיאור התשלום: מסירה | סכום: 5 ש\"ח",
]


def test_cells_closer_than_words_keep_their_names() -> None:
    sheet = Sheet()
    sheet.text(TEXT)
    sheet.table(ROWS, widths_of(ROWS))
    sheet.text(TEXT)
    document = sheet.read()
    assert rows_read(document) == NAMED
    assert document.text.count(TEXT) == 2


def test_cells_of_several_lines_beside_cells_of_one() -> None:
    rows = [
        ("דרגה", "משמעות", "תגובה"),
        ("א", "אין אפשרות לקבל\nתשלומים כלל", "20 דקות,\nבכל שעה"),
        ("ב", "תקלה אצל כמה\nמשתמשים בלבד", "שעה"),
    ]
    sheet = Sheet()
    sheet.text(TEXT)
    sheet.table(rows, widths_of(rows))
    assert rows_read(sheet.read()) == [
        "דרגה: א | משמעות: אין אפשרות לקבל תשלומים כלל | תגובה: 20 דקות, בכל שעה",
        "דרגה: ב | משמעות: תקלה אצל כמה משתמשים בלבד | תגובה: שעה",
    ]


def test_an_empty_cell_stays_empty() -> None:
    rows = [("יחידה", "מצב", "הערות"), ("חינוך", "תקין", ""), ("רווחה", "דרוש תיקון", "הוזמן טכנאי")]
    sheet = Sheet()
    sheet.text(TEXT)
    sheet.table(rows, widths_of(rows))
    assert rows_read(sheet.read()) == [
        "יחידה: חינוך | מצב: תקין",
        "יחידה: רווחה | מצב: דרוש תיקון | הערות: הוזמן טכנאי",
    ]


@pytest.mark.parametrize("first", [1, 2, 3], ids=["names alone at the end", "names and a row", "names and two rows"])
def test_a_table_that_goes_on_overleaf_keeps_its_names(first: int) -> None:
    widths = widths_of(ROWS)
    sheet = Sheet()
    sheet.text(TEXT)
    sheet.table(ROWS[:first], widths)
    sheet.page()
    sheet.table(ROWS[first:], widths, names=False)
    sheet.text(TEXT)
    document = sheet.read()
    assert rows_read(document) == NAMED
    pages = [block.locator.page for block in document.blocks if block.kind is BlockKind.TABLE_ROW]
    assert pages == [1] * (first - 1) + [2] * (4 - first)


def items(sheet: Sheet) -> None:
    """Markers stand apart from their text."""
    rows = [(f"{i}.", text) for i, text in enumerate(("הספק יגזום את העצים.", "הספק יפנה את הגזם.", "הספק ידווח."), 1)]
    sheet.table(rows, [14.0, 300.0], names=False)


def prose(sheet: Sheet) -> None:
    sheet.text(*[TEXT] * 4)


@pytest.mark.parametrize("draw", [items, prose])
def test_what_is_no_table(draw: Callable[[Sheet], None]) -> None:
    sheet = Sheet()
    sheet.text(TEXT)
    draw(sheet)
    assert rows_read(sheet.read()) == []


def test_an_english_table_on_a_hebrew_page_is_read_from_the_side_where_its_columns_begin() -> None:
    rows = [("Name", "Role", "Phone"), ("Dana Levi", "Manager", "03-555-1234"), ("Amir", "Engineer", "04-5")]
    sheet = Sheet()
    sheet.text(TEXT, TEXT)
    sheet.table(rows, widths_of(rows))
    assert rows_read(sheet.read()) == [
        "Name: Dana Levi | Role: Manager | Phone: 03-555-1234",
        "Name: Amir | Role: Engineer | Phone: 04-5",
    ]
