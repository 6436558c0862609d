"""Sentences of passages and of answers: exact places, Hebrew abbreviations, numbers, lists, headings, tables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from query.sentences import answer_sentences, passage_sentences

TEXT = st.text(alphabet='אבג"׳.!? \n\t#|-12[]a', max_size=120)


def parts(text: str, *, answer: bool = False) -> list[str]:
    return [text[a:b] for a, b in (answer_sentences if answer else passage_sentences)(text)]


def test_hebrew_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    text = (
        'החוזה נחתם בין עיריית גבעת הדר לבין אלון בע"מ, ח.פ. 51-482913-6, ע"י ד"ר כהן. '
        "התמורה, 12.5 ש\"ח ליחידה, לפי עמ' 7 בנספח א. ראו גם ס׳ 3. תוקפו שנה."
    )
    assert parts(text) == [
        'החוזה נחתם בין עיריית גבעת הדר לבין אלון בע"מ, ח.פ. 51-482913-6, ע"י ד"ר כהן.',
        "התמורה, 12.5 ש\"ח ליחידה, לפי עמ' 7 בנספח א. ראו גם ס׳ 3.",
        "תוקפו שנה.",
    ]


def test_a_hebrew_letter_before_a_full_stop_ends_one() -> None:
    assert parts('התקציב אושר בתשפ"ד. הוא נוצל.') == ['התקציב אושר בתשפ"ד.', "הוא נוצל."]


def test_a_passage_keeps_wrapped_lines_and_parts_headings_tables_and_lists() -> None:
    text = "# כותרת\nשורה ראשונה\nוהמשך שלה. סוף.\n\nפסקה\n| א | ב |\n| 1 | 2 |\nאחרי\n- פריט\n- שני"
    assert parts(text) == [
        "# כותרת",
        "שורה ראשונה\nוהמשך שלה.",
        "סוף.",
        "פסקה",
        "| א | ב |",
        "| 1 | 2 |",
        "אחרי",
        "- פריט",
        "- שני",
    ]


def test_in_an_answer_every_line_is_its_own() -> None:
    assert parts("שורה\nהמשך. סוף", answer=True) == ["שורה", "המשך.", "סוף"]


@given(TEXT)
def test_all_that_is_not_blank_is_in_one_sentence(text: str) -> None:
    for spans in (passage_sentences(text), answer_sentences(text)):
        assert list(spans) == sorted(spans)
        covered = [place for start, end in spans for place in range(start, end)]
        assert len(covered) == len(set(covered))
        assert all(place in set(covered) for place, character in enumerate(text) if not character.isspace())
        assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
