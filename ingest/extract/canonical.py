"""Canonical text: the one form of a document's text that every offset is into. Pure.

NFC, `\\n` line ends, no byte order mark, no bidi controls, no control characters but tab and line end, and no halves
of surrogate pairs.
NFC reorders Hebrew points on one letter and takes presentation forms such as U+FB2A apart. Those that NFC keeps (wide
letters, another ayin, the ligature of alef and lamed) are folded to plain letters, so that words in them are found.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Direction marks are invisible, come and go as text is copied, and would keep equal quotes from matching.
BIDI_CONTROLS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
BYTE_ORDER_MARK: Final = "\ufeff"
# Soft hyphen, zero-width space, word joiner: typesetting aids of mark-up, dropped where text is built from mark-up.
TYPESETTING_MARKS: Final = "\u00ad\u200b\u2060"

# Points, accents and cantillation on one letter are a handful. Ordering them takes quadratic time, so that a letter
# with a million of them would stop the work.
MARKS_MAX: Final = 100

# U+FB20 to U+FB29 and U+FB4F: the compatibility forms of Hebrew; all others fall apart in NFC.
PRESENTATION_FORMS: Final = {
    form: unicodedata.normalize("NFKC", chr(form)) for form in (*range(0xFB20, 0xFB2A), 0xFB4F)
} | {0xFB1E: "\u05bf"}  # the varika of Judeo-Spanish prints is a form of the rafe

_LINE_ENDS: Final = re.compile("\r\n|[\r\v\f\u0085\u2028\u2029]")
_DROPPED: Final = re.compile(f"[{BIDI_CONTROLS}{BYTE_ORDER_MARK}\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff"
    f"\u20d0-\u20ff\ufe20-\ufe2f]{{{MARKS_MAX + 1},}}"
)
_FORMS: Final = re.compile("[\ufb1e\ufb20-\ufb29\ufb4f]")
_TYPESETTING: Final = re.compile(f"[{TYPESETTING_MARKS}]")


def canonicalise(text: str) -> str:
    """The canonical form; canonical text comes back to the letter, whatever its blank lines and spaces."""
    kept = _DROPPED.sub("", _LINE_ENDS.sub("\n", text))
    if _FORMS.search(kept):
        kept = kept.translate(PRESENTATION_FORMS)
    return unicodedata.normalize("NFC", _MARKS.sub(lambda marks: marks[0][:MARKS_MAX], kept))


def without_typesetting(text: str) -> str:
    """The text without soft hyphens and zero-width spaces."""
    return _TYPESETTING.sub("", text)


def offset_in_canonical(text: str, offset: int) -> int:
    """Where character `offset` of `text` stands in `canonicalise(text)`; it must not cut a letter from its points."""
    return len(canonicalise(text[:offset]))
