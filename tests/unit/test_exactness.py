"""Which identifiers of a question its answer must hold, and whether a passage holds one."""

from __future__ import annotations

import pytest

from query.candidate import Candidate, Passage
from query.exactness import asked_exactly, held, holders_first


def passage(content: str, *, title: str = "", section: str = "") -> Passage:
    return Passage(
        chunk_id=content[:10],
        document_id="d",
        version=1,
        content_hash="0" * 64,
        ordinal=0,
        title=title,
        section=section,
        content=content,
        language="he",
        url=None,
        place={"from": 0, "to": len(content), "label": "x"},
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("מה עושים בתקלה E-4031?", ("E-4031",)),
        ("מה עושים בתקלה בE-4031", ("E-4031",)),
        ("מה נקבע בתיק 123-45-67", ("123-45-67",)),
        ("what does getUserById in v2.3.1 return", ("getUserById", "v2.3.1")),
        ("מי קיבל דואר מאת dana@example.org", ("dana@example.org",)),
        ("מה נקבע בישיבה מיום 14.5.2023", ()),
        ("מה נקבע ב-2024-03-01", ()),
        ("האם להגיש בגודל A4", ()),
        ("the 2nd floor", ()),
        ("מתי נפתחת ההרשמה", ()),
    ],
)
def test_what_an_answer_is_expected_to_hold(query: str, names: tuple[str, ...]) -> None:
    assert asked_exactly(query) == names


@pytest.mark.parametrize(
    "text",
    [
        "תקלה E-4031 במשאבה",
        "תקלה (E-4031).",
        "בe-4031, לפי הנוהל",
        "קוד|E-4031|תיאור",
        "ה-E-4031: מנתקים",
        "E-4031–E-4035",
        '"E-4031"',
    ],
)
def test_it_is_held_as_it_is_written(text: str) -> None:
    assert held(passage(text), ["E-4031"]) == 1


@pytest.mark.parametrize("text", ["E-4032", "E-40311", "E 4031", "4031", "XE-4031", "E-4031/2", "E-4031-b", "תקלה"])
def test_a_neighbour_is_not_it(text: str) -> None:
    assert held(passage(text), ["E-4031"]) == 0


def test_title_and_section_count_too() -> None:
    assert held(passage("תוכן", title="חוזה 123-45-67"), ["123-45-67"]) == 1
    assert held(passage("תוכן", section="נספח SKU-77/4 > מחירים"), ["sku-77/4"]) == 1
    assert held(passage("E-4031 E-4031", title="v2.3.1"), ["E-4031", "v2.3.1", "E-4032"]) == 2


def test_who_holds_most_stands_first_and_the_rest_keeps_its_order() -> None:
    ranking = [Candidate(passage(text)) for text in ("E-4032", "אחר", "E-4031", "נוסף", "E-4031 v2.3.1")]
    ordered = [candidate.passage.content for candidate in holders_first(ranking, ["E-4031", "v2.3.1"])]
    assert ordered == ["E-4031 v2.3.1", "E-4031", "E-4032", "אחר", "נוסף"]
    assert holders_first(ranking, []) == tuple(ranking)
