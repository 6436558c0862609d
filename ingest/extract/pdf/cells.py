"""Tables without lines on a page whose blanks are known: a gap that is no blank parts two cells. Pure.

Cells of one column share a stretch of the page's width, cells of one row a stretch of its height: a cell that is set in
the middle of a taller neighbour has its baseline between two of the neighbour's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.grid import Cell, Table
from ingest.extract.pdf.model import Row, Word
from ingest.extract.pdf.pieces import Edges, Piece, Span, columns_of, cut_in_line, meet, pieces_of, placed, widened

# Rows further apart are of two tables; baselines nearer to each other than this are of cells set side by side.
APART: Final = 3.5
SIDE_BY_SIDE: Final = 0.9
# How high letters stand above their baseline and hang below it, and how much of that two cells of one row share.
ABOVE_LINE: Final = 0.75
BELOW_LINE: Final = 0.2
SHARED_MIN: Final = 0.25
# Lines of one cell are at most so far apart, and as near to each other as the nearest lines of the table, give or take.
LINES_MAX: Final = 1.7
SAME_PITCH: Final = 1.1
# A distance that is not a whole multiple of the least one, give or take this, is of another kind.
WHOLE_TIMES: Final = 0.1
# A row with one cell belongs to the table as long as it is no further below than the row before it was, give or take.
NEXT_PITCH: Final = 1.25
# Blank and tolerance when it is asked whether a line's first word had room on the line above.
ROOM: Final = 0.3
# Letters that are set far apart are no cells.
LETTERS_MIN: Final = 1.5
ROWS_MIN: Final = 2
# Tables of a page have fewer words; every one of them is compared with those of other rows.
WORDS_MAX: Final = 1_500

MARKER: Final = re.compile(
    r"[•◦▪‣*–—-]|[(.)]*(?:\d{1,3}(?:\.\d{1,3})*|[א-ת]{1,2}|[a-zA-Z]|[ivxIVX]{2,5})[(.)]+|[.)(]+\d{1,3}"
)


def marked_table(rows: Sequence[Row], *, rtl: bool) -> tuple[int, Table] | None:
    """How many of the rows, from the first one on, are a table whose cells stand apart, and the table.

    Args:
        rows: consecutive ones of a page, whose words know whether they stand apart (`gaps.py`).
        rtl: whether cells begin on the right.
    """
    lines = _taken(rows, rtl=rtl)
    if not any(stands_apart(row) for row in rows[: len(lines)]):
        return None
    return _made(rows, lines, rtl=rtl, rows_min=ROWS_MIN)


def continued_table(rows: Sequence[Row], above: Table, *, rtl: bool) -> tuple[int, Table] | None:
    """The same for rows at the top of a page that go on with the columns of a table at the end of the page before.

    Args:
        rows: the page's first ones.
        above: a table of `marked_table`.
        rtl: whether cells begin on the right.
    """
    columns = list(zip(above.edges[::2], above.edges[1::2], strict=True))
    near = _near(rows)
    edges = Edges(rows[: len(near)])
    lines: list[list[Piece]] = []
    for line in near:
        found = placed(line, columns, edges, rtl=rtl)
        if found is None or len(found[1]) > len(columns) or (not lines and len(found[0]) < 2):
            break
        lines.append(found[0])
        columns = found[1]
    return _made(rows, lines, rtl=rtl, rows_min=1, columns=columns) if lines else None


def _made(
    rows: Sequence[Row], lines: list[list[Piece]], *, rtl: bool, rows_min: int, columns: list[Span] | None = None
) -> tuple[int, Table] | None:
    """The table of the lines, as far as they are one; `columns` where they are known."""
    if sum(len(line) > 1 for line in lines) < rows_min:
        return None
    given = columns or []
    columns = columns_of([piece for line in lines for piece in line], given)
    lines = _without_tail(lines, columns, rtl=rtl)
    pieces = [piece for line in lines for piece in line]
    columns = _without_markers(pieces, columns_of(pieces, given))
    letters = sum(len(word.glyphs) for piece in pieces for word in piece.words)
    filled = [{piece.line for piece in pieces if piece.column == column} for column in range(len(columns))]
    if (
        len(columns) < 2
        or letters < LETTERS_MIN * len(pieces)
        or sum(len(column) >= rows_min for column in filled) < 2
        or sum(len({piece.column for piece in line}) > 1 for line in lines) < rows_min
    ):
        return None
    cells = _grouped(_cells(lines, columns, rtl=rtl), len(columns))
    first, last = rows[0], rows[len(lines) - 1]
    table = Table(
        rows=cells,
        x0=columns[0][0],
        y=first.y,
        x1=columns[-1][1],
        y1=last.y,
        size=first.size,
        edges=tuple(x for column in columns for x in column),
        ruled=False,
    )
    return len(lines), table


def begins_table(row: Row, following: Row) -> bool:
    """Whether the rows look like the first of a table: cells apart, or a cell's line beside its neighbours' lines."""
    if len(pieces_of(row, 0)) > 1:
        return True
    beside = pieces_of(following, 0)
    return (
        following.y - row.y < SIDE_BY_SIDE * row.size
        and len(beside) > 1
        and not any(piece.x0 < row.x1 and row.x0 < piece.x1 for piece in beside)
    )


def stands_apart(row: Row) -> bool:
    """Whether the row has a gap that is known to be no blank."""
    return any(word.apart for word in row.words[1:])


def headed(row: Row, table: Table, *, rtl: bool) -> Table | None:
    """The row as a table of its own, where it has a cell over each column of the table, as names overleaf have."""
    columns = list(table.spans)
    found = placed(pieces_of(row, 0), columns, Edges([]), rtl=rtl)
    if found is None or len(found[1]) != len(columns) or len(found[0]) != len(columns):
        return None
    made = _made([row], [found[0]], rtl=rtl, rows_min=1, columns=found[1])
    return None if made is None else made[1]


def _taken(rows: Sequence[Row], *, rtl: bool) -> list[list[Piece]]:
    """The rows, from the first one on, that may be a table's: none has text across two columns."""
    lines = _near(rows)
    edges = Edges(rows[: len(lines)])
    if sum(len(row.words) for row in rows[: len(lines)]) <= WORDS_MAX:
        lines = [cut_in_line(line, lines, edges, rtl=rtl) for line in lines]
    while lines:
        columns = _seeds(lines)
        end = 0
        for end, line in enumerate(lines):
            found = placed(line, columns, edges, rtl=rtl)
            if found is None or (len(found[1]) > len(columns) and len(line) == 1 and not _beside(lines, end)):
                break
            lines[end], columns = found
        else:
            return lines
        lines = lines[:end]
    return lines


def _near(rows: Sequence[Row]) -> list[list[Piece]]:
    """The pieces of rows that follow each other as a table's rows do."""
    lines: list[list[Piece]] = []
    pitch = 0.0
    for number, row in enumerate(rows):
        below = row.y - rows[number - 1].y if number else 0.0
        line = pieces_of(row, number)
        ahead = rows[number + 1].y - row.y if number + 1 < len(rows) else APART * row.size
        alone = bool(number) and len(line) == 1 and min(below, ahead) >= SIDE_BY_SIDE * row.size
        if below > APART * row.size or (alone and below > NEXT_PITCH * max(pitch, row.size)):
            break
        lines.append(line)
        pitch = max(pitch, below)
    return lines


def _beside(lines: Sequence[Sequence[Piece]], at: int) -> bool:
    """Whether the line stands beside lines of its neighbours, not below one and above the other."""
    own = lines[at][0]
    near = [lines[i][0] for i in (at - 1, at + 1) if 0 <= i < len(lines)]
    return any(abs(other.y - own.y) < SIDE_BY_SIDE * own.size for other in near)


def _seeds(lines: Sequence[Sequence[Piece]]) -> list[Span]:
    """The columns of the lines with most pieces, as far as they agree."""
    most = max(len(line) for line in lines)
    columns: list[Span] = []
    for line in (line for line in lines if len(line) == most):
        wider = columns
        for piece in line:
            wider = widened((piece.x0, piece.x1), wider)
        if len(wider) >= most or not columns:
            columns = wider
    return sorted(columns)


def _without_markers(pieces: list[Piece], columns: list[Span]) -> list[Span]:
    """A column of list markers is no column: they belong to the text beside them."""
    if len(columns) < 2:
        return columns
    for at in range(len(columns)):
        own = [piece for piece in pieces if piece.column == at]
        if all(MARKER.fullmatch(" ".join(word.text for word in piece.words)) for piece in own):
            beside = at - 1 if at else at + 1
            joined = sorted(
                [
                    *(columns[i] for i in range(len(columns)) if i not in (at, beside)),
                    (min(columns[at][0], columns[beside][0]), max(columns[at][1], columns[beside][1])),
                ]
            )
            for piece in pieces:
                piece.column = next(i for i, column in enumerate(joined) if meet((piece.x0, piece.x1), column))
            return _without_markers(pieces, joined)
    return columns


def _without_tail(lines: list[list[Piece]], columns: list[Span], *, rtl: bool) -> list[list[Piece]]:
    """Without rows of one piece at the end, unless they go on with a cell or stand beside another's lines."""
    last = max(i for i, line in enumerate(lines) if len(line) > 1)
    tight = SAME_PITCH * _line_pitch(lines)
    end = last + 1
    while end < len(lines):
        piece = lines[end][0]
        above = [one for line in lines[:end] for one in line if one.column == piece.column]
        beside = piece.y - lines[end - 1][0].y < SIDE_BY_SIDE * piece.size
        goes_on = bool(above) and piece.y - above[-1].y <= tight and not _had_room(above[-1], piece, columns, rtl=rtl)
        if not beside and not goes_on:
            break
        end += 1
    return lines[:end]


def _line_pitch(lines: Sequence[Sequence[Piece]]) -> float:
    """The least distance of two lines in one column: of a cell's lines, where cells have several; 0 without any."""
    return min(_pitches(lines), default=0.0)


def _pitches(lines: Sequence[Sequence[Piece]]) -> list[float]:
    """The distances of neighbouring lines in each column."""
    by_column: dict[int, list[float]] = {}
    for line in lines:
        for piece in line:
            by_column.setdefault(piece.column, []).append(piece.y)
    return [low - high for ys in by_column.values() for high, low in pairwise(sorted(ys)) if low > high]


def _had_room(above: Piece, piece: Piece, columns: Sequence[Span], *, rtl: bool) -> bool:
    """Whether the piece's first word would have stood on the line above in its column."""
    column = columns[piece.column]
    first = piece.words[-1] if rtl else piece.words[0]
    free = (column[1] - column[0]) - (above.x1 - above.x0)
    return free > first.x1 - first.x0 + ROOM * piece.size


def _cells(lines: Sequence[Sequence[Piece]], columns: Sequence[Span], *, rtl: bool) -> list[list[Piece]]:
    """The pieces of each cell, from the top down."""
    pitch = _line_pitch(lines)
    full = {i for i, line in enumerate(lines) if len({piece.column for piece in line}) == len(columns)}
    of_rows = any(
        i in full and i + 1 in full and lines[i + 1][0].y - lines[i][0].y <= SAME_PITCH * pitch
        for i in range(len(lines))
    )
    # Two kinds of distances are those of lines and of rows; over an empty cell it is twice as far.
    times = [distance / pitch for distance in _pitches(lines)]
    of_lines = not of_rows and any(abs(one - round(one)) > WHOLE_TIMES for one in times)
    cells: list[list[Piece]] = []
    latest: dict[int, list[Piece]] = {}
    for line in lines:
        held = {piece.column for piece in line}
        # Where rows follow each other as near as lines do, a row's missing cells are no sign that it goes on.
        partial = len(held) * 2 <= len(columns) or (len(columns) - 1 if rtl else 0) not in held
        for piece in line:
            cell = latest.get(piece.column)
            same_line = cell is not None and cell[-1].line == piece.line
            goes_on = (
                cell is not None
                and piece.y - cell[-1].y <= min(SAME_PITCH * pitch, LINES_MAX * piece.size)
                and len(held) < len(columns)
                and (partial or of_lines)
                and (of_lines or not _had_room(cell[-1], piece, columns, rtl=rtl))
            )
            if cell is not None and (same_line or goes_on):
                cell.append(piece)
            else:
                latest[piece.column] = [piece]
                cells.append(latest[piece.column])
    return cells


def _grouped(cells: Sequence[list[Piece]], columns: int) -> list[list[Cell]]:
    """Rows of cells: those that share some of their height."""
    out: list[list[Cell]] = []
    bottom = float("-inf")
    for pieces in sorted(cells, key=lambda pieces: pieces[0].y):
        top = pieces[0].y - ABOVE_LINE * pieces[0].size
        if bottom - top < SHARED_MIN * pieces[0].size:
            out.append([[] for _ in range(columns)])
            bottom = float("-inf")
        bottom = max(bottom, pieces[-1].y + BELOW_LINE * pieces[-1].size)
        by_line: dict[int, list[Word]] = {}
        for piece in pieces:
            by_line.setdefault(piece.line, []).extend(piece.words)
        out[-1][pieces[0].column] += [Row(sorted(words, key=lambda word: word.x0)) for words in by_line.values()]
    return out
