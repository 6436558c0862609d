"""Which side a question takes, and whether a passage takes it too."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.polarity import agreement, side

LEASE = "השוכר רשאי להחזיק חיות מחמד בדירה, ובלבד שהודיע על כך בכתב."
STRICT = "השוכר אינו רשאי להחזיק חיות מחמד בדירה."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("מה השעה", 0),
        ("האם אסור לעשן במרפסת?", -1),
        ("האם מותר לעשן במרפסת?", 1),
        ("מתי הספק אינו חייב בפיצוי", -1),
        ("עובד שאיננו", 0),
        ("שלא שילמו בזמן", -1),
        ("מתי זה אינו אסור?", 0),
        ("עד מתי, לא יאוחר ממחר, מגישים?", 0),
        ("may a visitor park here?", 1),
        ("when mustn't it be opened", -1),
        ("no later than Sunday", 0),
        ("", 0),
    ],
)
def test_side(text: str, expected: int) -> None:
    assert side(text) == expected


@pytest.mark.parametrize(
    ("query", "passage", "expected"),
    [
        ("באיזה חוזה אסור לשוכר להחזיק חיות מחמד?", STRICT, 1),
        ("באיזה חוזה אסור לשוכר להחזיק חיות מחמד?", LEASE, -1),
        ("באיזה חוזה מותר לשוכר להחזיק חיות מחמד?", LEASE, 1),
        ("באיזה חוזה מותר לשוכר להחזיק חיות מחמד?", STRICT, -1),
        ("מה נאמר על חיות מחמד של שוכר?", STRICT, 0),
        ("אסור להחזיק חיות מחמד", "החניה בתשלום. אין כניסה בלילה.", 0),
        ("Is smoking not allowed in the stairwell?", "Smoking in the stairwell is prohibited.", 0),
        ("Is smoking forbidden in the stairwell?", "Smoking in the stairwell is allowed.", -1),
        ("Is smoking not allowed in the stairwell?", "Smoking in the stairwell is common.", -1),
    ],
)
def test_agreement(query: str, passage: str, expected: int) -> None:
    assert agreement(query, passage) == expected


def test_another_clause_does_not_speak_for_it() -> None:
    passage = "אין להדליק אש בחצר; השוכר יחזיק חיות מחמד כרצונו."
    assert agreement("היכן אסור להחזיק חיות מחמד?", passage) == -1


@given(st.text(), st.text())
def test_any_text(query: str, passage: str) -> None:
    found = agreement(query, passage)
    assert found in (-1, 0, 1)
    assert side(query) or found == 0


def test_a_long_passage_takes_no_time() -> None:
    started = time.perf_counter()
    agreement("אסור להחזיק חיות", "לא " * 200_000)
    agreement("אסור להחזיק חיות", "א" * 500_000)
    agreement("אסור להחזיק חיות", ", " * 200_000)
    assert time.perf_counter() - started < 5
