"""What a file is, by content before name; refusals; sizes."""

from __future__ import annotations

import pytest

from ingest.extract.detect import media_type_of
from ingest.extract.kinds import CSV, EML, HTML, MARKDOWN, PDF, PLAIN, SRT, TSV, VTT
from ingest.extract.registry import extract
from search_config.errors import (
    BinaryDocument,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    ExtractionFailed,
    UnsupportedFormat,
)

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


def stream(name: str) -> bytes:
    """The start of an old Office container, with the name of one of its streams as its directory holds it."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + name.encode("utf-16-le")


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"%PDF-1.7\n...", ExtractionFailed, "cut off or damaged"),
        (b"PK\x03\x04....word/document.xml", ExtractionFailed, "cut off or damaged"),
        (b"PK\x03\x04....data.bin", BinaryDocument, "ZIP archive"),
        (b"\x89PNG\r\n\x1a\n....", BinaryDocument, "PNG image"),
        (stream("nothing known"), UnsupportedFormat, "old Microsoft Office"),
        (stream("WordDocument"), UnsupportedFormat, r"Save it as \.docx"),
        (stream("Workbook"), UnsupportedFormat, r"Save it as \.xlsx"),
        (stream("PowerPoint Document"), UnsupportedFormat, r"Save it as \.pptx"),
        (stream("__substg1.0_0037001F"), UnsupportedFormat, r"Save it as \.eml"),
        (stream("EncryptedPackage"), EncryptedDocument, "password"),
        (b"{\\rtf1\\ansi text}", UnsupportedFormat, "RTF"),
    ],
)
def test_other_formats_are_named(data: bytes, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        extract(data, name="report.txt", max_bytes=LIMIT)


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(UnsupportedFormat, match=r"\.xyz"):
        media_type_of(b"a,b", "a.xyz")


MAIL = b"Received: from x\r\nFrom: a@b.c\r\nTo: d@e.f\r\nSubject: hello\r\n\r\nbody"
MEMO = b"To: all staff\nFrom: the office\nSubject: holidays\n\nThe office is closed."
TABLE = b"name,city,sum\nDana,Haifa,5\nYossi,Lod,7\nRuth,Eilat,9\n"
PROSE = b"Bread, milk, eggs\nTea, sugar, salt\nRice, oil, soap\n"


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nhi", "a.txt", VTT),
        (b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\nhi", "a.txt", SRT),
        (MAIL, "a.txt", EML),
        (b"From x Thu Feb 15 10:30:00 2024\n" + MAIL, "a.txt", EML),
        (b"X-Long: " + b"a" * 70 + b"\n" + b"Received: by b\n" * 500 + MAIL, "a.txt", EML),
        (MEMO, "memo.txt", PLAIN),
        (MEMO, "memo.eml", EML),
        (TABLE, "a.txt", CSV),
        (TABLE.replace(b",", b"\t"), "a.txt", TSV),
        (PROSE, "a.txt", PLAIN),
        (PROSE, "a.csv", CSV),
        (b"just words", "contract.docx", PLAIN),
        (b"just words", "scan.pdf", PLAIN),
        (b"%PDF-1.4 is how such a file begins.", "a.txt", PDF),
        (b"A file that begins with %PDF-1.4 is one.", "a.txt", PLAIN),
    ],
)
def test_content_tells_and_the_name_only_between_texts(data: bytes, name: str, expected: str) -> None:
    assert media_type_of(data, name) == expected


def test_a_name_that_promises_another_format_is_reported() -> None:
    report = extract(b"just words", name="contract.docx", max_bytes=LIMIT).report
    assert report == ("Its name ends in .docx, but it was read as what it is: text/plain.",)


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
