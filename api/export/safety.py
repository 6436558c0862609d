"""Text of documents in a spreadsheet: never a formula, never longer or stranger than a cell may hold. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# What a spreadsheet takes as the begin of a formula or of a command; the wide forms are read as the narrow ones in
# some locales.
FORMULA_STARTS: Final = frozenset("=+-@|＝＋－＠")
# Longest text of a cell, in UTF-16 units, as the file format has it.
MAX_CELL: Final = 32_767
CUT: Final = " …"
# What XML 1.0 has no place for.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def cell_text(text: str) -> str:
    """Text that a cell can hold: line ends as one kind, without control characters, cut at the longest length."""
    cleaned = _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
    units = cleaned.encode("utf-16-le")
    if len(units) <= 2 * MAX_CELL:
        return cleaned
    return units[: 2 * (MAX_CELL - len(CUT))].decode("utf-16-le", errors="ignore") + CUT


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might calculate it: behind blanks and invisible characters too, which some leave out."""
    if text[:1] in ("\t", "\n", "\r"):
        return True
    first = next((one for one in text if not one.isspace() and unicodedata.category(one) not in ("Cf", "Cc")), "")
    return first in FORMULA_STARTS


def inert(text: str) -> str:
    """The text with an apostrophe before what might be a formula: in CSV there is no other way to say "text"."""
    return f"'{text}" if text and is_formula(text) else text
