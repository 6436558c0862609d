"""Versions in force before superseded ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.candidate import Candidate, Passage
from query.superseded import in_force_first


def rows(documents: Sequence[str]) -> list[Candidate]:
    return [
        Candidate(
            Passage(
                chunk_id=str(place), document_id=document, version=1, content_hash="", ordinal=0, title="", section="",
                content="x", language="he", url=None, place={"from": 0, "to": 1},
            )
        )
        for place, document in enumerate(documents)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given_", "replaced", "expected"),
    [
        ("abc", {}, "abc"),
        ("abc", {"a": "b"}, "bac"),
        ("abcb", {"a": "b"}, "bcba"),
        ("bac", {"a": "b"}, "bac"),
        ("abc", {"a": "x"}, "abc"),
        ("abc", {"a": "b", "b": "c"}, "cba"),
        ("aabb", {"a": "b"}, "bbaa"),
        ("abc", {"a": "b", "b": "a"}, "abc"),
    ],
)
def test_order(given_: str, replaced: dict[str, str], expected: str) -> None:
    assert "".join(row.passage.document_id for row in in_force_first(rows(given_), replaced)) == expected


@given(st.text("abcd", max_size=12), st.dictionaries(st.sampled_from("abcd"), st.sampled_from("abcd"), max_size=3))
def test_nothing_is_lost_and_the_rest_keeps_its_order(documents: str, replaced: dict[str, str]) -> None:
    before = rows(documents)
    after = in_force_first(before, replaced)
    assert sorted(row.chunk_id for row in after) == sorted(row.chunk_id for row in before)
    kept = [row.chunk_id for row in before if row.passage.document_id not in replaced]
    assert [row.chunk_id for row in after if row.passage.document_id not in replaced] == kept
