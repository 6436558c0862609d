"""Pages that are pictures: recognised with confidence, reported where nothing can recognise them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.chunking import chunk_document
from ingest.chunking.base import ChunkingSpec
from ingest.extract.pdf import ocr
from search_config.errors import ExtractionFailed
from tests.pdf.makers import MIXED, drawn, error_rate, joined, picture, read, scanned
from tests.unit.counters import NO_LIMIT

SCAN_CER_MAX = 0.12


def test_a_scan_that_nothing_recognises_says_what_to_install() -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(scanned([picture(drawn([MIXED]))]), ocr=False)
    assert "tesseract-ocr tesseract-ocr-heb" in str(caught.value)


def test_a_scanned_page_among_others_is_reported() -> None:
    written = drawn([MIXED])
    document = read(joined([written, scanned([picture(written)])]), ocr=False)
    assert {block.locator.page for block in document.blocks} == {1}
    assert any("page 2" in note and "picture" in note for note in document.report)


@pytest.mark.extra("tesseract", "pytesseract")
def test_a_scan_is_recognised_with_confidence() -> None:
    assert ocr.missing() is None
    document = read(scanned([picture(drawn([MIXED]))]))
    assert error_rate(document.text, " ".join(MIXED)) <= SCAN_CER_MAX
    assert all(block.confidence is not None and 0.3 < block.confidence <= 1 for block in document.blocks)
    assert "Recognised by Tesseract: page 1." in document.report
    spec = ChunkingSpec(strategy="E", target=400, window=200)
    chunks = chunk_document(document, spec, NO_LIMIT)
    assert all(chunk.confidence is not None for chunk in chunks)
    assert "עמוד 1" in chunks[0].locator.label


@pytest.mark.extra("tesseract", "pytesseract")
def test_the_text_layer_of_a_searchable_scan(tmp_path: Path) -> None:
    import pytesseract

    image = picture(drawn([MIXED]))
    data: bytes = pytesseract.image_to_pdf_or_hocr(image, lang="heb+eng", extension="pdf", config="--dpi 300")
    document = read(data)
    assert error_rate(document.text, " ".join(MIXED)) <= SCAN_CER_MAX
    assert document.doubts == ()
    assert not any("Recognised" in note for note in document.report)


def test_born_digital_text_has_no_confidence() -> None:
    document = read(drawn([MIXED]))
    assert {block.confidence for block in document.blocks} == {None}
    spec = ChunkingSpec(strategy="A", target=100, window=200)
    assert {chunk.confidence for chunk in chunk_document(document, spec, NO_LIMIT)} == {None}
