"""What a file is: by its content where that can be told, else by its name. Pure."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath
from typing import Final

from search_config.errors import BinaryDocument, UnsupportedFormat

PLAIN: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"

BY_SUFFIX: Final = {
    "": PLAIN,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
}
SUPPORTED: Final = ".txt, .md and .html"

# First bytes of formats that a later version reads.
LATER: Final = ((b"%PDF-", "PDF"), (b"{\\rtf", "RTF"))
# First bytes of what is not text, with what a person calls it.
SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file"),
    (b"OggS", "an audio file"),
    (b"ID3", "an audio file"),
    (b"SQLite format 3\0", "a SQLite database"),
)
ZIP: Final = b"PK\x03\x04"
# Parts that tell Office files from other ZIP archives; their names stand uncompressed near the start.
OFFICE_PARTS: Final = ((b"word/", "DOCX"), (b"xl/", "XLSX"), (b"ppt/", "PPTX"))
HEAD_BYTES: Final = 4_096

_HTML_START: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I | re.S
)


def media_type_of(data: bytes, name: str) -> str:
    """The media type.

    Args:
        data: the file's bytes; only the first few thousand are looked at.
        name: the file's name; its ending counts where the content does not tell.

    Raises:
        BinaryDocument: an image, an archive, a program.
        UnsupportedFormat: PDF and Office files, and endings that nothing here reads.
    """
    head = data[:HEAD_BYTES]
    _refuse_binary(head, name)
    if _HTML_START.match(_readable(head)):
        return HTML
    suffix = PurePath(name).suffix.lower()
    if suffix not in BY_SUFFIX:
        raise UnsupportedFormat(
            f"Files ending in {suffix} are not read.", where=name, remedy=f"Convert it to one of {SUPPORTED}."
        )
    return BY_SUFFIX[suffix]


def _refuse_binary(head: bytes, name: str) -> None:
    for start, what in LATER:
        if head.startswith(start):
            raise _later(what, name)
    if head.startswith(ZIP):
        for part, what in OFFICE_PARTS:
            if part in head:
                raise _later(what, name)
        raise BinaryDocument("This is a ZIP archive.", where=name, remedy="Unpack it and ingest the files in it.")
    for start, what in SIGNATURES:
        if head.startswith(start):
            raise BinaryDocument(f"This is {what}, not text.", where=name, remedy=f"Ingest {SUPPORTED} files.")


def _later(what: str, name: str) -> UnsupportedFormat:
    return UnsupportedFormat(
        f"{what} comes with a later version.", where=name, remedy=f"Convert it to one of {SUPPORTED}."
    )


def _readable(head: bytes) -> str:
    """The start of a file, readable enough to see mark-up in it whatever its encoding."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, errors="ignore")
    return head.removeprefix(codecs.BOM_UTF8).decode("latin-1")
