"""Language of a text by its letters: the one rule that ingest and query share. Pure."""

from __future__ import annotations

import re
from typing import Final, Literal

TextLanguage = Literal["he", "en", "other"]

HEBREW_LETTERS: Final = re.compile("[\u05d0-\u05ea\ufb1d-\ufb4f]")
LATIN_LETTERS: Final = re.compile("[A-Za-z]")
OTHER_LETTERS: Final = re.compile(r"[^\W\d_]")
# A passage with this share of Hebrew among its letters is Hebrew: technical Hebrew quotes many English names.
HEBREW_SHARE: Final = 0.2


def has_hebrew(text: str) -> bool:
    """Whether the text has any Hebrew letter."""
    return HEBREW_LETTERS.search(text) is not None


def language_of(text: str) -> TextLanguage:
    """`he`, `en` (Latin letters) or `other`, by share of letters."""
    hebrew, latin = len(HEBREW_LETTERS.findall(text)), len(LATIN_LETTERS.findall(text))
    letters = len(OTHER_LETTERS.findall(text))
    if hebrew and hebrew >= HEBREW_SHARE * letters:
        return "he"
    return "en" if latin and latin >= letters / 2 else "other"
