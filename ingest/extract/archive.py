"""Packed documents (ZIP): opened only within limits, which are checked in the directory and again while unpacking."""

from __future__ import annotations

import io
import zipfile
from typing import Final

from ingest.extract.foreign import PARSER_ERRORS
from ingest.extract.options import ExtractOptions
from search_config.errors import EncryptedDocument, ExpansionTooLarge, ExtractionFailed

ENCRYPTED_FLAG: Final = 0x1
# Below this an archive may unpack to any multiple of its size: tables of equal cells pack well, and cost nothing.
ALWAYS_EXPANDED_BYTES: Final = 20_000_000
READ_BYTES: Final = 1_048_576
OPEN_REMEDY: Final = "Open it in its own program, save it anew, and ingest that."


def open_archive(data: bytes, *, name: str, options: ExtractOptions) -> zipfile.ZipFile:
    """Open a packed document, and read every part of it once, so that a library can do so without danger.

    Nothing is written to disk, so that a part's name (`../../etc/passwd`) names nothing outside.

    Raises:
        ExtractionFailed: truncated or damaged; the part is named.
        EncryptedDocument: a part needs a password.
        ExpansionTooLarge: too many parts, or too large ones, as the directory says or as they turn out.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except PARSER_ERRORS as error:
        raise ExtractionFailed(
            "The file is cut off or damaged: its directory of parts cannot be read.", where=name, remedy=OPEN_REMEDY
        ) from error
    if len(entries) > options.archive_entries_max:
        raise ExpansionTooLarge(
            f"It holds {len(entries):,} parts; {options.archive_entries_max:,} are allowed.",
            where=name,
            remedy="Split it, or raise MAFTEACH_ARCHIVE_ENTRIES_MAX.",
        )
    if any(entry.flag_bits & ENCRYPTED_FLAG for entry in entries):
        raise encrypted(name)
    _allowed(sum(entry.file_size for entry in entries), len(data), name, options)
    unpacked = 0
    for entry in entries:
        try:
            with archive.open(entry) as part:
                while block := part.read(READ_BYTES):
                    unpacked += len(block)
                    _allowed(unpacked, len(data), name, options)
        except PARSER_ERRORS as error:
            raise ExtractionFailed(
                f"The file is damaged: its part {entry.filename[:100]!r} cannot be unpacked ({error}).",
                where=name,
                remedy=OPEN_REMEDY,
            ) from error
    return archive


def encrypted(name: str) -> EncryptedDocument:
    """The error for a document behind a password."""
    return EncryptedDocument(
        "The file is protected by a password.", where=name, remedy="Save it without a password, and ingest that."
    )


def _allowed(unpacked: int, packed: int, name: str, options: ExtractOptions) -> None:
    ratio_bytes = max(ALWAYS_EXPANDED_BYTES, options.expansion_ratio_max * packed)
    if unpacked > options.expanded_max_bytes:
        raise ExpansionTooLarge(
            f"It unpacks to more than {options.expanded_max_bytes:,} bytes.",
            where=name,
            remedy="Split it, or raise MAFTEACH_EXPANDED_MAX_BYTES.",
        )
    if unpacked > ratio_bytes:
        raise ExpansionTooLarge(
            f"It unpacks to more than {options.expansion_ratio_max:,} times its size, as only made-up files do.",
            where=name,
            remedy="Save it anew in its own program, or raise MAFTEACH_EXPANSION_RATIO_MAX.",
        )
