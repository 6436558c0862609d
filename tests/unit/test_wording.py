"""What a search says of itself stands in both languages, with the same values."""

from __future__ import annotations

from string import Formatter

import pytest

from query.wording import LONG, NO_WORD, TEXTS, either, tells, told, tongue
from search_config.language import has_hebrew


@pytest.mark.parametrize("code", TEXTS)
def test_both_languages_say_the_same_values(code: str) -> None:
    hebrew, english = TEXTS[code]["he"], TEXTS[code]["en"]
    assert has_hebrew(hebrew)
    assert not has_hebrew(english)
    fields = [{name for _, name, _, _ in Formatter().parse(text) if name} for text in (hebrew, english)]
    assert fields[0] == fields[1]


def test_the_question_decides_the_language() -> None:
    assert tongue("כמה עולה Acme?") == "he"
    assert tongue("E-4031") == "en"
    assert either(("E-1", "E-2"), "he") == "E-1 או E-2"
    assert tells(told(LONG, "he", count=9), NO_WORD, LONG)
    assert not tells(told(LONG, "he", count=9), NO_WORD)
    with pytest.raises(KeyError):
        told("long", "he")
