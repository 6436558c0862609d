"""Pages whose letters stand in the wrong order: found by final letters and common words, and repaired. Pure.

On most pages the boxes tell the order, whatever order the file stores. Some programs, and some layers of recognised
text, draw Hebrew as if it were Latin: the first letter on the left. A person sees such words backwards: ךםןףץ stand
where words begin. This is told page by page, for one file may hold both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.bidi import reordered
from ingest.extract.pdf.model import Glyph, Row, Word

FINALS: Final = frozenset("ךםןףץ")
# Letters that have a final form and so end no word in their usual one; פ ends loanwords and is left out.
NOT_LAST: Final = frozenset("כמנצ")
# לא is left out: backwards it is אל, as common.
COMMON: Final = frozenset(
    [
        "של",
        "על",
        "את",
        "עם",
        "כי",
        "או",
        "הוא",
        "היא",
        "זה",
        "אם",
        "כל",
        "בין",
        "גם",
        "לפי",
        "אשר",
        "כן",
        "יש",
        "אין",
        "עד",
        "אך",
        "רק",
        "מה",
        "אני",
        "אנו",
        "לכל",
        "ידי",
        "זו",
        "מי",
        "היה",
        "ביום",
        "אלא",
        "כמו",
        "לפני",
        "אחרי",
        "בו",
        "לו",
        "בה",
        "לה",
    ]
)
# A sign is a final letter at a word's end; a common word counts as much. Three agree on what one or two may by chance.
SIGNS_MIN: Final = 3
# One sign against so many others is a misprint or a word of another language; more of them is a doubt.
AGREEMENT: Final = 6
# Recognised letters are misread here and there, ן for ו and ם for ס, and make signs of either kind.
AGREEMENT_RECOGNISED: Final = 3

# A gap of so many sizes parts two cells or columns.
STRETCH_GAP: Final = 1.2

_WORD: Final = re.compile(r"[א-ת]{2,}")
_SENTENCE_END: Final = frozenset(".?!:")


class Order(StrEnum):
    """How the Hebrew letters of a page stand."""

    SEEN = "seen"
    BACKWARDS = "backwards"
    UNKNOWN = "unknown"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Signs:
    """How many words say that the page is read as it is seen, and how many that it is backwards."""

    seen: int
    backwards: int

    @property
    def order(self) -> Order:
        """What they say of a page that was written."""
        return self.judged(AGREEMENT)

    def judged(self, agreement: int) -> Order:
        """What they say, if so many of one kind outweigh one of the other."""
        if max(self.seen, self.backwards) < SIGNS_MIN:
            return Order.DOUBTFUL if self.backwards and not self.seen else Order.UNKNOWN
        if self.backwards > agreement * self.seen:
            return Order.BACKWARDS
        return Order.SEEN if self.seen > agreement * self.backwards else Order.DOUBTFUL


def signs(rows: Iterable[Row]) -> Signs:
    """The signs in rows as they are seen, left to right."""
    seen = backwards = 0
    words: Counter[str] = Counter()
    for row in rows:
        words.update(_WORD.findall("".join(char for char in row.text if not "\u0591" <= char <= "\u05c7")))
    for word, count in words.items():
        left, right = word[0], word[-1]
        # In a word that is seen rightly the last letter is the leftmost one.
        if left in FINALS or (right in NOT_LAST and left not in NOT_LAST and word[::-1] in COMMON):
            seen += count
        elif right in FINALS or (left in NOT_LAST and right not in NOT_LAST and len(word) > 2):
            backwards += count
        elif word[::-1] in COMMON and word not in COMMON:
            seen += count
        elif word in COMMON and word[::-1] not in COMMON:
            backwards += count
    return Signs(seen, backwards)


def turned(rows: Sequence[Row]) -> list[Row]:
    """Rows of a backwards page as they should have been drawn.

    What was drawn as one string is turned as one; where every string is a single word, as layers of recognised text
    have them, words stay in place and only their letters are turned, unless the sentences' ends stand on the right.
    """
    single = _single_words(rows) and not _ends_on_the_right(rows)
    return [_turned_by_words(row) if single else _turned_whole(row) for row in rows]


def _single_words(rows: Sequence[Row]) -> bool:
    """Whether no drawing operation spans two Hebrew words."""
    for row in rows:
        operations: set[int] = set()
        for word in row.words:
            if _WORD.search(word.text) is None:
                continue
            if word.glyphs[0].drawn_by in operations:
                return False
            operations |= {glyph.drawn_by for glyph in word.glyphs}
    return True


def _ends_on_the_right(rows: Sequence[Row]) -> bool:
    on_left = sum(row.words[0].text[-1] in _SENTENCE_END for row in rows if _WORD.search(row.words[0].text))
    on_right = sum(row.words[-1].text[-1] in _SENTENCE_END for row in rows if _WORD.search(row.words[-1].text))
    return on_right > on_left


def _turned_by_words(row: Row) -> Row:
    return Row([Word(displayed(word.glyphs)) if _WORD.search(word.text) else word for word in row.words])


def _turned_whole(row: Row) -> Row:
    """Each stretch of the row without a wide gap (a cell, a column) is in reading order; it is laid out anew."""
    stretches: list[list[Word]] = []
    for word in row.words:
        if stretches and word.x0 - stretches[-1][-1].x1 < STRETCH_GAP * row.size:
            stretches[-1].append(word)
        else:
            stretches.append([word])
    return Row([word for stretch in stretches for word in _turned_stretch(stretch)])


def _turned_stretch(stretch: list[Word]) -> list[Word]:
    if not any(_WORD.search(word.text) for word in stretch):
        return stretch
    line: list[Glyph] = []
    for left, right in pairwise(stretch):
        line += [*left.glyphs, Glyph(" ", left.x1, right.x0, left.y, left.size)]
    words: list[list[Glyph]] = [[]]
    for glyph in displayed([*line, *stretch[-1].glyphs]):
        if glyph.text == " ":
            words.append([])
        else:
            words[-1].append(glyph)
    return [Word(glyphs) for glyphs in words if glyphs]


def displayed(logical: Sequence[Glyph]) -> list[Glyph]:
    """Glyphs in reading order, laid out as a right-to-left line shows them, over the same width, left to right."""
    x = min(glyph.x0 for glyph in logical)
    laid: list[Glyph] = []
    for i, text in reordered([glyph.text for glyph in logical], "R"):
        width = logical[i].x1 - logical[i].x0
        laid.append(replace(logical[i], text=text, x0=x, x1=x + width))
        x += width
    return laid
