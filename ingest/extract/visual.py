"""Hebrew stored in visual order (old ISO-8859-8 files): told by its final letters, and turned into logical order.

Final letters (ך ם ן ף ץ) end words. Where they begin words instead, each line was stored as it is seen, left to right.
"""

from __future__ import annotations

import re
from typing import Final

from bidi.algorithm import get_display

# A final letter at a word's beginning is a slip where others end words; so many more of them than those is no slip.
FINALS_RATIO: Final = 3
LEFT_TO_RIGHT_MARK: Final = "\u200e"

_HEBREW: Final = re.compile("[א-ת]")
_STARTS: Final = re.compile(r"(?<![א-ת'\"׳״])[ךםןףץ](?=[א-ת])")
_ENDS: Final = re.compile(r"(?<=[א-ת])[ךםןףץ](?![א-ת'\"׳״])")
# "E-4031 (version 2)": brackets around Latin behind Latin belong to it (rule N0 of the bidi algorithm, which the
# library leaves out).
_LATIN_BRACKETS: Final = re.compile(r"(?<=[A-Za-z0-9])( ?\([^()א-ת\n]*[A-Za-z][^()א-ת\n]*\))")


def order_of(text: str) -> bool | None:
    """True where the Hebrew is in visual order, False where it is logical, None where no final letter tells."""
    starts, ends = len(_STARTS.findall(text)), len(_ENDS.findall(text))
    if starts and starts >= FINALS_RATIO * ends:
        return True
    return False if ends else None


def to_logical(text: str) -> str:
    """Every line of a visual text in reading order; lines without Hebrew stay as they are."""
    return "\n".join(_logical(line) for line in text.split("\n"))


def _logical(line: str) -> str:
    if _HEBREW.search(line) is None:
        return line
    marked = _LATIN_BRACKETS.sub(rf"{LEFT_TO_RIGHT_MARK}\1{LEFT_TO_RIGHT_MARK}", line.strip())
    # The bidi algorithm, which makes a visual line of a logical one, undoes itself when it is applied again.
    turned = get_display(marked, base_dir="R")
    return str(turned).replace(LEFT_TO_RIGHT_MARK, "")
