"""What a question asks of the documents' fields, from the order of its known words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal

from query.question_text import Word
from query.question_words import Concept
from search_config.document_fields import DocumentType, PartyKind

Measure = Literal["count", "sum", "average", "max", "min", "latest", "earliest", "who", "when", "amount", "list"]
Pick = Literal["max", "min", "latest", "earliest"]
Part = Literal["party", "vendor", "client", "authority", "person"]

PARTS: Final[dict[PartyKind, Part]] = {
    PartyKind.VENDOR: "vendor",
    PartyKind.CLIENT: "client",
    PartyKind.AUTHORITY: "authority",
    PartyKind.PERSON: "person",
}
METADATA: Final = frozenset(Concept) - {Concept.CONTENT, Concept.COMPARE, Concept.HOW, Concept.NAMED}
PICKING: Final = (Concept.GREAT, Concept.SMALL, Concept.LATE, Concept.EARLY, Concept.MOST)
# Hebrew adjectives of several documents: "the last ones" are not one.
PLURAL: Final = ("ים", "ות")
# Words that tell a letter's direction, which no field holds.
DIRECTED: Final = frozenset(("קיבלנו", "שקיבלנו", "שלחנו", "ששלחנו", "received", "sent"))


def is_noun(word: Word) -> bool:
    """Whether the word names documents or parties."""
    return bool(
        word.meaning.type or word.meaning.part or word.says(Concept.DOCUMENT, Concept.OTHER_DOCUMENT, Concept.PARTY)
    )


def is_document(word: Word) -> bool:
    """Whether the word names documents."""
    return bool(word.meaning.type or word.says(Concept.DOCUMENT, Concept.OTHER_DOCUMENT))


class MeasureReader:
    """The measure of a question, and the words that it does not use.

    Args:
        words: of the question, without periods, references, amounts and known names.
        named: places in `words` right behind which a known name stood: "supplier X".

    Attributes:
        left: words that are left to be read as content, or stay unknown; known ones whose meaning is not used, too.
        unused: those of them that have a meaning in fields.
    """

    def __init__(self, words: Sequence[Word], named: frozenset[int] = frozenset()) -> None:
        self._words = list(words)
        self._named = named
        self.by: Part | None = self._grouped()
        self.asked_part = self._asked_part()
        self.pick = self._picked()
        self.measure = next(self._measures(), None)
        self.part: Part | None = None
        if self.measure == "who" or (self.measure == "count" and self.by is None):
            self.part = self.asked_part or ("party" if self.measure == "who" else None)
        used = [self._used(place) for place in range(len(self._words))]
        self.left = [word for word, kept in zip(self._words, used, strict=True) if not kept]
        self.unused = frozenset(
            word.span
            for word in self.left
            if self._of_fields(word) and not word.says(Concept.CONTENT, Concept.COMPARE, Concept.HOW)
        )

    def has(self, *concepts: Concept) -> bool:
        """Whether a word says one of these."""
        return any(word.says(*concepts) for word in self._words)

    def _measures(self) -> Iterator[Measure]:
        """What may be asked, the most telling first."""
        noun = any(is_noun(word) for word in self._words)
        counts = self.has(Concept.COUNT) or self._counts_by_number() or self._pair("how", "many")
        counted = any(one.says(Concept.COUNT) and is_noun(two) for one, two in pairwise(self._telling()))
        much = self._pair("how", "much") or (counts and not counted)
        if self.has(Concept.AVERAGE):
            yield "average"
        if self.has(Concept.TOTAL) or (self.has(Concept.PAID) and (much or self._whole())):
            yield "sum"
        if self.has(Concept.AMOUNT) and self._whole():
            yield "sum"
        if counts:
            # What is counted otherwise ("how many days") is no document.
            if noun:
                yield "count"
            return
        yield from self._told(noun=noun)

    def _told(self, *, noun: bool) -> Iterator[Measure]:
        """Measures beside numbers."""
        if self.has(Concept.WHEN):
            yield "when"
        if self.asked_part or self.has(Concept.PARTY) or (self.has(Concept.WHO) and self._only_parties()):
            yield "who"
        if self.has(Concept.AMOUNT) and self.pick not in {"max", "min"}:
            yield "amount"
        if self.pick:
            yield self.pick
        if noun and self.has(Concept.LIST):
            yield "list"
        if noun and (self._whether() or self._pair("is", "there") or self._pair("are", "there")):
            yield "count"

    def _used(self, place: int) -> bool:
        """Whether the measure or a filter stands for the word, so that nothing of it is lost."""
        word, said = self._words[place], self._words[place].meaning
        if said.type or said.currency or said.language or word.text in self._counting_words():
            return True
        if said.part:
            return self._part_is_used(place)
        if word.says(Concept.OTHER_DOCUMENT):
            return False
        if word.says(*PICKING):
            return self.pick is not None and not word.text.endswith(PLURAL)
        if word.says(Concept.EACH):
            return self.by is not None
        if word.says(Concept.WHOLE):
            return self._is_whole(place)
        if word.says(Concept.NUMBER):
            return self._number_is_used(place)
        return self._used_otherwise(place)

    def _used_otherwise(self, place: int) -> bool:
        word = self._words[place]
        if word.says(Concept.IN_LANGUAGE) and word.says(Concept.CONTENT):
            after = self._after(place)
            return after is not None and after.meaning.language is not None
        if word.says(Concept.HOW):
            return self._whether_at(place)
        if word.says(Concept.DATED) and word.text in DIRECTED:
            return not any(other.meaning.type is DocumentType.CORRESPONDENCE for other in self._words)
        if word.says(Concept.PAID):
            return self.measure in {"sum", "average"}
        return self._of_fields(word)

    @staticmethod
    def _of_fields(word: Word) -> bool:
        return not word.meaning.concepts.isdisjoint(METADATA) or word.meaning.part is not None

    def _part_is_used(self, place: int) -> bool:
        kind = self._words[place].meaning.part
        return place in self._named or (kind is not None and PARTS[kind] in {self.by, self.part})

    def _after(self, place: int) -> Word | None:
        return self._words[place + 1] if place + 1 < len(self._words) else None

    def _whole(self) -> bool:
        return any(self._is_whole(place) for place in range(len(self._words)))

    def _is_whole(self, place: int) -> bool:
        """ "The whole sum": not the verb "includes", which is spelt alike."""
        word, before = self._words[place], self._words[max(0, place - 3) : place]
        if not word.says(Concept.WHOLE):
            return False
        sums = any(other.says(Concept.TOTAL, Concept.AMOUNT, Concept.PAID) for other in before)
        return sums or (word.text.startswith("ה") and self.has(Concept.TOTAL, Concept.AMOUNT, Concept.PAID))

    def _number_is_used(self, place: int) -> bool:
        after = self._after(place)
        before = self._words[place - 1] if place else None
        return (before is not None and before.meaning.type is not None) or (after is not None and is_noun(after))

    def _whether(self) -> bool:
        return any(self._whether_at(place) for place in range(len(self._words)))

    def _whether_at(self, place: int) -> bool:
        """ "האם יש": whether there is one."""
        after = self._after(place)
        return self._words[place].text == "האם" and after is not None and after.text in {"יש", "קיים", "קיימים"}

    def _counting_words(self) -> set[str]:
        pairs = {word for word in ("many", "much") if self._pair("how", word)}
        return pairs | {"how"} if pairs else set()

    def _telling(self) -> list[Word]:
        return [
            word
            for word in self._words
            if not (word.meaning.empty or (word.says(Concept.NAMED) and not word.meaning.part))
        ]

    def _pair(self, first: str, second: str) -> bool:
        return any(one.text == first and two.text == second for one, two in pairwise(self._words))

    def _only_parties(self) -> bool:
        """Who signed, or who alone; not who pays."""
        return self.has(Concept.SIGNED) or all(word.meaning.known for word in self._words)

    def _picked(self) -> Pick | None:
        words, most = self._words, self.has(Concept.MOST)
        for place, word in enumerate(words):
            latin = word.text.isascii()
            near = [other for other in words[max(0, place - 2) : place + 3] if other is not word]
            beside = most or latin or any(map(is_document, near))
            if word.text.endswith(PLURAL):
                continue
            if word.says(Concept.GREAT) and (most or latin):
                return "max"
            if word.says(Concept.SMALL) and (most or latin):
                return "min"
            if word.says(Concept.LATE) and beside:
                return "latest"
            if word.says(Concept.EARLY) and beside:
                return "earliest"
        return None

    def _counts_by_number(self) -> bool:
        """A number of agreements; not agreement number 7."""
        words = self._telling()
        return any(
            one.says(Concept.NUMBER) and is_noun(two) and not (place and words[place - 1].meaning.type)
            for place, (one, two) in enumerate(pairwise(words))
        )

    def _asked_part(self) -> Part | None:
        """The part that a question word stands before: which suppliers, who is the client."""
        for one, two in pairwise(self._telling()):
            if one.says(Concept.WHO, Concept.LIST, Concept.COUNT) or one.text == "many":
                if two.meaning.part:
                    return PARTS[two.meaning.part]
                if two.says(Concept.PARTY):
                    return "party"
        return None

    def _grouped(self) -> Part | None:
        """For each supplier, per client."""
        for one, two in pairwise(self._words):
            if one.says(Concept.EACH) and (two.meaning.part or two.says(Concept.PARTY)):
                return PARTS[two.meaning.part] if two.meaning.part else "party"
        return None
