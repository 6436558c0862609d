"""Extractors by media type, and the one door to them."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import PurePath
from typing import Final, Protocol

from ingest.extract.base import ExtractedDocument, Extractor
from ingest.extract.builder import shortened
from ingest.extract.detect import media_type_of
from ingest.extract.foreign import parsing
from ingest.extract.html import extract_html
from ingest.extract.kinds import (
    BY_SUFFIX,
    CSV,
    DOCX,
    EML,
    HTML,
    MARKDOWN,
    ODT,
    PDF,
    PLAIN,
    PPTX,
    SRT,
    SUPPORTED,
    TEXT_KINDS,
    TSV,
    VTT,
    XLSX,
)
from ingest.extract.markdown import extract_markdown
from ingest.extract.options import ExtractOptions
from ingest.extract.plain import extract_plain
from search_config.errors import DocumentTooLarge, EmptyDocument, UnsupportedFormat

# Changes whenever an extractor gives other text or other blocks for the same bytes.
EXTRACTORS_VERSION: Final = "4"


class LimitedExtractor(Protocol):
    """An extractor of a format whose files may cost more than their size says."""

    def __call__(self, data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
        """Extract; as `Extractor`, within the limits."""


EXTRACTORS: Final[dict[str, Extractor]] = {PLAIN: extract_plain, MARKDOWN: extract_markdown, HTML: extract_html}

# Module and function of each; they are imported when the first file of their format comes, since a process that never
# meets one should not wait for its library.
LIMITED: Final = {
    CSV: ("ingest.extract.delimited_text", "extract_delimited"),
    TSV: ("ingest.extract.delimited_text", "extract_delimited"),
    PDF: ("ingest.extract.pdf", "extract_pdf"),
    DOCX: ("ingest.extract.docx", "extract_docx"),
    PPTX: ("ingest.extract.pptx", "extract_pptx"),
    XLSX: ("ingest.extract.xlsx", "extract_xlsx"),
    ODT: ("ingest.extract.odt", "extract_odt"),
    EML: ("ingest.extract.eml", "extract_eml"),
    SRT: ("ingest.extract.subtitles", "extract_srt"),
    VTT: ("ingest.extract.subtitles", "extract_vtt"),
}


def extract(
    data: bytes,
    *,
    name: str,
    max_bytes: int,
    media_type: str | None = None,
    options: ExtractOptions | None = None,
) -> ExtractedDocument:
    """Turn a file's bytes into canonical text and blocks.

    Args:
        data: all bytes of the file.
        name: the file's name.
        max_bytes: the largest size that is accepted.
        media_type: given by a sender who knows it; else told from content and name.
        options: limits on what one document may cost; the defaults where None.

    Returns:
        A document with text; its blocks cover every character that is not white space.

    Raises:
        EmptyDocument: no bytes, or nothing but white space.
        DocumentTooLarge, BinaryDocument, UndecodableDocument, UnsupportedFormat, EncryptedDocument, ExpansionTooLarge,
        ExtractionFailed
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes, name)
    if not data:
        raise EmptyDocument("The file is empty.", where=name, remedy="Remove it, or put text in it.")
    kind = media_type or media_type_of(data, name)
    extractor = _extractor(kind, options or ExtractOptions(max_file_bytes=max_bytes))
    if extractor is None:
        raise UnsupportedFormat(f"{kind} is not read.", where=name, remedy=f"Convert it to one of {SUPPORTED}.")
    document = extractor(data, name=name)
    if not document.blocks:
        seen = f" {' '.join(document.report)}" if document.report else ""
        raise EmptyDocument(f"There is no text in the file.{seen}", where=name, remedy="Remove it, or put text in it.")
    report = (*_misnamed(name, kind), *document.report)
    return document.model_copy(update={"title": shortened(document.title), "report": report})


def _extractor(kind: str, options: ExtractOptions) -> Extractor | None:
    if kind in EXTRACTORS:
        return EXTRACTORS[kind]
    if kind not in LIMITED:
        return None
    module, function = LIMITED[kind]
    limited: LimitedExtractor = getattr(importlib.import_module(module), function)
    what = next((suffix[1:].upper() for suffix, named in BY_SUFFIX.items() if named == kind), kind)
    return partial(_guarded, limited, options, what)


def _guarded(
    limited: LimitedExtractor, options: ExtractOptions, what: str, data: bytes, *, name: str
) -> ExtractedDocument:
    """Extract; what a format's module lets through of its parser's errors is a damaged file's doing as well."""
    with parsing(what, name):
        return limited(data, name=name, options=options)


def _misnamed(name: str, kind: str) -> tuple[str, ...]:
    """A line where the name promises another format than the content is."""
    suffix = PurePath(name).suffix.lower()
    named = BY_SUFFIX.get(suffix)
    if not suffix or named is None or named == kind or {named, kind} <= TEXT_KINDS:
        return ()
    return (f"Its name ends in {suffix}, but it was read as what it is: {kind}.",)


def too_large(size: int, max_bytes: int, name: str) -> DocumentTooLarge:
    """The error for a file of `size` bytes."""
    return DocumentTooLarge(
        f"The file has {size:,} bytes; {max_bytes:,} are allowed.",
        where=name,
        remedy="Split it, or raise MAFTEACH_MAX_FILE_BYTES.",
    )
