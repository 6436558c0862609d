"""What a query is written in, and whether it is an identifier. Pure."""

from __future__ import annotations

import re
from typing import Final

from query.request import Language
from search_config.language import has_hebrew, language_of

# A file's name: a stem, then one of the endings that offices use. Without this list `Ltd.com` style words would be
# files.
_FILE_ENDINGS: Final = (
    "txt|md|html?|pdf|docx?|xlsx?|pptx?|csv|json|ya?ml|xml|zip|png|jpe?g|eml|msg|py|sh|log|ini|conf|sql"
)

# Each kind of identifier by its own pattern; a token is an identifier when one of them matches all of it.
IDENTIFIER_PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    # 2024-03-01, 01/03/2024, 1.3.24
    "date": re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}([./])\d{1,2}\1\d{2,4}"),
    # dana@example.org
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII),
    # report_2024.xlsx
    "file name": re.compile(rf"[\w.()-]*\w\.(?:{_FILE_ENDINGS})", re.IGNORECASE),
    # v2.3.1, 10.0.3, 192.168.0.1: three parts, or two behind a v (2.5 alone is a number)
    "version": re.compile(r"[vV]\d+(?:\.\d+)*(?:[-+][\w.]+)?|\d+(?:\.\d+){2,}(?:[-+][\w.]+)?", re.ASCII),
    # 123-45-67, 03-5551234, 12/345: digits joined by marks; 2024/318-ב: a Hebrew letter may end it
    "number with marks": re.compile("\\d+(?:[-/]\\d+)+(?:-[\u05d0-\u05ea])?"),
    # 2044317: five digits or more are a number of something (an account, a file), four may be a year
    "long number": re.compile(r"\d{5,}"),
    # E-4031, SKU-77/4, ISO-27001, A12, INV2024-0031: Latin letters and digits in one token
    "code": re.compile(r"(?=[^\W_]*[A-Za-z])(?=\S*\d)[A-Za-z0-9]+(?:[-/_.:#][A-Za-z0-9]+)*", re.ASCII),
    # getUserById, XMLHttpRequest: a capital after a small letter
    "camel case": re.compile(r"[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*", re.ASCII),
    # snake_case, MAX_SIZE, __init__
    "snake case": re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*", re.ASCII),
}

# A Hebrew prefix may stand before an identifier, with or without a hyphen: ל-E-4031, בE-4031.
_HEBREW_PREFIX: Final = re.compile(
    "^[\u05de\u05e9\u05d4\u05d5\u05db\u05dc\u05d1]{1,3}[-\u05be\u2010-\u2015]?(?=[A-Za-z0-9])"
)
# Marks of the sentence around a token; none of them begins or ends an identifier.
_EDGES: Final = " \t.,;:!?\"'()[]{}<>*|\u05f3\u05f4\u2018\u2019\u201c\u201d\u201e"


def identifiers(text: str) -> tuple[str, ...]:
    """The identifiers of a text in their order, each once, without the sentence's marks and Hebrew prefixes."""
    found = (bare(token) for token in text.split())
    return tuple(dict.fromkeys(token for token in found if _is_identifier(token)))


def has_identifier(text: str) -> bool:
    """Whether any token of the text is an identifier."""
    return bool(identifiers(text))


def query_language(text: str) -> Language:
    """The class of a query, by which its weights are chosen.

    `he` with any Hebrew letter; `identifier` where every token is one; then `en` or `other` by its letters. Text
    without a letter that is no identifier (`12 45`) is `other`."""
    if has_hebrew(text):
        return "he"
    if identifiers_alone(text):
        return "identifier"
    return "en" if language_of(text) == "en" else "other"


def identifiers_alone(text: str) -> tuple[str, ...]:
    """The identifiers of a text that has nothing else, with Hebrew prefixes or without; none of any other text."""
    tokens = [token for token in map(bare, text.split()) if token]
    return tuple(dict.fromkeys(tokens)) if all(map(_is_identifier, tokens)) else ()


def bare(token: str) -> str:
    """A token without the sentence's marks around it and without a Hebrew prefix before Latin letters or digits."""
    return _HEBREW_PREFIX.sub("", token.strip(_EDGES))


def _is_identifier(token: str) -> bool:
    return any(pattern.fullmatch(token) for pattern in IDENTIFIER_PATTERNS.values())
