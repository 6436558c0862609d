"""Which sentence and which statement of a passage speak of a claim, and quantities compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from evaluation.evidence import wording
from evaluation.evidence.claims import split_answer
from evaluation.evidence.numbers import Quantity, quantities
from search_config.sentences import sentence_starts

# Between the cells of a table's row, in canonical texts and in answers.
CELLS: Final = " | "


def sentences_of(text: str) -> list[str]:
    """Sentences of a text; every line ends one."""
    lines = [line for line in text.split("\n") if line.strip()]
    found: list[str] = []
    for line in lines:
        bounds = [0, *sentence_starts(line, 0, len(line)), len(line)]
        found += [line[begin:end] for begin, end in pairwise(bounds)]
    return found


def nearest_sentence(passage: str, wanted: tuple[str, ...], numbers: Sequence[Quantity]) -> str:
    """The sentence that holds most of the words, then most of the numbers; the first of equals."""

    def held(sentence: str) -> tuple[float, int]:
        words = len(wanted) - len(wording.missing_words(wanted, sentence))
        there = quantities(sentence)
        same = sum(any(equal(number, other) for other in there) for number in numbers)
        return (words + same, same)

    sentences = sentences_of(passage)
    return max(sentences, key=held) if sentences else ""


def with_header(passage: str, sentence: str) -> str:
    """A row of a table together with the table's header: the header says what the cells are."""
    if CELLS not in sentence:
        return sentence
    lines = passage.split("\n")
    at = next((place for place, line in enumerate(lines) if sentence in line), 0)
    while at > 0 and CELLS in lines[at - 1]:
        at -= 1
    return f"{lines[at]}\n{sentence}"


def clause_of(sentence: str, wanted: Sequence[str], numbers: Sequence[Quantity]) -> str:
    """The part of a sentence that holds most of the words: what is denied or narrowed there is said of them."""
    spans = split_answer(sentence)
    if len(spans) < 2:
        return sentence

    def held(text: str) -> int:
        words = sum(not wording.missing_words((word,), text) for word in wanted)
        return words + sum(any(equal(number, other) for other in quantities(text)) for number in numbers)

    return max((sentence[span.start : span.end] for span in spans), key=held)


def statements_of(sentence: str) -> list[str]:
    """A sentence cut where another statement begins; dates, causes and exceptions belong to the one before them."""
    if CELLS in sentence:
        return [sentence]
    spans = split_answer(sentence)
    starts = [span.start for place, span in enumerate(spans) if not place or span.cut in ("conjunction", "step")]
    return [sentence[begin:stop] for begin, stop in pairwise([*starts, len(sentence)])]


def share_together(wanted: Sequence[str], sentence: str) -> float:
    """Share of the words that one statement of the sentence holds."""
    return max((share_of(wanted, statement) for statement in statements_of(sentence)), default=0.0)


def share_of(wanted: Sequence[str], text: str) -> float:
    """Share of the words that a text holds, 0 without words."""
    return 1.0 - len(wording.missing_words(tuple(wanted), text)) / len(wanted) if wanted else 0.0


def equal(claimed: Quantity, stated: Quantity) -> bool:
    """Whether two quantities are the same."""
    return claimed.value == stated.value and units_agree(claimed, stated)


def stands(number: Quantity, text: str) -> bool:
    """Whether a quantity stands in a text."""
    return any(equal(number, other) for other in quantities(text))


def units_agree(claimed: Quantity, stated: Quantity) -> bool:
    """Whether two units are one, or neither is known."""
    if claimed.unit or stated.unit:
        return claimed.unit == stated.unit
    if claimed.word is None or stated.word is None:
        return True
    return not wording.stems(claimed.word).isdisjoint(wording.stems(stated.word))
