"""Bad files: each gives its reason, and none hangs."""

from __future__ import annotations

import io

import pypdfium2 as pdfium
import pytest

from ingest.extract.registry import extract
from search_config.errors import DocumentError, DocumentTooLarge, EmptyDocument, EncryptedDocument, ExtractionFailed
from tests.pdf.makers import MIXED, drawn, read


def test_a_password() -> None:
    with pytest.raises(EncryptedDocument):
        read(drawn([MIXED], password="secret"))


def test_rights_without_a_password_to_open_are_no_obstacle() -> None:
    assert "Acme" in read(drawn([MIXED], password="")).text


def test_zero_pages() -> None:
    out = io.BytesIO()
    pdfium.PdfDocument.new().save(out)
    with pytest.raises(ExtractionFailed, match="no pages"):
        read(out.getvalue())


def test_too_many_pages() -> None:
    with pytest.raises(DocumentTooLarge, match="3 pages; 2 are allowed"):
        read(drawn([["a"], ["b"], ["c"]]), pdf_pages_max=2)


def test_blank_pages() -> None:
    with pytest.raises(EmptyDocument):
        extract(drawn([[], []]), name="blank.pdf", max_bytes=1_000_000)


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.8, 0.97])
def test_truncated(keep: float) -> None:
    data = drawn([MIXED, MIXED])
    with pytest.raises(DocumentError):
        read(data[: int(len(data) * keep)])


def test_junk_behind_the_header() -> None:
    with pytest.raises(ExtractionFailed):
        read(b"%PDF-1.7\n" + b"x" * 500)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_end_in_text_or_in_an_error_of_ours(seed: int) -> None:
    import random

    chance = random.Random(seed)
    data = bytearray(drawn([MIXED]))
    for _ in range(20):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        document = read(bytes(data), ocr=False)
    except DocumentError:
        return
    assert all(block.locator.page == 1 for block in document.blocks)


def test_codes_of_glyphs_are_no_text() -> None:
    with pytest.raises(DocumentError, match="codes of glyphs"):
        read(drawn([["(cid:12)(cid:44)(cid:13)(cid:50)(cid:51)(cid:52)"]]), ocr=False)
