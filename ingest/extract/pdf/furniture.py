"""Page headers, footers and page numbers: rows at a page's edge that come again on other pages. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.bidi import page_direction
from ingest.extract.pdf.model import Row
from ingest.extract.pdf.rows import logical_line

# The outer share of a page's height in which headers and footers stand, and how many rows at either end are looked at.
EDGE_SHARE: Final = 0.12
EDGE_ROWS: Final = 3
# A row must come on so many pages; on two of two pages where there are no more.
PAGES_MIN: Final = 3
# Rows of a header or footer stand at one height, give or take this share of the page.
SAME_HEIGHT: Final = 0.01
# Copies of one row that the report names.
NAMED_MAX: Final = 5
# Numbers of a row that may be its page number.
NUMBERS_MAX: Final = 4

# Pages of a preface count in small Roman numbers.
_ROMAN: Final = re.compile(r"[-–—|( ]*((?=[ivxl])(?:x[lc]|l?x{0,3})(?:i[xv]|v?i{0,3}))[-–—|) ]*")
_ROMAN_DIGITS: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_DIGITS: Final = re.compile(r"\d{1,5}")
_PAGE_NUMBER: Final = re.compile(
    r"[-–—|( ]*(?:(?:עמוד|עמ['׳]|דף|page|p\.)\s*)?\d{1,4}(?:\s*(?:מתוך|of|/|-)\s*\d{1,4})?[-–—|) ]*", re.I
)
# The same as it is seen, from the left: the words of a right-to-left row stand the other way round.
_PAGE_NUMBER_SEEN: Final = re.compile(r"\d{1,4}(?: ךותמ \d{1,4})? (?:דומע|['׳]מע|ףד)")
_NUMBERED_OF: Final = re.compile(r"ךותמ|\bof\b|/", re.I)

Key = tuple[str, int]


@dataclass(slots=True)
class EdgeRows:
    """Counts rows at page edges over a document; fed in batches of pages, so that memory does not grow with it."""

    seen: Counter[Key] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    numbers: int = 0
    bodies: int = 0

    def look(self, rows: Sequence[Row], height: float, number: int) -> None:
        """Count the rows of page `number`."""
        near = [*rows[: EDGE_ROWS + 1], *rows[-EDGE_ROWS - 1 :]]
        for text, place in {(text, place) for row in near for text, place in _forms(row, height, number)}:
            self.seen[text, place] += 1

    def body(self, rows: Sequence[Row], height: float, number: int, *, pages: int) -> list[Row]:
        """The rows of a page without those that are its furniture.

        Args:
            rows: from the top down.
            height: of the page.
            number: of the page.
            pages: of the document.
        """
        dropped: set[int] = set()
        least = min(PAGES_MIN, max(2, pages))
        repeated = {
            id(row)
            for row in {id(row): row for row in [*rows[: EDGE_ROWS + 1], *rows[-EDGE_ROWS - 1 :]]}.values()
            if pages > 1 and self._count(row, height, number) >= least
        }
        for row in _edges(rows, height, repeated):
            text = row.text
            is_number = _PAGE_NUMBER.fullmatch(text) or _PAGE_NUMBER_SEEN.fullmatch(text) or _ROMAN.fullmatch(text)
            if is_number and (id(row) in repeated or _NUMBERED_OF.search(text)):
                self.numbers += 1
                dropped.add(id(row))
            elif id(row) in repeated:
                self.texts[logical_line(row.words, page_direction(text, "R"))] += 1
                dropped.add(id(row))
        self.bodies += len(dropped) < len(rows)
        if not self.bodies and not all(_PAGE_NUMBER.fullmatch(row.text) for row in rows):
            return list(rows)  # pages of nothing else: it is their content
        return [row for row in rows if id(row) not in dropped]

    def _count(self, row: Row, height: float, number: int) -> int:
        """On how many pages the row stands, at this height or next to it."""
        return max(
            sum(self.seen[text, place + step] for step in (-1, 0, 1)) for text, place in _forms(row, height, number)
        )


def _edges(rows: Sequence[Row], height: float, repeated: set[int]) -> list[Row]:
    """Rows near the top and the bottom.

    Where the row behind them comes again as well, pages are copies of one form, and what repeats is their content.
    """
    first, last = EDGE_SHARE * height, (1 - EDGE_SHARE) * height
    top = [row for row in rows[:EDGE_ROWS] if row.y < first]
    bottom = [row for row in rows[-EDGE_ROWS:] if row.y > last]
    below = [row for row in rows[EDGE_ROWS : EDGE_ROWS + 1] if row.y <= last and id(row) in repeated]
    above = [row for row in rows[-EDGE_ROWS - 1 : -EDGE_ROWS] if row.y >= first and id(row) in repeated]
    return [*([] if below else top), *([] if above else bottom)]


def _forms(row: Row, height: float, number: int) -> list[Key]:
    """The row as it stands, and with one of its numbers as its distance from the page's: page numbers keep that."""
    place = round(row.y / (SAME_HEIGHT * height))
    text = row.text
    forms = [(text, place)]
    for found in list(_DIGITS.finditer(text))[:NUMBERS_MAX]:
        distance = int(found[0]) - number
        forms.append((f"{text[: found.start()]}#{distance}{text[found.end() :]}", place))
        # A footer may name the page twice.
        forms.append((_numbered_from(text, number, distance), place))
    if roman := _ROMAN.fullmatch(text):
        forms.append((f"roman #{_roman(roman[1]) - number}", place))
    return forms


def _numbered_from(text: str, number: int, distance: int) -> str:
    """The row with every number of this distance from the page's as that."""
    return _DIGITS.sub(lambda found: f"#{distance}" if int(found[0]) - number == distance else found[0], text)


def _roman(letters: str) -> int:
    values = [_ROMAN_DIGITS[letter] for letter in letters]
    return sum(-one if one < following else one for one, following in pairwise([*values, 0]))
