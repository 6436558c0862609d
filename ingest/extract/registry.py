"""Extractors by media type, and the one door to them."""

from __future__ import annotations

from typing import Final

from ingest.extract.base import ExtractedDocument, Extractor
from ingest.extract.builder import shortened
from ingest.extract.detect import HTML, MARKDOWN, PLAIN, SUPPORTED, media_type_of
from ingest.extract.html import extract_html
from ingest.extract.markdown import extract_markdown
from ingest.extract.plain import extract_plain
from search_config.errors import DocumentTooLarge, EmptyDocument, UnsupportedFormat

# Changes whenever an extractor gives other text or other blocks for the same bytes.
EXTRACTORS_VERSION: Final = "1"

EXTRACTORS: Final[dict[str, Extractor]] = {PLAIN: extract_plain, MARKDOWN: extract_markdown, HTML: extract_html}


def extract(data: bytes, *, name: str, max_bytes: int, media_type: str | None = None) -> ExtractedDocument:
    """Turn a file's bytes into canonical text and blocks.

    Args:
        data: all bytes of the file.
        name: the file's name.
        max_bytes: the largest size that is accepted.
        media_type: given by a sender who knows it; else told from content and name.

    Returns:
        A document with text; its blocks cover every character that is not white space.

    Raises:
        EmptyDocument: no bytes, or nothing but white space.
        DocumentTooLarge, BinaryDocument, UndecodableDocument, UnsupportedFormat, ExtractionFailed
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes, name)
    if not data:
        raise EmptyDocument("The file is empty.", where=name, remedy="Remove it, or put text in it.")
    kind = media_type or media_type_of(data, name)
    extractor = EXTRACTORS.get(kind)
    if extractor is None:
        raise UnsupportedFormat(f"{kind} is not read.", where=name, remedy=f"Convert it to one of {SUPPORTED}.")
    document = extractor(data, name=name)
    if not document.blocks:
        raise EmptyDocument("There is no text in the file.", where=name, remedy="Remove it, or put text in it.")
    return document.model_copy(update={"title": shortened(document.title)})


def too_large(size: int, max_bytes: int, name: str) -> DocumentTooLarge:
    """The error for a file of `size` bytes."""
    return DocumentTooLarge(
        f"The file has {size:,} bytes; {max_bytes:,} are allowed.",
        where=name,
        remedy="Split it, or raise MAFTEACH_MAX_FILE_BYTES.",
    )
