"""What a file is, by content before name; refusals; sizes."""

from __future__ import annotations

import pytest

from ingest.extract.detect import HTML, MARKDOWN, PLAIN, media_type_of
from ingest.extract.registry import extract
from search_config.errors import BinaryDocument, DocumentTooLarge, EmptyDocument, UnsupportedFormat

LIMIT = 1_000_000


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"text", "a.txt", PLAIN),
        (b"text", "README", PLAIN),
        (b"# title", "a.MD", MARKDOWN),
        (b"<p>x", "a.htm", HTML),
        (b"\n<!DOCTYPE html><p>x", "a.txt", HTML),
        ("\ufeff<html lang='he'>".encode("utf-16-le"), "a.txt", HTML),
        (b'<?xml version="1.0"?>\n<!-- c --><HTML>', "a.md", HTML),
        ("טקסט על <html> שבאמצעו".encode(), "a.txt", PLAIN),
    ],
)
def test_media_type(data: bytes, name: str, expected: str) -> None:
    assert media_type_of(data, name) == expected


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"%PDF-1.7\n...", UnsupportedFormat, "PDF comes with a later version"),
        (b"PK\x03\x04....word/document.xml", UnsupportedFormat, "DOCX comes"),
        (b"PK\x03\x04....data.bin", BinaryDocument, "ZIP archive"),
        (b"\x89PNG\r\n\x1a\n....", BinaryDocument, "PNG image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", BinaryDocument, "old Microsoft Office"),
    ],
)
def test_other_formats_are_named(data: bytes, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        extract(data, name="report.txt", max_bytes=LIMIT)


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(UnsupportedFormat, match=r"\.csv"):
        media_type_of(b"a,b", "a.csv")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "a.txt"),
        (b" \n\t\n", "a.txt"),
        ("\ufeff\u200f\n".encode(), "a.md"),
        (b"---\ntitle: x\n---\n", "a.md"),
        (b"<html><script>x()</script></html>", "a.html"),
        (b"<!-- nothing -->", "a.html"),
    ],
)
def test_nothing_to_read(data: bytes, name: str) -> None:
    with pytest.raises(EmptyDocument):
        extract(data, name=name, max_bytes=LIMIT)


def test_too_large() -> None:
    with pytest.raises(DocumentTooLarge, match="11 bytes; 10 are allowed"):
        extract(b"x" * 11, name="a.txt", max_bytes=10)


def test_a_sender_may_know_better() -> None:
    data = b"<html><p>x</p></html>"
    assert extract(data, name="a.html", max_bytes=LIMIT, media_type=PLAIN).text == data.decode()


def test_a_title_of_a_whole_page_is_shortened_where_it_is_repeated() -> None:
    document = extract(("<title>" + "מילה " * 500 + "</title><p>גוף").encode(), name="a.html", max_bytes=LIMIT)
    assert len(document.title) <= 300
    assert document.title.endswith("…")
