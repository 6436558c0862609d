"""Pieces of a row's text with gaps between them that are no blanks, and the columns that such pieces stand in. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ingest.extract.pdf.model import Row, Stretch

# Lengths in sizes of the text. A gap of this width parts cells on any page.
WIDE_GAP: Final = 1.5
# Boxes of neighbouring cells may overlap by rounding, in points.
ROUNDING: Final = 0.5
# How nearly cells of one column begin at one place, in points.
SAME_PLACE: Final = 0.7
# Rows that have to agree on where a column begins before a blank is taken for the gap before it.
IN_LINE_MIN: Final = 2
# So many of them, and this share of a table's rows, have a gap at one place though none of them is wider than a blank.
IN_LINE_SURE: Final = 4
IN_LINE_SHARE: Final = 0.8

Span = tuple[float, float]


class Edges:
    """Where the gaps between words of some rows begin and end; asked for a place, how many rows have a gap there."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._sides: tuple[dict[int, list[tuple[int, float]]], ...] = ({}, {})
        for number, row in enumerate(rows):
            for left, right in pairwise(row.words):
                for side, at in zip(self._sides, (left.x1, right.x0), strict=True):
                    side.setdefault(int(at // SAME_PLACE), []).append((number, at))

    def agreeing(self, left: float, right: float, line: int) -> tuple[int, int]:
        """How many other rows have the left, and the right side of a gap there, as cells of a column do."""
        return self._rows(0, left, line), self._rows(1, right, line)

    def _rows(self, side: int, at: float, line: int) -> int:
        cell = int(at // SAME_PLACE)
        near = [one for step in (-1, 0, 1) for one in self._sides[side].get(cell + step, ())]
        return len({row for row, other in near if row != line and abs(other - at) <= SAME_PLACE})


@dataclass(slots=True)
class Piece(Stretch):
    """Words of one line without a gap between them, and the column that they stand in."""

    line: int
    column: int = -1

    @property
    def size(self) -> float:
        return max(word.size for word in self.words)


def pieces_of(row: Row, line: int) -> list[Piece]:
    pieces = [Piece([row.words[0]], line)]
    for left, right in pairwise(row.words):
        if right.apart or right.x0 - left.x1 >= WIDE_GAP * row.size:
            pieces.append(Piece([right], line))
        else:
            pieces[-1].words.append(right)
    return pieces


def columns_of(pieces: Sequence[Piece], known: Sequence[Span]) -> list[Span]:
    """The columns from the left, the known ones among them; each piece is told its own."""
    columns = list(known)
    for piece in pieces:
        columns = widened((piece.x0, piece.x1), columns)
    columns.sort()
    for piece in pieces:
        piece.column = next(i for i, column in enumerate(columns) if meet((piece.x0, piece.x1), column))
    return columns


def placed(line: list[Piece], columns: list[Span], edges: Edges, *, rtl: bool) -> tuple[list[Piece], list[Span]] | None:
    """The line's pieces, and the columns with them; None where text runs across two columns."""
    pieces: list[Piece] = []
    for piece in line:
        met = [column for column in columns if meet((piece.x0, piece.x1), column)]
        parts = [piece] if len(met) < 2 else _parted(piece, met, edges, rtl=rtl)
        if parts is None:
            return None
        pieces += parts
    wider = columns
    for piece in pieces:
        wider = widened((piece.x0, piece.x1), wider)
    return (pieces, sorted(wider)) if len(wider) >= len(columns) else None


def _parted(piece: Piece, columns: Sequence[Span], edges: Edges, *, rtl: bool) -> list[Piece] | None:
    """A piece across several columns, cut where one of them begins: a gap may be as wide as a blank by chance, and the
    blanks of names in a font of their own are not known."""
    cuts: list[int] = []
    for left, right in pairwise(columns):
        middle = sum(left) / 2, sum(right) / 2
        gaps = []
        for at, (before, after) in enumerate(pairwise(piece.words), start=1):
            if after.blank_by < 0 and middle[0] < (before.x1 + after.x0) / 2 < middle[1]:
                agreeing = edges.agreeing(before.x1, after.x0, piece.line)
                if after.apart is None or max(agreeing) >= IN_LINE_MIN:
                    gaps.append((agreeing if rtl else agreeing[::-1], after.x0 - before.x1, at))
        if not gaps:
            return None
        cuts.append(max(gaps)[-1])
    places = [0, *sorted(set(cuts)), len(piece.words)]
    return [Piece(piece.words[low:high], piece.line) for low, high in pairwise(places)]


def cut_in_line(line: list[Piece], lines: Sequence[Sequence[Piece]], edges: Edges, *, rtl: bool) -> list[Piece]:
    """The line, cut also where nearly all rows have a gap at one place, though it is as wide as a blank."""
    out: list[Piece] = []
    for piece in line:
        out.append(Piece([piece.words[0]], piece.line))
        for before, after in pairwise(piece.words):
            agreeing = edges.agreeing(before.x1, after.x0, piece.line)[0 if rtl else 1]
            enough = agreeing + 1 >= max(IN_LINE_SURE, IN_LINE_SHARE * len(lines))
            if after.blank_by < 0 and enough and _doubted(before.x1 if rtl else after.x0, lines, rtl=rtl):
                out.append(Piece([after], piece.line))
            else:
                out[-1].words.append(after)
    return out


def _doubted(edge: float, lines: Sequence[Sequence[Piece]], *, rtl: bool) -> bool:
    """Whether in some row the gap there is none of the known blanks: `12 months` in every row is no two columns."""
    return any(
        after.apart is not False and abs((before.x1 if rtl else after.x0) - edge) <= SAME_PLACE
        for line in lines
        for before, after in pairwise([word for piece in line for word in piece.words])
    )


def widened(span: Span, columns: Sequence[Span]) -> list[Span]:
    met = [column for column in columns if meet(span, column)]
    rest = [column for column in columns if column not in met]
    return [*rest, (min(x0 for x0, _ in (*met, span)), max(x1 for _, x1 in (*met, span)))]


def meet(one: Span, other: Span) -> bool:
    return min(one[1], other[1]) - max(one[0], other[0]) > min(ROUNDING, one[1] - one[0], other[1] - other[0]) / 2
