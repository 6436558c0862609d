"""Answers to questions that set documents against each other: a sentence of each, whatever the others say best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from query import wording
from query.citations import Verified
from query.extractive import Chosen, Extract
from query.request import Hit, Side
from query.wording import Tongue, told

# Chooses sentences: the hits, and the most of them for each part of the question.
Choose = Callable[[Sequence[Hit], int], Extract]


def numbers_of(side: Side, hits: Sequence[Hit]) -> tuple[int, ...]:
    """Numbers of the hits that are of one side's documents, from 1."""
    return tuple(number for number, hit in enumerate(hits, start=1) if hit.document_id in side.document_ids)


def extract_each(choose: Choose, hits: Sequence[Hit], sides: Sequence[Side], sentences: int) -> Extract:
    """The best sentences of each side, side by side; a part of the question that no side answers is missing, and so is
    a side of which nothing was found.

    Args:
        choose: `query.extractive.extract` of a question.
        hits: of all sides.
        sentences: most for all sides together, but one of each.
    """
    each = max(1, sentences // len(sides))
    chosen: dict[tuple[int, tuple[int, int]], Chosen] = {}
    answered, missing, nothing = list[str](), list[str](), list[str]()
    for side in sides:
        numbers = numbers_of(side, hits)
        if not numbers:
            nothing.append(side.name)
            continue
        best = choose([hits[number - 1] for number in numbers], each)
        for one in best.chosen:
            number = numbers[one.number - 1]
            chosen.setdefault((number, one.span), Chosen(number, one.span, one.share))
        answered += best.answered
        missing += best.missing
    parts = tuple(dict.fromkeys(answered))
    left = [part for part in dict.fromkeys(missing) if part not in parts]
    return Extract(tuple(chosen.values()), parts, (*left, *nothing))


def uncited(sides: Sequence[Side], hits: Sequence[Hit], text: Verified) -> tuple[Side, ...]:
    """Sides with passages of which an answer cites none."""
    cited = {citation.document_id for citation in text.citations}
    return tuple(side for side in sides if numbers_of(side, hits) and not cited & set(side.document_ids))


def silent(sides: Sequence[Side], hits: Sequence[Hit], language: Tongue) -> tuple[str, ...]:
    """Notes on sides of which nothing was found."""
    return tuple(told(wording.SIDE_SILENT, language, name=one.name) for one in sides if not numbers_of(one, hits))
