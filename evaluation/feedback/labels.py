"""Labelled questions out of marks: what counts, and what does not. Pure.

Of one caller the latest mark on a place counts. A place answers a question where more callers say so (right, picked,
or right of the answer that cites it) than say that it does not. A question without such a place, whose refusal more
callers found right than wrong, is one that the documents do not answer. Everything else is no label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from evaluation.feedback.marks import MarkedPassage, MarkView
from query.citations import support

_YES: Final = 1
_NO: Final = -1
# What stands in the place of a passage where a mark is about the refusal itself.
_REFUSAL: Final = ("", "", 0, 0)

Place = tuple[str, str, int, int]
# The text of a document in the version of this content hash; None where there is no such version any more.
TextOf = Callable[[str, str], str | None]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the words that answer it.

    Attributes:
        needles: document, first character, the words; none where the documents do not answer it.
        callers: who marked it.
        at: the latest mark.
    """

    query: str
    needles: tuple[tuple[str, int, str], ...]
    callers: tuple[str, ...]
    at: datetime

    @property
    def answerable(self) -> bool:
        return bool(self.needles)


@dataclass(frozen=True, slots=True)
class Labels:
    """What became of the marks.

    Attributes:
        questions: oldest first.
        stale: places in versions of documents that are not there any more.
        undecided: questions that were only said to be answered wrongly, or of which callers disagree.
    """

    questions: tuple[LabelledQuestion, ...]
    stale: int
    undecided: int


def labels(marks: Iterable[MarkView], text_of: TextOf) -> Labels:
    """The labelled questions of a tenant's marks.

    Args:
        marks: in any order.
        text_of: of a document's version.
    """
    by_query: dict[str, list[MarkView]] = {}
    for mark in sorted(marks, key=lambda one: (one.at, one.id)):
        if not mark.withdrawn:
            by_query.setdefault(_normal(mark.query), []).append(mark)
    questions, stale, undecided = list[LabelledQuestion](), 0, 0
    for query, found in by_query.items():
        votes = _votes(found)
        needles = list[tuple[str, int, str]]()
        gone = 0
        for place, passage in _passages(found).items():
            if sum(votes[place].values()) <= 0:
                continue
            needle = _needle(query, passage, text_of)
            gone += needle is None
            if needle is not None and needle not in needles:
                needles.append(needle)
        stale += gone
        refused_rightly = sum(votes.get(_REFUSAL, {}).values()) > 0
        # A question whose answer stood in a version that is gone is not one that the documents do not answer.
        if not needles and (gone or not refused_rightly):
            undecided += not gone
            continue
        questions.append(
            LabelledQuestion(
                query=query,
                needles=tuple(needles),
                callers=tuple(sorted({mark.caller for mark in found})),
                at=found[-1].at,
            )
        )
    return Labels(questions=tuple(questions), stale=stale, undecided=undecided)


def _normal(query: str) -> str:
    return " ".join(query.split())


def _votes(marks: Sequence[MarkView]) -> Mapping[Place, Mapping[str, int]]:
    """The last word of each caller on each place."""
    votes: dict[Place, dict[str, int]] = {}
    for mark in marks:
        vote = _NO if mark.verdict == "wrong" else _YES
        if mark.refused:
            votes.setdefault(_REFUSAL, {})[mark.caller] = vote
        for passage in mark.passages:
            # That an answer is wrong does not tell which of its citations are.
            if vote == _YES or mark.kind == "passage":
                votes.setdefault(passage.place, {})[mark.caller] = vote
    return votes


def _passages(marks: Sequence[MarkView]) -> dict[Place, MarkedPassage]:
    return {
        passage.place: passage
        for mark in marks
        if mark.kind == "passage" or mark.verdict != "wrong"
        for passage in mark.passages
    }


def _needle(query: str, passage: MarkedPassage, text_of: TextOf) -> tuple[str, int, str] | None:
    """The passage's sentences that are nearest to the question: whoever cuts the document otherwise cuts passages, and
    seldom sentences. Offsets are carried, never searched for."""
    text = text_of(passage.document_id, passage.content_hash)
    begin, end = passage.locator.from_, passage.locator.to
    if text is None or end > len(text):
        return None
    content = text[begin:end]
    first, last = support(query, content)
    words = content[first:last]
    lead = len(words) - len(words.lstrip())
    stripped = words.strip()
    return (passage.document_id, begin + first + lead, stripped) if stripped else None
