"""Base64 by table, against the standard library."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query.base64_text import decoded

Write = Callable[[bytes], bytes]
each_alphabet = pytest.mark.parametrize("write", [base64.b64encode, base64.urlsafe_b64encode])


def written(values: list[bytes], write: Write) -> list[str]:
    """As the engine writes them: without padding."""
    return [write(value).decode("ascii").rstrip("=") for value in values]


@each_alphabet
@settings(deadline=None)  # the first example makes the table
@given(values=st.lists(st.binary(max_size=60), max_size=8))
def test_what_was_written_is_read(values: list[bytes], write: Write) -> None:
    assert decoded(written(values, write)) == values


@each_alphabet
@settings(deadline=None)  # the first example makes the table
@given(values=st.lists(st.binary(max_size=20).map(lambda value: value * 3), max_size=8))
def test_whole_groups_are_read_by_table(values: list[bytes], write: Write) -> None:
    assert decoded(written(values, write)) == values


@each_alphabet
def test_every_pair_of_characters_is_known(write: Write) -> None:
    every = b"".join((first << 18 | second << 12).to_bytes(3, "big") for first in range(64) for second in range(64))
    assert decoded(written([every], write)) == [every]
