"""From what is seen, left to right, to reading order: the Unicode bidirectional algorithm (UAX #9) turned round. Pure.

A line is given as it is seen: one cell a character with its marks, brackets by their drawn shape. Runs against the
line's direction are found by the algorithm's own classes (rules W4, W5, W7, N0, N1), and turned back. Where two
readings are seen alike, as a number beside a Latin name in a Hebrew line, the name and the number are one run.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, Literal

Direction = Literal["R", "L"]

MIRRORED: Final = dict(zip("()[]{}<>«»‹›≤≥", ")(][}{><»«›‹≥≤", strict=True))
OPENING: Final = dict(zip("([{", ")]}", strict=True))
# The longest gap over which a number is read with a Latin word to its right: one blank.
GAP_MAX: Final = 1
# A page is read from the right as long as it has no more than so many Latin letters to a Hebrew one.
LATIN_IN_HEBREW: Final = 1.5
# Words that a number follows; the longest has this many letters.
# Units and currencies, which stand behind their number in a Hebrew line.
_UNITS: Final = "NTU USD EUR GBP ILS NIS kg km cm mm mg ml GB MB KB TB Hz kHz MHz GHz kW kWh MW VA KVA Mbps Gbps ppm dB"
UNITS: Final = frozenset(_UNITS.split())
# Words that a number follows; the longest has this many letters.
_TAKES_NUMBER: Final = (
    "שנת בשנת לשנת משנת ביום מיום ליום יום סעיף בסעיף לסעיף תקנה פרק עמוד בעמוד מס' מספר מספרו טלפון טל' פקס בסך סך"
    " תיק בתיק גרסה קומה בקומה כיתה קו גיל בגיל עד"
)
TAKES_NUMBER: Final = frozenset(_TAKES_NUMBER.split())
WORD_MAX: Final = max(len(word) for word in TAKES_NUMBER)
_STRONG: Final = {"L": "L", "R": "R", "AL": "R", "EN": "N", "AN": "N", "ES": "S", "CS": "S", "ET": "T"}


def to_logical(cells: Sequence[str], direction: Direction, drawn_by: Sequence[int] | None = None) -> str:
    """The line in reading order.

    Args:
        cells: characters as seen, left to right; each with its combining marks.
        direction: of the paragraph.
        drawn_by: the drawing operation of each character, -1 where none is known. A program that draws a run at a time
            shows by it where runs end that are seen alike.

    Returns:
        The same characters in the order in which they are read; brackets in runs that are read from right to left
        are mirrored back.
    """
    return "".join(text for _, text in reordered(cells, direction, drawn_by))


def reordered(
    cells: Sequence[str], direction: Direction, drawn_by: Sequence[int] | None = None
) -> list[tuple[int, str]]:
    """The cells of `to_logical`: which one each is, and its text.

    The same turn lays out a right-to-left line that is given in reading order: it undoes itself.
    """
    kinds = _kinds(cells)
    pairs = _pairs(cells)
    drawn = drawn_by if drawn_by is not None and _by_runs(cells, drawn_by) else None
    ordered: list[tuple[int, str]] = []
    if direction == "R":
        i = len(cells) - 1
        starts = {end: start for start, end in _runs(cells, kinds, pairs, drawn, latin=True)}
        while i >= 0:
            if i in starts:
                ordered += [(at, cells[at]) for at in range(starts[i], i + 1)]
                i = starts[i] - 1
            else:
                ordered.append((i, MIRRORED.get(cells[i], cells[i])))
                i -= 1
        return ordered
    i = 0
    ends = dict(_runs(cells, kinds, pairs, drawn, latin=False))
    while i < len(cells):
        if i in ends:
            ordered += [(i + at, text) for at, text in reordered(cells[i : ends[i] + 1], "R")]
            i = ends[i] + 1
        else:
            ordered.append((i, cells[i]))
            i += 1
    return ordered


def direction_of(text: str, fallback: Direction) -> Direction:
    """The direction of most letters; the fallback where there are none, or as many of both."""
    hebrew = sum(1 for char in text if is_rtl(char))
    latin = sum(1 for char in text if unicodedata.bidirectional(char) == "L")
    if hebrew == latin:
        return fallback
    return "R" if hebrew > latin else "L"


def page_direction(text: str, fallback: Direction) -> Direction:
    """The direction of a page: Hebrew pages hold more Latin than Latin pages hold Hebrew."""
    hebrew = sum(1 for char in text if is_rtl(char))
    latin = sum(1 for char in text if unicodedata.bidirectional(char) == "L")
    if not hebrew and not latin:
        return fallback
    return "R" if hebrew * LATIN_IN_HEBREW >= latin else "L"


def is_rtl(char: str) -> bool:
    """Whether the character is a letter that is read from right to left."""
    return "\u0590" <= char <= "\u08ff" or "\ufb1d" <= char <= "\ufdff" or "\ufe70" <= char <= "\ufeff"


def _kinds(cells: Sequence[str]) -> list[str]:
    """L, R, N (numbers, with the separators and signs that belong to them by W4 and W5), and O for all else."""
    kinds = [_STRONG.get(unicodedata.bidirectional(cell[0]), "O") for cell in cells]
    for i, kind in enumerate(kinds):
        if kind == "S" and 0 < i < len(kinds) - 1 and kinds[i - 1] == "N" and kinds[i + 1] == "N":
            kinds[i] = "N"
    for i in range(1, len(kinds)):
        if kinds[i] == "T" and kinds[i - 1] == "N":
            kinds[i] = "N"
    for i in range(len(kinds) - 2, -1, -1):
        if kinds[i] == "T" and kinds[i + 1] == "N":
            kinds[i] = "N"
    return ["O" if kind in "ST" else kind for kind in kinds]


def _pairs(cells: Sequence[str]) -> dict[int, int]:
    """Both ways: where the partner of a bracket stands, by drawn shapes."""
    pairs: dict[int, int] = {}
    open_brackets: list[int] = []
    for i, cell in enumerate(cells):
        if cell in OPENING:
            open_brackets.append(i)
        elif cell in OPENING.values():
            for depth in range(len(open_brackets) - 1, -1, -1):
                if OPENING[cells[open_brackets[depth]]] == cell:
                    pairs[open_brackets[depth]], pairs[i] = i, open_brackets[depth]
                    del open_brackets[depth:]
                    break
    return pairs


def _by_runs(cells: Sequence[str], drawn_by: Sequence[int]) -> bool:
    """Whether the line's program draws several words at once: then an operation's end may say something."""
    return any(
        cells[i] == " " and drawn_by[i] >= 0 and drawn_by[i - 1] == drawn_by[i] == drawn_by[i + 1]
        for i in range(1, len(cells) - 1)
    )


def _runs(
    cells: Sequence[str], kinds: Sequence[str], pairs: dict[int, int], drawn: Sequence[int] | None, *, latin: bool
) -> list[tuple[int, int]]:
    """First and last cell of each run against the line's direction."""
    runs: list[tuple[int, int]] = []
    strong = [i for i, kind in enumerate(kinds) if kind != "O"]
    start = end = -1
    seen = ""
    for i in strong:
        kind = kinds[i]
        if not latin:
            if kind == "L":
                start = -1
            elif kind == "R" and start >= 0:
                runs[-1] = (start, i)
            elif kind == "R":
                start = i
                runs.append((i, i))
            continue
        if kind == "R":
            start = -1
        elif start >= 0 and _joins(seen, kind, i - end - 1) and not _parted(cells, kinds, drawn, end, i):
            end = i
            runs[-1] = (start, i)
            seen = "L" if kind == "L" else seen
        else:
            start = end = i
            seen = kind
            runs.append((i, i))
    return [_with_brackets(_widened(run, cells, kinds, drawn, latin=latin), kinds, pairs) for run in runs]


def _widened(
    run: tuple[int, int], cells: Sequence[str], kinds: Sequence[str], drawn: Sequence[int] | None, *, latin: bool
) -> tuple[int, int]:
    """The run with the hyphen or the number that belongs to its end."""
    start, end = run
    if latin:
        return start, _with_hyphen(end, cells, kinds)
    if drawn is not None:
        start = _with_number(start, kinds, drawn)
    return _with_hyphened_number(start, cells, kinds), end


def _with_hyphened_number(start: int, cells: Sequence[str], kinds: Sequence[str]) -> int:
    """Where a right-to-left run begins, with the number behind a single letter: `נ-11` is seen as `11-נ`."""
    alone = start + 1 >= len(kinds) or kinds[start + 1] != "R"
    if not alone or start < 2 or cells[start - 1] != "-" or kinds[start - 2] != "N":
        return start
    first = start - 2
    while first > 0 and kinds[first - 1] == "N":
        first -= 1
    return first if first == 0 or cells[first - 1] == " " else start


def _with_hyphen(end: int, cells: Sequence[str], kinds: Sequence[str]) -> int:
    """A Latin run with the hyphen of a word that is divided at the line's end: it stands free on the right."""
    free = end + 2 >= len(cells) or cells[end + 2] == " "
    return end + 1 if kinds[end] == "L" and end + 1 < len(cells) and cells[end + 1] == "-" and free else end


def _parted(cells: Sequence[str], kinds: Sequence[str], drawn: Sequence[int] | None, end: int, following: int) -> bool:
    """Whether two stretches, the latter a number, are of two runs: they were drawn apart, and what is between them by
    neither; or, where nothing tells, the number stands behind a word that takes one (`בשנת 2023`)."""
    if kinds[following] != "N" or " " not in cells[end + 1 : following]:
        return False
    name = "".join(cells[: end + 1]).rpartition(" ")[2]
    if name in UNITS:
        return True
    if drawn is not None:
        return drawn[end] != drawn[following] and not {drawn[end], drawn[following]} & set(drawn[end + 1 : following])
    last = following
    while last + 1 < len(kinds) and kinds[last + 1] == "N":
        last += 1
    word = "".join(cells[last + 1 : last + 2 + WORD_MAX]).lstrip().split(" ")[0]
    return word[::-1] in TAKES_NUMBER


def _with_number(start: int, kinds: Sequence[str], drawn: Sequence[int]) -> int:
    """Where a right-to-left run begins on the left, with a number as its last word if the blank was drawn with it."""
    last = start - 2
    if last < 0 or kinds[start - 1] != "O" or drawn[start - 1] != drawn[start] or kinds[last] != "N":
        return start
    first = last
    while first > 0 and kinds[first - 1] == "N":
        first -= 1
    return start if first > 0 and drawn[first - 1] == drawn[first] else first


def _joins(seen: str, kind: str, gap: int) -> bool:
    """Whether a cell goes on with a left-to-right run in which `seen` (L, or numbers alone) was found."""
    if seen == "L" or gap == 0:
        return True
    return kind == "L" and gap <= GAP_MAX


def _with_brackets(run: tuple[int, int], kinds: Sequence[str], pairs: dict[int, int]) -> tuple[int, int]:
    """The run with the bracket next to it whose partner it holds (rule N0: both brackets go one way)."""
    start, end = run
    if not {"L", "R"} & set(kinds[start : end + 1]):
        return run
    if start < pairs.get(end + 1, -1) <= end:
        end += 1
    if start <= pairs.get(start - 1, -1) < end:
        start -= 1
    return start, end
