"""Tables without lines whose columns stand close: words begin at one place, row after row. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.model import Row

# The least gap before a cell, in sizes; how nearly cells of one column begin at one place, in points.
GAP_MIN: Final = 0.2
SAME_PLACE: Final = 0.7
# Cells of one column differ in length, so that some gap before the next one is wide; where none is, the same words come
# in every row.
GAP_OF_CELLS: Final = 0.6
# Words begin at one place by chance in one of about thirty rows of running text: three rows and two columns, or four
# rows and one, are no chance.
ROWS_OF_TWO: Final = 3
ROWS_OF_ONE: Final = 4
# Columns that reach through nearly all rows of the longest one belong to it.
LENGTH_SHARE: Final = 0.8
# Rows of a table are at most so far apart, in sizes.
PITCH_MAX: Final = 3.5

Span = tuple[float, float]


@dataclass(slots=True)
class _Anchor:
    """Where a column begins, through how many rows nothing crosses it, in how many a word begins there, and the widest
    gap before it, in sizes."""

    at: float
    gap: float
    rows: int = 1
    aligned: int = 1


def tight_table(rows: Sequence[Row], *, rtl: bool) -> tuple[int, list[Span]] | None:
    """How many of the rows, from the first one on, are a table, and the gaps between its columns, from the left.

    Args:
        rows: consecutive ones of a page.
        rtl: whether cells begin on the right.
    """
    anchors = [_Anchor(at, gap) for at, gap in _starts(rows[0], rtl=rtl)]
    alive = list(anchors)
    for above, row in pairwise(rows):
        if not alive or row.y - above.y > PITCH_MAX * row.size:
            break
        starts = _starts(row, rtl=rtl)
        alive = [anchor for anchor in alive if not _crossed(row, anchor.at, rtl=rtl)]
        for anchor in alive:
            anchor.rows += 1
            gaps = [gap for start, gap in starts if abs(start - anchor.at) <= SAME_PLACE]
            anchor.aligned += bool(gaps)
            anchor.gap = max([anchor.gap, *gaps])
    sure = [anchor for anchor in anchors if anchor.aligned >= ROWS_OF_TWO and anchor.gap >= GAP_OF_CELLS]
    if not sure:
        return None
    length = max(anchor.rows for anchor in sure)
    kept = [anchor for anchor in sure if anchor.rows >= LENGTH_SHARE * length and 2 * anchor.aligned >= anchor.rows]
    if len(kept) < 2 and not (kept and kept[0].aligned >= ROWS_OF_ONE):
        return None
    gap = GAP_MIN * rows[0].size
    spans = [(anchor.at, anchor.at + gap) if rtl else (anchor.at - gap, anchor.at) for anchor in kept]
    return min(anchor.rows for anchor in kept), sorted(spans)


def may_head(row: Row, first: Row, spans: Sequence[Span]) -> bool:
    """Whether the row above a table has a word over each of its columns, and none over two."""
    if first.y - row.y > PITCH_MAX * first.size:
        return False
    columns = set()
    for word in row.words:
        before = sum((left + right) / 2 < word.x0 for left, right in spans)
        if before != sum((left + right) / 2 < word.x1 for left, right in spans):
            return False
        columns.add(before)
    return len(columns) == len(spans) + 1


def _starts(row: Row, *, rtl: bool) -> list[tuple[float, float]]:
    """Where words begin that stand apart from the one before them, and the gap between, in sizes."""
    out: list[tuple[float, float]] = []
    known = any(word.apart is not None for word in row.words[1:])
    for left, right in pairwise(row.words):
        gap = (right.x0 - left.x1) / row.size
        if gap >= GAP_MIN and (right.apart or not known):
            out.append((left.x1 if rtl else right.x0, gap))
    return out


def _crossed(row: Row, at: float, *, rtl: bool) -> bool:
    gap = GAP_MIN * row.size
    left, right = (at, at + gap) if rtl else (at - gap, at)
    return any(word.x0 < right - SAME_PLACE and word.x1 > left + SAME_PLACE for word in row.words)
