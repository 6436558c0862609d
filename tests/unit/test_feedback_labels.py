"""Which marks become labelled questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evaluation.feedback.labels import labels
from evaluation.feedback.marks import MarkView

TEXT = "נוהל חניה. תושב מקבל אישור חניה אחד לכל רכב. המוקד פתוח בימים א עד ה."
FIRST = TEXT.index("תושב")
SECOND = TEXT.index("המוקד")
QUERY = "כמה אישורי חניה מקבל תושב לכל רכב"
START = datetime(2025, 1, 1, tzinfo=UTC)


def text_of(document_id: str, content_hash: str) -> str | None:
    return TEXT if (document_id, content_hash) == ("d", "h") else None


def place(start: int = 0, end: int = len(TEXT), content_hash: str = "h") -> dict[str, Any]:
    return {"document_id": "d", "content_hash": content_hash, "locator": {"from": start, "to": end}}


def marks(*told: dict[str, Any]) -> list[MarkView]:
    plain = {"query": QUERY, "kind": "passage", "verdict": "right", "tenant": "t", "caller": "a", "passages": [place()]}
    return [
        MarkView.model_validate({"id": f"{number:032x}", "at": START + timedelta(minutes=number), **plain, **one})
        for number, one in enumerate(told)
    ]


def test_a_picked_passage_gives_its_sentence_nearest_to_the_question() -> None:
    (question,) = labels(marks({"verdict": "picked"}), text_of).questions
    ((document, start, words),) = question.needles
    assert document == "d"
    assert words == "תושב מקבל אישור חניה אחד לכל רכב."
    assert TEXT[start : start + len(words)] == words
    assert (question.callers, question.at) == (("a",), START)


def test_a_narrower_mark_is_taken_as_it_is() -> None:
    (question,) = labels(marks({"passages": [place(SECOND, len(TEXT))]}), text_of).questions
    assert [words for _, _, words in question.needles] == [TEXT[SECOND:]]


def test_several_places_and_several_people() -> None:
    found = labels(
        marks(
            {"passages": [place(FIRST, SECOND)]},
            {"caller": "b", "query": f"  {QUERY} ", "passages": [place(SECOND, len(TEXT))]},
        ),
        text_of,
    )
    (question,) = found.questions
    assert len(question.needles) == 2
    assert question.callers == ("a", "b")


@pytest.mark.parametrize(
    ("told", "answerable"),
    [
        # The latest word of one person counts.
        (({"verdict": "right"}, {"verdict": "wrong"}), False),
        (({"verdict": "wrong"}, {"verdict": "right"}), True),
        # More people, not more marks.
        (({"verdict": "right"}, {"verdict": "right"}, {"verdict": "wrong", "caller": "b"}), False),
        (({"caller": "b"}, {"caller": "c"}, {"verdict": "wrong"}), True),
        # What was taken back counts for nothing.
        (({"verdict": "right", "withdrawn": True},), False),
        (({"verdict": "right"}, {"verdict": "wrong", "withdrawn": True}), True),
        # A wrong answer does not say which of its citations is wrong.
        (({"verdict": "right"}, {"kind": "answer", "verdict": "wrong"}), True),
        (({"kind": "answer", "verdict": "right"},), True),
        (({"kind": "answer", "verdict": "wrong"},), False),
    ],
)
def test_votes(told: tuple[dict[str, Any], ...], answerable: bool) -> None:
    found = labels(marks(*told), text_of)
    assert [question.answerable for question in found.questions] == [True] * answerable


REFUSED = {"kind": "answer", "refused": True, "passages": []}


def test_a_refusal_that_is_right_is_a_question_that_the_documents_do_not_answer() -> None:
    (question,) = labels(marks(REFUSED), text_of).questions
    assert not question.answerable
    assert labels(marks(REFUSED, {**REFUSED, "verdict": "wrong", "caller": "b"}), text_of).questions == ()
    # Somebody found the answer after all.
    (question,) = labels(marks(REFUSED, {"verdict": "picked", "caller": "b"}), text_of).questions
    assert question.answerable


def test_a_version_that_is_gone_is_no_label_and_no_proof_of_absence() -> None:
    gone = {"passages": [place(content_hash="older")]}
    found = labels(marks(gone, {**REFUSED, "caller": "b"}), text_of)
    assert (found.questions, found.stale, found.undecided) == ((), 1, 0)
    assert labels(marks({"passages": [place(0, len(TEXT) + 1)]}), text_of).stale == 1


def test_questions_that_nobody_decided_are_counted() -> None:
    assert labels(marks({"verdict": "wrong"}), text_of).undecided == 1
    assert labels([], text_of).questions == ()
