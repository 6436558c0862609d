"""Whether a passage holds a thing of the kind that a question asks for. Pure.

A passage may have every word of a question and no answer: who it was, when, how much is simply not said. The kind is
told from the question (`query.answer_wanted`), and looked for where the question's words stand: in the sentence that
shares most of them, and those beside it. Things that the question itself names do not count. Where a kind can't be told
from a text, a passage neither gains nor loses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from query import answer_forms as forms
from query.answer_forms import WORD, classes
from query.answer_wanted import UNWANTED, Kind, Wanted, wanted
from query.nameless import by_nobody, nameless, undone
from query.polarity import rough_stem


@dataclass(frozen=True, slots=True)
class Found:
    """What a passage holds of what is asked for.

    Attributes:
        near: 1 where it is seen in the sentence that shares most words with the question, or in one beside it; 0 where
            it may be; -1 where nothing is like it.
        shared: share of the question's words in that sentence and the passage's headings, 0 to 1.
        told: whether the form is sure enough for its absence to say something.
    """

    near: int
    shared: float
    told: bool

    @property
    def unsaid(self) -> float:
        """How much of the question stands where nothing answers it, 0 to 1; 0 where that can't be told."""
        return self.shared if self.told and self.near < 0 else 0.0


_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_HEBREW: Final = re.compile("[א-ת]")
# Words between a number and what it counts: "12,300 new meters".
_COUNTED_WITHIN: Final = 3
# Words between a noun and the "one" behind it, the noun's own place with them.
_ONE_WITHIN: Final = 3
# Words between a number and its unit: "3.2 million NIS", "NIS 3.2".
_UNIT_WITHIN: Final = 2
# Other words than the question's, beside which a sentence has hardly room for a name.
_NO_ROOM: Final = 3
# Fewer words of a question stand together by chance, and say nothing of its answer.
_LEAST_SHARED: Final = 3
# Share of a question's words among which a role is surely the one that is asked about.
_MOST_OF_IT: Final = 2 / 3
# Sentences that share as many words as the best one: more of them would say that it is none.
_MOST_EQUALS: Final = 4
# The passages of a search are looked at one after the other.
_QUESTIONS_KEPT: Final = 64

# Names are told from words less surely than figures are.
_NAMES: Final = frozenset({Kind.PERSON, Kind.NAME, Kind.INSTITUTION})
_PERSONS: Final = frozenset({Kind.PERSON, Kind.NAME})
_COUNTS: Final = frozenset({Kind.COUNT, Kind.MEASURE})
# Each of these shows the kind: a class of words, a number beside a unit, a pattern.
_BY_CLASS: Final[dict[Kind, int]] = {
    Kind.WHEN: forms.DATE | forms.YEAR | forms.HOUR | forms.SPAN,
    Kind.DATE: forms.DATE | forms.YEAR,
    Kind.YEAR: forms.YEAR,
    Kind.HOUR: forms.HOUR,
    Kind.DURATION: forms.SPAN,
    Kind.NUMBER: forms.NUMBER,
    Kind.IDENTIFIER: forms.BIG,
    Kind.NAME: forms.CALLED,
}
_BY_UNIT: Final[dict[Kind, int]] = {
    Kind.WHEN: forms.TIME_UNIT,
    Kind.DURATION: forms.TIME_UNIT,
    Kind.MONEY: forms.CURRENCY,
    Kind.PERCENT: forms.PERCENT,
    Kind.MEASURE: forms.UNIT,
}
_BY_PATTERN: Final[dict[Kind, re.Pattern[str]]] = {
    Kind.PHONE: forms.PHONE,
    Kind.EMAIL: forms.EMAIL,
    Kind.IP: forms.IP,
    Kind.STREET: forms.STREET,
    Kind.NAME: forms.QUOTED,
}
# ... and each of these may stand for it.
_LIKE: Final[dict[Kind, int]] = {
    Kind.WHEN: forms.OCCASION | forms.TIME_UNIT,
    Kind.YEAR: forms.DATE,
    Kind.DURATION: forms.TIME_UNIT | forms.DATE | forms.YEAR,
    Kind.COUNT: forms.FRACTION,
    Kind.MONEY: forms.FREE | forms.PERCENT,
    Kind.PERCENT: forms.FRACTION,
    Kind.PERSON: forms.ROLE | forms.CALLED | forms.COMPANY,
    Kind.NAME: forms.COMPANY,
}
_LIKE_PATTERN: Final[dict[Kind, re.Pattern[str]]] = {Kind.MONEY: forms.WITHOUT_PAY, Kind.PHONE: forms.SHORT_PHONE}
# Numbers that a question which counts things does not ask for.
_OTHER_NUMBERS: Final = forms.DATE | forms.YEAR | forms.HOUR | forms.ONE
_OTHER_UNITS: Final = forms.TIME_UNIT | forms.CURRENCY | forms.PERCENT | forms.DATE


def unsaid(query: str, passage: str, headings: str = "") -> float:
    """`Found.unsaid`; 0 where the question asks for nothing that has a form."""
    there = found(query, passage, headings)
    return 0.0 if there is None else there.unsaid


def found(query: str, passage: str, headings: str = "") -> Found | None:
    """What a passage holds of what a question asks for.

    Args:
        headings: its title and section, whose words hold for each of its sentences.

    Returns:
        None where the question asks for nothing that has a form, or nothing but asks.
    """
    question = _question(query)
    sentences = [part for part in _SENTENCE_END.split(passage) if part.strip()]
    want = question.wanted
    if want is None or not question.stems or not sentences:
        return None
    words = [WORD.findall(sentence.lower()) for sentence in sentences]
    shared = [question.stems & {rough_stem(word) for word in part} for part in words]
    most = max(map(len, shared))
    # Of equals each may be the one that answers.
    best = [place for place, part in enumerate(shared) if len(part) == most][:_MOST_EQUALS]
    above = question.stems & {rough_stem(word) for word in WORD.findall(headings.lower())}
    held = max((part | above for part in (shared[place] for place in best)), key=len)

    def value(before: int, behind: int) -> int:
        """The greatest of the best sentences, with as many before and behind them."""
        spans = [slice(max(0, place - before), place + behind + 1) for place in best]
        return max(_value(want, _Part(question, sentences[span], words[span])) for span in spans)

    here = value(0, 0)
    near = here if here > 0 else value(1, 1)
    if want.kind is Kind.MEASURE and near == 0:
        # "How many millimetres": a bare number may be meant where the thing is spoken of, but not in another sentence.
        near = here
    told = want.kind not in _NAMES or want.noun in forms.ALWAYS_NAMED
    if not told and here < 0:
        # A name has no form of its own in Hebrew: it can be missed, but not where there is no room for one.
        told = all(_no_room(question, sentences[place], words[place]) for place in best)
        near = here if told else near
    # Another name may stand in the same sentence, or a role in place of a name.
    if want.kind in _PERSONS and _left_out(query, question, held, [sentences[place] for place in best], passage, near):
        near, told = -1, True
    return Found(near, len(held) / len(question.stems), told and len(held) >= _LEAST_SHARED)


def _left_out(
    query: str, question: _Question, held: frozenset[str], best: Sequence[str], passage: str, near: int
) -> bool:
    """Whether the best sentences speak of the person that is asked for, and leave the name out."""
    if len(held) >= _MOST_OF_IT * len(question.stems) and nameless(query, question.stems, best):
        return True
    # Somebody who is named for sure may be the doer.
    return near <= 0 and (undone(query, question.stems, held, passage) or by_nobody(query, held, best))


def _no_room(question: _Question, sentence: str, words: Sequence[str]) -> bool:
    """Whether a sentence could not hold a name unseen: names in Latin letters have capitals."""
    others = {stem for word in words for stem in (rough_stem(word),) if stem} - question.stems
    return _HEBREW.search(sentence) is None or len(others) <= _NO_ROOM


class _Question:
    """A question's words, prepared once for all its passages."""

    __slots__ = ("stems", "text", "wanted", "words")

    def __init__(self, query: str) -> None:
        self.text = query.lower()
        self.wanted = wanted(query)
        found = WORD.findall(self.text)
        self.words = frozenset(found)
        self.stems = frozenset(
            stem for word in found if forms.plain(word) not in UNWANTED for stem in (rough_stem(word),) if stem
        )


@lru_cache(_QUESTIONS_KEPT)
def _question(query: str) -> _Question:
    return _Question(query)


class _Part:
    """Some sentences of a passage, with the classes of the words that are not the question's."""

    def __init__(self, question: _Question, sentences: Sequence[str], words: Sequence[Sequence[str]]) -> None:
        self._question = question
        self._sentences = sentences
        self._words = [word for part in words for word in part]
        self._new = [0 if word in question.words else classes(word) for word in self._words]
        self.all = 0
        for one in self._new:
            self.all |= one

    def holds(self, pattern: re.Pattern[str], *, lower: bool = True) -> bool:
        """Whether a pattern stands in it with something that is not in the question."""
        asked = self._question.text
        return any(
            match[0].strip().lower() not in asked
            for sentence in self._sentences
            for match in pattern.finditer(sentence.lower() if lower else sentence)
        )

    def measured(self, unit: int) -> bool:
        """Whether a number that is not the question's stands beside a unit."""
        if not self.all & forms.NUMBER:
            return False
        return any(
            classes(word) & unit
            and any(one & forms.NUMBER for one in self._new[max(0, place - _UNIT_WITHIN) : place + 2])
            for place, word in enumerate(self._words)
        )

    def plain_number(self) -> bool:
        """Whether a number stands in it that is no date, and has no unit of time or money behind it."""
        return any(
            one & forms.NUMBER
            and not one & _OTHER_NUMBERS
            and not any(classes(word) & _OTHER_UNITS for word in self._words[place + 1 : place + 1 + _UNIT_WITHIN])
            for place, one in enumerate(self._new)
        )

    def counted(self, noun: str) -> bool:
        """Whether a number that is not the question's stands before a noun with this stem."""
        if not noun or not self.all & forms.NUMBER:
            return False
        for place, one in enumerate(self._new):
            # One stands behind its noun in Hebrew ("one parking permit": אישור חניה אחד), all other numbers before it.
            start = max(0, place - _ONE_WITHIN) if one & forms.ONE else place + 1
            if one & forms.NUMBER and noun in map(rough_stem, self._words[start : place + 1 + _COUNTED_WITHIN]):
                return True
        return False

    def person(self) -> bool:
        """Whether somebody is named, by a given name, behind a title, or in Latin letters."""
        if self.all & forms.GIVEN_NAME:
            return True
        asked = self._question.words
        titled = any(
            classes(title) & forms.TITLE and name not in asked
            for title, name in zip(self._words, self._words[1:], strict=False)
        )
        return titled or self.holds(forms.FULL_NAME, lower=False)

    def institution(self, noun: str) -> bool:
        """Whether an institution of a kind is named."""
        form = forms.INSTITUTIONS[noun]
        return self.holds(forms.FULL_NAME, lower=False) if form.isascii() else self.holds(forms.named(form))


def _value(want: Wanted, part: _Part) -> int:
    """1 where a part holds what is asked for, 0 where it may, -1 where nothing is like it."""
    if _sure(want, part):
        return 1
    return 0 if _maybe(want, part) else -1


def _sure(want: Wanted, part: _Part) -> bool:
    kind = want.kind
    if part.all & _BY_CLASS.get(kind, 0) or (kind in _BY_UNIT and part.measured(_BY_UNIT[kind])):
        return True
    if kind is Kind.COUNT:
        return part.counted(want.noun)
    if kind is Kind.INSTITUTION:
        return part.institution(want.noun)
    if kind in _PERSONS and part.person():
        return True
    return kind in _BY_PATTERN and part.holds(_BY_PATTERN[kind])


def _maybe(want: Wanted, part: _Part) -> bool:
    kind = want.kind
    if part.all & _LIKE.get(kind, 0):
        return True
    if kind in _COUNTS:
        return part.plain_number() or (kind is Kind.COUNT and not want.noun and bool(part.all & forms.NUMBER))
    if kind is Kind.NAME and part.holds(forms.CAPITALISED, lower=False):
        return True
    return kind in _LIKE_PATTERN and part.holds(_LIKE_PATTERN[kind])
