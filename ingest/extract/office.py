"""What Office formats share: properties of the document, and macros, which are reported and never run."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from ingest.extract.builder import one_line
from ingest.extract.canonical import canonicalise

CONTENT_TYPES: Final = "[Content_Types].xml"


class CoreProperties(Protocol):
    """The properties that python-docx, python-pptx and openpyxl read, each under these names."""

    title: Any
    created: Any
    modified: Any
    keywords: Any


def core_metadata(properties: CoreProperties) -> dict[str, Any]:
    """Title, author, keywords and dates; those that are blank are left out.

    `created` and `modified` are the file's, not the document's own date, so that they are not filtered by as `date`.
    """
    author = getattr(properties, "author", None) or getattr(properties, "creator", None)
    values = {
        "title": properties.title,
        "author": author,
        "tags": properties.keywords,
        "created": _day(properties.created),
        "modified": _day(properties.modified),
    }
    texts = {key: one_line(canonicalise(str(value))) for key, value in values.items() if value}
    return {key: text for key, text in texts.items() if text}


def _day(value: object) -> str:
    return value.date().isoformat() if isinstance(value, datetime) else ""


def macro_report(parts: Iterable[str]) -> list[str]:
    """A line where the archive holds macros."""
    names = [part.lower() for part in parts]
    held = any(name.endswith("vbaproject.bin") or "/macrosheets/" in name for name in names)
    return ["It holds macros; they were not run."] if held else []


def with_main_type(archive: zipfile.ZipFile, data: bytes, wanted: str, others: Sequence[str]) -> bytes:
    """The archive under the media type that a library insists on, where its main part has one of the others.

    Args:
        archive: the document, open.
        data: its bytes.
        wanted: media type of the main part.
        others: types whose parts are the same XML: with macros, templates, slide shows.
    """
    types = archive.read(CONTENT_TYPES)
    other = next((kind for kind in others if kind.encode() in types), None)
    if other is None:
        return data
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as target:
        for entry in archive.infolist():
            part = archive.read(entry)
            named = entry.filename == CONTENT_TYPES
            target.writestr(entry, part.replace(other.encode(), wanted.encode()) if named else part)
    return copy.getvalue()
