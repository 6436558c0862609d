"""What the head of a mail says, and the names of its attachments, made safe to show. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import EmailMessage
from pathlib import PurePosixPath
from typing import Final

from ingest.extract.builder import one_line
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode
from ingest.extract.foreign import PARSER_ERRORS
from search_config.errors import DocumentError

# The lines that stand above a mail's text, in the order in which mail programs show them.
HEBREW_LABELS: Final = {"from": "מאת", "to": "אל", "cc": "עותק", "date": "תאריך", "subject": "נושא"}
ENGLISH_LABELS: Final = {"from": "From", "to": "To", "cc": "Cc", "date": "Date", "subject": "Subject"}
# File systems allow 255 bytes; a name is shown in a section path, and longer ones are not read by anyone.
NAME_CHARS_MAX: Final = 120

_SURROGATE: Final = re.compile("[\udc80-\udcff]")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f<>|\"]")


def head_field(message: EmailMessage, field: str) -> str:
    """A field of the head as one line, decoded; empty where it is not there.

    Bytes that were never encoded as the standard demands are decoded by evidence, as a text file's are.
    """
    raw = next((value for key, value in message.raw_items() if key.lower() == field), None)
    if raw is None:
        return ""
    if _SURROGATE.search(raw):
        source = raw.encode("utf-8", "surrogateescape")
        try:
            raw = decode(source, name=field).text
        except DocumentError:
            raw = source.decode("utf-8", "replace")
        return one_line(canonicalise(raw))
    try:
        text = str(message[field] or "")
    except PARSER_ERRORS:  # the library's parser of addresses fails at some malformed ones
        text = _decoded_words(raw)
    if "\ufffd" in text:  # an encoding that the library does not know, or that is not the one it says
        text = _decoded_words(raw)
    return one_line(canonicalise(_SURROGATE.sub("\ufffd", text)))


def _decoded_words(raw: str) -> str:
    """A field whose encoded words (RFC 2047) are decoded by what they say, or by evidence."""
    try:
        return "".join(
            part if isinstance(part, str) else decode(part, name="header", declared=charset).text
            for part, charset in decode_header(raw)
        )
    except (*PARSER_ERRORS, HeaderParseError, DocumentError):
        return raw


def sent_at(message: EmailMessage) -> datetime | None:
    """When the mail says that it was sent; None where it does not say so in a way that is understood."""
    try:
        found = getattr(message["date"], "datetime", None)
    except PARSER_ERRORS:
        return None
    return found if isinstance(found, datetime) else None


def safe_name(name: str | None, number: int) -> str:
    """An attachment's name without folders, control characters and direction marks; one of our own where nothing is
    left of it. It names a section and is never a path of a file here.

    Args:
        name: as the mail gives it: any text.
        number: of the attachment, from 1.
    """
    flat = one_line(_UNSAFE.sub("", canonicalise(_SURROGATE.sub("", name or "")))).replace("\\", "/")
    last = PurePosixPath(flat).name.strip(". ")
    if not last:
        return f"attachment-{number}"
    if len(last) <= NAME_CHARS_MAX:
        return last
    ending = PurePosixPath(last).suffix[:10]
    return f"{last[: NAME_CHARS_MAX - len(ending)]}{ending}"
