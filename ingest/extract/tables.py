"""Rows of a table to blocks: the columns' names are found, and stand before each value, as in HTML's tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ingest.extract.base import BlockKind
from ingest.extract.builder import NOWHERE, Place, TextBuilder, one_line, row_text

# A column's name is a few words; a longer first row is content.
NAME_CHARS_MAX: Final = 60
# Rows below the first one that are looked at to see whether it names their columns.
LOOK_AHEAD: Final = 4
# Tables of two columns are as often pairs of label and value as lists with names above: more must speak for names.
PAIRS_COLUMNS: Final = 2

_FIGURE: Final = re.compile(r"[₪$€£]?\s*[-+(]?\d[\d,./:\s%-]*\)?\s*(?:%|₪|[$€£]|ש\"ח)?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of cells as a reader sees them, in the table's own column order (of a right-to-left table: from the right).

    Attributes:
        cells: text of each, empty ones included.
        place: where the row stands.
        strong: marked as names of columns: as a header row, or by bold letters that rows below it lack.
    """

    cells: tuple[str, ...]
    place: Place = NOWHERE
    strong: bool = False


def filled(cells: Sequence[str]) -> int:
    """Number of cells that hold something."""
    return sum(1 for cell in cells if cell.strip())


def is_figure(cell: str) -> bool:
    """Whether it is a number, an amount, a date, a time."""
    return _FIGURE.fullmatch(cell.strip()) is not None


def names_columns(first: Row, below: Sequence[Row]) -> bool:
    """Whether the first row holds the columns' names.

    Args:
        first: a table's first row.
        below: rows after it; the first few are looked at.
    """
    cells = [cell.strip() for cell in first.cells]
    named = [cell for cell in cells if cell]
    width = max((len(row.cells) for row in below), default=0)
    if not below or len(named) < PAIRS_COLUMNS or len(named) < len(cells) - 1 or width > len(cells):
        return False
    if any(is_figure(cell) or len(cell) > NAME_CHARS_MAX for cell in named) or len(set(named)) < len(named):
        return False
    if first.strong:
        return True
    if len(cells) > PAIRS_COLUMNS:
        return True
    # Two columns: labels and values have figures on one side at most from the first row on, or colons.
    figures = any(is_figure(cell) for row in below[:LOOK_AHEAD] for cell in row.cells)
    return figures and not any(row.cells[0].strip().endswith(":") for row in (first, *below[:LOOK_AHEAD]) if row.cells)


def add_table(
    builder: TextBuilder, rows: Iterable[Row], *, group: int, inherited: Sequence[str] = ()
) -> tuple[str, ...]:
    """Add the blocks of one table.

    Rows above the columns' names that fill one cell only are captions, and become paragraphs.

    Args:
        builder: takes the blocks.
        rows: in order; empty ones are left out.
        group: tells this table's rows from another's.
        inherited: names of the columns of the table above, where this one may go on with it without names of its own.

    Returns:
        The names of its columns; empty where it has none.
    """
    stream = (row for row in rows if filled(row.cells))
    waiting: list[Row] = []
    for row in stream:
        if not waiting and filled(row.cells) == 1 < len(row.cells):
            builder.add(BlockKind.PARAGRAPH, one_line(" ".join(row.cells)), place=row.place)
            continue
        waiting.append(row)
        if len(waiting) > LOOK_AHEAD:
            break
    if not waiting:
        return tuple(inherited)
    first, *below = waiting
    if not below and filled(first.cells) == 1:
        builder.add(BlockKind.PARAGRAPH, one_line(" ".join(first.cells)), place=first.place)
        return tuple(inherited)
    named = names_columns(first, below)
    if named:
        names = [one_line(cell).removesuffix(":").strip() for cell in first.cells]
    else:
        names = list(inherited) if len(first.cells) == len(inherited) else []
    for row in _chained(below if named else waiting, stream):
        cells = [one_line(cell) for cell in row.cells]
        if names and len(cells) < len(names):
            cells += [""] * (len(names) - len(cells))
        line = row_text(cells, names)
        builder.add(BlockKind.TABLE_ROW, line, group=group, place=row.place)
    return tuple(names)


def _chained(first: Iterable[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from first
    yield from rest
