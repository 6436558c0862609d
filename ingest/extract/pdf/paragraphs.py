"""Rows of one text part to paragraphs in reading order, and tables to rows of cell texts. Pure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.bidi import UNITS, Direction, direction_of, is_rtl
from ingest.extract.pdf.brackets import paired
from ingest.extract.pdf.grid import Cell, Table
from ingest.extract.pdf.model import Row
from ingest.extract.pdf.rows import logical_line

# A paragraph ends where the next row is further away than rows usually are, by this factor.
GAP_FACTOR: Final = 1.25
# Rows of one text are at most so far apart, in sizes, whatever the page's other rows do.
PITCH_MAX: Final = 2.2
PITCH_USUAL: Final = 1.2
# Rows so far apart, in sizes, go on with one another only where the upper one is full: text with double spacing.
PITCH_WIDE: Final = 1.6
# Sizes that differ by more are of two kinds of text.
SIZE_SHARE: Final = 0.08
# Sizes of recognised text are measured by its boxes, and differ from row to row.
SIZE_SHARE_RECOGNISED: Final = 0.3
# Blank and tolerance, in sizes, when it is asked whether the next row's first word had room on this row.
ROOM: Final = 0.5
INDENT_MIN: Final = 0.8
FLUSH: Final = 0.4
# Of a page that is laid out from one side; letters have two, the page's direction and the row's margins one each.
LAID_VOTES: Final = 3.0
# So many rows say how a page is laid out: so many of them begin at its side, and so few end at the other.
LAID_ROWS_MIN: Final = 3
LAID_FLUSH_MIN: Final = 0.7
LAID_RAGGED_MAX: Final = 0.5
# Edges of a column that differ by more, in points, are not in line.
SAME_PLACE: Final = 2.0
# So many columns that begin at one side, and none at the other, leave no doubt.
SIDES_SURE: Final = 2
# Tables of two columns are as often labels and values; a column's name is a few words.
NAMED_COLUMNS_MIN: Final = 3
NAME_CHARS_MAX: Final = 60

LIST_MARK: Final = re.compile(
    r"(?:[•◦▪‣*–—-]|\(?(?:\d{1,3}|[א-ת]{1,2}|[a-z])[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?)\s+(?=\S)"
)
_SENTENCE_END: Final = re.compile(r"[.!?:;…׃][\"'”’)\]]*$")
_MARKS: Final = frozenset(".?!:;,")
# `[1]`, `(1)`, `1.`, `1)`, `2.1` and `2.1.`, as a right-to-left line shows them.
_LEADING_NUMBER: Final = re.compile(r"[\[(]\d{1,3}[\])]|[.(]\d{1,3}|\.?\d{1,2}(?:\.\d{1,2}){1,3}")
_LATIN: Final = re.compile(r"[^\W\d_]+")
# A column's name begins with a word; a value of a column of figures, with a figure or its sign.
_NAME: Final = re.compile(r"\W*[^\W\d_]{2}")
_FIGURE: Final = re.compile(r"[₪$€£+\-–(]?\s*\d")


@dataclass(slots=True)
class Line:
    """One row in reading order; `hard` where the row above it was ended on purpose."""

    text: str
    hard: bool = False


@dataclass(slots=True)
class Paragraph:
    """Text of one part of a page."""

    page: int
    lines: list[Line]
    size: float
    bold: bool
    confidence: float | None = None
    recognised: bool = False

    @property
    def characters(self) -> int:
        return sum(len(line.text) for line in self.lines)


@dataclass(slots=True)
class TableText:
    """A table's cells in reading order, each as its lines.

    Attributes:
        own_font_first: the first row is in another font than all others, as column names are.
        edges: where its columns begin and end, so that a table that goes on overleaf is known.
        spans: where the text of each column begins and ends, where no lines part them.
        bold: of each row, whether all of it is bold.
        sure: lines, or gaps that are no blanks, part its cells.
        ends_page: nothing follows it on its page; `starts_page`: nothing is above it.
    """

    page: int
    rows: list[list[list[str]]]
    own_font_first: bool
    edges: tuple[float, ...]
    spans: tuple[tuple[float, float], ...] = ()
    bold: tuple[bool, ...] = ()
    sure: bool = False
    ends_page: bool = False
    starts_page: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class PageContext:
    """What the page says about its rows.

    Attributes:
        direction: of most of its letters.
        laid: the side at which its rows begin, where most begin at one: Hebrew typed into a program that lays text out
            from the left stands so, its marks on the right.
    """

    number: int
    direction: Direction
    laid: Direction | None = None
    brackets_seen: bool = True
    recognised: bool = False


def laid_out(rows: Sequence[Row]) -> Direction | None:
    """The side at which a page's rows begin; None where they are set in lines of one length, or begin anywhere."""
    if len(rows) < LAID_ROWS_MIN:
        return None
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    at_left = sum(row.x0 - left < FLUSH * row.size for row in rows) / len(rows)
    at_right = sum(right - row.x1 < FLUSH * row.size for row in rows) / len(rows)
    if at_left >= LAID_FLUSH_MIN and at_right <= LAID_RAGGED_MAX:
        return "L"
    return "R" if at_right >= LAID_FLUSH_MIN and at_left <= LAID_RAGGED_MAX else None


def paragraphs_of(rows: Sequence[Row], context: PageContext) -> list[Paragraph]:
    """Split a text part into paragraphs."""
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    pitch = _usual_pitch(rows)
    singles = pitch > PITCH_WIDE * rows[0].size and _mostly_sentences(rows, context)
    groups: list[list[tuple[Row, bool]]] = []
    for i, row in enumerate(rows):
        if i == 0:
            groups.append([(row, False)])
            continue
        above = rows[i - 1]
        direction = _direction([above, row], context, left, right)
        hard = _had_room(above, row, direction, left, right)
        wide = row.y - above.y > PITCH_WIDE * row.size and (
            hard
            or singles
            or _SENTENCE_END.search(logical_line(above.words, direction)) is not None
            or _direction([above], context, left, right) != _direction([row], context, left, right)
        )
        if (
            wide
            or _apart(above, row, pitch, SIZE_SHARE_RECOGNISED if context.recognised else SIZE_SHARE)
            or _begins(above, row, direction, (left, right), hard=hard)
        ):
            groups.append([(row, False)])
        else:
            groups[-1].append((row, hard))
    return [_paragraph(group, context, left, right) for group in groups]


def _mostly_sentences(rows: Sequence[Row], context: PageContext) -> bool:
    """Whether most rows end as sentences do: rows far apart are then paragraphs of a line each."""
    ended = sum(_SENTENCE_END.search(logical_line(row.words, context.direction)) is not None for row in rows)
    return ended > len(rows) / 2


def table_text(table: Table, context: PageContext) -> TableText:
    """A table's cells in reading order."""
    direction = _table_direction(table, context)
    step = -1 if direction == "R" else 1
    rows = [[_cell_lines(cell, direction, context) for cell in cells[::step]] for cells in table.rows]
    fonts = [
        {glyph.font for cell in cells for row in cell for word in row.words for glyph in word.glyphs}
        for cells in table.rows
    ]
    other_fonts = set().union(*fonts[1:])
    return TableText(
        page=context.number,
        rows=rows,
        own_font_first=not context.recognised and bool(other_fonts) and not fonts[0] & other_fonts,
        edges=table.edges,
        spans=table.spans,
        bold=tuple(all(row.bold for cell in cells for row in cell) for cells in table.rows),
        sure=table.ruled or bool(table.spans),
        confidence=confidence_of([row for cells in table.rows for cell in cells for row in cell]),
    )


def _table_direction(table: Table, context: PageContext) -> Direction:
    """By its letters and its page; where these or the page's layout disagree, or all columns say otherwise, by the side
    on which the columns' cells begin at one place."""
    letters = "".join(row.text for cells in table.rows for cell in cells for row in cell)
    direction = direction_of(letters, context.direction)
    from_right = from_left = 0
    # Names stand in the middle of their columns.
    rows = table.rows[1:] if len(table.rows) > SIDES_SURE else table.rows
    for column in zip(*rows, strict=True):
        cells = [cell for cell in column if cell]
        lefts = [min(row.x0 for row in cell) for cell in cells]
        rights = [max(row.x1 for row in cell) for cell in cells]
        if len(cells) > 1:
            left, right = max(lefts) - min(lefts), max(rights) - min(rights)
            from_right += right <= SAME_PLACE < left
            from_left += left <= SAME_PLACE < right
    if max(from_left, from_right) >= SIDES_SURE and not min(from_left, from_right):
        return "R" if from_right else "L"
    if direction == context.direction and context.laid in (None, direction):
        return direction
    if from_left == from_right:
        return context.direction
    return "R" if from_right > from_left else "L"


def confidence_of(rows: Sequence[Row]) -> float | None:
    """Mean confidence of the recognised characters, 0 to 1; None where nothing was recognised."""
    known = [
        glyph.confidence for row in rows for word in row.words for glyph in word.glyphs if glyph.confidence is not None
    ]
    return statistics.fmean(known) if known else None


def _cell_lines(cell: Cell, direction: Direction, context: PageContext) -> list[str]:
    if not cell:
        return []
    margins = min(row.x0 for row in cell), max(row.x1 for row in cell)
    # A cell has its table's direction as long as a word of that direction is in it.
    hebrew = any(is_rtl(char) for row in cell for char in row.text)
    own = "R" if hebrew and direction == "R" else _direction(cell, replace(context, direction=direction), *margins)
    return [_line(row, own, context) for row in cell]


def _line(row: Row, direction: Direction, context: PageContext) -> str:
    text = logical_line(row.words, direction)
    return text if context.brackets_seen else paired(text)


def _first_line(row: Row, direction: Direction, context: PageContext) -> str:
    """As `_line`; a number that leads a right-to-left paragraph stands apart, though Latin words may follow it."""
    if direction == "R" and len(row.words) > 1 and _LEADING_NUMBER.fullmatch(row.words[-1].text):
        return f"{_line(Row(row.words[-1:]), direction, context)} {_line(Row(row.words[:-1]), direction, context)}"
    return _line(row, direction, context)


def _usual_pitch(rows: Sequence[Row]) -> float:
    pitches = [
        below.y - above.y
        for above, below in pairwise(rows)
        if 0 < below.y - above.y <= PITCH_MAX * max(above.size, below.size)
    ]
    # The lower half: most rows of a page follow a row of their own paragraph.
    return statistics.median_low(sorted(pitches)[: max(1, (len(pitches) + 1) // 2)]) if pitches else 0.0


def _apart(above: Row, row: Row, pitch: float, size_share: float) -> bool:
    size = max(above.size, row.size)
    usual = max(pitch, size * PITCH_USUAL * 0.9) if pitch else size * PITCH_USUAL
    if row.y - above.y > GAP_FACTOR * usual or row.y < above.y:
        return True
    return abs(above.size - row.size) > size_share * size or above.bold != row.bold


def _had_room(above: Row, row: Row, direction: Direction, left: float, right: float) -> bool:
    """Whether the row's first word would have stood on the row above: then that was ended on purpose."""
    first = row.words[-1] if direction == "R" else row.words[0]
    free = above.x0 - left if direction == "R" else right - above.x1
    return free > first.x1 - first.x0 + ROOM * row.size


def _begins(above: Row, row: Row, direction: Direction, margins: tuple[float, float], *, hard: bool) -> bool:
    """Whether a paragraph begins: a list mark, an indented first row, a row behind a sentence's end with room left."""
    text = logical_line(row.words, direction)
    if LIST_MARK.match(text) and (hard or _SENTENCE_END.search(logical_line(above.words, direction)) is not None):
        return True
    left, right = margins
    start, start_above = (right - row.x1, right - above.x1) if direction == "R" else (row.x0 - left, above.x0 - left)
    indented = start > INDENT_MIN * row.size and start_above < FLUSH * row.size
    ended = _SENTENCE_END.search(logical_line(above.words, direction)) is not None
    return ended and (hard or indented)


def _paragraph(group: list[tuple[Row, bool]], context: PageContext, left: float, right: float) -> Paragraph:
    rows = [row for row, _ in group]
    direction = _direction(rows, context, left, right)
    return Paragraph(
        page=context.number,
        lines=[
            Line(_line(row, direction, context) if i else _first_line(row, direction, context), hard)
            for i, (row, hard) in enumerate(group)
        ],
        size=max(row.size for row in rows),
        bold=all(row.bold for row in rows),
        confidence=confidence_of(rows),
        recognised=context.recognised,
    )


def _direction(rows: Sequence[Row], context: PageContext, left: float, right: float) -> Direction:
    """Of a paragraph: by its letters, its margins, the side of its marks, and the page's direction."""
    text = "".join(row.text for row in rows)
    hebrew = sum(is_rtl(char) for char in text)
    latin = sum(char.isalpha() and not is_rtl(char) for char in text)
    if not hebrew and all(word in UNITS for word in _LATIN.findall(text)):
        return context.direction
    votes = 2.0 * (hebrew - latin) / (hebrew + latin) + (1.0 if context.direction == "R" else -1.0)
    votes += LAID_VOTES * ((context.laid == "R") - (context.laid == "L"))
    flush = FLUSH * rows[0].size
    from_left, from_right = all(row.x0 - left < flush for row in rows), all(right - row.x1 < flush for row in rows)
    if from_left != from_right:
        votes += 1.0 if from_right else -1.0
    words = [word.text for row in rows for word in row.words]
    # A mark behind a word stands on its left in a right-to-left line; on its right it is telling behind Hebrew alone,
    # since Latin words keep their marks within their own run.
    before = sum(
        len(word) > 1 and word[0] in _MARKS and word[1].isalnum() and not _MARKS & set(word[1:])  # ח.פ. has its own
        for word in words
    )
    behind = sum(len(word) > 1 and word[-1] in _MARKS and is_rtl(word[-2]) and word[0] not in _MARKS for word in words)
    if before != behind:
        votes += 1.5 if before > behind else -1.5
    return "R" if votes > 0 else "L"


def looks_like_names(first: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Whether a table's first row names its columns: words in all of it, figures all down some column below it."""
    names = [" ".join(cell) for cell in first]
    if not others or not all(_NAME.match(name) for name in names):
        return False
    columns = range(1 if len(names) == 2 else 0, len(names))
    below = [[" ".join(row[column]) for row in others if column < len(row) and row[column]] for column in columns]
    return any(values and all(_FIGURE.match(value) for value in values) for values in below)


def names_by_words(first: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row may name its columns: three or more cells, all filled, all different, no figures."""
    names = [" ".join(cell) for cell in first]
    return (
        len(names) >= NAMED_COLUMNS_MIN
        and len(set(names)) == len(names)
        and all(0 < len(name) <= NAME_CHARS_MAX and _NAME.match(name) and not _FIGURE.match(name) for name in names)
    )
