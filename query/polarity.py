"""Whether a passage says of the asked thing what the question says: "may" and "may not" differ in one word. Pure.

BM25 and embeddings hardly see the one word that turns a clause around, so that of two versions of a clause the wrong
one may stand first. Only questions that say "not", forbid or permit have a side; all others have none, and no passage
gains or loses by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final


def _listed(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Words that turn a clause around. Two of them turn it back: "אינו אסור".
_TURNING: Final = _listed(
    "לא אין אינו אינה אינם אינן איני אינך בלי ללא מבלי אסור אסורה אסורים אסורות נאסר נאסרה נאסרו נאסרים",
    "אוסר אוסרת איסור מנוע מנועה מנועים נשלל נשללה פסול",
    "not no never cannot without neither nor prohibited forbidden forbids prohibits banned barred",
)
_PERMITTING: Final = _listed(
    "מותר מותרת מותרים מותרות רשאי רשאית רשאים רשאיות יכול יכולה יכולים הותר הותרה מתיר מתירה מתירים ניתן",
    "may can allowed permitted permits allows",
)
# "לא יאוחר מ-" and its like state a limit and turn nothing.
_LIMITS: Final = re.compile(
    r"\b(?:ו?ש?לא (?:יאוחר|יעלה|תעלה|יעלו|יפחת|תפחת|יפחתו|פחות|יותר|רק)"
    r"|no (?:later|more|less|fewer) than|not (?:later|more|less|fewer) than|not exceed|not only)\b"
)
_CLAUSE_END: Final = re.compile(
    r"[;!?\n]|[.:](?=\s|$)|,\s*(?=(?:ו?אולם|אך|אבל|ואילו|אלא|but|while|whereas)\b)|\s(?=(?:אולם|אך|ואילו|but|whereas)\b)"
)
_WORD: Final = re.compile(r"[א-ת״׳\"']+|[a-z]+(?:'[a-z]+)?|\d[\d.,/-]*")
_HEBREW: Final = re.compile("[א-ת]")
_PREFIXES: Final = "ושהבכלמ"
# A stem of fewer letters is shared by chance.
_SHORTEST_STEM: Final = 3
_ENDINGS: Final = re.compile(r"(?:יהם|יהן|ים|ות|ית|יה|תו|תה|ה|ת|ו|י)$")
_ENGLISH_ENDINGS: Final = re.compile(r"(?:ing|ed|es|s|e)$")
# A clause with fewer words of the question speaks of something else.
_LEAST_SHARED: Final = 2
_MOST_PREFIXES: Final = 2
# Words whose forms are remembered: the passages of a corpus have mostly the same ones; some megabytes.
WORDS_KEPT: Final = 20_000
# Queries of which that is remembered: those that are asked at once.
QUERIES_KEPT: Final = 64


def side(text: str) -> int:
    """-1 for a text that says "not" or forbids, 1 for one that permits, 0 for one that does neither."""
    words = _words(text)
    if _turned(words):
        return -1
    return int(any(form in _PERMITTING for word in words for form in _forms(word)))


def agreement(query: str, passage: str) -> int:
    """Whether the clause of the passage that shares most words with the question takes the question's side.

    Returns:
        1 where it does, -1 where it takes the other, 0 where the question has no side or no clause shares two words.
        An English question is only contradicted: it shares no words with the Hebrew passages, which would all stand
        behind the English ones that agree with it.
    """
    asked, wanted = _asked(query)
    if not asked:
        return 0
    best, found = _LEAST_SHARED - 1, 0
    for clause in _CLAUSE_END.split(passage.lower()):
        words = _words(clause)
        # As many words at least as it has to share more than the best one.
        shared = len(wanted.intersection(map(rough_stem, words))) if len(words) > best else 0
        if shared > best:
            best, found = shared, -1 if _turned(words) else 1
    return min(0, asked * found) if _HEBREW.search(query) is None else asked * found


@lru_cache(QUERIES_KEPT)
def _asked(query: str) -> tuple[int, frozenset[str]]:
    """The question's side, and the stems of what it speaks of: the same for each passage that it is compared with."""
    stems = (rough_stem(word) for word in _words(query) if not _marks(word))
    return side(query), frozenset(stem for stem in stems if stem)


def _words(text: str) -> list[str]:
    return _WORD.findall(_LIMITS.sub(" ", text.lower().replace("\u2019", "'")))


def _turned(words: Sequence[str]) -> bool:
    return sum(map(_turns, words)) % 2 == 1


@lru_cache(WORDS_KEPT)
def _turns(word: str) -> bool:
    return word.endswith("n't") or not _TURNING.isdisjoint(_forms(word))


def _marks(word: str) -> bool:
    """Words that carry the side, and so tell nothing of the subject."""
    return word.endswith("n't") or any(form in _TURNING or form in _PERMITTING for form in _forms(word))


@lru_cache(WORDS_KEPT)
def _forms(word: str) -> tuple[str, ...]:
    """The word, and what is left of it without "ו" and "ש"."""
    forms = [word]
    for _ in range(_MOST_PREFIXES):
        if forms[-1][:1] in ("ו", "ש", "ה") and len(forms[-1]) > _SHORTEST_STEM - 1:
            forms.append(forms[-1][1:])
    return tuple(forms)


@lru_cache(WORDS_KEPT)
def rough_stem(word: str) -> str:
    """A rough stem, for counting words that two clauses share; empty where nothing is left."""
    if word[0].isdigit():
        return word
    if word[0].isascii():
        return _ENGLISH_ENDINGS.sub("", word) if len(word) > _SHORTEST_STEM else ""
    stem = word
    for _ in range(_MOST_PREFIXES):
        if len(stem) > _SHORTEST_STEM and stem[0] in _PREFIXES:
            stem = stem[1:]
    shorter = _ENDINGS.sub("", stem)
    stem = shorter if len(shorter) >= _SHORTEST_STEM else stem
    return stem if len(stem) >= _SHORTEST_STEM else ""
