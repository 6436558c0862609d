"""Sums of money as they are written, with their currency. Pure.

Rules
    `1,200.50` and `1.200,50`: the mark before the last two digits is the decimal one. One mark before three digits
    parts thousands: `1.200` and `1,200` are both 1200 where a currency stands beside.
    A sign before or behind the number, or brackets around it, make it negative.
    `$` alone is the US dollar, `£` the pound sterling, `¥` the yen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from ingest.fields.number_words import NUMBER_WORDS, number_of

# Codes of ISO 4217 that are read without a sign; others would be taken out of plain words in capitals.
CODES: Final = [
    "ILS",
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "JPY",
    "CNY",
    "CAD",
    "AUD",
    "NZD",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "HUF",
    "RON",
    "BGN",
    "RUB",
    "UAH",
    "TRY",
    "INR",
    "JOD",
    "EGP",
    "AED",
    "SAR",
    "ZAR",
    "BRL",
    "MXN",
    "KRW",
    "SGD",
    "HKD",
    "THB",
]
_NAMES: Final = {
    "ILS": r"ש(?:\"|'')?ח(?![א-ת])|שקלים חדשים|שקל חדש|שקלים|שקל|₪|NIS\b|shekels?\b",
    "USD": r"US\$|U\.S\. dollars?\b|US dollars?\b|דולר(?:ים)?(?: (?:ארה\"ב|אמריקאי(?:ים|ם)?))?|\$|dollars?\b",
    "EUR": r"€|אירו|יורו|euros?\b",
    "GBP": r"£|ליש\"ט|לירות? שטרלינג|pounds?(?: sterling)?\b",
    "CHF": r"Fr\.|פרנק(?:ים)?(?: שווייצריים?)?",
    "JPY": r"¥|ין יפני",
}
_CURRENCY: Final = "|".join(
    f"(?P<{{0}}_{code}>{names}|\\b{code}\\b)" if names else f"(?P<{{0}}_{code}>\\b{code}\\b)"
    for code, names in ((code, _NAMES.get(code, "")) for code in CODES)
)
_BEFORE: Final = _CURRENCY.replace("{0}", "b")
_BEHIND: Final = _CURRENCY.replace("{0}", "a")
# Digits in groups, or any; not the tail of a longer number, a date or an identifier.
_NUMBER: Final = r"\d{1,3}(?:[,.' ]\d{3}(?!\d))+(?:[.,]\d{1,2}(?!\d))?|\d{1,12}(?:[.,]\d{1,2}(?!\d))?"
_SCALE: Final = r"k\b|K\b|m\b|M\b|bn\b|thousand\b|million\b|billion\b|אלפי|אלף|מיליוני|מיליון|מיליארדי|מיליארד"
_SCALES: Final = {"k": 3, "t": 3, "m": 6, "b": 9, "אל": 3, "מיליו": 6, "מיליא": 9}
_SPACE: Final = r"[ \t]{0,3}"
# In a column the currency stands at the left and the number at the right.
_COLUMN: Final = r"[ \t]{0,24}"
_NUMERIC: Final = re.compile(
    rf"(?P<open>\()?(?<![\w/])(?P<minus>(?<![\w\])])-{_SPACE})?(?:(?:{_BEFORE}){_COLUMN}(?P<inner>-{_SPACE})?)?"
    rf"(?<![\d/])(?<!\d[.,:'-])(?<![A-Za-z]-)(?P<n>{_NUMBER})(?![\d/]|[.,]\d)"
    rf"(?:\.-(?![\w(])|(?P<trail>-(?![\w(])))?(?:{_SPACE}(?P<scale>{_SCALE}))?"
    rf"(?:{_SPACE}-?(?:{_BEHIND}))?(?P<close>\))?",
)
_IN_WORDS: Final = re.compile(rf"(?P<w>{NUMBER_WORDS})\s+(?:{_BEHIND})", re.IGNORECASE)
_WORDS_IN_BRACKETS: Final = re.compile(r"^\s*[(\[-]\s*(?:ובמילים|במילים|in words)?:?\s*$")
THOUSANDS_DIGITS: Final = 3
# Words in brackets stand within this many characters of their digits.
BRACKET_CHARS: Final = 20


@dataclass(frozen=True, slots=True)
class AmountFound:
    """One sum of a text.

    Attributes:
        start: where it begins; a currency beside it is inside.
        end: where it ends.
        value: with its sign.
        currency: None where no currency stands beside it.
        in_words: written in words.
    """

    start: int
    end: int
    value: Decimal
    currency: str | None
    in_words: bool = False


def find_amounts(text: str) -> list[AmountFound]:
    """All numbers that may be sums, in reading order; text is folded. Those without a currency are among them."""
    found = [_numeric(match) for match in _NUMERIC.finditer(text)]
    ends = {one.end for one in found}
    for match in _IN_WORDS.finditer(text):
        value = number_of(match["w"])
        # "75 thousand dollars" was read whole with its digits.
        if value is not None and match.end() not in ends:
            found.append(AmountFound(match.start(), match.end(), Decimal(value), _currency(match), in_words=True))
    return sorted(found, key=lambda one: one.start)


def disagreeing_words(text: str, amounts: list[AmountFound]) -> list[tuple[AmountFound, AmountFound]]:
    """Sums that are written twice, in digits and then in words, and differ: `12,500 ש"ח (אלף שקלים)`."""
    # Words give the whole units only.
    return [pair for pair in _twice(text, amounts) if int(pair[0].value) != int(pair[1].value)]


def without_brackets(text: str, amounts: list[AmountFound]) -> list[AmountFound]:
    """Without the words that say the sum before them once more."""
    again = {id(words) for _, words in _twice(text, amounts)}
    return [one for one in amounts if id(one) not in again]


def _twice(text: str, amounts: list[AmountFound]) -> list[tuple[AmountFound, AmountFound]]:
    return [
        (digits, words)
        for digits, words in pairwise(amounts)
        if words.in_words
        and 0 <= words.start - digits.end <= BRACKET_CHARS
        and _WORDS_IN_BRACKETS.match(text[digits.end : words.start])
    ]


def _numeric(match: re.Match[str]) -> AmountFound:
    value = _decimal(match["n"])
    scale = match["scale"]
    if scale:
        value *= Decimal(10) ** next(power for word, power in _SCALES.items() if scale.lower().startswith(word))
    bracketed = match["open"] is not None and match["close"] is not None
    accounting = bracketed and re.fullmatch(r"[\s\d.,'-]*", match[0].strip("()")) is not None
    negative = any(match[name] for name in ("minus", "inner", "trail")) or accounting
    start, end = match.start(), match.end()
    if match["open"] and not accounting:
        start += 1
    if match["close"] and not accounting:
        end -= 1
    end = start + len(match.string[start:end].rstrip())
    return AmountFound(start, end, -value if negative else value, _currency(match))


def _currency(match: re.Match[str]) -> str | None:
    for name, words in match.groupdict().items():
        if words and name[:2] in ("a_", "b_"):
            return name[2:]
    return None


def _decimal(written: str) -> Decimal:
    plain = written.replace("'", "").replace(" ", "")
    comma, dot = plain.rfind(","), plain.rfind(".")
    last = max(comma, dot)
    if last < 0:
        return Decimal(plain)
    if len(plain) - last - 1 == THOUSANDS_DIGITS:
        return Decimal(plain.replace(",", "").replace(".", ""))
    whole = plain[:last].replace(",", "").replace(".", "")
    return Decimal(f"{whole}.{plain[last + 1 :]}")
