"""Quantities and dates of a text in one form, for Hebrew and English: "שבעה ימי עבודה" is 7 workdays. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

# Units by the words that name them; one form for both languages.
_UNITS: Final = {
    "ILS": 'ש"ח שח שקל שקלים שקלי ₪ NIS ILS shekel shekels',
    "USD": "דולר דולרים $ USD dollar dollars",
    "EUR": "אירו יורו € EUR euro euros",
    "%": "% אחוז אחוזים אחוזי percent",
    "minute": "דקה דקות minute minutes min",
    "hour": "שעה שעות hour hours",
    "day": "יום ימים יממה יממות day days",
    "workday": "",
    "week": "שבוע שבועות week weeks",
    "month": "חודש חודשים month months",
    "year": "שנה שנים year years",
    "kg": 'ק"ג קילוגרם קילו kg kilogram kilograms',
    "tonne": "טון טונות tonne tonnes ton tons",
    "m": "מטר מטרים metre metres meter meters m",
    "cm": 'ס"מ סנטימטר סנטימטרים cm centimetre centimetres',
    "km": 'ק"מ קילומטר קילומטרים km kilometre kilometres',
    "m2": 'מ"ר m2',
    "m3": 'מ"ק m3',
    "dunam": "דונם דונמים dunam dunams",
    "MB": "MB מגה-בייט",
    "GB": "GB ג'יגה-בייט",
}
UNITS: Final = {word.casefold(): unit for unit, words in _UNITS.items() for word in words.split()}
# Two words, told by the first: working days are not days.
_WORKDAYS: Final = re.compile(r"\s*[-־]?(?:ימי (?:עבודה|עסקים)|(?:working|business)[ -]days?)", re.IGNORECASE)
# A word that stands for two of its unit.
_PAIRS: Final = {"שנתיים": "year", "שבועיים": "week", "יומיים": "day", "חודשיים": "month", "שעתיים": "hour"}

_ONES: Final = (
    "אחד אחת|שני שתי שניים שתיים שנים שתים|שלושה שלוש שלושת|ארבעה ארבע ארבעת|חמישה חמש חמשת|שישה שש ששת|שבעה שבע שבעת|"
    "שמונה שמונת|תשעה תשע תשעת|עשרה עשר עשרת"
)
_TENS: Final = "עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים"
_ONES_EN: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS_EN: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: Final[dict[str, int]] = {
    **{word: value for value, words in enumerate(_ONES.split("|"), start=1) for word in words.split()},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=2)},
    **{word: value for value, word in enumerate(_ONES_EN.split(), start=1)},
    **{word: 10 * value for value, word in enumerate(_TENS_EN.split(), start=2)},
    "מאה": 100,
    "מאתיים": 200,
    "אלף": 1000,
    "hundred": 100,
    "thousand": 1000,
}
# One and two are said of much that is no quantity ("second", "one of them"): they count before a unit only.
_DOUBTFUL: Final = 2
_TEN_ENDINGS: Final = frozenset({"עשר", "עשרה"})
_MULTIPLIERS: Final = frozenset({100, 1000})

_MONTH_NAMES: Final = (
    "ינואר january jan|פברואר february feb|מרס מרץ march mar|אפריל april apr|מאי may|יוני june jun|יולי july jul|"
    "אוגוסט august aug|ספטמבר september sep|אוקטובר october oct|נובמבר november nov|דצמבר december dec"
)
_MONTHS: Final = {name: number for number, names in enumerate(_MONTH_NAMES.split("|"), 1) for name in names.split()}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"(?P<iso>\d{{4}})-(?P<isom>\d{{1,2}})-(?P<isod>\d{{1,2}})|"
    rf"(?P<d>\d{{1,2}})[./](?P<m>\d{{1,2}})[./](?P<y>\d{{4}}|\d{{2}})(?!\d)|"
    rf"(?P<dd>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:ב|of )?(?P<mm>{_MONTH})\b(?:,?\s+(?P<yy>\d{{4}}))?|"
    rf"\b(?P<em>{_MONTH})\s+(?P<ed>\d{{1,2}})(?!\d)(?:,\s*(?P<ey>\d{{4}}))?",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"(?P<sign>[₪$€])?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)(?![\d/:]|\.\d|-\d)|(?P<word>[^\W\d_]+(?:[\"'״׳][^\W\d_]+)*)"
)
# Codes and times hold digits that count nothing: SKU-77/4, 8:30, 2022/318.
_CODE: Final = re.compile(r"[A-Za-z]+[-_]?\d[\w/-]*|\b\d{1,2}:\d{2}\b|\d+/\d+\S*|\[\d+\]|\d+-[א-ת]\b")
# One of a unit, said without a number: "valid for a year", "בתוך חודש".
_ONE: Final = re.compile(
    r"(?:\b(?:for|within) an? |(?<![א-ת])(?:תקף|תקפה|תקפים|תקפות|בתוקף|תוקפו|תוקפה|למשך|בתוך|תוך)\s+ל?)"
    r"(?P<unit>minute|hour|day|week|month|year|דקה|שעה|יום|שבוע|חודש|שנה)(?!\w)(?! הבא)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; None where no known unit stands beside it, `word` is then what follows."""

    value: Decimal
    unit: str | None
    word: str | None

    def __str__(self) -> str:
        return f"{self.value:f} {self.unit or self.word or ''}".strip()


def dates(text: str) -> tuple[str, ...]:
    """Dates as `YYYY-MM-DD`, or `--MM-DD` without a year, in their order, each once."""
    found = []
    for match in _DATE.finditer(text):
        parts = match.groupdict()
        year = parts["iso"] or parts["y"] or parts["yy"] or parts["ey"] or "-"
        month = parts["isom"] or parts["m"] or str(_MONTHS.get((parts["mm"] or parts["em"] or "").casefold(), 0))
        day = parts["isod"] or parts["d"] or parts["dd"] or parts["ed"]
        full = f"20{year}" if len(year) == 2 else year
        found.append(f"{full}-{int(month):02d}-{int(day):02d}")
    return tuple(dict.fromkeys(found))


def same_date(claimed: str, stated: str) -> bool:
    """Whether two dates agree as far as both go."""
    return claimed == stated or (("--" in (claimed[:2], stated[:2])) and claimed[-5:] == stated[-5:])


def quantities(text: str) -> tuple[Quantity, ...]:
    """Numbers in digits or words with their units, in order; those of dates, times and codes are left out."""
    found = [Quantity(Decimal(1), UNITS[match["unit"].casefold()], None) for match in _ONE.finditer(text)]
    left = _CODE.sub(lambda match: " " * len(match.group()), _blanked(_DATE, text))
    tokens = list(_TOKEN.finditer(left))
    place = 0
    while place < len(tokens):
        value, used = _value(tokens, place)
        if value is None:
            pair = _bare(tokens[place].group(), _PAIRS)
            if pair is not None:
                found.append(Quantity(Decimal(2), _PAIRS[pair], None))
            place += 1
            continue
        unit, word = _unit(left, tokens, place, used)
        doubtful = tokens[place]["number"] is None and value <= _DOUBTFUL and unit is None
        if not doubtful:
            found.append(Quantity(value, unit, word))
        place += used
    return tuple(found)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match.group()), text)


def _bare(word: str, known: dict[str, object] | dict[str, int] | dict[str, str]) -> str | None:
    """The word as it is listed, with or without Hebrew prefix letters."""
    lowered = word.casefold().replace("״", '"').replace("׳", "'")
    if lowered in known:
        return lowered
    for letters in (1, 2):
        if len(lowered) > letters + 1 and set(lowered[:letters]) <= set("ובלכמשה") and lowered[letters:] in known:
            return lowered[letters:]
    return None


def _value(tokens: list[re.Match[str]], place: int) -> tuple[Decimal | None, int]:
    """The number that begins at a token, and how many tokens it takes."""
    token = tokens[place]
    if token["number"] is not None:
        return Decimal(token["number"].replace(",", "")), 1
    total, used = 0, 0
    for follower in tokens[place:]:
        word = follower["word"]
        if word is None:
            break
        lowered = word.casefold()
        if used and lowered == "and":
            # "two hundred and twenty": only where a number follows.
            after = tokens[place + used + 1] if place + used + 1 < len(tokens) else None
            if total and total % 100 == 0 and after is not None and _bare(after.group(), NUMBER_WORDS):
                used += 1
                continue
            break
        listed = _bare(word, NUMBER_WORDS)
        if listed is None or (used and not _continues(total, lowered, listed)):
            break
        value = NUMBER_WORDS[listed]
        if used and listed in _TEN_ENDINGS:
            total += 10
        elif used and value in _MULTIPLIERS and total < value:
            total *= value
        else:
            total += value
        used += 1
    return (Decimal(total), used) if used else (None, 0)


def _continues(total: int, word: str, listed: str) -> bool:
    value = NUMBER_WORDS[listed]
    if listed in _TEN_ENDINGS and total < 10:
        return True
    if value in _MULTIPLIERS:
        return total < value
    joined = word != listed or word.isascii()
    return joined and total % 10 == 0 and total >= 20 and value < (100 if total % 100 == 0 else 10)


def _unit(text: str, tokens: list[re.Match[str]], place: int, used: int) -> tuple[str | None, str | None]:
    last = tokens[place + used - 1]
    if tokens[place]["sign"]:
        return UNITS[tokens[place]["sign"]], None
    rest = text[last.end() :]
    if _WORKDAYS.match(rest):
        return "workday", None
    if (mark := re.match(r"\s*([%₪$€])", rest)) is not None:
        return UNITS[mark.group(1)], None
    after = tokens[place + used] if place + used < len(tokens) else None
    word = None
    if after is not None and after["word"] and not re.search(r"[.;|,\n]", text[last.end() : after.start()]):
        word = after["word"]
        listed = _bare(word, UNITS)
        if word.casefold() == "per" and rest.lstrip().casefold().startswith("per cent"):
            return "%", None
        if listed is not None:
            return UNITS[listed], None
        if word in ("ימי", "שנות", "שעות", "חודשי", "דקות"):
            return {"ימי": "day", "שנות": "year", "שעות": "hour", "חודשי": "month", "דקות": "minute"}[word], None
    if place and tokens[place - 1]["word"] and (before := UNITS.get(tokens[place - 1]["word"].casefold())) is not None:
        return before, None
    return None, word
