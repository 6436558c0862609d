"""The step of ingest that fills the fields: rules or a model, a person's corrections, and references resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ingest.extraction import Extraction, Issue
from ingest.fields.by_model import read_fields_by_model
from ingest.fields.corrections import apply_corrections, parse_corrections, remaining
from ingest.fields.flat import flatten
from ingest.fields.read import read_fields
from ingest.fields.resolve import Lookup, resolve_references
from models.base import LanguageModel


def with_fields(
    extraction: Extraction,
    corrections: Mapping[str, Any] | None = None,
    *,
    model: LanguageModel | None = None,
    lookup: Lookup | None = None,
) -> Extraction:
    """The extraction with its fields, and the issues that a person must decide behind those of the extractor.

    Args:
        extraction: text and metadata.
        corrections: as a person gave them at the release, JSON; fields that they name have no issue any more.
        model: reads instead of the rules.
        lookup: finds documents of the same tenant; without it references keep their numbers.

    Raises:
        InvalidRequest: corrections that do not validate.
        ModelError: (a subclass) the model gives no answer.
    """
    document, metadata = extraction.document, extraction.metadata
    read = read_fields(document, metadata) if model is None else read_fields_by_model(document, metadata, model)
    fields, issues = read.fields, read.issues
    if corrections:
        said = parse_corrections(corrections)
        fields, issues = apply_corrections(fields, said), remaining(issues, said)
    if lookup is not None:
        fields = resolve_references(fields, lookup)
    doubts = tuple(Issue(one.trouble.value, f"{one.field}: {one.what} ({one.as_read})") for one in issues)
    return replace(
        extraction,
        extracted=fields,
        filter_fields=flatten(fields),
        issues=(*extraction.issues, *doubts),
    )
