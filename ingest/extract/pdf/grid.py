"""Tables that are ruled with lines: cells by the lines around them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ingest.extract.pdf.bidi import direction_of
from ingest.extract.pdf.model import Row, Rule, Word
from ingest.extract.pdf.rows import rows_of_words

# Lines that end within so many points of each other meet.
MEETING: Final = 3.0
# Two lines so near are one that is drawn twice, as borders of neighbouring cells are.
SAME_LINE: Final = 2.5
# A cell with more lines of text than this lays out a page; its text is read in columns.
CELL_LINES_MAX: Final = 14
# Where in a letter's height its middle is, above the baseline, in sizes.
MIDDLE_ABOVE: Final = 0.3
# A table that sticks out of its outermost line by this has a column without a border.
OPEN_SIDE: Final = 15.0

Cell = list[Row]


@dataclass(slots=True)
class Table:
    """Rows of cells, left to right as seen; a cell is the rows of text in it. Of merged cells one holds the text.

    Attributes:
        edges: where its columns begin and end: the lines between them, or, where there are none, both ends of the text
            of each (`cells.py`) or the middles of the gaps (`layout.py`).
    """

    rows: list[list[Cell]]
    x0: float
    y: float
    x1: float
    y1: float
    size: float
    edges: tuple[float, ...] = field(default_factory=tuple)
    ruled: bool = True

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """Where the text of each column begins and ends, of a table without lines whose cells stand apart."""
        if self.ruled or len(self.edges) != 2 * len(self.rows[0]):
            return ()
        return tuple(zip(self.edges[::2], self.edges[1::2], strict=True))


@dataclass(slots=True)
class _Lines:
    """Lines that hang together: positions of the columns' and the rows' borders, and the lines themselves."""

    across: list[Rule]
    down: list[Rule]


def ruled_tables(rules: Sequence[Rule], words: Iterable[Word]) -> tuple[list[Table], list[Word]]:
    """The ruled tables among the words, and the words outside of them."""
    rest = list(words)
    tables: list[Table] = []
    for lines in _groups(rules):
        xs = _positions([rule.x0 for rule in lines.down], [x for rule in lines.across for x in (rule.x0, rule.x1)])
        ys = _positions([rule.y0 for rule in lines.across], [y for rule in lines.down for y in (rule.y0, rule.y1)])
        if len(xs) < 3 or len(ys) < 2:
            continue
        inside = [word for word in rest if xs[0] < _middle(word)[0] < xs[-1] and ys[0] < _middle(word)[1] < ys[-1]]
        table = _table(lines, xs, ys, inside)
        if table is not None:
            tables.append(table)
            taken = {id(word) for word in inside}
            rest = [word for word in rest if id(word) not in taken]
    return tables, rest


def _groups(rules: Sequence[Rule]) -> list[_Lines]:
    across = _merged([rule for rule in rules if rule.y0 == rule.y1])
    down = [_flipped(rule) for rule in _merged([_flipped(rule) for rule in rules if rule.y0 != rule.y1])]
    group_of = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while group_of[i] != i:
            group_of[i] = group_of[group_of[i]]
            i = group_of[i]
        return i

    for i, horizontal in enumerate(across):
        for j, vertical in enumerate(down):
            if (
                horizontal.x0 - MEETING <= vertical.x0 <= horizontal.x1 + MEETING
                and vertical.y0 - MEETING <= horizontal.y0 <= vertical.y1 + MEETING
            ):
                group_of[root(i)] = root(len(across) + j)
    groups: dict[int, _Lines] = {}
    for i, rule in enumerate([*across, *down]):
        lines = groups.setdefault(root(i), _Lines([], []))
        (lines.across if i < len(across) else lines.down).append(rule)
    return [lines for lines in groups.values() if lines.across and lines.down]


def _flipped(rule: Rule) -> Rule:
    return Rule(rule.y0, rule.x0, rule.y1, rule.x1)


def _merged(across: list[Rule]) -> list[Rule]:
    """Horizontal lines, those in line with each other made one."""
    out: list[Rule] = []
    for rule in sorted(across, key=lambda rule: (round(rule.y0 / SAME_LINE), rule.x0)):
        last = out[-1] if out else None
        meets = last is not None and last.x0 - MEETING <= rule.x1 and rule.x0 <= last.x1 + MEETING
        if last is not None and meets and abs(last.y0 - rule.y0) <= SAME_LINE:
            out[-1] = Rule(min(last.x0, rule.x0), last.y0, max(last.x1, rule.x1), last.y0)
        else:
            out.append(rule)
    return out


def _positions(lines: Iterable[float], ends: Iterable[float]) -> list[float]:
    positions: list[float] = []
    for at in sorted(lines):
        if not positions or at - positions[-1] > SAME_LINE:
            positions.append(at)
    outer = list(ends)
    if positions and min(outer) < positions[0] - OPEN_SIDE:
        positions.insert(0, min(outer))
    if positions and max(outer) > positions[-1] + OPEN_SIDE:
        positions.append(max(outer))
    return positions


def _middle(word: Word) -> tuple[float, float]:
    return (word.x0 + word.x1) / 2, word.y - MIDDLE_ABOVE * word.size


def _table(lines: _Lines, xs: list[float], ys: list[float], words: list[Word]) -> Table | None:
    columns, rows = len(xs) - 1, len(ys) - 1
    first = _merged_cells(lines, xs, ys)
    inside: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        x, y = _middle(word)
        column = sum(edge < x for edge in xs[1:-1])
        row = sum(edge < y for edge in ys[1:-1])
        inside.setdefault(first[row, column], []).append(word)
    if direction_of("".join(word.text for word in words), "L") == "R":
        inside = {_rightmost(place, first): members for place, members in inside.items()}
    cells = {place: rows_of_words(members) for place, members in inside.items()}
    filled_columns = {column for _, column in cells}
    if len(filled_columns) < 2 or max(len(cell) for cell in cells.values()) > CELL_LINES_MAX:
        return None
    grid = [[cells.get((row, column), []) for column in range(columns)] for row in range(rows)]
    return Table(
        rows=[row for row in grid if any(row)],
        x0=xs[0],
        y=ys[0],
        x1=xs[-1],
        y1=ys[-1],
        size=words[0].size,
        edges=tuple(xs),
    )


def _rightmost(place: tuple[int, int], first: dict[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Where the text of a merged cell stands in a table that is read from the right."""
    row, column = place
    while first.get((row, column + 1)) == place:
        column += 1
    return row, column


def _merged_cells(lines: _Lines, xs: list[float], ys: list[float]) -> dict[tuple[int, int], tuple[int, int]]:
    """The top left cell that each cell belongs to: cells with no line between them are one."""
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            y, x = (ys[row] + ys[row + 1]) / 2, (xs[column] + xs[column + 1]) / 2
            place = (row, column)
            first[place] = place
            if column and not _crossed(lines.down, xs[column], y, down=True):
                first[place] = first[row, column - 1]
            elif row and not _crossed(lines.across, ys[row], x, down=False):
                first[place] = first[row - 1, column]
    return first


def _crossed(rules: list[Rule], at: float, through: float, *, down: bool) -> bool:
    for rule in rules:
        if down and abs(rule.x0 - at) <= SAME_LINE and rule.y0 - MEETING <= through <= rule.y1 + MEETING:
            return True
        if not down and abs(rule.y0 - at) <= SAME_LINE and rule.x0 - MEETING <= through <= rule.x1 + MEETING:
            return True
    return False
