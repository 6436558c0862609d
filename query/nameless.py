"""Whether a text speaks of somebody whom a question asks the name of, and leaves the name out. Pure.

"Who is the inspector that comes every month?" is not answered by "an inspector comes every month", though every word of
it stands there. A role that is named has the name beside it: the inspector Ron Barak; Ron Barak, the inspector. Where
all of what stands beside the role is the question's own, or ends the phrase, none is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from query import answer_forms as forms
from query.answer_forms import classes
from query.answer_wanted import past
from query.polarity import rough_stem
from query.word_kin import akin, roots

# The noun that is asked for by name; in English the words before it are its own ("escrow agent").
_ASKED: Final = re.compile(
    r"^מי (?:הוא |היא |זה |זו )?(?:אות[וה] )?(ה?[א-ת]{3,})|\b(?:מה|מהו) (?:שמו של|שמה של|שם) ה([א-ת]{3,})"
    r"|\b(?:name of|who (?:is|was)) the ((?:[a-z]+ )?[a-z]+)",
    re.IGNORECASE,
)
_OF_SOMEBODY: Final = re.compile(r"^מי (?:(?:הוא|היא|זה|זו) )?(?:אות[וה] )")
_TOKEN: Final = re.compile(r"[א-ת][א-ת״׳\"']*|[A-Za-z]+|\d+|[^\sא-תA-Za-z\d]")
# Words that end the phrase of a role, so that no name is part of it.
_AFTER: Final = frozenset(
    (  # noqa: SIM905  read as a list
        "לא מטעם של על את עם אל כי אשר אין יש או גם רק היה הייתה היו הוא היא עד לפי בעל "
        "within in of that who which with from to at is was has had and or for by on"
    ).split()
)
# Things have names too, but in every script and spelling, so that none is missed for sure.
_THINGS: Final = frozenset(
    (  # noqa: SIM905  read as a list
        "סטארטאפ חברה סטודיו אפליקציה קרן מפלגה שבב מוצר תוכנה ספר סרט סדרה שיר להקה ארגון מיזם פרויקט אתר "
        "company app party product software book film movie series song band project website"
    ).split()
)
# A clause about the role: "who graded", שדירג.
_RELATIVE: Final = "ש"
# Marks that bring a name: "the inspector – Ron Barak".
_BRINGS: Final = frozenset("–—-:(,")
# Marks around one: "the guard, Ron Barak, ..."; a hyphen stands within words too.
_AROUND: Final = frozenset("–—(,")
# Words of a name between two marks: "the guard who locked the gate, Almog Barkoz, was thanked".
_LONGEST_NAME: Final = 3
# "Who planned the fountain": the deed, which may be all that a passage about the fountain does not tell.
_DOER: Final = re.compile(r"^מי ([א-ת]{3,})")
# "By whom was it laid": the doer stands behind one of these marks, or the deed has none.
_BY_WHOM: Final = re.compile(r"^(?:בידי|על ידי|ע[״\"]י) מי ([א-ת]{3,})")
_BY: Final = re.compile(r"(?<![א-ת])[וש]?(?:בידי|ידי|ע[״\"]י|מידי|מאת)(?![א-ת])")
# Of so many words more than the deed a passage holds all by its subject, not by chance; of few, the deed may be told in
# other words (2 of HeQ's 1,058 answers are, with three or four of them).
_ENOUGH: Final = 5
# Letters before a noun: "that the guard".
_MOST_BEFORE: Final = 2
# Words on each side among which a name would stand: a title, a given name and a family name.
_BESIDE: Final = 3


def nameless(query: str, stems: frozenset[str], sentences: Sequence[str]) -> bool:
    """Whether the sentences speak of the one who is asked for by name, and none of them has a name for it.

    Args:
        query: the question.
        stems: rough stems of its words.
        sentences: those of a passage that share most words with the question. One with a quote that is not the
            question's may name it there.
    """
    noun = _noun(query)
    if not noun or noun in _THINGS:
        return False
    asked = _Asked(query, stems)
    if any(match[0].strip() not in query for sentence in sentences for match in forms.QUOTED.finditer(sentence)):
        return False
    tokens = [_TOKEN.findall(sentence) for sentence in sentences]
    if any(_apposed(asked, one) for one in tokens):
        return False
    found = [left for one in tokens for left in _left_out(noun, asked, one)]
    return bool(found) and all(found)


def undone(query: str, stems: frozenset[str], held: frozenset[str], text: str) -> bool:
    """Whether a text holds all that a question of a doer says but the deed, of which it has no form.

    Args:
        stems: rough stems of the question's words.
        held: those that stand in the sentence which shares most of them, and in the headings.
        text: the passage.
    """
    found = _DOER.match(query)
    if found is None or len(held) < _ENOUGH:
        return False
    return stems - held == {rough_stem(found[1])} and not akin(found.groups(), text)


def by_nobody(query: str, held: frozenset[str], sentences: Sequence[str]) -> bool:
    """Whether a question asks by whom something was done, and all sentences tell that it was, none of them by whom."""
    found = _BY_WHOM.match(query)
    return (
        found is not None
        and len(held) >= _ENOUGH
        and all(akin(found.groups(), one) and not _BY.search(one) for one in sentences)
    )


class _Asked:
    """A question's words, in any form."""

    def __init__(self, query: str, stems: frozenset[str]) -> None:
        self._words = frozenset(word.lower() for word in _TOKEN.findall(query))
        self._stems = stems
        self._roots = frozenset[str]().union(*map(roots, self._words))

    def has(self, word: str) -> bool:
        """Whether a word is the question's own."""
        return (
            word.lower() in self._words
            or rough_stem(word.lower()) in self._stems
            or not self._roots.isdisjoint(roots(word))
        )


def _noun(query: str) -> str:
    """The noun that is asked for by name, without its article; empty where none is."""
    found = _ASKED.search(query)
    if found is None:
        return ""
    noun = (found[1] or found[2] or found[3]).lower().split()[-1]
    if found[1]:
        # Without an article it is a verb ("who planned"), but behind "that same".
        if (noun[0] != "ה" or past(noun)) and not _OF_SOMEBODY.match(query):
            return ""
        noun = noun.removeprefix("ה")
    return noun


def _is(word: str, noun: str) -> bool:
    """Whether a word is a noun, with letters that Hebrew writes before it."""
    if not word.lower().endswith(noun):
        return False
    before = word.lower().removesuffix(noun)
    return len(before) <= _MOST_BEFORE and all(letter in forms.PREFIXES for letter in before)


def _apposed(asked: _Asked, tokens: Sequence[str]) -> bool:
    """Whether a few words that may be a name stand between two marks."""
    marks = [place for place, token in enumerate(tokens) if not token[0].isalnum()]
    return any(
        tokens[start] in _AROUND
        and 0 < end - start - 1 <= _LONGEST_NAME
        and all(_like_a_name(one) and not asked.has(one) for one in tokens[start + 1 : end])
        for start, end in pairwise(marks)
    )


def _left_out(noun: str, asked: _Asked, tokens: Sequence[str]) -> list[bool]:
    """For each place where the noun stands, whether no name is beside it."""
    found = []
    for place, token in enumerate(tokens):
        if not token[0].isalpha() or not _is(token, noun):
            continue
        end = place + 1
        while end < len(tokens) and tokens[end][0].isalpha() and asked.has(tokens[end]):
            end += 1
        behind = tokens[end] if end < len(tokens) else "."
        ends = not behind[0].isalpha() or behind.lower() in _AFTER or behind[0] == _RELATIVE or end > place + 1
        beside = (*tokens[max(0, place - _BESIDE) : place], *tokens[end : end + _BESIDE])
        brought = behind in _BRINGS and any(map(_like_a_name, tokens[end + 1 : end + 2]))
        named = any(_named(one) for one in beside if not asked.has(one))
        found.append(ends and not named and not brought)
    return found


def _named(word: str) -> bool:
    """Whether a word is seen to be a name: a given name, a title before one, Latin letters with a capital."""
    if not word[0].isalpha():
        return False
    capital = word[0].isascii() and word[0].isupper()
    return capital or bool(classes(word.lower()) & (forms.GIVEN_NAME | forms.TITLE))


def _like_a_name(word: str) -> bool:
    """Whether a word behind a mark may be a name: it is no clause and none of the words that go on."""
    return word[0].isalpha() and word.lower() not in _AFTER and word[0] != _RELATIVE
