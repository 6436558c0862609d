"""Canonical JSON: RFC 8785's own examples, and hashes that do not depend on the order of members."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.evidence.canonical import canonical_json, content_id
from search_config.errors import InvalidRequest
from tests.unit.evidence.cases import case


# RFC 8785, appendix B: IEEE 754 bits and the text.
@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)
def test_numbers_are_written_as_the_standard_says(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value) == text.encode()


def test_members_are_sorted_by_utf16_units_and_texts_are_left_as_they_are() -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 'שלום\n"\\'}
    expected = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":"שלום\\n\\"\\\\","\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    assert canonical_json(value) == expected.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, "\ud800", {1, 2}])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest):
        canonical_json([value])


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(-1000, 1000), min_size=2))
def test_the_order_of_members_does_not_matter(value: dict[str, int]) -> None:
    assert content_id(value) == content_id(dict(reversed(value.items())))


def test_an_id_survives_a_journey_through_json_and_changes_with_every_field() -> None:
    frozen = case()
    assert type(frozen).model_validate_json(frozen.model_dump_json(by_alias=True)).case_id == frozen.case_id
    assert frozen.model_copy(update={"owner": "noa"}).case_id != frozen.case_id
    assert frozen.model_copy(update={"answer": f"{frozen.answer} "}).case_id != frozen.case_id
