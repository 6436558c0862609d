"""Glyphs to words and rows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ingest.extract.pdf.bidi import Direction, to_logical
from ingest.extract.pdf.model import Glyph, Row, Word
from ingest.extract.pdf.order import displayed

# Baselines that differ by less than this share of the smaller size are one: raised figures and other fonts.
BASELINE_SHARE: Final = 0.35
# A gap of this share of the size is a blank; the narrowest blanks of fonts are a fifth, kerning is far below.
BLANK_SHARE: Final = 0.16
# A drawn blank narrower than this parts nothing: programs put them where a word changes its font.
BLANK_WIDTH_MIN: Final = 0.05


def rows_of(glyphs: Iterable[Glyph]) -> list[Row]:
    """Rows from the top to the bottom; words by drawn blanks, and by gaps where no blank was drawn."""
    return [row for line in _baselines(_upright(list(glyphs))) if (row := _row(line)) is not None]


def rows_of_words(words: Iterable[Word]) -> list[Row]:
    """The same out of words, when some of them were taken away."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: (word.y, word.x0)):
        if rows and _one_line(rows[-1].words[-1], word):
            rows[-1].words.append(word)
        else:
            rows.append(Row([word]))
    for row in rows:
        row.words.sort(key=lambda word: word.x0)
    return rows


def _one_line(one: Word | Glyph, other: Word | Glyph) -> bool:
    return abs(one.y - other.y) <= BASELINE_SHARE * min(one.size, other.size)


def _baselines(glyphs: list[Glyph]) -> list[list[Glyph]]:
    lines: list[list[Glyph]] = []
    for glyph in sorted(glyphs, key=lambda glyph: glyph.y):
        if lines and _one_line(lines[-1][-1], glyph):
            lines[-1].append(glyph)
        else:
            lines.append([glyph])
    return lines


def _row(line: list[Glyph]) -> Row | None:
    words: list[Word] = []
    apart = True
    blank_by = -1
    end = 0.0
    for glyph in sorted(line, key=lambda glyph: (glyph.x0, glyph.order)):
        if glyph.text.isspace():
            apart = apart or glyph.x1 - glyph.x0 >= BLANK_WIDTH_MIN * glyph.size
            blank_by = glyph.drawn_by
            continue
        if apart or glyph.x0 - end > BLANK_SHARE * glyph.size:
            words.append(Word([], blank_by))
            end = glyph.x1
        words[-1].glyphs.append(glyph)
        end = max(end, glyph.x1)
        apart, blank_by = False, -1
    return Row(words) if words else None


def _upright(glyphs: list[Glyph]) -> list[Glyph]:
    """Strings that were drawn leftward hold their letters in reading order; numbers and Latin in them are turned."""
    leftward: dict[int, list[Glyph]] = {}
    for glyph in glyphs:
        if glyph.leftward and not glyph.text.isspace():
            leftward.setdefault(glyph.drawn_by, []).append(glyph)
    if not leftward:
        return glyphs
    out = [glyph for glyph in glyphs if not glyph.leftward or glyph.text.isspace()]
    for string in leftward.values():
        out += displayed(sorted(string, key=lambda glyph: -glyph.x0))
    return out


def logical_line(words: Sequence[Word], direction: Direction) -> str:
    """A row's words in reading order, with a blank between them."""
    cells: list[str] = []
    drawn_by: list[int] = []
    for word in words:
        if cells:
            cells.append(" ")
            drawn_by.append(word.blank_by)
        cells += [glyph.text for glyph in word.glyphs]
        drawn_by += [glyph.drawn_by for glyph in word.glyphs]
    return to_logical(cells, direction, drawn_by)
