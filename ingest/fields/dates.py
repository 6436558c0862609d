"""Dates as they are written: Gregorian in numbers and words, and the Hebrew calendar. Pure.

Rules
    The day comes first: 14/3/25 is 14 March 2025, 3/4/25 is 3 April. Where only the month can stand first (3/14/25)
    the date is ambiguous: its writer's habit may have turned other dates of the text round, so a person decides.
    A year of two digits: 00 to 69 are 2000 to 2069, 70 to 99 are 1970 to 1999 (as POSIX `%y`, but for 69).
    A date needs its day and its year: "May 2024" is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from search_config.document_fields import Trouble

TWO_DIGIT_PIVOT: Final = 70
CENTURY: Final = 100
MONTHS: Final = 12
# Years outside are numbers of something else: a document about 1066 is not dated so.
YEAR_MIN: Final = 1900
YEAR_MAX: Final = 2199
HEBREW_MILLENNIUM: Final = 5000
# Months of pyluach: Nisan is 1; 12 is Adar, or Adar I in a leap year; 13 is Adar II.
ADAR: Final = 12
ADAR_II: Final = 13
# The 19-year cycle has a leap year where (7 * year + 1) mod 19 < 7.
LEAP_CYCLE: Final = 19
LEAP_YEARS: Final = 7

_ENGLISH: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HEBREW_GREGORIAN: Final = {
    "ינואר": 1,
    "פברואר": 2,
    "מרץ": 3,
    "מרס": 3,
    "אפריל": 4,
    "מאי": 5,
    "יוני": 6,
    "יולי": 7,
    "אוגוסט": 8,
    "ספטמבר": 9,
    "אוקטובר": 10,
    "נובמבר": 11,
    "דצמבר": 12,
}
_HEBREW_MONTHS: Final = {
    "ניסן": 1,
    "אייר": 2,
    "איר": 2,
    "סיוון": 3,
    "סיון": 3,
    "תמוז": 4,
    "מנחם אב": 5,
    "מנחם-אב": 5,
    "אב": 5,
    "אלול": 6,
    "תשרי": 7,
    "מרחשוון": 8,
    "מרחשון": 8,
    "חשוון": 8,
    "חשון": 8,
    "כסלו": 9,
    "כסליו": 9,
    "טבת": 10,
    "שבט": 11,
    "אדר א'": 12,
    "אדר א": 12,
    "אדר ראשון": 12,
    "אדר ב'": 13,
    "אדר ב": 13,
    "אדר שני": 13,
    "אדר": 12,
}
_LETTERS: Final = {
    letter: value
    for letters, unit in (("אבגדהוזחט", 1), ("יכלמנסעפצ", 10), ("קרשת", 100))
    for value, letter in zip(range(unit, 10 * unit, unit), letters, strict=False)
}


def _any(words: Iterator[str] | dict[str, int]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_YEAR: Final = r"(?:\d{4}|'?\d{2})"
_NUMERIC: Final = re.compile(
    r"(?<![A-Za-z\d_./])(?<![A-Za-z\d]-)(?:(?P<y1>\d{4})(?P<s1>[./-])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})"
    r"|(?P<d2>\d{1,2})(?P<s2> ?[./-] ?)(?P<m2>\d{1,2})(?P=s2)(?P<y2>\d{4}|\d{2}))(?![\d]|[./-]\d|-?[A-Za-z])"
)
# `15/02/2024-20/02/2024`: a hyphen between two dates of one form is a dash.
_RANGE: Final = re.compile(r"(?<=\d)-(?=\d{1,2}([./])\d{1,2}\1\d)")
_SHORT_MONTHS: Final = {"ינו": 1, "פבר": 2, "אפר": 4, "אוג": 8, "ספט": 9, "אוק": 10, "נוב": 11, "דצמ": 12}
_HEBREW_WORDS: Final = re.compile(
    rf"(?<![\d.,/])(?:ה-)?(?P<d>\d{{1,2}})(?:\s+|-)(?:[בל]?חודש\s+)?(?:[בל]-?)?(?P<m>{_any(_HEBREW_GREGORIAN)}|(?:{_any(_SHORT_MONTHS)})['.])"
    rf"(?:,?\s+|-)(?:שנת\s+)?(?P<y>{_YEAR})(?![\d])"
)
_MONTH_EN: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAY_FIRST_EN: Final = re.compile(
    rf"(?<![\w.,/])(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+|-)(?:day\s+)?(?:of\s+)?(?P<m>{_MONTH_EN})\.?"
    rf"(?:,?\s+|-)(?P<y>{_YEAR})(?![\w])",
    re.IGNORECASE,
)
_MONTH_FIRST_EN: Final = re.compile(
    rf"\b(?P<m>{_MONTH_EN})\.?\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,\s*|\s+)(?P<y>\d{{4}})(?![\w])",
    re.IGNORECASE,
)
_JEWISH: Final = re.compile(
    rf"(?<![א-ת\"'])(?P<d>[א-ט]'|י'|כ'|ל'|[יכ]\"[א-ט]|ט\"[וז]|\d{{1,2}})\s+(?:[בל]-?)?"
    rf"(?P<m>{_any(_HEBREW_MONTHS)})\s*,?\s+(?:שנת\s+)?"
    r"(?P<y>(?:ה'?)?[תר][א-ת]{0,3}[\"'][א-ת]?|ה?ת[שר][א-ת]{1,2}|5[678]\d\d)(?![א-ת\d])"
)


@dataclass(frozen=True, slots=True)
class DateFound:
    """One date of a text.

    Attributes:
        start: where it begins.
        end: where it ends.
        value: None where it is no date that can be taken.
        trouble: why there is no value.
        jewish: written in the Hebrew calendar.
    """

    start: int
    end: int
    value: date | None
    trouble: Trouble | None = None
    jewish: bool = False


def find_dates(text: str) -> list[DateFound]:
    """All dates of a folded text, in reading order, impossible ones among them."""
    found = [_numeric(match) for match in _NUMERIC.finditer(_RANGE.sub("–", text))]
    months = _HEBREW_GREGORIAN | _SHORT_MONTHS
    found += [_gregorian(match, months[match["m"].rstrip("'.")]) for match in _HEBREW_WORDS.finditer(text)]
    for pattern in (_DAY_FIRST_EN, _MONTH_FIRST_EN):
        found += [_gregorian(match, _ENGLISH.index(match["m"][:3].lower()) + 1) for match in pattern.finditer(text)]
    found += [_jewish(match) for match in _JEWISH.finditer(text)]
    found = [one for one in found if one.value is None or YEAR_MIN <= one.value.year <= YEAR_MAX]
    found.sort(key=lambda one: (one.start, -one.end))
    apart: list[DateFound] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def full_year(written: str) -> int:
    """The year of four digits, or of two by the rule above."""
    digits = written.lstrip("'")
    year = int(digits)
    if len(digits) > len("99"):
        return year
    return year + (2000 if year < TWO_DIGIT_PIVOT else 1900)


def gematria(written: str) -> int:
    """The number that Hebrew letters write; marks are skipped."""
    return sum(_LETTERS.get(_PLAIN.get(letter, letter), 0) for letter in written)


# Final letters count as their plain forms.
_PLAIN: Final = dict(zip("ךםןףץ", "כמנפצ", strict=True))


def _numeric(match: re.Match[str]) -> DateFound:
    first = match["y1"] is not None
    year = int(match["y1"]) if first else full_year(match["y2"])
    month, day = int(match["m1" if first else "m2"]), int(match["d1" if first else "d2"])
    if month > MONTHS >= day and not first:
        return DateFound(match.start(), match.end(), None, Trouble.AMBIGUOUS_DATE)
    return _dated(match, year, month, day)


def _gregorian(match: re.Match[str], month: int) -> DateFound:
    return _dated(match, full_year(match["y"]), month, int(match["d"]))


def _dated(match: re.Match[str], year: int, month: int, day: int) -> DateFound:
    try:
        return DateFound(match.start(), match.end(), date(year, month, day))
    except ValueError:
        return DateFound(match.start(), match.end(), None, Trouble.IMPOSSIBLE_DATE)


def _jewish(match: re.Match[str]) -> DateFound:
    # Only texts with such a date pay for the calendar's import.
    from pyluach.dates import HebrewDate

    written = match["y"]
    year = int(written) if written.isdigit() else _hebrew_year(written)
    day = int(match["d"]) if match["d"].isdigit() else gematria(match["d"])
    month = _HEBREW_MONTHS[match["m"]]
    leap = (LEAP_YEARS * year + 1) % LEAP_CYCLE < LEAP_YEARS
    if match["m"] == "אדר" and leap:
        return DateFound(match.start(), match.end(), None, Trouble.AMBIGUOUS_DATE, jewish=True)
    if month == ADAR_II and not leap:
        return DateFound(match.start(), match.end(), None, Trouble.IMPOSSIBLE_DATE, jewish=True)
    try:
        value = HebrewDate(year, month, day).to_pydate()
    except ValueError:
        return DateFound(match.start(), match.end(), None, Trouble.IMPOSSIBLE_DATE, jewish=True)
    return DateFound(match.start(), match.end(), value, jewish=True)


def _hebrew_year(written: str) -> int:
    """`תשפ"ד`, `התשפ"ד`, `ה'תשפ"ד`: the thousands may stand in front."""
    letters = written.lstrip("ה'") if written.startswith(("ה'", "הת")) else written
    return HEBREW_MILLENNIUM + gematria(letters)
