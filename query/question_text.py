"""A question as words, and which known word each is: Hebrew prefixes off, one slip of the pen allowed. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from query.question_words import (
    CONCEPTS,
    CURRENCIES,
    EMPTY,
    LANGUAGES,
    NEVER_CORRECTED,
    PARTS,
    TYPES,
    Concept,
)
from search_config.document_fields import DocumentType, PartyKind

PREFIXES: Final = "ובלמשהכ"
MAX_PREFIXES: Final = 3
# A word shorter than this is another word when one letter changes.
CORRECTED_FROM: Final = 5
# Words whose meaning is kept: more than a day's questions have different ones.
KEPT: Final = 20_000
CORRECTED_FORM_FROM: Final = 4
# Prefixes that stand before any word at all; the others would turn names into words: ברק is not ב and רק.
JOINING: Final = "וש"
FINALS: Final = str.maketrans("ךםןףץ", "כמנפצ")
NOT_CORRECTED: Final = frozenset((Concept.CONTENT, Concept.COMPARE, Concept.HOW, Concept.NAMED))
_POINTS: Final = re.compile("[\u0591-\u05bd\u05bf-\u05c7]")
_QUOTES: Final = re.compile('(?<=\\w)["\u201d\u201c\u2033]+(?=\\w)')
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u05f3\u2019\u2018`", "'"))
_WORD: Final = re.compile(r"[^\s,;:!?()\[\]\u2013\u2014]+")
_EDGES: Final = ".\"'\u201c\u201d-\u05be"
# A Hebrew prefix before a word of other letters: ב-USD.
_HYPHENED: Final = re.compile("^[\u05d0-\u05ea]{1,3}[-\u05be](?=[^\u05d0-\u05ea])")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a known word says; at most one of the first four, or concepts, or nothing at all (`empty`)."""

    type: DocumentType | None = None
    part: PartyKind | None = None
    currency: str | None = None
    language: str | None = None
    concepts: frozenset[Concept] = frozenset()
    empty: bool = False

    @property
    def known(self) -> bool:
        return self != Meaning()


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question, and where it stands."""

    text: str
    span: tuple[int, int]
    meaning: Meaning

    def says(self, *concepts: Concept) -> bool:
        return not self.meaning.concepts.isdisjoint(concepts)


def normal(text: str, *, lower: bool = True) -> str:
    """A question or a name in one spelling: NFC, no vowel points, gershayim inside words as ״, small letters."""
    plain = _POINTS.sub("", unicodedata.normalize("NFC", text)).translate(_APOSTROPHES)
    joined = _QUOTES.sub("\u05f4", plain)
    return joined.lower() if lower else joined


def words_of(text: str) -> list[Word]:
    """The words of a normalised text."""
    return [Word(bare, span, meaning(bare)) for bare, span in bare_words(text)]


def bare_words(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The words of a text without the sentence's marks and hyphened prefixes, and where they stand."""
    for match in _WORD.finditer(text):
        token = match.group().strip(_EDGES)
        token = _HYPHENED.sub("", token).strip(_EDGES)
        if token:
            start = match.start() + match.group().index(token)
            yield token, (start, start + len(token))


def without_prefixes(word: str) -> Iterator[str]:
    """The word, then the word without one, two, three letters that may be prefixes; two letters stay."""
    yield word
    for count in range(1, MAX_PREFIXES + 1):
        if len(word) - count < 2 or word[count - 1] not in PREFIXES:
            return
        yield word[count:]


@cache
def _forms() -> dict[str, Meaning]:
    forms: dict[str, Meaning] = {}
    for type_, names in TYPES.items():
        forms |= {name: Meaning(type=type_) for name in names.split()}
    for part, names in PARTS.items():
        forms |= {name: Meaning(part=part) for name in names.split()}
    for currency, names in CURRENCIES.items():
        forms |= {name: Meaning(currency=currency) for name in names.split()}
    for language, names in LANGUAGES.items():
        forms |= {name: Meaning(language=language) for name in names.split()}
    concepts: dict[str, set[Concept]] = {}
    for concept, names in CONCEPTS.items():
        for name in names.split():
            concepts.setdefault(name, set()).add(concept)
    for name, said in concepts.items():
        known = forms.get(name, Meaning())
        forms[name] = Meaning(known.type, known.part, known.currency, known.language, frozenset(said))
    return {name.translate(FINALS): found for name, found in forms.items()}


@cache
def _empty() -> frozenset[str]:
    return frozenset(word.translate(FINALS) for word in EMPTY)


@cache
def _kept() -> frozenset[str]:
    return frozenset(word.translate(FINALS) for word in NEVER_CORRECTED)


@lru_cache(maxsize=KEPT)
def meaning(word: str) -> Meaning:
    """What a word says: as it is written, then without prefixes, then with one letter mended."""
    candidates = [candidate.translate(FINALS) for candidate in without_prefixes(word)]
    forms = _forms()
    for place, candidate in enumerate(candidates):
        if candidate in forms:
            return forms[candidate]
        if candidate in _empty() and all(letter in JOINING for letter in word[:place]):
            return Meaning(empty=True)
    if not _kept().isdisjoint(candidates):
        return Meaning()
    for candidate in candidates:
        if len(candidate) < CORRECTED_FORM_FROM:
            continue
        for form, found in _corrected().get(candidate[0], ()):
            if len(word) < CORRECTED_FROM and len(form) < CORRECTED_FROM:
                continue
            if one_slip(candidate, form):
                return found
    return Meaning()


@cache
def _corrected() -> dict[str, list[tuple[str, Meaning]]]:
    """Forms that a slip of the pen is mended into, by first letter: those of fields. Words of content are many and
    alike."""
    forms: dict[str, list[tuple[str, Meaning]]] = {}
    for form, found in _forms().items():
        if len(form) >= CORRECTED_FORM_FROM and found.concepts.isdisjoint(NOT_CORRECTED):
            forms.setdefault(form[0], []).append((form, found))
    return forms


def one_slip(one: str, other: str) -> bool:
    """Whether one letter was changed, dropped or added, or two neighbours were swapped."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    if len(one) == len(other):
        swapped = one[start + 1 : start + 2] + one[start : start + 1] == other[start : start + 2]
        return one[start + 1 :] == other[start + 1 :] or (swapped and one[start + 2 :] == other[start + 2 :])
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[start + 1 :] == shorter[start:]
