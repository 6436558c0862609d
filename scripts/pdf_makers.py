"""One document as other people's programs make a PDF of it: Chromium, LibreOffice, reportlab in visual order."""

from __future__ import annotations

import html
import io
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bidi.algorithm import get_display
from docx import Document
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from scripts.pdf_documents import Grid, Source, Text

CHROMIUM: Final = "/usr/bin/chromium"
OFFICE_SECONDS_MAX: Final = 600
FONTS: Final = ("DejaVu Sans", "David CLM", "Frank Ruehl CLM", "Miriam CLM")
# Of these reportlab embeds one; it reads TrueType outlines alone.
REPORTLAB_FONTS: Final = {
    "measured": Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
    "measured-bold": Path("/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"),
}
SIZE: Final = 11.0
MARGIN: Final = 56.0
COLUMN_GAP: Final = 24.0
CELL_GAP: Final = 8.0


def chromium(sources: Sequence[Source], *, ruled: bool) -> Iterator[tuple[Source, bytes]]:
    """Printed by one Chromium, each document in the next font."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for i, source in enumerate(sources):
            page.set_content(as_html(source, FONTS[i % len(FONTS)], ruled=ruled))
            yield source, page.pdf(prefer_css_page_size=True)
        browser.close()


def as_html(source: Source, font: str, *, ruled: bool) -> str:
    """The document as a web page without any advice on direction but its own."""
    lines = "table{border-collapse:collapse}td,th{border:1px solid;padding:3px}" if ruled else ""
    columns = f"main{{column-count:{source.columns};column-gap:10mm}}" if source.columns > 1 else ""
    style = f"@page{{size:A4;margin:22mm 20mm}}body{{font:{SIZE}pt '{font}'}}{lines}{columns}"
    body: list[str] = []
    titles = [part for part in source.parts[:1] if isinstance(part, Text) and part.level == 1]
    for part in source.parts[len(titles) :]:
        body.append(_table_html(part) if isinstance(part, Grid) else _text_html(part))
    direction = "rtl" if source.rtl else "ltr"
    head = f"<!doctype html><html dir={direction}><head><meta charset=utf-8><style>{style}</style></head><body>"
    return f"{head}{''.join(map(_text_html, titles))}<main>{''.join(body)}</main></body></html>"


def _text_html(part: Text) -> str:
    tag = f"h{min(part.level, 6)}" if part.level else "p"
    return f"<{tag}>{html.escape(part.text)}</{tag}>"


def _table_html(part: Grid) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    return f"<table>{row(part.names, 'th')}{''.join(row(cells, 'td') for cells in part.rows)}</table>"


def libreoffice(sources: Sequence[Source], folder: Path, *, ruled: bool) -> Iterator[tuple[Source, bytes]]:
    """Written as DOCX and exported by one LibreOffice."""
    files = []
    for i, source in enumerate(sources):
        files.append(folder / f"{i:02d}-{source.name}.docx")
        as_docx(source, FONTS[i % len(FONTS)], ruled=ruled).save(str(files[-1]))
    soffice(files, "pdf", folder)
    for source, file in zip(sources, files, strict=True):
        yield source, file.with_suffix(".pdf").read_bytes()


def soffice(files: Sequence[Path], target: str, folder: Path) -> None:
    """Convert files by one start of LibreOffice; the results stand in `folder` under the same names.

    Raises:
        subprocess.CalledProcessError: it gave up.
    """
    profile = f"-env:UserInstallation=file://{folder / 'office-profile'}"
    subprocess.run(  # noqa: S603 - files that this script made
        ["soffice", "--headless", profile, "--convert-to", target, "--outdir", str(folder), *map(str, files)],  # noqa: S607
        check=True,
        capture_output=True,
        timeout=OFFICE_SECONDS_MAX,
    )


def as_docx(source: Source, font: str, *, ruled: bool) -> Any:
    """The document as Word writes it, its paragraphs marked as right-to-left."""
    file = Document()
    for style in ("Normal", *(f"Heading {level}" for level in range(1, 5))):
        fonts = file.styles[style].element.get_or_add_rPr().get_or_add_rFonts()
        for script in ("w:ascii", "w:hAnsi", "w:cs"):
            fonts.set(qn(script), font)
    file.styles["Normal"].font.size = Pt(SIZE)
    if source.columns > 1:
        columns = OxmlElement("w:cols")
        columns.set(qn("w:num"), str(source.columns))
        columns.set(qn("w:space"), "567")
        if source.rtl:
            file.sections[0]._sectPr.append(OxmlElement("w:bidi"))
        file.sections[0]._sectPr.append(columns)
    for part in source.parts:
        if isinstance(part, Grid):
            _docx_table(file, part, rtl=source.rtl, ruled=ruled)
        else:
            style = f"Heading {min(part.level, 4)}" if part.level else "Normal"
            _run(file.add_paragraph(style=style), part.text, rtl=source.rtl)
    return file


def _run(paragraph: Any, text: str, *, rtl: bool) -> None:
    run = paragraph.add_run(text)
    if rtl:
        paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        run._r.get_or_add_rPr().append(OxmlElement("w:rtl"))


def _docx_table(file: Any, part: Grid, *, rtl: bool, ruled: bool) -> None:
    table = file.add_table(rows=0, cols=len(part.names))
    if ruled:
        table.style = "Table Grid"
    if rtl:
        table._tbl.tblPr.append(OxmlElement("w:bidiVisual"))
    for i, row in enumerate((part.names, *part.rows)):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            _run(cell.paragraphs[0], text, rtl=rtl)
            for run in cell.paragraphs[0].runs:
                run.bold = run.font.cs_bold = i == 0
    file.add_paragraph().add_run().add_break(WD_BREAK.LINE)


def reportlab(sources: Sequence[Source], *, ruled: bool) -> Iterator[tuple[Source, bytes]]:
    """Drawn a visual line at a time, as old programs do."""
    register_fonts()
    for source in sources:
        yield source, _Sheet(source, ruled=ruled).data()


def register_fonts() -> None:
    """Make the fonts known to reportlab, once."""
    for name, file in REPORTLAB_FONTS.items():
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, str(file)))


class _Sheet:
    """Lays a document out, line by line."""

    def __init__(self, source: Source, *, ruled: bool) -> None:
        self._source, self._ruled = source, ruled
        self._out = io.BytesIO()
        self._canvas = canvas.Canvas(self._out, pagesize=A4)
        self._width = (A4[0] - 2 * MARGIN - COLUMN_GAP * (source.columns - 1)) / source.columns
        self._column = 0
        self._y = A4[1] - MARGIN

    def data(self) -> bytes:
        for part in self._source.parts:
            if isinstance(part, Grid):
                self._table(part)
                continue
            size = SIZE + (8 - 2 * part.level if 0 < part.level < 4 else 0)
            font = "measured-bold" if part.level else "measured"
            self._room(3 * size if part.level else 2 * size)
            for line in wrapped(part.text, self._width, size, font):
                self._room(size * 1.4)
                left = self._left()
                self._draw(line, left, left + self._width, size, font)
                self._y -= size * 1.4
            self._y -= size * 0.8
        self._canvas.save()
        return self._out.getvalue()

    def _left(self) -> float:
        column = self._source.columns - 1 - self._column if self._source.rtl else self._column
        return float(MARGIN + column * (self._width + COLUMN_GAP))

    def _room(self, height: float) -> None:
        if self._y - height > MARGIN:
            return
        self._y = A4[1] - MARGIN
        self._column = (self._column + 1) % self._source.columns
        if self._column == 0:
            self._canvas.showPage()

    def _draw(self, line: str, left: float, right: float, size: float, font: str = "measured") -> None:
        self._canvas.setFont(font, size)
        shown = str(get_display(line, base_dir="R" if self._source.rtl else "L"))
        if self._source.rtl:
            self._canvas.drawRightString(right, self._y - size, shown)
        else:
            self._canvas.drawString(left, self._y - size, shown)

    def _table(self, part: Grid) -> None:
        rows = [part.names, *part.rows]
        wished = [
            max(pdfmetrics.stringWidth(row[i], "measured-bold", SIZE) for row in rows) + CELL_GAP
            for i in range(len(part.names))
        ]
        words = [
            max(
                (pdfmetrics.stringWidth(word, "measured-bold", SIZE) for row in rows for word in row[i].split()),
                default=0.0,
            )
            + CELL_GAP
            for i in range(len(part.names))
        ]
        widths = wished if sum(wished) <= self._width else _fitted(wished, words, self._width)
        for number, row in enumerate(rows):
            font = "measured" if number else "measured-bold"
            cells = [wrapped(cell, width - CELL_GAP, SIZE, font) for cell, width in zip(row, widths, strict=True)]
            lines = max(1, *map(len, cells))
            self._room(lines * SIZE * 1.3 + 6)
            top, x = self._y, 0.0
            for cell, width in zip(cells, widths, strict=True):
                right = self._left() + self._width - x if self._source.rtl else self._left() + x + width
                for i, line in enumerate(cell):
                    self._y = top - 2 - i * SIZE * 1.3
                    self._draw(line, right - width + CELL_GAP / 2, right - CELL_GAP / 2, SIZE, font)
                if self._ruled:
                    self._canvas.rect(right - width, top - lines * SIZE * 1.3 - 5, width, lines * SIZE * 1.3 + 5)
                x += width
            self._y = top - lines * SIZE * 1.3 - 5
        self._y -= SIZE


def _fitted(wished: Sequence[float], words: Sequence[float], room: float) -> list[float]:
    """Every column holds its longest word; what is left is shared by what each wants beyond that."""
    more = [wish - word for wish, word in zip(wished, words, strict=True)]
    share = max(0.0, room - sum(words)) / max(1.0, sum(more))
    return [word + share * extra for word, extra in zip(words, more, strict=True)]


def wrapped(text: str, width: float, size: float, font: str) -> list[str]:
    """Lines of whole words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and pdfmetrics.stringWidth(longer, font, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
