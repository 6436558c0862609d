"""The reading order of a page's parts: columns, tables without lines, and running text. Pure.

White corridors that run down through several rows part columns or a table's cells. Columns hold running text and are
read one after another, from the right on a page that is read from the right; cells are read row by row.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.cells import MARKER, begins_table, continued_table, marked_table
from ingest.extract.pdf.grid import Cell, Table
from ingest.extract.pdf.model import Row, Word
from ingest.extract.pdf.rows import rows_of_words
from ingest.extract.pdf.tight import may_head, tight_table

# Widths in sizes of the text. The gap between cells or columns; a gap that no text has between its words.
CORRIDOR_MIN: Final = 0.8
CORRIDOR_SURE: Final = 1.5
# Rows further apart than this belong to two parts of a page.
APART: Final = 4.0
# A line of a column is this near to the one above it.
PITCH_MAX: Final = 1.7
# Columns: so many rows in each, so many words in a row, and rows that are so wide, of the column's width.
COLUMN_ROWS_MIN: Final = 3
COLUMN_WORDS_MIN: Final = 3.0
COLUMN_FILL_MIN: Final = 0.6
COLUMNS_MAX: Final = 4
TABLE_ROWS_MIN: Final = 3
# Distances of rows that differ by this factor are of two kinds: lines of one cell, and rows.
PITCHES_DIFFER: Final = 1.25

# Rows of text that the names of a table's columns may take.
NAME_ROWS_MAX: Final = 3
# Rows that are looked at for one table.
TIGHT_ROWS_MAX: Final = 200
# A page on which so many rows look like the first of a table, and none is, holds something else: each try costs time.
FAILURES_MAX: Final = 20

Item = Row | Table
Span = tuple[float, float]


@dataclass(slots=True)
class _Band:
    """Neighbouring items with white corridors through all of them: columns of running text, or a table's."""

    items: list[Item]
    corridors: list[Span]
    columns: bool = False


def arrange(items: Sequence[Item], *, rtl: bool, above: Table | None = None) -> list[list[Row] | Table]:
    """Text parts (their rows from top to bottom) and tables, in reading order.

    Args:
        items: rows and ruled tables, from the top down.
        rtl: whether the page is read from the right.
        above: the table without lines at the end of the page before, if one is there.
    """
    out: list[list[Row] | Table] = []
    text: list[Row] = []
    i = failures = 0
    if above is not None and (first := _continued(items, above, rtl=rtl)) is not None:
        out.append(first[1])
        i = first[0]
    while i < len(items):
        item = items[i]
        band = _found(items, i, rtl=rtl)
        tried = not (band and band.columns) and failures < FAILURES_MAX and _may_begin(items, i)
        marked = marked_table(_rows_from(items, i), rtl=rtl) if tried else None
        failures += tried and marked is None
        if marked is not None:
            out += [*([text] if text else []), marked[1]]
            text, i = [], i + marked[0]
            continue
        if band is None and isinstance(item, Row):
            text.append(item)
            i += 1
            continue
        heads = [] if band is None else _above(text, band)
        if text:
            out.append(text)
            text = []
        if band is None:
            out += [item] if isinstance(item, Table) else []
            i += 1
            continue
        i += len(band.items)
        band.items = [*heads, *band.items]
        if band.columns:
            for column in _sides(band.items, band.corridors)[:: -1 if rtl else 1]:
                out += arrange(column, rtl=rtl)
        else:
            out.append(_table(band))
    return [*out, text] if text else out


def _found(items: Sequence[Item], i: int, *, rtl: bool) -> _Band | None:
    """Columns or a table that begin here."""
    if isinstance(items[i], Table):
        return None
    band = _band(items, i)
    if band is not None and band.columns:
        return band
    tight = _tight(items, i, rtl=rtl)
    if band is None:
        return tight
    # A wide gap in the first rows may hide a longer table whose columns are close, below its names.
    for later in range(i, min(i + NAME_ROWS_MAX, len(items) - 1) + 1):
        longer = tight if later == i else _tight(items, later, rtl=rtl)
        if (
            longer is not None
            and len(longer.items) + later - i > len(band.items)
            and len(longer.corridors) >= len(band.corridors)
        ):
            return longer if later == i else None
    band.corridors = _refined(band, rtl=rtl)
    return band


def _may_begin(items: Sequence[Item], start: int) -> bool:
    """Whether a table whose cells stand apart may begin here."""
    first = items[start]
    following = items[start + 1] if start + 1 < len(items) else None
    return isinstance(first, Row) and isinstance(following, Row) and begins_table(first, following)


def _continued(items: Sequence[Item], above: Table, *, rtl: bool) -> tuple[int, Table] | None:
    """The rows at the top of a page that go on with a table, and of how many items they are."""
    rows = _rows_from(items, 0)
    found = continued_table(rows, above, rtl=rtl) if rows else None
    marked = marked_table(rows, rtl=rtl) if found and _may_begin(items, 0) else None
    return None if marked is not None and found is not None and marked[0] > found[0] else found


def _rows_from(items: Sequence[Item], start: int) -> list[Row]:
    """Rows up to the next ruled table, as many as one table may have."""
    rows: list[Row] = []
    for item in items[start : start + TIGHT_ROWS_MAX]:
        if isinstance(item, Table):
            break
        rows.append(item)
    return rows


def _above(text: list[Row], band: _Band) -> list[Item]:
    """Takes from the rows above what belongs to the band: lines of a longer column, or the names of columns."""
    above: list[Item] = []
    if band.columns:
        while text and _in_one_column(text[-1], band):
            above.insert(0, text.pop())
    elif text and isinstance(band.items[0], Row) and may_head(text[-1], band.items[0], band.corridors):
        above.append(text.pop())
    return above


def _band(items: Sequence[Item], start: int) -> _Band | None:
    """The band that begins here, if one does: columns, or a table of enough rows."""
    corridors = _first_corridors(items, start)
    if not corridors:
        return None
    end = start + 1
    while end < len(items):
        near = items[end].y - _bottom(items[end - 1]) <= APART * items[end].size
        narrowed = _narrowed(corridors, _boxes(items[end]), CORRIDOR_MIN * items[end].size) if near else []
        if not narrowed:
            break
        corridors, end = narrowed, end + 1
    members = list(items[start:end])
    corridors = _without_markers(members, corridors)
    while len(members) > 1 and corridors and _one_sided(members[-1], corridors) and not _goes_on(members):
        members.pop()
    if not corridors or len(members) < 2:
        return None
    band = _Band(members, corridors)
    if _columns(band):
        band.columns = True
        return band
    if any(isinstance(item, Table) for item in members):
        return None
    band = _Band(_without_tail(members, corridors), _with_headers(members, corridors))
    members, corridors = band.items, band.corridors
    across = sum(not _one_sided(item, corridors) for item in members)
    sure = across > 1 and max(right - left for left, right in corridors) >= CORRIDOR_SURE * members[0].size
    return band if across >= TABLE_ROWS_MIN or sure else None


def _tight(items: Sequence[Item], start: int, *, rtl: bool) -> _Band | None:
    """The table of close columns that begins here, if one does."""
    rows = _rows_from(items, start)
    found = tight_table(rows, rtl=rtl) if rows else None
    if found is None:
        return None
    members: list[Item] = [*rows[: found[0]]]
    corridors = _without_markers(members, found[1])
    return _Band(_without_tail(members, corridors), corridors) if corridors else None


def _refined(band: _Band, *, rtl: bool) -> list[Span]:
    """The corridors of a table with those of columns that stand close; its first rows may be names, set otherwise."""
    rows = [item for item in band.items if isinstance(item, Row)]
    for first in range(min(NAME_ROWS_MAX + 1, len(rows))):
        found = tight_table(rows[first:], rtl=rtl)
        if found is None or found[0] < len(rows) - first:
            continue
        new = [
            span
            for span in found[1]
            if all(span[1] < left - span[1] + span[0] or span[0] > right for left, right in band.corridors)
        ]
        return _without_markers(band.items, sorted([*band.corridors, *new]))
    return band.corridors


def _first_corridors(items: Sequence[Item], start: int) -> list[Span]:
    first = items[start]
    boxes = _boxes(first)
    if len(boxes) < 2 and start + 1 < len(items):
        # Columns whose baselines differ stand in rows of their own.
        other = items[start + 1]
        if abs(other.y - first.y) < first.size and (other.x0 > first.x1 or other.x1 < first.x0):
            boxes = sorted([*boxes, *_boxes(other)])
    least = CORRIDOR_MIN * first.size
    return [(left[1], right[0]) for left, right in pairwise(boxes) if right[0] - left[1] >= least]


def _boxes(item: Item) -> list[Span]:
    """What an item covers from left to right; its words, where it is a row, joined over gaps between words."""
    if isinstance(item, Table):
        return [(item.x0, item.x1)]
    boxes: list[Span] = []
    for word in item.words:
        if boxes and word.x0 - boxes[-1][1] < CORRIDOR_MIN * item.size:
            boxes[-1] = (boxes[-1][0], max(boxes[-1][1], word.x1))
        else:
            boxes.append((word.x0, word.x1))
    return boxes


def _bottom(item: Item) -> float:
    return item.y1 if isinstance(item, Table) else item.y


def _narrowed(corridors: list[Span], boxes: list[Span], least: float) -> list[Span]:
    """What is left of the corridors between and beside the boxes."""
    out: list[Span] = []
    for left, right in corridors:
        at = left
        for x0, x1 in [*boxes, (right, right)]:
            if x1 <= at:
                continue
            if min(x0, right) - at >= least:
                out.append((at, min(x0, right)))
            at = max(at, x1)
            if at >= right:
                break
    return out


def _one_sided(item: Item, corridors: list[Span]) -> bool:
    """Whether nothing of the item stands on the other side of any corridor."""
    return not any(item.x0 < (left + right) / 2 < item.x1 for left, right in corridors)


def _goes_on(members: list[Item]) -> bool:
    """Whether the last row is as near to the one above as lines of one text are."""
    return members[-1].y - _bottom(members[-2]) <= PITCH_MAX * members[-1].size


def _without_tail(members: list[Item], corridors: list[Span]) -> list[Item]:
    """Without rows of one cell below the table, unless they are as near as the lines of one cell are."""
    last = max(i for i, item in enumerate(members) if i == 0 or not _one_sided(item, corridors))
    pitches = [below.y - above.y for above, below in pairwise(members)]
    tight = PITCHES_DIFFER * min(pitches)
    end = last + 1
    while end < len(members) and pitches[end - 1] <= tight and not _begins_with_marker(members[end]):
        end += 1
    return members[:end]


def _with_headers(members: list[Item], corridors: list[Span]) -> list[Span]:
    """Without corridors between a column's centred header and its values beside it: no row has both."""
    kept = list(corridors)
    for corridor in corridors:
        at = kept.index(corridor)
        middle = (corridor[0] + corridor[1]) / 2
        low = kept[at - 1][0] if at else float("-inf")
        high = kept[at + 1][1] if at + 1 < len(kept) else float("inf")
        rows = [item for item in members if isinstance(item, Row)]
        starts = [[word.x0 for word in row.words if low < word.x0 < high] for row in rows]
        if len(kept) > 1 and not any(min(row) < middle < max(row) for row in starts if row):
            kept.remove(corridor)
    return kept


def _begins_with_marker(item: Item) -> bool:
    return isinstance(item, Row) and any(MARKER.fullmatch(item.words[end].text) for end in (0, -1))


def _in_one_column(row: Row, band: _Band) -> bool:
    first = band.items[0]
    return (
        first.y - row.y <= PITCH_MAX * row.size
        and _one_sided(row, band.corridors)
        and abs(row.size - first.size) < 0.1 * row.size
        and all(row.x1 <= left + 1 or row.x0 >= right - 1 for left, right in band.corridors)
    )


def _sides(items: Sequence[Item], corridors: list[Span]) -> list[list[Item]]:
    """The items, or what of them stands there, between the corridors, from the left."""
    middles = [(left + right) / 2 for left, right in corridors]
    words: list[list[Word]] = [[] for _ in range(len(middles) + 1)]
    tables: list[list[Item]] = [[] for _ in range(len(middles) + 1)]
    for item in items:
        if isinstance(item, Table):
            tables[sum(middle < item.x0 for middle in middles)].append(item)
            continue
        for word in item.words:
            words[sum(middle < word.x0 for middle in middles)].append(word)
    return [
        sorted([*rows_of_words(column), *held], key=lambda item: item.y)
        for column, held in zip(words, tables, strict=True)
    ]


def _columns(band: _Band) -> bool:
    """Whether the band holds columns of running text, not cells."""
    sides = _sides(band.items, band.corridors)
    if len(sides) > COLUMNS_MAX:
        return False
    return all(_running_text(side) for side in sides)


def _running_text(side: list[Item]) -> bool:
    rows = [item for item in side if isinstance(item, Row)]
    if len(rows) < COLUMN_ROWS_MIN:
        return False
    if 2 * sum(any(word.apart for word in row.words[1:]) for row in rows) > len(rows):
        return False  # cells
    width = max(row.x1 for row in rows) - min(row.x0 for row in rows)
    fill = statistics.mean((row.x1 - row.x0) / max(1.0, width) for row in rows)
    words = statistics.mean(len(row.words) for row in rows)
    return words >= COLUMN_WORDS_MIN and fill >= COLUMN_FILL_MIN


def _without_markers(members: list[Item], corridors: list[Span]) -> list[Span]:
    """Without the corridors beside a column of list markers: numbers and bullets belong to their lines."""
    kept = corridors
    for _ in range(len(corridors)):
        sides = _sides(members, kept)
        for i, side in enumerate(sides):
            if side and all(isinstance(item, Row) and MARKER.fullmatch(item.text) for item in side):
                kept = [corridor for at, corridor in enumerate(kept) if at not in (i - 1, i)]
                break
        else:
            return kept
    return kept


def _table(band: _Band) -> Table:
    middles = [(left + right) / 2 for left, right in band.corridors]
    rows = [item for item in band.items if isinstance(item, Row)]
    lines: list[list[list[Word]]] = []
    for row in rows:
        cells: list[list[Word]] = [[] for _ in range(len(middles) + 1)]
        for word in row.words:
            cells[sum(middle < word.x0 for middle in middles)].append(word)
        lines.append(cells)
    first, last = rows[0], rows[-1]
    x0, x1 = min(row.x0 for row in rows), max(row.x1 for row in rows)
    return Table(_joined_lines(rows, lines), x0, first.y, x1, last.y, first.size, (x0, *middles, x1), ruled=False)


def _joined_lines(rows: list[Row], lines: list[list[list[Word]]]) -> list[list[Cell]]:
    """Table rows out of text lines: lines that are nearer to each other than rows are belong to one row."""
    pitches = [below.y - above.y for above, below in pairwise(rows)]
    tight = min(pitches, default=0.0) * PITCHES_DIFFER
    two_kinds = bool(pitches) and max(pitches) > tight and min(pitches) <= PITCH_MAX * rows[0].size
    out: list[list[Cell]] = []
    for i, cells in enumerate(lines):
        filled = sum(bool(cell) for cell in cells)
        near = i > 0 and pitches[i - 1] <= tight
        goes_on = near and filled < len(cells) and (two_kinds or filled == 1)
        if goes_on:
            for cell, words in zip(out[-1], cells, strict=True):
                if words:
                    cell.append(Row(words))
        else:
            out.append([[Row(words)] if words else [] for words in cells])
    return out
