"""Tables of text: which character parts the columns, and whether a text is such a table at all. Pure."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice
from typing import Final

SEPARATORS: Final = (",", ";", "\t", "|")
# Rows that are looked at; a table of text keeps to its columns from its first rows on.
SNIFFED_ROWS: Final = 50
# A text that is not named as a table is one only with this many rows that all have the same number of columns.
ROWS_MIN: Final = 3
COLUMNS_MIN: Final = 3
TAB_COLUMNS_MIN: Final = 2
# Cells are words and figures; a line of prose that happens to hold commas has longer parts.
CELL_CHARS_MAX: Final = 60
# Of the rows, this share must have the commonest number of columns for a separator to be believed.
SAME_WIDTH_MIN: Final = 0.8


def separator_of(text: str) -> str:
    """The character that parts the columns: the one that gives most rows the same number of columns, and the most
    columns; a comma where none does."""
    scores = {mark: _regularity(_rows(text, mark)) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: (scores[mark], -SEPARATORS.index(mark)))
    return best if scores[best] > (0.0, 0) else ","


def looks_delimited(text: str) -> str | None:
    """The separator of a text that is a table beyond doubt, though its name does not say so; else None.

    Args:
        text: the beginning of the text; a last line that is cut off is not looked at.
    """
    whole = text if text.endswith("\n") else text[: text.rfind("\n") + 1] or text
    lines = [line for line in whole.splitlines() if line.strip()][:SNIFFED_ROWS]
    if len(lines) < ROWS_MIN:
        return None
    for mark in SEPARATORS[:-1]:  # bars also stand in drawn tables and in Markdown
        rows = _rows("\n".join(lines), mark)
        width = len(rows[0]) if rows else 0
        if width < (TAB_COLUMNS_MIN if mark == "\t" else COLUMNS_MIN) or any(len(row) != width for row in rows):
            continue
        cells = [cell for row in rows for cell in row]
        # Prose has a blank behind its commas, tables have none.
        spaced = mark != "\t" and any(cell.startswith(" ") for cell in cells)
        if not spaced and max(map(len, cells)) <= CELL_CHARS_MAX and all(cell.strip() for cell in rows[0]):
            return mark
    return None


def _rows(text: str, mark: str) -> list[list[str]]:
    try:
        return [row for row in islice(csv.reader(io.StringIO(text), delimiter=mark), SNIFFED_ROWS) if row]
    except csv.Error:
        return []


def _regularity(rows: list[list[str]]) -> tuple[float, int]:
    """Share of the rows that have the commonest number of columns (0 where that is one column), and that number."""
    if not rows:
        return 0.0, 0
    (width, count), *_ = Counter(len(row) for row in rows).most_common(1)
    share = count / len(rows)
    return (share, width) if width > 1 and share >= SAME_WIDTH_MIN else (0.0, 0)
