"""Questions as the rules read them; above all, that no word is lost in silence."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.question import Understanding, Vocabulary, understand

AS_OF = date(2025, 2, 15)
KNOWN = Vocabulary(
    parties=("אקמה בע״מ", "Acme Systems", "Acme Holdings", "ברק שירותים", "נחל אחזקות"), tags=("ועדת הכספים",)
)


def read(question: str) -> Understanding:
    return understand(question, AS_OF, KNOWN)


def unread(found: Understanding) -> set[str]:
    return {*found.unknown, *found.names, *found.content, *found.unclear}


@pytest.mark.parametrize(
    ("question", "measure", "filters"),
    [
        ("כמה חוזים יש?", "count", {"type": ["contract"]}),
        ("כמה חשבוניות מאקמה?", "count", {"type": ["invoice"], "party": ["אקמה בע״מ"]}),
        ("מה סך החשבוניות של ברק שירותים", "sum", {"type": ["invoice"], "party": ["ברק שירותים"]}),
        ("רשימת פרוטוקולים של ועדת הכספים", "list", {"type": ["protocol"], "tags": ["ועדת הכספים"]}),
        ("מי הצדדים להסכם 2023/118?", "who", {"type": ["contract"], "reference": ["2023/118"]}),
        ("חשבוניות בדולרים: כמה?", "count", {"type": ["invoice"], "currency": ["USD"]}),
        (
            'כמה חוזים מעל 50,000 ש"ח?',
            "count",
            {"type": ["contract"], "currency": ["ILS"], "amount_min": "50000.01"},
        ),
        (
            "כמה חוזים של לפחות מיליון שקל?",
            "count",
            {"type": ["contract"], "currency": ["ILS"], "amount_min": "1000000"},
        ),
        ("כמה חוזים מעל 50000 שקל?", "count", {"type": ["contract"], "currency": ["ILS"], "amount_min": "50000.01"}),
        ("כמה שילמנו לאקמה?", "sum", {"type": ["invoice"], "party": ["אקמה בע״מ"]}),
        ("אילו נהלים בתוקף היום?", "list", {"type": ["procedure"], "in_force_on": "2025-02-15"}),
        ("How many contracts with Acme Holdings?", "count", {"type": ["contract"], "party": ["Acme Holdings"]}),
    ],
)
def test_understood_to_the_last_word(question: str, measure: str, filters: dict[str, Any]) -> None:
    found = read(question)
    assert found.measure == measure
    assert found.filters.given() == filters
    assert unread(found) == set()


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("כמה חוזים גדולים יש?", "גדולים"),
        ("כמה חוזים חדשים יש?", "חדשים"),
        ("כמה חוזים לא נחתמו?", "לא"),
        ("כמה הזמנות יש?", "הזמנות"),
        ("כמה חוזים עם לקוחות?", "לקוחות"),
        ("כמה חוזים נחתמו בתחילת 2024?", "בתחילת"),
        ("כמה חוזים נחתמו בסוף 2024?", "בסוף"),
        ("כמה חוזים עם שלג הצפון?", "שלג"),
        ("כמה מכתבים שלחנו?", "שלחנו"),
        ("כמה חוזים ללא תאריך סיום?", "ללא"),
        ("כמה חוזים לכל שנה?", "לכל"),
        ("כמה חוזים מעל 500?", "amount_min 500.01"),
        ("כמה דוחות על חוזים יש?", "דוחות / חוזים"),
        ("כמה חוזים ב-2021 וב-2024?", "2021-01-01..2021-12-31; 2024-01-01..2024-12-31"),
        ("כמה תקלות E-4031 בחוזים?", "e-4031"),
        ("How many contracts with Acme?", "Acme Systems / Acme Holdings"),
        ("כמה חוזים שנחתמו ופוקעים השנה?", "expires / signed"),
    ],
)
def test_a_word_that_no_filter_stands_for_is_told(question: str, word: str) -> None:
    assert word in unread(read(question))


@pytest.mark.parametrize("name", ["ברק", "המחוז", "בשלג", "והגפן", "מכתש"])
def test_names_are_not_taken_apart_into_words(name: str) -> None:
    found = understand(f"כמה חוזים עם {name}?", AS_OF)
    assert found.names == (name,)


@pytest.mark.parametrize(
    ("slip", "kind"),
    [
        ("חוזם", "contract"),
        ("החשבניות", "invoice"),
        ("ההסכפ", "contract"),
        ("פרוטקול", "protocol"),
        ("contrcts", "contract"),
    ],
)
def test_one_slip_of_the_pen_in_a_type(slip: str, kind: str) -> None:
    assert read(f"כמה {slip} יש").filters.type == (kind,)


def test_a_filter_that_no_request_may_have_is_unclear_and_breaks_nothing() -> None:
    codes = " ".join(f"contract A{number}" for number in range(400))
    assert "reference" in read(f"כמה {codes}").unclear
    assert "amount_min" in read("כמה חוזים מעל 99999999999999999999 שקל").unclear


@given(st.text(alphabet="כמה חוזים אלף מעל 0123456789/.,-\"'״?ב־USDthe\u05b0\u200f", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    understand(text, AS_OF, KNOWN)
