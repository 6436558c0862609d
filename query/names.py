"""Finds names that a corpus knows (parties, tags) in a question. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from query.question_text import CORRECTED_FROM, FINALS, Word, bare_words, meaning, normal, one_slip, without_prefixes

# Words of a name that people leave out.
LEGAL: Final = frozenset(
    ("בע״מ", "ltd", "inc", "llc", "corp", "co", "gmbh", "plc", "limited", "company", "חברת", "חברה", "בעמ")
)
# A single word is enough for a longer name where it has at least so many letters and is no word of questions.
SINGLE_FROM: Final = 4
WHOLE_BONUS: Final = 100
ARTICLE: Final = "ה"


@dataclass(frozen=True, slots=True)
class Named:
    """Names that one stretch of a question may mean; several where it does not say which.

    Attributes:
        places: numbers of the words that it takes up.
    """

    names: tuple[str, ...]
    places: range


class NameIndex:
    """Names by their first words, so that a question is compared with few of them.

    Args:
        names: that are known.
        partly: whether the first words of a name stand for it: "Acme" for "Acme Holdings Ltd.".
        slips: whether one letter of a long word may be wrong.
    """

    def __init__(self, names: Iterable[str], *, partly: bool = True, slips: bool = True) -> None:
        self._partly = partly
        self._slips = slips
        self._keys: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name in dict.fromkeys(names):
            key = _key(name)
            if key:
                self._keys.setdefault(key[0].translate(FINALS), []).append((name, key))
        self._letters: dict[str, list[str]] = {}
        for first in self._keys:
            self._letters.setdefault(first[0], []).append(first)

    def find(self, words: Sequence[Word]) -> list[Named]:
        """The names in a question, the longest first; a stretch is used once."""
        found: dict[range, list[str]] = {}
        scores: dict[range, int] = {}
        for start in range(len(words)):
            for name, key in self._beginning(words[start]):
                length = self._matched(words[start:], key)
                whole = length == len(key)
                if not length or not (whole or (self._partly and _enough(words[start : start + length]))):
                    continue
                place = range(start, start + length)
                score = length + (WHOLE_BONUS if whole else 0)
                if score > scores.get(place, 0):
                    found[place], scores[place] = [name], score
                elif score == scores[place]:
                    found[place].append(name)
        taken: set[int] = set()
        kept = []
        for place in sorted(found, key=lambda place: (-len(place), -scores[place], place.start)):
            if taken.isdisjoint(place):
                taken.update(place)
                kept.append(Named(tuple(found[place]), place))
        return sorted(kept, key=lambda entry: entry.places.start)

    def _beginning(self, word: Word) -> list[tuple[str, tuple[str, ...]]]:
        """Names whose first word this may be."""
        firsts: dict[str, None] = {}
        for spelt in without_prefixes(word.text):
            form = spelt.translate(FINALS)
            if form in self._keys:
                firsts[form] = None
            if self._slips and len(form) >= CORRECTED_FROM:
                near = self._letters.get(form[0], ())
                firsts |= {other: None for other in near if len(other) >= CORRECTED_FROM and one_slip(form, other)}
        return [entry for first in firsts for entry in self._keys[first]]

    def _matched(self, words: Sequence[Word], key: Sequence[str]) -> int:
        """How many of the first words of a name stand here, in its order."""
        length = 0
        for word, wanted in zip(words, key, strict=False):
            # Within a name only the article may be added: "נוהל רכש", "נוהל הרכש".
            spelt = list(without_prefixes(word.text)) if length == 0 else [word.text, word.text.removeprefix(ARTICLE)]
            if not any(self._same(candidate, wanted) for candidate in spelt):
                break
            length += 1
        return length

    def _same(self, written: str, wanted: str) -> bool:
        one, other = written.translate(FINALS), wanted.translate(FINALS)
        return one == other or (self._slips and min(len(one), len(other)) >= CORRECTED_FROM and one_slip(one, other))


def _key(name: str) -> tuple[str, ...]:
    words = [word for word, _ in bare_words(normal(name))]
    kept = tuple(word for word in words if word not in LEGAL)
    return kept or tuple(words)


def _enough(words: Sequence[Word]) -> bool:
    """Whether the first words of a name are enough of it: two, or one that is no word of questions."""
    if len(words) > 1:
        return True
    (word,) = words
    return len(word.text) >= SINGLE_FROM and not any(meaning(form).known for form in without_prefixes(word.text))
