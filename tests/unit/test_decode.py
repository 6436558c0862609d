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
from ingest.extract.html import extract_html
from ingest.extract.plain import extract_plain
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


# As an old program stored them: each line as it is seen, from its left end.
VISUAL = (
    ".(51-234567-8 .פ.ח) .Acme Ltd םע 2023 ראורבפב 10 םויב םתחנ",
    '.[חפסנ האר] 3.2 ףיעס יפל (מ"עמ ללוכ) ח"ש 12,500 ךסב',
    ".E-4031 (version 2) ריחממ 17% רועיש םלשל שי",
    "no Hebrew here (at all).",
)
LOGICAL = (
    "נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8).",
    'בסך 12,500 ש"ח (כולל מע"מ) לפי סעיף 3.2 [ראה נספח].',
    "יש לשלם שיעור 17% ממחיר E-4031 (version 2).",
    "no Hebrew here (at all).",
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["iso-8859-8", "windows-1255"])
def test_visual_order_is_told_by_final_letters_and_turned(encoding: str, line_end: str) -> None:
    document = extract_plain(line_end.join(VISUAL).encode(encoding), name="a.txt")
    assert document.text == "\n".join(LOGICAL)
    assert document.report == ("Decoded as windows-1255, in visual order.",)


@pytest.mark.parametrize("charset", ["iso-8859-8", "iso-8859-8-i", "windows-1255"])
def test_a_logical_page_stays_whatever_it_is_labelled(charset: str) -> None:
    page = f"<html><meta charset={charset}><p>{LOGICAL[0]}<br>{LOGICAL[1]}".encode("iso-8859-8")
    assert extract_html(page, name="a.html").text == "\n".join(LOGICAL[:2])


def test_a_visual_page_is_turned_line_by_line() -> None:
    page = (
        f"<html><meta charset=iso-8859-8><title>יתנש חוד</title><h1>םוכיס</h1><p>{VISUAL[0]}<br>{VISUAL[1]}"
        "<table><tr><th>ריחמ<th>טירפ<tr><td>5<td>ץע</table>"
    ).encode("iso-8859-8")
    document = extract_html(page, name="a.html")
    assert document.text == "\n\n".join(("סיכום", "\n".join(LOGICAL[:2]), "מחיר: 5 | פריט: עץ"))
    assert document.title == "דוח שנתי"


def test_where_no_final_letter_tells_the_label_does() -> None:
    text = "תוריפ תונק".encode("iso-8859-8")
    assert decode(text, name="a", declared="iso-8859-8").visual
    assert not decode(text, name="a", declared="iso-8859-8-i").visual
    assert not decode(text, name="a").visual


def test_presentation_forms_are_folded() -> None:
    text = "\ufb20\ufb21\ufb22\ufb23\ufb24\ufb25\ufb26\ufb27\ufb28 \ufb4f \ufb2a\ufb35 \ufb1d"
    folded = canonicalise(text)
    assert folded.startswith("עאדהכלםרת אל ")
    assert not any("\ufb1d" <= char <= "\ufb4f" for char in folded)
    assert canonicalise(folded) == folded


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
