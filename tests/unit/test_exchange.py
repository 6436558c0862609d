"""The side of an exchange that a question asks for, and sections of that side before the others of a file."""

from __future__ import annotations

import pytest

from query.candidate import Candidate, Passage
from query.exactness import holders_first
from query.exchange import exchange


@pytest.mark.parametrize(
    ("query", "section", "expected"),
    [
        ("מה השיב המפעל בפנייה 77?", "פנייה 77 > תשובת המפעל", 1),
        ("מה השיב המפעל?", "פנייה 77 > מכתבו של השכן", 0),
        ("מה השיב המפעל?", "פנייה 77 > טענות השכן", -1),
        ("מה טען השכן?", "פנייה 77 > טענות השכן", 1),
        ("מה טען השכן?", "פנייה 77 > ההחלטה", -1),
        ("What was the decision in 77?", "Appeal 77 > Decision", 1),
        ("What was the decision in 77?", "Appeal 77 > Arguments of the neighbour", -1),
        ("מה הריח ליד המפעל?", "פנייה 77 > תשובת המפעל", 0),
        ("מה השיבו לטענת השכן?", "פנייה 77 > תשובת המפעל", 0),
        ("מה כתב השכן בפנייה 77?", "פנייה 77 > מכתבו של השכן", 1),
        ("מה כתב השכן בפנייה 77?", "פנייה 77 > תשובת המפעל", 0),
        ("מה הודיע המפעל על הריח?", "פנייה 77 > תשובת המפעל", 1),
        ("What did the inspector write in 77?", "Appeal 77 > Reply of the inspector", 1),
        ("What did the inspector write in 77?", "Appeal 77 > Letter of the neighbour", 0),
        ("", "", 0),
    ],
)
def test_exchange(query: str, section: str, expected: int) -> None:
    assert exchange(query, section) == expected


def _candidate(chunk_id: str, section: str) -> Candidate:
    return Candidate(
        Passage(
            chunk_id=chunk_id,
            document_id="d",
            version=1,
            content_hash="0" * 64,
            ordinal=0,
            title="",
            section=section,
            content="טקסט",
            language="he",
            url=None,
            place={"from": 0, "to": 4, "label": "x"},
        )
    )


RANKING = [
    _candidate("asked", "תיק 55-120 > טענות השכן"),
    _candidate("other", "תיק 55-121 > תשובת המפעל"),
    _candidate("neutral", "תיק 55-120 > רקע"),
    _candidate("answered", "תיק 55-120 > תשובת המפעל"),
]


def _order(query: str) -> list[str]:
    return [one.chunk_id for one in holders_first(RANKING, ["55-120"], query)]


def test_the_asked_side_of_a_file_stands_first() -> None:
    assert _order("מה השיב המפעל בתיק 55-120?") == ["answered", "neutral", "asked", "other"]
    assert _order("מה נטען בתיק 55-120?") == ["asked", "neutral", "answered", "other"]


def test_a_question_for_neither_side_keeps_the_order() -> None:
    assert _order("מה יש בתיק 55-120?") == ["asked", "neutral", "answered", "other"]


def test_without_an_identifier_no_section_is_moved() -> None:
    assert holders_first(RANKING, (), "מה השיב המפעל?") == tuple(RANKING)
