"""Periods of a question against days worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.periods import periods

AS_OF = date(2025, 2, 15)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("כמה חוזים נחתמו ב-2024?", "2024-01-01", "2024-12-31"),
        ("חוזים משנת 2021", "2021-01-01", "2021-12-31"),
        ("בין מרץ ליוני 2023", "2023-03-01", "2023-06-30"),
        ("מינואר עד פברואר 2024", "2024-01-01", "2024-02-29"),
        ("ברבעון השלישי", "2024-07-01", "2024-09-30"),
        ("ברבעון הראשון", "2025-01-01", "2025-03-31"),
        ("ברבעון השני של 2022", "2022-04-01", "2022-06-30"),
        ("ברבעון האחרון", "2024-10-01", "2024-12-31"),
        ("במחצית השנייה של 2023", "2023-07-01", "2023-12-31"),
        ("בשנה שעברה", "2024-01-01", "2024-12-31"),
        ("בשנה האחרונה", "2024-02-16", "2025-02-15"),
        ("פוקעים השנה", "2025-01-01", "2025-12-31"),
        ("מתחילת השנה", "2025-01-01", "2025-02-15"),
        ("בחודש האחרון", "2025-01-16", "2025-02-15"),
        ("בחודש שעבר", "2025-01-01", "2025-01-31"),
        ("בחודש הבא", "2025-03-01", "2025-03-31"),
        ("בשלושת החודשים האחרונים", "2024-11-16", "2025-02-15"),
        ("במרץ", "2024-03-01", "2024-03-31"),
        ("בינואר", "2025-01-01", "2025-01-31"),
        ("מיום 3.5.2023", "2023-05-03", "2023-05-03"),
        ("בין 1.1.2024 ל-31.3.2024", "2024-01-01", "2024-03-31"),
        ("מ-2020 ואילך", "2020-01-01", None),
        ("אחרי 2020", "2021-01-01", None),
        ("מאז מרץ 2024", "2024-03-01", None),
        ("לפני 2019", None, "2018-12-31"),
        ("עד 2019", None, "2019-12-31"),
        ("היום", "2025-02-15", "2025-02-15"),
        ("השבוע", "2025-02-09", "2025-02-15"),
        ("signed in Q3 2024", "2024-07-01", "2024-09-30"),
        ("in the third quarter of 2023", "2023-07-01", "2023-09-30"),
        ("last year", "2024-01-01", "2024-12-31"),
        ("between March and June 2023", "2023-03-01", "2023-06-30"),
        ("in the last 6 months", "2024-08-16", "2025-02-15"),
        ("year to date", "2025-01-01", "2025-02-15"),
    ],
)
def test_one_period(question: str, first: str | None, last: str | None) -> None:
    (found,) = periods(question, AS_OF)
    assert (found.first and found.first.isoformat(), found.last and found.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "הסכם 2023/118",
        "2,024 שקלים",
        "כמה כרטיסים בשנה?",
        "מה may be done",
        "31.2.2024",
        "12.13.2023",
        "v2024.1.2",
        "תקלה E-2024",
    ],
)
def test_what_is_no_period(question: str) -> None:
    assert periods(question, AS_OF) == ()


@given(st.dates(date(1960, 1, 1), date(2090, 12, 31)), st.sampled_from(["בשנה שעברה", "ברבעון השלישי", "בחודש האחרון"]))
def test_a_period_never_ends_before_it_begins(as_of: date, question: str) -> None:
    (found,) = periods(question, as_of)
    assert found.first is not None
    assert found.last is not None
    assert found.first <= found.last
    assert found.first <= as_of


@given(st.text(alphabet="אבגדהו 0123456789./-Qחודשונהבריעtoalsd", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for period in periods(text, AS_OF):
        assert 0 <= period.span[0] < period.span[1] <= len(text)
