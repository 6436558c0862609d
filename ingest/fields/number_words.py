"""Whole numbers written in words, Hebrew and English. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

THOUSAND: Final = 1_000
MILLION: Final = 1_000_000
HUNDRED: Final = 100

_HEBREW_UNITS: Final = (
    ("אפס",),
    ("אחד", "אחת"),
    ("שניים", "שתיים", "שני", "שתי", "שנים", "שתים"),
    ("שלושה", "שלוש", "שלושת"),
    ("ארבעה", "ארבע", "ארבעת"),
    ("חמישה", "חמש", "חמשת", "חמישת"),
    ("שישה", "שש", "ששת", "שישת"),
    ("שבעה", "שבע", "שבעת"),
    ("שמונה", "שמונת"),
    ("תשעה", "תשע", "תשעת"),
    ("עשרה", "עשר", "עשרת"),
)
_HEBREW_TENS: Final = ("עשרים", "שלושים", "ארבעים", "חמישים", "שישים", "שבעים", "שמונים", "תשעים")
_ENGLISH_SMALL: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ENGLISH_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

_ADDS: Final = {
    **{word: value for value, words in enumerate(_HEBREW_UNITS) for word in words},
    **{word: 10 * (i + 2) for i, word in enumerate(_HEBREW_TENS)},
    **{word: value for value, word in enumerate(_ENGLISH_SMALL)},
    **{word: 10 * (i + 2) for i, word in enumerate(_ENGLISH_TENS)},
    "מאתיים": 200,
    "מאה": 100,
}
_SCALES: Final = {
    "אלף": THOUSAND,
    "אלפים": THOUSAND,
    "אלפי": THOUSAND,
    "thousand": THOUSAND,
    "מיליון": MILLION,
    "million": MILLION,
}
_HUNDREDS: Final = frozenset({"מאות", "hundred"})
_TEENS: Final = frozenset({"עשר", "עשרה"})
_FILLERS: Final = frozenset({"and", "ו"})
_TWO_THOUSAND: Final = "אלפיים"

_WORDS: Final = sorted({*_ADDS, *_SCALES, *_HUNDREDS, _TWO_THOUSAND}, key=len, reverse=True)
# A number of 20 words is longer than any sum that is written out.
WORDS_MAX: Final = 20
_ONE: Final = rf"(?:ו(?=[א-ת]))?(?:{'|'.join(_WORDS)})(?![א-תa-z])"
NUMBER_WORDS: Final = rf"(?<![א-תA-Za-z])(?:[בלמכ]-?)?{_ONE}(?:(?:\s+|-)(?:and\s+)?{_ONE}){{0,{WORDS_MAX}}}"
_TOKEN: Final = re.compile(r"[א-תa-z]+")


def number_of(words: str) -> int | None:
    """The number that words write; None where they write none, as "one two"."""
    tokens = [_bare(token) for token in _TOKEN.findall(words.lower())]
    return _value([token for token in tokens if token and token not in _FILLERS])


def _bare(token: str) -> str:
    """Without the letters that Hebrew puts before a word."""
    if token in _WORDS_SET or token in _FILLERS:
        return token
    return token[1:] if token[1:] in _WORDS_SET else ""


_WORDS_SET: Final = frozenset(_WORDS)


def _value(tokens: Sequence[str]) -> int | None:
    total, group = 0, 0
    last_scale = MILLION * THOUSAND
    for token in tokens:
        if token == _TWO_THOUSAND:
            total, group = total + 2 * THOUSAND, 0
        elif token in _SCALES:
            scale = _SCALES[token]
            if scale >= last_scale:
                return None
            total, group, last_scale = total + max(group, 1) * scale, 0, scale
        elif token in _HUNDREDS:
            units = group % 10
            if not units:
                return None
            group = group - units + units * HUNDRED
        elif token in _TEENS and 0 < group % HUNDRED < 10:
            group += 10
        else:
            value = _ADDS[token]
            if value and group and not _fits(group, value):
                return None
            group += value
    return total + group if tokens else None


def _fits(group: int, value: int) -> bool:
    """Whether a smaller part follows a larger one: "forty two", not "two forty"."""
    if value >= HUNDRED:
        return False
    rest = group % HUNDRED
    return rest == 0 or (rest >= 20 and rest % 10 == 0 and value < 10) or (rest < 10 and value >= 20)
