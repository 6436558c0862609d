"""Cutting at white space. Pure; every function walks over no more text than it decides on."""

from __future__ import annotations

import re
from typing import Final

_NOT_SPACE: Final = re.compile(r"\S")
_SPACE: Final = re.compile(r"\s")


def skip_space(text: str, start: int, end: int) -> int:
    """The first offset from `start` that is not white space; `end` where there is none."""
    found = _NOT_SPACE.search(text, start, end)
    return end if found is None else found.start()


def trim_end(text: str, start: int, end: int) -> int:
    """`end` moved back over white space, not before `start`."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def word_cut(text: str, start: int, end: int, target: int) -> int:
    """Where to cut so that `text[start:cut]` has at most `target` characters and ends with a whole word.

    A single word that is longer than `target` is cut inside. `end` where all fits.
    """
    limit = start + target
    if limit >= end:
        return trim_end(text, start, end)
    cut = limit
    while cut > start and not text[cut].isspace():
        cut -= 1
    return trim_end(text, start, cut) if cut > start else limit


def word_start_near(text: str, ideal: int, low: int, high: int) -> int | None:
    """The offset nearest to `ideal`, within `low` to `high`, where a word begins; None where there is none."""
    after = _SPACE.search(text, ideal, high)
    later = None if after is None else skip_space(text, after.start(), high)
    if later is not None and later >= high:
        later = None
    earlier = ideal
    while earlier > low and not (text[earlier - 1].isspace() and not text[earlier].isspace()):
        earlier -= 1
    if earlier <= low:
        return later
    return earlier if later is None or ideal - earlier <= later - ideal else later
