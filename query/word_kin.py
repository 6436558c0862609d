"""Hebrew words of one root: "to save" and "a saving" (לחסוך, חיסכון), one word to a reader, two to an index. Pure.

A root's consonants stand in all of its words, in their order. Vowel letters come and go, with the spelling too (וידאו,
וידיאו); before the root stand prefixes and the letters of a verb's pattern, behind it one ending. What is left of two
words when these are taken off is compared. This is rougher than the index's own inflections and finds kin that is
none, so it serves only to tell whether a passage that was found otherwise says what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

# Consonants that are left of a word at least: a root has three.
_LEAST: Final = 3
_PREFIXES: Final = "והבכלמש"
# "and from the ...": more of them stand before few words, and each may be a letter of the root.
_MOST_PREFIXES: Final = 2
_FINALS: Final = str.maketrans("ךםןףץ", "כמנפצ")
# Endings of nouns and verbs, final letters as they stand within words.
_ENDINGS: Final = tuple(
    ending.translate(_FINALS)
    for ending in "ים ות ית ה ת ו י ם ן ך נו תי הם הן יו יה תו תה יות ויות".split()  # noqa: SIM905  read as a list
)
# What verbs and their nouns have before the root, without vowel letters.
_PATTERNS: Final = tuple("נ ה ת מ י א הת מת ל נת ית הש".split())  # noqa: SIM905  read as a list
_VOWELS: Final = re.compile("[וי]")
_NO_LETTER: Final = re.compile("[^א-ת]")
_CONSONANTS: Final = _FINALS | dict.fromkeys(map(ord, "וי\"'״׳"))
# A word with the quote of an acronym is one word.
_WORD: Final = re.compile("[א-ת][א-ת\"'״׳]*")
# Words whose roots are remembered: those of a few hundred passages.
_WORDS_KEPT: Final = 20_000


def akin(words: Sequence[str], text: str) -> frozenset[int]:
    """Places of the words of which the text has one of the same root; itself among them.

    Args:
        words: of a query; what is not Hebrew has no kin.
    """
    of_text = _WORD.findall(text)
    # One line a word, without what comes and goes within roots: a search of it costs a fraction of what the roots of
    # all its words would.
    lines = "\n".join(of_text).translate(_CONSONANTS)
    return frozenset(place for place, word in enumerate(words) if _stands(word, of_text, lines))


def _stands(word: str, of_text: Sequence[str], lines: str) -> bool:
    own = roots(word)
    for root in _shortest(word):
        at = lines.find(root)
        while at >= 0:
            if not own.isdisjoint(roots(of_text[lines.count("\n", 0, at)])):
                return True
            behind = lines.find("\n", at)
            at = lines.find(root, behind) if behind >= 0 else -1
    return False


@lru_cache(_WORDS_KEPT)
def roots(word: str) -> frozenset[str]:
    """What may be a word's root: consonants in their order, three or more."""
    letters = _NO_LETTER.sub("", word).translate(_FINALS)
    if len(letters) < _LEAST:
        return frozenset()
    forms = {letters}
    for _ in range(_MOST_PREFIXES):
        forms |= {form[1:] for form in forms if len(form) > _LEAST and form[0] in _PREFIXES}
    forms |= {
        form[: -len(ending)]
        for form in forms
        for ending in _ENDINGS
        if form.endswith(ending) and len(form) - len(ending) >= _LEAST
    }
    bare = {form for form in (_VOWELS.sub("", form) for form in forms) if len(form) >= _LEAST}
    return frozenset(
        bare
        | {
            form[len(before) :]
            for form in bare
            for before in _PATTERNS
            if form.startswith(before) and len(form) - len(before) >= _LEAST
        }
    )


@lru_cache(_WORDS_KEPT)
def _shortest(word: str) -> tuple[str, ...]:
    """Its roots without those that hold another one, which find nothing more."""
    found = roots(word)
    return tuple(sorted(root for root in found if not any(other in root for other in found if other != root)))
