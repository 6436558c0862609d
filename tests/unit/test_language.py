"""The class of a query, and the identifiers in it."""

from __future__ import annotations

import pytest

from query.language import has_identifier, identifiers, identifiers_alone, query_language

IDENTIFIERS = [
    "E-4031",
    "e-4031",
    "123-45-67",
    "SKU-77/4",
    "v2.3.1",
    "10.0.3",
    "getUserById",
    "XMLHttpRequest",
    "snake_case",
    "MAX_QUERY_CHARS",
    "2024-03-01",
    "2024-03-01T10:30:00Z",
    "01/03/2024",
    "1.3.2024",
    "dana.levi@example.org",
    "report_2024.xlsx",
    "README.md",
    "03-5551234",
    "2044317",
    "ISO-27001",
    "INV2024-0031",
    "A12",
    "192.168.0.1",
]
NO_IDENTIFIERS = [
    "school",
    "2024",
    "2.5",
    "12",
    "Acme",
    "USA",
    "re-open",
    "and/or",
    "don't",
    "e.g.",
    "12,500",
    "IT",
    "-",
    "Ltd.",
]


@pytest.mark.parametrize("text", IDENTIFIERS)
def test_an_identifier_alone(text: str) -> None:
    assert query_language(text) == "identifier"
    assert identifiers(text) == (text,)


@pytest.mark.parametrize("text", IDENTIFIERS)
@pytest.mark.parametrize("frame", ["{}?", "({})", "“{}”", "'{}',", " {} ", "{}."])
def test_marks_of_the_sentence_are_not_part_of_it(text: str, frame: str) -> None:
    assert identifiers(frame.format(text)) == (text,)


@pytest.mark.parametrize("text", NO_IDENTIFIERS)
def test_words_and_plain_numbers_are_none(text: str) -> None:
    assert not has_identifier(text)
    assert query_language(text) != "identifier"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("מה קורה בבית הספר", "he"),
        ("תיק 123-45-67", "he"),
        ("error E-4031 in the ל system", "he"),
        ('צה"ל', "he"),
        ("\ufb21", "he"),  # wide alef, a presentation form
        ("school opening hours", "en"),
        ("what does E-4031 mean", "en"),
        ("E-4031 E-4032", "identifier"),
        ("где школа", "other"),
        ("学校", "other"),
        ("2024", "other"),
        ("12 45", "other"),
        ("", "other"),
        ("...", "other"),
    ],
)
def test_class_of_a_query(text: str, language: str) -> None:
    assert query_language(text) == language


@pytest.mark.parametrize("text", ["בE-4031", "ל-E-4031", "וב-E-4031", "ה־E-4031"])
def test_a_hebrew_prefix_is_no_part_of_an_identifier(text: str) -> None:
    assert identifiers(text) == ("E-4031",)


def test_identifiers_stand_once_in_their_order() -> None:
    assert identifiers("תקלה E-4031 ואז E-4032, שוב E-4031.") == ("E-4031", "E-4032")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("E-4031", ("E-4031",)),
        ("בE-4031?", ("E-4031",)),
        ("E-4031 ול-E-4032", ("E-4031", "E-4032")),
        ("תקלה E-4031", ()),
        ("E-4031 error", ()),
        ("", ()),
        ("...", ()),
    ],
)
def test_identifiers_and_nothing_else(text: str, names: tuple[str, ...]) -> None:
    assert identifiers_alone(text) == names
