"""Prefix letters (otiyot ha-shimush, mnemonic "moshe ve-kalev"): in what order they stand, how they are cut. Pure.

Grammar fixes the order, so cutting goes in stages and each stage sees the results of the one before:
conjunction, subordinator, preposition, article. `ומהבית` gives `מהבית`, `הבית` and `בית`, each once.

Before each stage, words of `lists/whole_words.txt` get a mark behind them that no pattern accepts: the first letter of
שלום or מצב is no prefix, and so neither is that of ושלום or שבמצב once the letters before are gone.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

HEBREW_LETTER: Final = "\u05d0-\u05ea"
GERESH: Final = "\u05f3"
GERSHAYIM: Final = "\u05f4"

# Vav before anything; shin alone, "when" (kaf-shin) and "once" (lamed-kaf-shin); one preposition; the article.
# Mem-shin, and bet, lamed or kaf with an article kept, are left out: hardly anybody writes them, many words begin so.
STAGES: Final = (("ו",), ("ש", "כש", "לכש"), ("ב", "כ", "ל", "מ"), ("ה",))
PREFIX_LETTERS: Final = "משהוכלב"

# What is left of a word after its prefix: one letter is no word (geresh and gershayim do not count).
MIN_STEM_LETTERS: Final = 2

# Stands behind a word that is not to be cut. The standard tokenizer ends a word at it, so that no text can bring it in.
UNCUT: Final = "|"


def stage_pattern(prefixes: tuple[str, ...]) -> str:
    """The regular expression of one stage; its group captures what is left."""
    rest = f"[{HEBREW_LETTER}][{HEBREW_LETTER}{GERESH}{GERSHAYIM}]{{{MIN_STEM_LETTERS - 1},}}"
    return f"^(?:{'|'.join(prefixes)})({rest})$"


def readings(word: str, whole_words: Container[str]) -> list[str]:
    """The word and all that cutting gives, longest first: what the stages do inside the engine, for building lists."""
    found = [word]
    for prefixes in STAGES:
        for known in [one for one in found if one not in whole_words]:
            found += [
                known[len(prefix) :]
                for prefix in prefixes
                if known.startswith(prefix) and len(known) - len(prefix) >= MIN_STEM_LETTERS
            ]
    return list(dict.fromkeys(found))
