"""What a file is: by its content; its name decides between kinds of text, and nothing else. Pure."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from pathlib import PurePath
from typing import Final

from ingest.extract.delimited import looks_delimited
from ingest.extract.foreign import PARSER_ERRORS
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
from search_config.errors import BinaryDocument, DocumentError, EncryptedDocument, ExtractionFailed, UnsupportedFormat

__all__ = ["HTML", "MARKDOWN", "PLAIN", "SUPPORTED", "media_type_of"]

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
    (b"OggS", "an audio file"),
    (b"ID3", "an audio file"),
    (b"SQLite format 3\0", "a SQLite database"),
)
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PDF_START: Final = b"%PDF-"
# Readers accept a PDF whose header stands within its first 1,024 bytes (ISO 32000-1, implementation note 13).
PDF_WITHIN_BYTES: Final = 1_024
PDF_TRAILER: Final = b"startxref"
RTF: Final = b"{\\rtf"
# Folders of an Office archive, each with its format.
OFFICE_PARTS: Final = ((b"word/", DOCX), (b"xl/", XLSX), (b"ppt/", PPTX))
# What stands in the names of their parts, also where the directory is cut off.
OFFICE_SIGNS: Final = (
    *(part for part, _ in OFFICE_PARTS),
    b"docProps/",
    b"[Content_Types].xml",
    b"mimetypeapplication/vnd.oasis",
)
# Of the other packed formats, the remedy.
ODF_SIBLINGS: Final = {
    b"application/vnd.oasis.opendocument.spreadsheet": ("An OpenDocument spreadsheet", ".xlsx"),
    b"application/vnd.oasis.opendocument.presentation": ("An OpenDocument presentation", ".pptx"),
    b"application/epub+zip": ("EPUB", ".html"),
}
# Streams of old Office files (their names stand in the file as UTF-16), what the file is, and what to save it as.
OLE_STREAMS: Final = (
    ("WordDocument", "An old Word document (.doc)", ".docx"),
    ("Workbook", "An old Excel workbook (.xls)", ".xlsx"),
    ("Book", "An old Excel workbook (.xls)", ".xlsx"),
    ("PowerPoint Document", "An old PowerPoint presentation (.ppt)", ".pptx"),
    ("__substg1.0_", "An Outlook message (.msg)", ".eml"),
)
ENCRYPTED_STREAM: Final = "EncryptedPackage".encode("utf-16-le")
HEAD_BYTES: Final = 4_096
# Heads of mails that went through many hands are longer.
MAIL_HEAD_BYTES: Final = 65_536

_HTML_START: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I | re.S
)
_VTT_START: Final = re.compile(r"WEBVTT(?:[ \t\r\n]|$)")
_SRT_START: Final = re.compile(
    r"\s*\d+[ \t]*\r?\n\d{1,3}:\d{2}:\d{2}[,.]\d{1,3}[ \t]*-->[ \t]*\d{1,3}:\d{2}:\d{2}[,.]\d"
)
_HEADER_LINE: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*):|[ \t]+\S")
# Fields of a mail's head. Those of the first set are written by programs: a memo typed by a person has none of them.
PROGRAM_FIELDS: Final = frozenset(
    ["received", "message-id", "mime-version", "return-path", "dkim-signature", "content-transfer-encoding"]
)
MAIL_FIELDS: Final = PROGRAM_FIELDS | frozenset(
    ["from", "to", "cc", "bcc", "subject", "date", "reply-to", "sender", "content-type", "in-reply-to", "references"]
)
MAIL_FIELDS_MIN: Final = 2


def media_type_of(data: bytes, name: str) -> str:
    """The media type.

    Args:
        data: the file's bytes.
        name: the file's name; its ending counts between kinds of text, and where only it says what a text is.

    Raises:
        BinaryDocument: an image, an archive, a program.
        EncryptedDocument: an Office file behind a password.
        UnsupportedFormat: old Office files, RTF, and endings that nothing here reads.
        ExtractionFailed: an Office file that is cut off.
    """
    head = data[:HEAD_BYTES]
    if head.startswith(PDF_START) or (PDF_START in head[:PDF_WITHIN_BYTES] and PDF_TRAILER in data):
        return PDF
    if head.startswith(ZIP):
        return _packed(data, name)
    if head.startswith(OLE):
        raise _ole(data, name)
    _refuse_binary(head, name)
    return _text_kind(_readable(head), _readable(data[:MAIL_HEAD_BYTES]), name)


def _text_kind(head: str, longer: str, name: str) -> str:
    if _HTML_START.match(head):
        return HTML
    if _VTT_START.match(head):
        return VTT
    if _SRT_START.match(head):
        return SRT
    suffix = PurePath(name).suffix.lower()
    named = BY_SUFFIX.get(suffix)
    if _is_mail(longer, certain=named is EML):
        return EML
    if named is None:
        raise UnsupportedFormat(
            f"Files ending in {suffix} are not read.", where=name, remedy=f"Convert it to one of {SUPPORTED}."
        )
    if named in TEXT_KINDS and named is not PLAIN:
        return named
    # A name that promises another format is wrong: what is left is text, and tables of text can be told.
    separator = looks_delimited(head)
    return PLAIN if separator is None else TSV if separator == "\t" else CSV


def _is_mail(head: str, *, certain: bool) -> bool:
    """Whether it begins with the head of a mail; `certain` where the name says so too."""
    found: set[str] = set()
    lines = head.splitlines()
    if lines and lines[0].startswith("From "):  # as mailboxes part their mails
        lines = lines[1:]
    for place, line in enumerate(lines):
        if not line.strip():
            break
        field = _HEADER_LINE.match(line)
        if field is not None:
            found.add((field[1] or "").lower())
        elif place < len(lines) - 1:  # the last line that was looked at may be cut
            return False
    known = len(found & MAIL_FIELDS)
    return known >= (1 if certain else MAIL_FIELDS_MIN) and (certain or bool(found & PROGRAM_FIELDS))


def _packed(data: bytes, name: str) -> str:
    """The format of a ZIP archive, by its parts' names."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            stated = archive.open("mimetype").read(HEAD_BYTES).strip() if "mimetype" in names else b""
    except PARSER_ERRORS as error:
        named = BY_SUFFIX.get(PurePath(name).suffix.lower())
        if any(sign in data for sign in OFFICE_SIGNS) or named in (DOCX, PPTX, XLSX, ODT):
            raise ExtractionFailed(
                "The Office file is cut off or damaged: its directory of parts cannot be read.",
                where=name,
                remedy="Get the file once more, or save it anew in its own program.",
            ) from error
        raise _archive(name) from error
    if stated.startswith(ODT.encode()):
        return ODT
    if stated in ODF_SIBLINGS:
        what, better = ODF_SIBLINGS[stated]
        raise _unsupported(what, better, name)
    for part, kind in OFFICE_PARTS:
        if any(entry.startswith(part.decode()) for entry in names) and "[Content_Types].xml" in names:
            return kind
    raise _archive(name)


def _archive(name: str) -> DocumentError:
    return BinaryDocument("This is a ZIP archive.", where=name, remedy="Unpack it and ingest the files in it.")


def _ole(data: bytes, name: str) -> DocumentError:
    if ENCRYPTED_STREAM in data:
        return EncryptedDocument(
            "The Office file is protected by a password.",
            where=name,
            remedy="Save it without a password, and ingest that.",
        )
    for stream, what, better in OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            return _unsupported(what, better, name)
    return _unsupported("An old Microsoft Office file", ".docx, .xlsx or .pptx", name)


def _unsupported(what: str, better: str, name: str) -> UnsupportedFormat:
    return UnsupportedFormat(f"{what} is not read.", where=name, remedy=f"Save it as {better}, and ingest that.")


def _refuse_binary(head: bytes, name: str) -> None:
    if head.startswith(RTF):
        raise _unsupported("RTF", ".docx", name)
    for start, what in SIGNATURES:
        if head.startswith(start):
            raise BinaryDocument(f"This is {what}, not text.", where=name, remedy=f"Ingest {SUPPORTED} files.")


def _readable(head: bytes) -> str:
    """The start of a file, readable enough to see what it is, whatever its encoding."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, errors="ignore")
    if head[1::2].count(0) > len(head) // 4:  # UTF-16 without a mark: every other byte of ASCII is NUL
        return head.decode("utf-16-le", errors="ignore")
    if head[0::2].count(0) > len(head) // 4:
        return head.decode("utf-16-be", errors="ignore")
    return head.removeprefix(codecs.BOM_UTF8).decode("latin-1")
