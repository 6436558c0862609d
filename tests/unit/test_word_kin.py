"""Words of one root are found, and no others; by the text's words, wherever the consonants stand."""

from __future__ import annotations

import pytest

from query.word_kin import akin, roots


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("לחסוך", "זה חיסכון ניכר"),
        ("הוידיאו", "שוק הוידאו גדל"),
        ("באחסון", "המידע מאוחסן בענן"),
        ("רכש", "החברה נרכשה אתמול"),
        ("מתקנים", "מתקן חדש נבנה"),
        ("פרישתו", "לאחר שפרש"),
    ],
)
def test_another_word_of_the_root_is_found(word: str, text: str) -> None:
    assert akin([word], text) == {0}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("לחסוך", "כל הכסף נספר"),
        # The consonants stand in a row, but in two words.
        ("גמל", "הג מלא"),
        ("IBM", "IBM"),
        ("על", "על הגג"),
        ("", "טקסט"),
    ],
)
def test_what_has_no_root_in_common_is_not(word: str, text: str) -> None:
    assert akin([word], text) == frozenset()


def test_places_are_those_of_the_words() -> None:
    assert akin(["שיער", "נחנכה", "מבסס"], "טקס חנוכת הגשר התבסס על") == {1, 2}
    assert akin([], "טקסט") == akin(["נחנכה"], "") == frozenset()


def test_final_letters_are_the_letters() -> None:
    assert roots("מקום") & roots("מקומות")
