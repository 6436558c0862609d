"""One page: read, judged, and put in rows. A page without usable text goes through recognition where that is there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import pypdfium2 as pdfium

from ingest.extract.pdf import ocr
from ingest.extract.pdf.bidi import Direction, page_direction
from ingest.extract.pdf.brackets import see_brackets
from ingest.extract.pdf.gaps import mark_gaps
from ingest.extract.pdf.glyphs import read_page
from ingest.extract.pdf.grid import Table, ruled_tables
from ingest.extract.pdf.model import RawPage, Row, Word
from ingest.extract.pdf.order import AGREEMENT, AGREEMENT_RECOGNISED, Order, signs, turned
from ingest.extract.pdf.rows import rows_of, rows_of_words

# A text layer of which so much has no letters is no text.
UNMAPPED_SHARE_MAX: Final = 0.2
UNMAPPED_MIN: Final = 5
# A picture over so much of the page with fewer characters than this is a scan that some program stamped.
PICTURE_SHARE_MIN: Final = 0.5
STAMP_CHARACTERS_MAX: Final = 80

# Codes of doubts.
NO_LETTERS: Final = "no_letters"
ORDER_IN_DOUBT: Final = "order_in_doubt"
DAMAGED: Final = "damaged_page"

# What some programs write into a text layer for a glyph without a letter.
_CID: Final = re.compile(r"\(cid:\d+\)")


@dataclass(slots=True)
class PageText:
    """A page's rows and ruled tables, as they are seen.

    Attributes:
        backwards: its letters stood in the wrong order and were turned.
        doubt: why a person should look at it: a code and a sentence.
        problem: why it has no text, though something is drawn on it.
        recognised: through OCR, here.
        over_picture: its text lies over a picture of it, recognised here or by the program that made the file.
    """

    number: int
    height: float = 1.0
    rows: list[Row] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    more: list[list[Row]] = field(default_factory=list)
    brackets_seen: bool = True
    backwards: bool = False
    doubt: tuple[str, str] | None = None
    problem: str | None = None
    recognised: bool = False
    over_picture: bool = False

    def direction(self, fallback: Direction) -> Direction:
        """The direction of most of its letters."""
        letters = "".join(row.text for row in self.rows)
        inside = "".join(row.text for table in self.tables for cells in table.rows for cell in cells for row in cell)
        return page_direction(letters + inside, fallback)


def page_text(page: pdfium.PdfPage, number: int, *, use_ocr: bool) -> PageText:
    """Read a page.

    Args:
        page: an open page.
        number: from 1.
        use_ocr: whether pages that are pictures are recognised.

    Raises:
        pdfium.PdfiumError: the page is damaged.
    """
    found = read_page(page, number)
    why = _unusable(found)
    if why is None:
        return _in_rows(found, page)
    if not found.drawn:
        return PageText(number)
    if use_ocr:
        recognised = ocr.recognise(page, number)
        if recognised is None:
            return PageText(number, problem=f"recognition took more than {ocr.PAGE_SECONDS} seconds")
        if not recognised.characters:
            return PageText(number, problem="it is a picture in which no text was found")
        text = _in_rows(recognised, None)
        text.recognised = True
        return text
    if found.unmapped:
        return PageText(number, doubt=(NO_LETTERS, f"Page {number} has no usable text: {why}."))
    text = _in_rows(found, page) if found.characters else PageText(number)
    text.problem = why
    return text


def _unusable(found: RawPage) -> str | None:
    """Why the page has no usable text layer; None where it has one."""
    unmapped, known = found.unmapped, found.characters
    if unmapped >= UNMAPPED_MIN and unmapped > UNMAPPED_SHARE_MAX * (unmapped + known):
        return f"{unmapped:,} of {unmapped + known:,} characters have no letters in the file"
    text = "".join(glyph.text for layer in found.layers for glyph in layer.glyphs)
    codes = sum(len(code) for code in _CID.findall(text))
    if codes > UNMAPPED_SHARE_MAX * max(1, known):
        found.unmapped += codes
        return "its text is codes of glyphs, such as (cid:12), instead of letters"
    if not known:
        return "it is a picture without text"
    if found.pictures > PICTURE_SHARE_MIN and known < STAMP_CHARACTERS_MAX:
        return "it is a picture with next to no text"
    return None


def _in_rows(found: RawPage, page: pdfium.PdfPage | None) -> PageText:
    if not found.layers:
        return PageText(found.number)
    main, *others = found.layers
    text = PageText(found.number, height=main.frame.height)
    # The letters of a recognised page lie over a picture, not under its ink.
    text.over_picture = found.pictures > PICTURE_SHARE_MIN
    text.brackets_seen = False
    if page is not None:
        text.brackets_seen = not text.over_picture and see_brackets(page, main)
    rows = rows_of(main.glyphs)
    if page is not None:
        rows = _ordered(rows, text)
    if page is not None:
        mark_gaps(rows)
    text.tables, rest = ruled_tables(found.rules, _words(rows))
    text.rows = rows_of_words(rest)
    for layer in others:
        text.more.append(rows_of(layer.glyphs))
    return text


def _words(rows: Iterable[Row]) -> list[Word]:
    return [word for row in rows for word in row.words]


def _ordered(rows: list[Row], text: PageText) -> list[Row]:
    """The rows as they are read by a person; a page that stands backwards is turned."""
    found = signs(rows)
    order = found.judged(AGREEMENT_RECOGNISED if text.over_picture else AGREEMENT)
    if order is Order.BACKWARDS:
        text.backwards = True
        return turned(rows)
    if order is Order.DOUBTFUL:
        text.doubt = (
            ORDER_IN_DOUBT,
            f"On page {text.number} {found.backwards} words stand backwards and {found.seen} do not: the order of its "
            "letters is in doubt.",
        )
    return rows
