"""Visual to logical: the inverse of the bidi algorithm, against python-bidi as a witness."""

from __future__ import annotations

import pytest

from ingest.extract.pdf.bidi import direction_of, to_logical
from tests.pdf.makers import MIXED, shown

LINES = (
    *MIXED,
    "שלום עולם",
    "המחיר 5% ולא 6%.",
    "החברה Acme (Israel) Ltd היא הספקית.",
    "ראו www.example.co.il/a?b=1 לפרטים.",
    "הגרסה C++17 נבדקה.",
    '"ציטוט" של הכותב: "מילים".',
    "סעיף (א) לחוק (תיקון מס' 3), התשע\"ט-2019.",
    '12,500 ש"ח',
    "סכום של ₪ 1,200.50 שולם.",
)


@pytest.mark.parametrize("line", LINES)
def test_a_hebrew_line_comes_back_from_what_is_seen(line: str) -> None:
    assert to_logical(list(shown(line)), "R") == line


@pytest.mark.parametrize(
    ("seen", "read"),
    [
        ("The town of רדה תעבג is small.", "The town of גבעת הדר is small."),
        ("(see תעבג, 4.2)", "(see גבעת, 4.2)"),
        ("plain text (1) only", "plain text (1) only"),
        ("named (רדה) תעבג here", "named גבעת (הדר) here"),
    ],
)
def test_hebrew_within_an_english_line(seen: str, read: str) -> None:
    assert to_logical(list(seen), "L") == read


def test_points_stay_on_their_letters() -> None:
    cells = ["ם", "ו", "ל", "שָׁ"]
    assert to_logical(cells, "R") == "שָׁלום"


def test_drawing_operations_part_a_number_from_a_name() -> None:
    """'בשנת 2023 Acme Ltd' and 'בשנת Acme Ltd 2023' are seen alike; how they were drawn tells them apart."""
    seen = list("Acme Ltd 2023 תנשב")
    one_string = [1] * 13 + [2] * 5
    apart = [1] * 8 + [2] + [3] * 4 + [4] * 5
    assert to_logical(seen, "R", one_string) == "בשנת Acme Ltd 2023"
    assert to_logical(seen, "R", apart) == "בשנת 2023 Acme Ltd"


def test_direction_is_that_of_most_letters() -> None:
    assert direction_of("שלום Hi", "L") == "R"
    assert direction_of("Hello של", "R") == "L"
    assert direction_of("12,500", "R") == "R"
