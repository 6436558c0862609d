"""The marks of an answer, `[n]`: read, checked against the sources there are, and taken out of the text. Pure.

The server alone decides which marks an answer has. What a model writes is read here and written anew; what only looks
like a mark afterwards stands in round brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# Longest number that is read as one; a longer row of digits is a mark of nothing. Python itself refuses to read
# thousands of digits.
MAX_DIGITS: Final = 6
# Sources named by one range, [2-4]; a wider one names nothing.
MAX_RANGE: Final = 10

# [1], [1, 2], [1-3], 【1】, [מקור 1], [source 1]: models write all of them.
_MARK: Final = re.compile(r"[\[【]\s*(?:מקורות|מקור|sources?|#)?\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*[\]】]", re.IGNORECASE)
_MARK_AND_BLANKS: Final = re.compile(rf"{_MARK.pattern}(?:[^\S\n]+(?=[.,;:!?…]))?", re.IGNORECASE)
_NEVER_CLOSED: Final = re.compile(r"[\[【](?=[^\]】]*$)")
_NEVER_OPENED: Final = re.compile(r"^([^\[【\]】]*)[\]】]")
_BLANKS_BEFORE: Final = re.compile(r"[^\S\n]+$")
_PART: Final = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark of a draft.

    Attributes:
        at: where it stood, in the text without marks.
        numbers: of the sources that there are, ascending.
        invalid: what it names beside them, as it was written.
    """

    at: int
    numbers: tuple[int, ...]
    invalid: tuple[str, ...]


def without_marks(draft: str, sources: int) -> tuple[str, tuple[Mark, ...]]:
    """The draft without its marks, and the marks.

    Args:
        draft: what was written.
        sources: how many there are; marks 1 to this are valid.

    Returns:
        Text in which nothing can be read as a mark any more, and the marks in their order.
    """
    pieces: list[str] = []
    marks: list[Mark] = []
    length = position = 0
    for found in _MARK_AND_BLANKS.finditer(draft):
        piece = draft[position : found.start()]
        following = draft[found.end() : found.end() + 1]
        # "word [1]." becomes "word."; "word [1]next" stays two words.
        if not following or not (following.isalnum() and piece[-1:].isspace()):
            piece = _BLANKS_BEFORE.sub("", piece)
        pieces.append(piece)
        length += len(piece)
        marks.append(_mark(found[1], length, sources))
        position = found.end()
    return unmarked("".join([*pieces, draft[position:]])), tuple(marks)


def unmarked(text: str) -> str:
    """The text, of the same length, with round brackets where something would read as a mark."""
    return _MARK.sub(lambda found: f"({found[0][1:-1]})", text)


def contained(text: str) -> str:
    """A sentence whose brackets can't join with its neighbours' to a mark: those that it does not pair are round."""
    return _NEVER_CLOSED.sub("(", _NEVER_OPENED.sub(lambda found: f"{found[1]})", unmarked(text)))


def written(numbers: Iterable[int]) -> str:
    """` [1] [2]`, to stand behind a sentence; empty without numbers."""
    return "".join(f" [{number}]" for number in numbers)


def _mark(text: str, at: int, sources: int) -> Mark:
    numbers: set[int] = set()
    invalid: list[str] = []
    for part in _PART.finditer(text):
        first, last = _number(part[1]), _number(part[2] or part[1])
        named = range(first, last + 1) if 0 < first <= last < first + MAX_RANGE else ()
        inside = [number for number in named if number <= sources]
        numbers.update(inside)
        if not named or len(inside) < len(named):
            invalid.append(part[0][: 2 * MAX_DIGITS])
    return Mark(at, tuple(sorted(numbers)), tuple(invalid))


def _number(digits: str) -> int:
    """0, which names nothing, for more digits than a number of a source has."""
    return int(digits) if len(digits) <= MAX_DIGITS else 0
