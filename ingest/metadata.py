"""Typed fields out of front matter. A value that does not validate is left out, and the report says so. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ingest.extract.builder import one_line
from ingest.extract.canonical import canonicalise

DOCUMENT_TYPES: Final = frozenset({"contract", "invoice", "report", "correspondence", "protocol", "procedure", "other"})
# A keyword that a person filters by is short; the engine refuses keywords of more than 32,766 bytes.
KEYWORD_CHARS_MAX: Final = 200
TAGS_MAX: Final = 50

_DATE: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")
_LANGUAGE: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?")
# The old code of Hebrew, which some systems still write.
_LANGUAGE_NOW: Final = {"iw": "he"}


class TypedMetadata(BaseModel):
    """What can be filtered by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str | None = None
    date: str | None = None
    tags: tuple[str, ...] = ()
    reference: str | None = None
    language: str | None = None
    report: tuple[str, ...] = ()


def typed(metadata: Mapping[str, Any]) -> TypedMetadata:
    """Validate the fields that we know; other fields stay in the document's record as they stood.

    Args:
        metadata: from an extractor; scalars are strings, tags a list or one string with commas.
    """
    report: list[str] = []
    return TypedMetadata(
        type=_type(metadata, report),
        date=_date(metadata, report),
        tags=_tags(metadata, report),
        reference=_keyword(metadata, "reference", report),
        language=_language(metadata, report),
        report=tuple(report),
    )


def _keyword(metadata: Mapping[str, Any], field: str, report: list[str]) -> str | None:
    value = metadata.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        report.append(f"{field}: one value was expected; ignored.")
        return None
    word = one_line(canonicalise(value))
    if len(word) > KEYWORD_CHARS_MAX:
        report.append(f"{field}: longer than {KEYWORD_CHARS_MAX} characters; ignored.")
        return None
    return word or None


def _type(metadata: Mapping[str, Any], report: list[str]) -> str | None:
    value = _keyword(metadata, "type", report)
    if value is None or value.lower() in DOCUMENT_TYPES:
        return value and value.lower()
    report.append(f"type: {value!r} is none of {', '.join(sorted(DOCUMENT_TYPES))}; ignored.")
    return None


def _date(metadata: Mapping[str, Any], report: list[str]) -> str | None:
    value = _keyword(metadata, "date", report)
    if value is None:
        return None
    written = _DATE.fullmatch(value)
    try:
        return date.fromisoformat(written[1] if written else "").isoformat()
    except ValueError:
        report.append(f"date: {value!r} is no date of the form YYYY-MM-DD; ignored.")
        return None


def _language(metadata: Mapping[str, Any], report: list[str]) -> str | None:
    value = _keyword(metadata, "language", report)
    if value is None:
        return None
    written = _LANGUAGE.fullmatch(value)
    if written is None:
        report.append(f"language: {value!r} is no language code such as he or en; ignored.")
        return None
    code = written[1].lower()
    return _LANGUAGE_NOW.get(code, code)


def _tags(metadata: Mapping[str, Any], report: list[str]) -> tuple[str, ...]:
    value = metadata.get("tags")
    if isinstance(value, str):
        value = value.split(",")
    if value is None:
        return ()
    if not isinstance(value, list):
        report.append("tags: a list was expected; ignored.")
        return ()
    tags = [_keyword({"tags": one}, "tags", report) for one in value]
    different = tuple(dict.fromkeys(tag for tag in tags if tag))
    if len(different) > TAGS_MAX:
        report.append(f"tags: more than {TAGS_MAX}; the first {TAGS_MAX} are kept.")
    return different[:TAGS_MAX]
