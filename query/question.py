"""What a question asks of the documents' fields: the measure, the filters, and every word that was not understood.

Nothing is guessed: a word that no rule reads is kept in `unknown`, and an answer that leaves one out is not exact.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal

from pydantic import ValidationError

from query.language import identifiers
from query.names import NameIndex
from query.periods import Period, periods
from query.question_measure import Measure, MeasureReader, Part, Pick, is_document
from query.question_text import Word, normal, words_of
from query.question_words import Concept
from query.request import Filters
from search_config.document_fields import MINOR_UNITS, DocumentType

DateField = Literal["signed", "effective", "expires"]

# The least that an amount can differ by.
ONE_MINOR: Final = Decimal(1) / MINOR_UNITS
DATE_CONCEPTS: Final[dict[Concept, DateField]] = {
    Concept.EXPIRES: "expires",
    Concept.EFFECTIVE: "effective",
    Concept.SIGNED: "signed",
}
SCALES: Final[dict[str, int]] = {
    "אלף": 1_000, "k": 1_000, "thousand": 1_000, "מיליון": 1_000_000, "million": 1_000_000, "m": 1_000_000,
}  # fmt: skip
_THRESHOLD: Final = re.compile(
    r"(?:^|(?<=\s))ש?(?P<how>מעל|יותר\s+מ-?|לפחות|מתחת|פחות\s+מ-?|לכל\s+היותר|עד|above|over|more\s+than|at\s+least|under|below|less\s+"
    r"than|at\s+most)\s*(?:ל-?|מ-?)?\s*(?P<sign>[$€£₪])?(?P<number>\d[\d,]*(?:\.\d{1,2})?)?\s*(?P<scale>אלף|מיליון|thousand|"
    r"million|k\b|m\b)?(?=\s|$|[$€£₪?.,])"
)
_ABOVE: Final = frozenset(("מעל", "יותר", "above", "over", "more"))
_AT_LEAST: Final = frozenset(("לפחות", "at least"))
_BELOW: Final = frozenset(("מתחת", "פחות", "under", "below", "less"))
_SIGNS: Final = {"$": "USD", "€": "EUR", "£": "GBP", "₪": "ILS"}
# Words between a type of documents and its number: "contract with the city, number 310".
REFERENCE_WITHIN: Final = 3
# A date is a period, whatever else its digits look like.
_DATE: Final = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:19|20)\d\d")
_NUMBER: Final = re.compile(r"\d{1,6}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names that the corpus of the asker knows."""

    parties: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question as the rules read it.

    Attributes:
        measure: what is asked of the fields; None where nothing is.
        pick: the one document that the measure is of: "of the largest contract".
        date_field: the date that is asked or narrowed by; None is the document's day.
        part: which parties are asked for, or counted.
        by: what is counted apart.
        filters: derived from the question.
        typed: whether it names documents at all ("contracts", "files").
        restricted: whether it says which ones.
        names: words after "with", "of", "from" that no vocabulary knows.
        content: words that ask for what documents say.
        compares: whether it sets documents against each other.
        unknown: words that no rule reads.
        described: those of them that stand behind a type, and say which document is meant: "lease of the hall".
        unclear: why the filters may not be what was meant.
        parts: whether it names a kind of parties.
        asks_how: whether it asks how, why, or whether something is allowed.
        sides: reference numbers and parties, in the question's order, that a comparison may be between.
    """

    measure: Measure | None = None
    pick: Pick | None = None
    date_field: DateField | None = None
    part: Part | None = None
    by: Part | None = None
    filters: Filters = field(default_factory=Filters)
    typed: bool = False
    restricted: bool = False
    names: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    compares: bool = False
    unknown: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    sides: tuple[Filters, ...] = ()
    parts: bool = False
    asks_how: bool = False


def understand(question: str, as_of: date, vocabulary: Vocabulary | None = None) -> Understanding:
    """Read a question.

    Args:
        question: as it was asked, cleaned.
        as_of: the day that periods are counted from.
        vocabulary: names of parties and tags; None where they were not looked up.
    """
    return _Reader(question, as_of, vocabulary or Vocabulary()).read()


class _Reader:
    """One reading: takes out of the question what each rule reads, until the rest is unknown."""

    def __init__(self, question: str, as_of: date, vocabulary: Vocabulary) -> None:
        self._cased = normal(question, lower=False)
        self._text = self._cased.lower()
        self._as_of = as_of
        self._vocabulary = vocabulary
        self._values: dict[str, Any] = {}
        self._unclear: list[str] = []
        self._sides: list[tuple[int, Filters]] = []
        self._content: list[str] = []

    def read(self) -> Understanding:
        self._thresholds()
        references = self._references()
        found = periods(self._text, self._as_of)
        self._blank(*(period.span for period in found))
        words = words_of(self._text)
        words, named, parties = self._known_names(self._numbered(words))
        measure = MeasureReader(words, frozenset(named))
        left = measure.left
        date_field = self._dates(words, found, measure)
        typed = any(word.meaning.type or word.says(Concept.DOCUMENT, Concept.OTHER_DOCUMENT) for word in words)
        left, names = _slots(left, words, self._capitals(words))
        self._fields(words)
        content = [word.text for word in left if word.says(Concept.CONTENT, Concept.HOW, Concept.COMPARE)]
        unknown = [
            word.text
            for word in left
            if not word.says(Concept.CONTENT, Concept.HOW, Concept.COMPARE)
            and not word.meaning.empty
            and word.span not in measure.unused
        ]
        filters = self._filters()
        picked = measure.pick
        restricted = bool(filters.given().keys() - {"type"} or names or picked or references or parties)
        return Understanding(
            measure=measure.measure,
            pick=picked,
            date_field=date_field,
            part=measure.part,
            by=measure.by,
            filters=filters,
            typed=typed,
            restricted=restricted,
            names=tuple(names),
            content=tuple(content),
            compares=any(word.says(Concept.COMPARE) for word in words),
            unknown=tuple(unknown),
            described=tuple(word.text for word in _described(words) if word.text in unknown),
            unclear=(*self._unclear, *(word.text for word in left if word.span in measure.unused)),
            parts=any(word.meaning.part for word in words),
            asks_how=any(word.says(Concept.HOW) for word in left),
            sides=tuple(side for _, side in sorted(self._sides, key=lambda entry: entry[0])),
        )

    def _capitals(self, words: Sequence[Word]) -> set[tuple[int, int]]:
        """Unknown words with a capital right before a type of documents: "the Northwind agreement"."""
        found: set[tuple[int, int]] = set()
        for place in range(len(words) - 1, 0, -1):
            word, after = words[place - 1], words[place]
            before_type = after.meaning.type is not None or after.span in found
            if before_type and place > 1 and not word.meaning.known and self._cased[word.span[0]].isupper():
                found.add(word.span)
        return found

    def _filters(self) -> Filters:
        """The filters; one that a request may not have (a number of twenty digits, hundreds of codes) is unclear."""
        try:
            return Filters.model_validate(self._values)
        except ValidationError as error:
            wrong = {str(problem["loc"][0]) for problem in error.errors()}
            self._unclear += sorted(wrong)
            return Filters.model_validate({name: value for name, value in self._values.items() if name not in wrong})

    def _blank(self, *spans: tuple[int, int]) -> None:
        for start, end in spans:
            self._text = self._text[:start] + " " * (end - start) + self._text[end:]

    def _references(self) -> tuple[str, ...]:
        """Identifiers right behind a type of documents; others ("fault E-4031") name something else, and stay."""
        found = []
        for name in identifiers(self._text):
            start = self._text.index(name)
            before = words_of(self._text[:start])[-REFERENCE_WITHIN:]
            if _DATE.fullmatch(name) or not any(map(is_document, before)):
                continue
            found.append(name)
            self._sides.append((start, Filters.model_construct(reference=_spellings(name))))
            self._add("reference", _spellings(name))
            self._blank((start, start + len(name)))
        return tuple(found)

    def _numbered(self, words: list[Word]) -> list[Word]:
        """ "Procedure 14" and "agreement number 310" are references."""
        kept = []
        for place, word in enumerate(words):
            before = [other for other in words[max(0, place - 2) : place] if not other.says(Concept.NUMBER)]
            kind = before[-1] if before else None
            if _NUMBER.fullmatch(word.text) and kind is not None and kind.meaning.type:
                names = (word.text, f"{kind.text} {word.text}")
                self._sides.append((word.span[0], Filters.model_construct(reference=names)))
                self._add("reference", names)
            else:
                kept.append(word)
        return kept

    def _add(self, name: str, values: Iterable[str]) -> None:
        self._values[name] = tuple(dict.fromkeys((*self._values.get(name, ()), *values)))

    def _thresholds(self) -> None:
        """ "Over 50,000", "at least a million"."""
        for match in list(_THRESHOLD.finditer(self._text)):
            if match["number"] is None and match["scale"] is None:
                continue
            how = " ".join(match["how"].split()).removesuffix("-")
            if how in ("עד", "לפחות") and match["scale"] is None and _is_year(match["number"] or ""):
                continue
            number = Decimal((match["number"] or "1").replace(",", "")) * SCALES.get(match["scale"] or "", 1)
            first = how.split()[0]
            if how in _AT_LEAST:
                self._values["amount_min"] = number
            elif first in _ABOVE:
                self._values["amount_min"] = number + ONE_MINOR
            elif first in _BELOW:
                self._values["amount_max"] = max(Decimal(0), number - ONE_MINOR)
            else:
                self._values["amount_max"] = number
            if match["sign"]:
                self._add("currency", [_SIGNS[match["sign"]]])
            self._blank(match.span())

    def _known_names(self, words: list[Word]) -> tuple[list[Word], list[int], bool]:
        """Takes out names that are known; gives the words left, and after which of them a name stood."""
        found = [("party", entry) for entry in NameIndex(self._vocabulary.parties).find(words)]
        taken = {place for _, entry in found for place in entry.places}
        tags = NameIndex(self._vocabulary.tags, partly=False).find(words)
        found += [("tags", entry) for entry in tags if taken.isdisjoint(entry.places)]
        for name, entry in found:
            self._add(name, entry.names)
            taken.update(entry.places)
            if name == "party":
                self._sides.append((words[entry.places.start].span[0], Filters.model_construct(party=entry.names)))
            if len(entry.names) > 1:
                self._unclear.append(" / ".join(entry.names))
        kept = [place for place in range(len(words)) if place not in taken]
        named = [number for number, place in enumerate(kept) if place + 1 in taken]
        return [words[place] for place in kept], named, bool(found)

    def _dates(self, words: Sequence[Word], found: Sequence[Period], measure: MeasureReader) -> DateField | None:
        told = [name for concept, name in DATE_CONCEPTS.items() if any(word.says(concept) for word in words)]
        said = told[0] if told else None
        if len(told) > 1 and found:
            self._unclear.append(" / ".join(told))
        if any(word.says(Concept.IN_FORCE) for word in words):
            days = {period.first for period in found if period.first == period.last} or {self._as_of}
            if len(found) > 1 or len(days) > 1 or any(period.first != period.last for period in found):
                self._unclear.append("in force")
            self._values["in_force_on"] = min(day for day in days if day is not None)
            return said
        if found:
            name = said or "dated"
            self._values |= {f"{name}_from": found[0].first, f"{name}_to": found[0].last}
            if len(found) > 1:
                self._unclear.append("; ".join(f"{period.first}..{period.last}" for period in found))
        elif said == "expires" and measure.measure in {"list", "count"}:
            self._unclear.append("when")
        return said

    def _fields(self, words: Sequence[Word]) -> None:
        typed = [word for word in words if word.meaning.type]
        types = dict.fromkeys(word.meaning.type for word in typed)
        # What was paid is told by invoices; a contract's amount is none of it.
        paid = not types and any(word.says(Concept.PAID) for word in words)
        self._take("type", [DocumentType.INVOICE] if paid else types)
        # "Contracts and invoices" are both; "reports on contracts" are not.
        if len(types) > 1 and not any(word.text[0] == "ו" for word in typed[1:]):
            self._unclear.append(" / ".join(word.text for word in typed))
        self._take("currency", [word.meaning.currency for word in words])
        self._take("language", [word.meaning.language for word in words])
        amounts = {"amount_min", "amount_max"} & self._values.keys()
        if amounts and len(self._values.get("currency", ())) != 1:
            for name in amounts:
                self._unclear.append(f"{name} {self._values.pop(name)}")

    def _take(self, name: str, values: Iterable[str | None]) -> None:
        known = [value for value in values if value]
        if known:
            self._add(name, known)


def _slots(left: Sequence[Word], words: Sequence[Word], capitals: set[tuple[int, int]]) -> tuple[list[Word], list[str]]:
    """Unknown words behind "with", "of", "from" and the like are a name, and those with capitals that are given."""
    kept: list[Word] = []
    names: list[str] = []
    remaining = {word.span for word in left}
    open_, previous = False, None
    for word in words:
        attached = (
            previous is not None
            and (previous.meaning.type is not None or previous.says(Concept.PAID, Concept.DATED))
            and word.text[0] in "מל"
        )
        if word.says(Concept.NAMED):
            open_ = True
        elif word.span not in remaining or word.meaning.known:
            if word.span in remaining:
                kept.append(word)
            open_ = open_ and word.meaning.empty
        elif open_ or attached or word.span in capitals:
            names.append(word.text)
            open_ = open_ or attached
        else:
            kept.append(word)
        previous = word
    return kept, names


def _described(words: Sequence[Word]) -> list[Word]:
    """Unknown words directly behind a type of documents."""
    found: list[Word] = []
    open_ = False
    for word in words:
        if word.meaning.type:
            open_ = True
        elif open_ and not word.meaning.known:
            found.append(word)
        else:
            open_ = False
    return found


def _spellings(name: str) -> tuple[str, ...]:
    """An identifier was read in small letters; documents may have it in capitals."""
    return tuple(dict.fromkeys((name.upper(), name)))


def _is_year(number: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", number))


def without_side(found: Understanding, names: Iterable[str]) -> Understanding:
    """The same without some derived filters, which the asker took off."""
    values = {name: value for name, value in found.filters.given().items() if name not in set(names)}
    return replace(found, filters=Filters.model_validate(values))
