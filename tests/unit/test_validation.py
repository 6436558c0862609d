"""Queries that are refused, and what is left of those that are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.validation import clean_query, search_request
from search_config.errors import EmptyQuery, InvalidRequest, InvalidTenant, MissingTenant, QueryTooLong

LIMIT = 2_000


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!...", '"', "״", "()*:", "\u200f\u200e", "\0", "👍", "\u05b7"])
def test_nothing_to_search_for(text: str) -> None:
    with pytest.raises(EmptyQuery):
        clean_query(text, max_chars=LIMIT)


@pytest.mark.parametrize("text", ["של", "the", "*:*a", '"צה"ל', "(1)", "۱", "a AND (b", 'x" OR tenant:b', "{!}1"])
def test_anything_with_a_letter_or_digit_is_a_query(text: str) -> None:
    assert clean_query(text, max_chars=LIMIT) == text


def test_too_long_says_by_how_much() -> None:
    with pytest.raises(QueryTooLong) as caught:
        clean_query("א" * 100_000, max_chars=LIMIT)
    assert "100,000" in str(caught.value)
    assert "2,000" in str(caught.value)
    assert len(clean_query("א" * LIMIT, max_chars=LIMIT)) == LIMIT


def test_a_lone_surrogate_is_named_by_its_position() -> None:
    with pytest.raises(InvalidRequest) as caught:
        clean_query("שלום \ud83d", max_chars=LIMIT)
    assert "U+D83D" in caught.value.what
    assert caught.value.where == "query, position 5"
    assert not isinstance(caught.value, EmptyQuery)


def test_invisible_marks_go_and_control_characters_part_words() -> None:
    assert clean_query("\ufeff\u202bבית\u200f\0ספר\x1b[31m\n  גן\u202c", max_chars=LIMIT) == "בית ספר [31m גן"


def test_composed() -> None:
    assert clean_query("cafe\u0301", max_chars=LIMIT) == "café"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    try:
        once = clean_query(text, max_chars=LIMIT)
    except EmptyQuery:
        return
    assert clean_query(once, max_chars=LIMIT * 4) == once
    assert not any(unicodedata.category(character) == "Cc" for character in once)


@pytest.mark.parametrize(("tenant", "error"), [(None, MissingTenant), (" ", MissingTenant), ("*", InvalidTenant)])
def test_a_request_without_a_tenant(tenant: str | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        search_request(tenant=tenant, query="x")


def test_all_problems_of_a_request_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        search_request(tenant="a", query="x", size=0, mode="fuzzy", colour="red")
    for name in ("size", "mode", "colour"):
        assert name in caught.value.what
