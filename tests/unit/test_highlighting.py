"""Marks of several analyses become one marked passage, which without its marks is the passage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from query.highlighting import CLOSE, OPEN, TAGS, marked


def _with(text: str, *spans: tuple[int, int]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + OPEN + text[start:end] + CLOSE + text[end:]
    return text


def test_nothing_marked() -> None:
    assert marked("שלום", []) is None
    assert marked("שלום", ["שלום"]) is None


def test_analyses_are_joined() -> None:
    text = "בבית הספר running late"
    assert marked(text, [_with(text, (0, 4)), _with(text, (10, 17)), _with(text, (0, 4), (5, 9))]) == (
        "<em>בבית</em> <em>הספר</em> <em>running</em> late"
    )


def test_overlapping_marks_become_one() -> None:
    text = "תקלה E-4031 שוב"
    assert marked(text, [_with(text, (5, 6), (7, 11)), _with(text, (5, 11))]) == "תקלה <em>E-4031</em> שוב"


def test_another_text_is_never_shown() -> None:
    assert marked("abc", [f"x{OPEN}b{CLOSE}c"]) is None


def test_a_passage_about_tags_stays_what_it_is() -> None:
    assert marked("use <em> here", [_with("use <em> here", (9, 13))]) == "use <em> <em>here</em>"


@given(st.text("abc אב", min_size=1, max_size=30), st.data())
def test_without_its_marks_it_is_the_passage(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    spans = [sorted(pair) for pair in data.draw(st.lists(st.tuples(ends, ends), max_size=4))]
    result = marked(text, [_with(text, (start, end)) for start, end in spans])
    covered = {index for start, end in spans for index in range(start, end)}
    if not covered:
        assert result is None
        return
    assert result is not None
    assert result.replace(TAGS[0], "").replace(TAGS[1], "") == text
    inside = "".join(piece.split(TAGS[1])[0] for piece in result.split(TAGS[0])[1:])
    assert inside == "".join(text[index] for index in sorted(covered))
