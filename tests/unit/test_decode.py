"""Bytes to text: every encoding that Hebrew files come in, and refusals."""

from __future__ import annotations

import codecs
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extract.canonical import canonicalise, offset_in_canonical
from ingest.extract.decode import decode
from search_config.errors import BinaryDocument, DocumentError, UndecodableDocument

HEBREW = 'העירייה תשלם לקבלן 12,500 ש"ח בתוך שלושים יום – לא יאוחר מכך. Acme Ltd.'


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (HEBREW.encode(), "utf-8"),
        (codecs.BOM_UTF8 + HEBREW.encode(), "utf-8"),
        (codecs.BOM_UTF16_LE + HEBREW.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + HEBREW.encode("utf-16-be"), "utf-16-be"),
        (codecs.BOM_UTF32_LE + HEBREW.encode("utf-32-le"), "utf-32-le"),
        (HEBREW.encode("utf-16-le"), "utf-16-le"),
        (HEBREW.encode("utf-16-be"), "utf-16-be"),
        (HEBREW.encode("windows-1255"), "windows-1255"),
    ],
)
def test_hebrew_is_read_in_every_encoding(data: bytes, encoding: str) -> None:
    decoded = decode(data, name="a.txt")
    assert (decoded.text, decoded.encoding) == (HEBREW, encoding)


def test_what_only_iso_8859_8_holds_is_read_as_that() -> None:
    text = "סך הכול ‗ שולם"  # U+2017 has no place in windows-1255
    assert decode(text.encode("iso-8859-8"), name="a.txt").encoding == "iso-8859-8"


def test_points_survive_windows_1255() -> None:
    text = "שָׁלוֹם לְכֻלָּם, זֶהוּ טֶקְסְט מְנֻקָּד"
    assert decode(text.encode("windows-1255"), name="a.txt").text == text


def test_english_with_typographic_quotes_needs_no_hebrew() -> None:
    text = "The Supplier’s “best effort” – nothing more"
    assert decode(text.encode("windows-1252"), name="a.txt").text == text


def test_french_is_not_taken_for_hebrew() -> None:
    with pytest.raises(UndecodableDocument, match="byte 1 is broken"):
        decode("Déjà vu à l'école, été comme hiver".encode("latin-1"), name="a.txt")


def test_a_declared_encoding_is_believed_where_it_fits() -> None:
    french = "Déjà vu à l'école"
    assert decode(french.encode("latin-1"), name="a.html", declared="iso-8859-1").text == french
    assert decode(HEBREW.encode(), name="a.html", declared="windows-1255").encoding == "utf-8"
    assert decode(HEBREW.encode("windows-1255"), name="a.html", declared="hex").encoding == "windows-1255"


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_refused(seed: int) -> None:
    data = random.Random(seed).randbytes(4_000)
    with pytest.raises((BinaryDocument, UndecodableDocument)):
        decode(data, name="a.txt")


@pytest.mark.parametrize("data", [b"abc\0def\0\0ghi", b"\x01\x02\x03\x04 text", HEBREW.encode("utf-16-le") + b"\0"])
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(BinaryDocument):
        decode(data, name="a.txt")


def test_a_mark_that_lies_is_named() -> None:
    with pytest.raises(UndecodableDocument, match="utf-16-le"):
        decode(codecs.BOM_UTF16_LE + b"\x00\xd8a", name="a.txt")


@given(st.binary(max_size=300))
def test_bytes_give_text_or_our_error(data: bytes) -> None:
    try:
        decoded = decode(data, name="a.txt")
    except DocumentError:
        return
    decoded.text.encode()  # no lone surrogate
    assert "\0" not in decoded.text


@given(st.text(max_size=200))
def test_canonical_text_is_a_fixed_point(text: str) -> None:
    once = canonicalise(text)
    assert canonicalise(once) == once
    assert "\r" not in once


def test_what_is_canonical_comes_back_to_the_letter() -> None:
    text = "  שורה\tראשונה \n\n\n\u00a0שנייה\u200b\n"
    assert canonicalise(text) == text


def test_line_ends_marks_and_controls() -> None:
    assert canonicalise("\ufeffא\u200fב\r\nג\rד\x0cה\x07\u2028ו") == "אב\nג\nד\nה\nו"
    assert canonicalise("\ufb2a") == "ש\u05c1"


def test_offsets_follow_what_was_dropped() -> None:
    text = "\u200fסעיף\r\n\u202a12,500\u202c ש\u05bc"
    canonical = canonicalise(text)
    start = text.index("12")
    assert canonical[offset_in_canonical(text, start) :].startswith("12,500 ")


def test_a_million_marks_on_one_letter_take_no_time() -> None:
    text = "א" + "\u05b7\u0591" * 500_000
    assert len(canonicalise(text)) <= 101


def test_garbage_from_the_system() -> None:
    with pytest.raises(DocumentError):
        decode(os.urandom(100_000), name="a.txt")
