"""Gaps between words that are no blanks: cells and columns stand there, however near to each other. Pure.

Programs draw a blank between the words of one text, or move on by the same width each time. Between two cells they do
neither. A page of justified text without drawn blanks has gaps of every width, and tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.model import Row, Word

# Widths in sizes. A narrower gap is kerning or a change of font; a wider one is never between words of one text.
GAP_MIN: Final = 0.2
BLANK_MAX: Final = 1.0
# Widths of one font's blank differ by rounding alone.
SAME_WIDTH: Final = 0.03
# Kerning moves quotes and brackets towards the blank beside them, or away from it.
KERNING_MAX: Final = 0.12
# Gaps that say what a page's blanks are; the share of them that must agree. The rest stand between cells.
GAPS_MIN: Final = 4
DRAWN_SHARE_MIN: Final = 0.6
SAME_SHARE_MIN: Final = 0.5

Pair = tuple[Word, Word]


def mark_gaps(rows: Sequence[Row]) -> None:
    """Set `apart` of the words of a page, as far as its blanks are known."""
    pairs = [pair for row in rows for pair in pairwise(row.words)]
    near = [pair for pair in pairs if GAP_MIN <= _width(pair) < BLANK_MAX]
    if len(near) < GAPS_MIN:
        return
    if sum(right.blank_by >= 0 for _, right in near) >= DRAWN_SHARE_MIN * len(near):
        for pair in pairs:
            pair[1].apart = pair[1].blank_by < 0 and _width(pair) >= GAP_MIN
        return
    blanks = _blanks(near)
    if not blanks:
        return
    for pair in pairs:
        known = {blanks[font] for font in _fonts(pair) if font in blanks}
        width = _width(pair)
        if width < GAP_MIN or any(abs(width - blank) <= SAME_WIDTH for blank in known):
            pair[1].apart = False
        elif any(abs(width - blank) <= KERNING_MAX for blank in known) and _kerned(pair):
            continue
        elif width >= BLANK_MAX or all(font in blanks for font in _fonts(pair)):
            pair[1].apart = True


def _width(pair: Pair) -> float:
    left, right = pair
    return (right.x0 - left.x1) / max(left.size, right.size)


def _fonts(pair: Pair) -> tuple[int, int]:
    left, right = pair
    return left.glyphs[-1].font, right.glyphs[0].font


def _kerned(pair: Pair) -> bool:
    """Whether a mark stands at the gap."""
    left, right = pair
    return not (left.glyphs[-1].text[0].isalnum() and right.glyphs[0].text[0].isalnum())


def _blanks(near: Sequence[Pair]) -> dict[int, float]:
    """The width of each font's blank, where its gaps agree on one."""
    widths: dict[int, Counter[float]] = {}
    for pair in near:
        left, right = _fonts(pair)
        if left == right:
            widths.setdefault(left, Counter())[round(_width(pair), 2)] += 1
    blanks: dict[int, float] = {}
    for font, counts in widths.items():
        usual = max(counts, key=lambda width: (counts[width], -width))
        same = sum(count for width, count in counts.items() if abs(width - usual) <= SAME_WIDTH)
        if same >= max(GAPS_MIN, SAME_SHARE_MIN * counts.total()):
            blanks[font] = usual
    return blanks
