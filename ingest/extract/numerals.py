"""Numbers as lists write them: figures, letters, Roman and Hebrew numerals. Pure."""

from __future__ import annotations

from typing import Final

from search_config.locators import column_letters

# Beyond this Roman and Hebrew numerals are not written, and a damaged file's number would make a line without end.
LETTER_NUMBER_MAX: Final = 999
_ROMAN: Final = (
    (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
# 15 and 16 are written 9+6 and 9+7: the plain forms would spell a divine name.
_HEBREW: Final = (
    (400, "ת"), (300, "ש"), (200, "ר"), (100, "ק"), (90, "צ"), (80, "פ"), (70, "ע"), (60, "ס"), (50, "נ"), (40, "מ"),
    (30, "ל"), (20, "כ"), (16, "טז"), (15, "טו"), (10, "י"), (9, "ט"), (8, "ח"), (7, "ז"), (6, "ו"), (5, "ה"),
    (4, "ד"), (3, "ג"), (2, "ב"), (1, "א"),
)  # fmt: skip
ALPHABET: Final = "אבגדהוזחטיכלמנסעפצקרשת"


def numeral(number: int, style: str) -> str:
    """The number in a style of WordprocessingML's `ST_NumberFormat`; figures for a style that is not known here."""
    if not 0 < number <= LETTER_NUMBER_MAX:
        return str(number)
    match style:
        case "none":
            return ""
        case "lowerLetter":
            return column_letters(number).lower()
        case "upperLetter":
            return column_letters(number)
        case "lowerRoman":
            return _additive(number, _ROMAN)
        case "upperRoman":
            return _additive(number, _ROMAN).upper()
        case "hebrew1":
            return _additive(number, _HEBREW)
        case "hebrew2":
            rounds, letter = divmod(number - 1, len(ALPHABET))
            return ALPHABET[letter] * (rounds + 1)
        case "decimalZero":
            return f"{number:02d}"
    return str(number)


def _additive(number: int, values: tuple[tuple[int, str], ...]) -> str:
    written = ""
    for value, letters in values:
        while number >= value:
            written += letters
            number -= value
    return written
