"""Values of cells as a reader sees them, by their number format: dates ISO, percent, currency, thousands. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

GENERAL: Final = "General"
# Excel shows at most 11 digits of a number without a format.
GENERAL_DIGITS: Final = 11
# Numbers beyond this are written with an exponent; Excel itself keeps 15 digits.
PLAIN_MAX: Final = 1e21
# Decimals of a format beyond this are not shown by any program.
DECIMALS_MAX: Final = 30

_QUOTED: Final = re.compile(r'"([^"]*)"|\\(.)')
_BRACKETED: Final = re.compile(r"\[(?:\$([^\]-]*)(?:-[0-9A-Fa-f]+)?|[^\]]*)\]")
_DIGITS: Final = re.compile(r"[#0?](?:[#0?,]*[#0?])?(?:\.([#0?]*))?(,*)")


def shown(value: object, number_format: str | None) -> str:
    """The value as text; empty for an empty cell.

    Args:
        value: as openpyxl gives it: a number, text, a date, a time, a truth value, or None.
        number_format: the cell's format code.
    """
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return (
                value.date().isoformat() if value.time() == time() else value.isoformat(" ", _precision(value.time()))
            )
        case date():
            return value.isoformat()
        case time():
            return value.isoformat(_precision(value))
        case timedelta():
            return _duration(value)
        case int() | float():
            return _number(value, number_format or GENERAL)
    return str(value)


def _precision(value: time) -> str:
    return "seconds" if value.second or value.microsecond else "minutes"


def _duration(value: timedelta) -> str:
    seconds = round(abs(value).total_seconds())
    hours, rest = divmod(seconds, 3_600)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{hours}:{rest // 60:02d}:{rest % 60:02d}"


def _number(value: float, number_format: str) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    sections = number_format.split(";")
    code = sections[1] if value < 0 and len(sections) > 1 and sections[1].strip() else sections[0]
    negative_by_form = value < 0 and code is not sections[0]
    before, digits, after = _parts(code)
    if digits is None or abs(value) > PLAIN_MAX:
        return _general(value)
    shown_value = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if "%" in before + after:
        shown_value *= 100
    shown_value = shown_value.scaleb(-3 * len(digits[2]))
    decimals = min(len(digits[1] or ""), DECIMALS_MAX)
    rounded = shown_value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    body = f"{abs(rounded):{',' if ',' in digits[0].rstrip(',') else ''}.{decimals}f}"
    optional = len(digits[1] or "") - len((digits[1] or "").rstrip("#?"))
    if optional and "." in body:
        kept = body[: len(body) - optional] + body[len(body) - optional :].rstrip("0")
        body = kept.rstrip(".")
    whole, point, rest = body.partition(".")
    body = whole.zfill(digits[0].partition(".")[0].count("0")) + point + rest if whole.isdecimal() else body
    # The parentheses of accounting formats say "negative"; a minus says it plainly, and is found.
    sign = "-" if rounded < 0 else ""
    if negative_by_form:
        before, after = before.strip("-( "), after.strip(") ")
    return f"{sign}{before.strip()}{_gap(before)}{body}{_gap(after, leading=True)}{after.strip()}"


def _gap(text: str, *, leading: bool = False) -> str:
    """A blank where a word stands beside the digits: "ש"ח 5" keeps it, "₪5" has none."""
    word = text.strip()
    if not word:
        return ""
    edge, near = (word[0], text[0]) if leading else (word[-1], text[-1])
    return " " if near.isspace() or (edge.isalpha() and len(word) > 1) else ""


def _parts(code: str) -> tuple[str, re.Match[str] | None, str]:
    """What stands before the digits, the digits' own code, and what stands behind, of one section of a format."""
    literal: list[str] = []

    def kept(text: str) -> str:
        literal.append(text)
        return f"\ue000{len(literal) - 1}\ue001"  # private use: no format holds it

    code = _BRACKETED.sub(lambda found: kept(found[1] or ""), code)
    code = _QUOTED.sub(lambda found: kept(found[1] if found[1] is not None else found[2]), code)
    code = re.sub(r"[_*].", "", code)  # room for a character, and filling
    digits = _DIGITS.search(re.sub("\ue000[0-9]+\ue001", lambda found: "\ue002" * len(found[0]), code))
    if digits is None or GENERAL.lower() in code.lower() or re.search(r"[eE][+-]", code) or "/" in code or "@" in code:
        return "", None, ""

    def opened(text: str) -> str:
        return re.sub("\ue000([0-9]+)\ue001", lambda found: literal[int(found[1])], text)

    return opened(code[: digits.start()]), digits, opened(code[digits.end() :])


def _general(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 10**GENERAL_DIGITS:
        return str(int(value))
    return f"{value:.{GENERAL_DIGITS}g}"
