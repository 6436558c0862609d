"""Periods that a question names, resolved against a stated day. Pure.

A period without a year is the last one that had begun by that day: in February 2025 "the third quarter" is July to
September 2024. Weeks begin on Sunday.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

Bounds = tuple[date | None, date | None]
Resolver = Callable[[re.Match[str], date], Bounds | None]

MONTHS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "ינואר january jan",
            "פברואר february feb",
            "מרץ מרס march mar",
            "אפריל april apr",
            "מאי may",
            "יוני june jun",
            "יולי july jul",
            "אוגוסט august aug",
            "ספטמבר september sep sept",
            "אוקטובר october oct",
            "נובמבר november nov",
            "דצמבר december dec",
        ),
        start=1,
    )
    for name in names.split()
}
ORDINALS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "הראשון הראשונה ראשון ראשונה א' first 1st 1",
            "השני השנייה השניה שני שנייה שניה ב' second 2nd 2",
            "השלישי שלישי ג' third 3rd 3",
            "הרביעי רביעי ד' fourth 4th 4",
        ),
        start=1,
    )
    for name in names.split()
}
COUNTS: Final[dict[str, int]] = {
    "שני": 2, "שתי": 2, "שלושה": 3, "שלושת": 3, "שלוש": 3, "ארבעה": 4, "ארבעת": 4, "ארבע": 4, "חמישה": 5, "חמש": 5,
    "שישה": 6, "ששת": 6, "שש": 6, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "twelve": 12,
}  # fmt: skip
# Days, or months, of a unit of time.
UNITS: Final[dict[str, tuple[int, int]]] = {
    "ימים": (1, 0), "הימים": (1, 0), "days": (1, 0), "שבועות": (7, 0), "השבועות": (7, 0), "weeks": (7, 0),
    "חודשים": (0, 1), "החודשים": (0, 1), "חודשי": (0, 1), "months": (0, 1), "quarters": (0, 3),
    "שנים": (0, 12), "השנים": (0, 12), "years": (0, 12),
}  # fmt: skip
# Years that documents of an office carry; 1,024 or 2,300 is a number.
_YEAR: Final = r"(?:19[5-9]\d|20\d\d)"
# A Hebrew prefix, with its hyphen before digits; nothing else may touch the period.
_LEFT: Final = r"(?<![\w./,-])(?:[ובלמשהכ]{1,3}[-\u05be]?)?"
_RIGHT: Final = r"(?![\w/]|[.,-]\d)"
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_ORDINAL: Final = "|".join(re.escape(name) for name in sorted(ORDINALS, key=len, reverse=True))
_DAY: Final = rf"(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./]{_YEAR})"
_OF_YEAR: Final = rf"(?:\s+(?:של\s+|בשנת\s+|שנת\s+|of\s+|in\s+)?(?:[בלשמ]-?)?(?P<year>{_YEAR}))?"
_MONTH_OF_YEAR: Final = re.compile(rf"(?P<name>{_MONTH})\s+(?:של\s+)?(?P<of>{_YEAR})", re.IGNORECASE)
_BEGUN: Final = r"(?:מאז|החל\s*מ-?|אחרי|לאחר|since|after|from)"
_BY: Final = r"(?:עד(?:\s+ל-?)?|until|through|by)"
_BEFORE: Final = r"(?:לפני|קודם\s+ל-?|before)"


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a question.

    Attributes:
        first: its first day, None where it is open.
        last: its last day, None where it is open.
        span: characters of the question that name it.
    """

    first: date | None
    last: date | None
    span: tuple[int, int]


def periods(question: str, as_of: date) -> tuple[Period, ...]:
    """The periods of a question, in its order; of overlapping readings the one that the more specific rule gives."""
    found: list[Period] = []
    for pattern, resolve in _RULES:
        for match in pattern.finditer(question):
            span = match.span()
            if any(span[0] < other.span[1] and other.span[0] < span[1] for other in found):
                continue
            bounds = resolve(match, as_of)
            if bounds is not None:
                found.append(Period(bounds[0], bounds[1], span))
    return tuple(sorted(found, key=lambda period: period.span))


def month_bounds(year: int, month: int, months: int = 1) -> tuple[date, date]:
    """First and last day of `months` months that begin with this one; the month may run over the year's end."""
    first = _month(year, month)
    return first, _month(year, month + months) - timedelta(days=1)


def _month(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _months_before(day: date, months: int) -> date:
    """The same day some months earlier, the last of its month where that month is shorter."""
    first = _month(day.year, day.month - months)
    return first.replace(day=min(day.day, calendar.monthrange(first.year, first.month)[1]))


def _year(match: re.Match[str], _: date) -> Bounds:
    return month_bounds(int(match["year"]), 1, 12)


def _day(text: str) -> date | None:
    parts = [int(part) for part in re.split(r"[-./]", text)]
    year, month, day = parts if parts[0] > 31 else reversed(parts)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _point(text: str) -> tuple[date, date] | None:
    """First and last day of a day or a year."""
    if re.fullmatch(_YEAR, text):
        return month_bounds(int(text), 1, 12)
    if month := _MONTH_OF_YEAR.fullmatch(text):
        return month_bounds(int(month["of"]), MONTHS[month["name"].lower()])
    day = _day(text)
    return None if day is None else (day, day)


def _since(match: re.Match[str], _: date) -> Bounds | None:
    point = _point(match["point"])
    if point is None:
        return None
    # "After 2020" leaves 2020 out, "since 2020" does not.
    after = match["how"].startswith(("אחרי", "לאחר", "after")) if "how" in match.groupdict() else False
    return (point[1] + timedelta(days=1) if after else point[0]), None


def _until(match: re.Match[str], _: date) -> Bounds | None:
    point = _point(match["point"])
    return None if point is None else (None, point[1])


def _before(match: re.Match[str], _: date) -> Bounds | None:
    point = _point(match["point"])
    return None if point is None else (None, point[0] - timedelta(days=1))


def _between(match: re.Match[str], _: date) -> Bounds | None:
    first, last = _point(match["first"]), _point(match["last"])
    return None if first is None or last is None else (first[0], last[1])


def _one_day(match: re.Match[str], _: date) -> Bounds | None:
    return _point(match["point"])


def _span_of_months(match: re.Match[str], as_of: date) -> Bounds:
    first, last = MONTHS[match["first"].lower()], MONTHS[match["last"].lower()]
    months = (last - first) % 12 + 1
    return month_bounds(_year_of(match, first, as_of), first, months)


def _one_month(match: re.Match[str], as_of: date) -> Bounds | None:
    # "May" is a word of English too.
    if match["month"].lower() == "may" and not match["year"]:
        return None
    month = MONTHS[match["month"].lower()]
    return month_bounds(_year_of(match, month, as_of), month)


def _part_of_year(months: int) -> Resolver:
    def resolve(match: re.Match[str], as_of: date) -> Bounds | None:
        number = ORDINALS[match["ordinal"].lower()]
        if number * months > 12:
            return None
        month = (number - 1) * months + 1
        return month_bounds(_year_of(match, month, as_of), month, months)

    return resolve


def _year_of(match: re.Match[str], month: int, as_of: date) -> int:
    """The stated year, else that of the last such month that had begun."""
    if match["year"]:
        return int(match["year"])
    return as_of.year if month <= as_of.month else as_of.year - 1


def _rolling(match: re.Match[str], as_of: date) -> Bounds:
    count = match["count"].lower()
    days, months = UNITS[match["unit"].lower()]
    number = int(count) if count.isdigit() else COUNTS[count]
    if months:
        return _months_before(as_of, min(number * months, 12 * (as_of.year - 1))) + timedelta(days=1), as_of
    return as_of - timedelta(days=min(number * days, as_of.toordinal() - 1) - 1), as_of


def _back(months: int) -> Resolver:
    return lambda _, as_of: (_months_before(as_of, months) + timedelta(days=1), as_of)


def _calendar(months: int, shift: int) -> Resolver:
    """The calendar's year, quarter or month, some of them later (or earlier)."""

    def resolve(_: re.Match[str], as_of: date) -> Bounds:
        month = (as_of.month - 1) // months * months + 1
        return month_bounds(as_of.year, month + shift * months, months)

    return resolve


def _week(shift: int) -> Resolver:
    def resolve(_: re.Match[str], as_of: date) -> Bounds:
        sunday = as_of - timedelta(days=as_of.isoweekday() % 7) + timedelta(weeks=shift)
        return sunday, sunday + timedelta(days=6)

    return resolve


def _days(shift: int) -> Resolver:
    return lambda _, as_of: (as_of + timedelta(days=shift), as_of + timedelta(days=shift))


def _rule(pattern: str, resolve: Resolver) -> tuple[re.Pattern[str], Resolver]:
    return re.compile(rf"{_LEFT}(?:{pattern}){_RIGHT}", re.IGNORECASE), resolve


_POINT: Final = rf"(?P<point>{_DAY}|{_YEAR}|(?:{_MONTH})\s+(?:של\s+)?{_YEAR})"
_TO: Final = r"(?:עד|ועד|ל-?|-|–|to|until)"
# "2021 and 2024" are two years, "between 2021 and 2024" four.
_AND: Final = r"(?:עד|ועד|ל-?|ו-?|-|–|and|to)"
_END: Final = rf"{_DAY}|{_YEAR}"


def _ends(one: str, joined: str, rest: str = "") -> str:
    return rf"(?P<first>{one})\s*{joined}\s*(?:[לבמ]-?)?(?P<last>{one}){rest}"


# The more specific rule stands first.
_NAMED: Final[tuple[tuple[re.Pattern[str], Resolver], ...]] = (
    _rule(rf"(?:ש?בין|between)\s+(?:[מב]-?)?{_ends(_END, _AND)}", _between),
    _rule(rf"(?:from\s+)?(?:[מב]-?)?{_ends(_END, _TO)}", _between),
    _rule(rf"(?:ש?בין|between)\s+{_ends(_MONTH, _AND, _OF_YEAR)}", _span_of_months),
    _rule(rf"(?:from\s+)?{_ends(_MONTH, _TO, _OF_YEAR)}", _span_of_months),
    _rule(rf"(?:שנת\s+)?{_POINT}\s+(?:ואילך|והלאה|onwards?)", _since),
    _rule(rf"(?P<how>{_BEGUN})\s*(?:שנת\s+|ה-?)?{_POINT}", _since),
    _rule(rf"{_BEFORE}\s*(?:שנת\s+|ה-?)?{_POINT}", _before),
    _rule(rf"{_BY}\s*(?:סוף\s+|שנת\s+)?{_POINT}", _until),
    _rule(rf"(?:רבעון|quarter)\s+(?P<ordinal>{_ORDINAL}){_OF_YEAR}", _part_of_year(3)),
    _rule(rf"(?P<ordinal>{_ORDINAL})\s+quarter{_OF_YEAR}", _part_of_year(3)),
    _rule(rf"Q(?P<ordinal>[1-4]){_OF_YEAR}", _part_of_year(3)),
    _rule(rf"(?:מחצית|חציון)\s+(?P<ordinal>{_ORDINAL}){_OF_YEAR}", _part_of_year(6)),
    _rule(rf"(?P<ordinal>{_ORDINAL})\s+half{_OF_YEAR}", _part_of_year(6)),
    _rule(r"רבעון\s+(?:האחרון|שעבר|הקודם)|(?:last|previous)\s+quarter", _calendar(3, -1)),
    _rule(r"רבעון\s+(?:הנוכחי|הזה)|(?:this|current)\s+quarter", _calendar(3, 0)),
    _rule(r"רבעון\s+הבא|next\s+quarter", _calendar(3, 1)),
    _rule(
        rf"(?P<count>\d{{1,3}}|{'|'.join(COUNTS)})\s+(?P<unit>{'|'.join(UNITS)})\s+(?:ה?אחרונים|ה?אחרונות)", _rolling
    ),
    _rule(rf"(?:last|past)\s+(?P<count>\d{{1,3}}|{'|'.join(COUNTS)})\s+(?P<unit>{'|'.join(UNITS)})", _rolling),
    _rule(r"שנתיים\s+האחרונות", _back(24)),
    _rule(r"חודשיים\s+האחרונים", _back(2)),
    _rule(
        r"תחילת\s+השנה(?:\s+הנוכחית)?|this\s+year\s+to\s+date|year\s+to\s+date|beginning\s+of\s+the\s+year",
        lambda _, d: (date(d.year, 1, 1), d),
    ),
    _rule(r"תחילת\s+החודש|month\s+to\s+date", lambda _, d: (d.replace(day=1), d)),
    _rule(r"שנה\s+(?:שעברה|הקודמת|שחלפה)|אשתקד|last\s+year|previous\s+year", _calendar(12, -1)),
    _rule(r"שנה\s+האחרונה|past\s+year", _back(12)),
    _rule(r"שנה\s+הבאה|next\s+year", _calendar(12, 1)),
    _rule(r"שנה\s+(?:הנוכחית|הזו|הזאת)|this\s+year|current\s+year", _calendar(12, 0)),
    _rule(r"חודש\s+(?:שעבר|הקודם|שחלף)|last\s+month|previous\s+month", _calendar(1, -1)),
    _rule(r"חודש\s+האחרון|past\s+month", _back(1)),
    _rule(r"חודש\s+הבא|next\s+month", _calendar(1, 1)),
    _rule(r"חודש\s+(?:הנוכחי|הזה)|this\s+month|current\s+month", _calendar(1, 0)),
    _rule(r"שבוע\s+(?:שעבר|הקודם|האחרון)|last\s+week|past\s+week", _week(-1)),
    _rule(r"שבוע\s+הבא|next\s+week", _week(1)),
    _rule(rf"(?:חודש\s+)?(?P<month>{_MONTH}){_OF_YEAR}", _one_month),
    _rule(rf"(?:יום\s+|תאריך\s+|on\s+)?(?P<point>{_DAY})", _one_day),
    _rule(rf"(?:שנת\s+|year\s+)?(?P<year>{_YEAR})", _year),
)
# These stand whole, with their own article: "השנה" is this year, "בשנה" is a year.
_WHOLE: Final[tuple[tuple[str, Resolver], ...]] = (
    (r"(?:של\s+)?השנה(?!\s+ה)|this\s+year", _calendar(12, 0)),
    (r"החודש(?!\s+ה)", _calendar(1, 0)),
    (r"השבוע(?!\s+ה)|this\s+week", _week(0)),
    (r"היום|today|נכון\s+להיום", _days(0)),
    (r"אתמול|yesterday", _days(-1)),
    (r"מחר|tomorrow", _days(1)),
)
_RULES: Final = (
    *_NAMED,
    *((re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), resolve) for pattern, resolve in _WHOLE),
)
