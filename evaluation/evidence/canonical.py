"""Canonical JSON and hashes over it: the same content gives the same bytes on every machine. Pure.

The form is RFC 8785 (JSON Canonicalization Scheme): UTF-8, no white space, members sorted by the UTF-16 code units of
their names, strings with the shortest escapes, numbers as ECMAScript writes them. Whole numbers beyond 2^53, numbers
that are not finite and lone surrogates have no canonical form and are refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel

from search_config.errors import InvalidRequest

# Largest whole number that every reader of JSON keeps exactly (RFC 7493, 2.2).
LARGEST_WHOLE: Final = 2**53
# ECMA-262, Number::toString: decimals up to 21 digits before the point and 6 noughts behind it, then an exponent.
MOST_DIGITS: Final = 21
LEAST_EXPONENT: Final = -6


def canonical_json(value: Any) -> bytes:
    """The canonical form of a JSON value, or of a record as JSON.

    Raises:
        InvalidRequest: a value that has no canonical form.
    """
    try:
        return _text(_plain(value)).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            "A text holds half a character (a lone surrogate).", where=repr(error.object[:40])
        ) from error


def content_id(value: Any) -> str:
    """SHA-256 of the canonical form, hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha256(data: bytes) -> str:
    """SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8, hexadecimal; half a character is kept by its escape, so that nothing is refused."""
    return sha256(text.encode("utf-8", errors="backslashreplace"))


def readable_json(value: Any) -> bytes:
    """JSON for people: indented, sorted, a line end at the end; equal for equal content, also where one side was read
    from the canonical form, which writes 1.0 as 1.

    Raises:
        InvalidRequest: a value that has no canonical form.
    """
    same = json.loads(canonical_json(value))
    text = json.dumps(same, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        ordered = sorted(value.items(), key=lambda item: str(item[0]).encode("utf-16-be"))
        return "{" + ",".join(f"{_text(str(name))}:{_text(item)}" for name, item in ordered) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(_text, value)) + "]"
    raise InvalidRequest("This is not a JSON value.", where=type(value).__name__)


def _whole(value: int) -> str:
    if abs(value) > LARGEST_WHOLE:
        raise InvalidRequest("A whole number is too large for JSON.", where=str(value))
    return str(value)


def _number(value: float) -> str:
    """ECMA-262's Number::toString over Python's shortest digits that read back as the same number."""
    if not math.isfinite(value):
        raise InvalidRequest("A number is not finite.", where=str(value))
    if value == 0:
        return "0"
    sign, parts, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, parts))
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if LEAST_EXPONENT < point <= MOST_DIGITS:
        if point <= 0:
            return f"{minus}0.{'0' * -point}{digits}"
        if point >= len(digits):
            return f"{minus}{digits}{'0' * (point - len(digits))}"
        return f"{minus}{digits[:point]}.{digits[point:]}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
