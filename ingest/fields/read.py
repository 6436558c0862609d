"""All fields of one document: the rules read the text, and what the file says of itself wins."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ingest.extract.base import ExtractedDocument
from ingest.fields.dates import find_dates
from ingest.fields.dating import read_dating
from ingest.fields.from_file import with_file_fields
from ingest.fields.kind import read_type
from ingest.fields.parties import read_parties
from ingest.fields.references import read_references
from ingest.fields.text import fold
from ingest.fields.totals import read_total
from ingest.metadata import TypedMetadata
from search_config.document_fields import (
    DocumentFields,
    DocumentReference,
    DocumentType,
    FieldReading,
    FieldStatus,
    Place,
    QuarantineIssue,
)
from search_config.language import language_of

# About forty pages. Dates and totals stand in a document's first part; what follows are its annexes, whose dates and
# sums are not the document's own, and a book of ten thousand pages must not cost minutes.
READ_CHARS_MAX: Final = 100_000
NO_LANGUAGE: Final = "other"


class FieldsRead(BaseModel):
    """What was read from one document.

    Attributes:
        fields: only what validates; a field with an issue is not found, until a person corrects it.
        issues: what does not validate; where there is one, the document waits for a person.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: DocumentFields
    issues: tuple[QuarantineIssue, ...] = ()


def read_fields(document: ExtractedDocument, metadata: TypedMetadata) -> FieldsRead:
    """Read every field by rules. The same text gives the same fields; no text raises.

    Args:
        document: canonical text with its blocks, which label the places.
        metadata: typed front matter; what it says wins over the text.

    Returns:
        Fields with places into `document.text`, and the issues.
    """
    text = document.text[:READ_CHARS_MAX]
    folded = fold(text)
    dates = find_dates(folded)
    kind = read_type(text, folded)
    known = metadata.type or kind.value
    type_ = DocumentType(known) if known else DocumentType.OTHER
    dating = read_dating(text, folded, dates, type_)
    total = read_total(text, folded, dates, type_)
    parties, crowd = read_parties(text, folded, type_)
    references, refers_to = read_references(text, folded, dates, type_)
    fields = DocumentFields(
        type=kind,
        parties=parties,
        signed=dating.signed,
        effective=dating.effective,
        expires=dating.expires,
        amount=total.amount,
        currency=total.currency,
        references=references,
        refers_to=refers_to,
        language=_language(text),
    )
    read = with_file_fields(fields, (*dating.issues, *total.issues, *crowd), metadata, document.metadata)
    return _labelled(validated(*read), document)


def validated(fields: DocumentFields, issues: tuple[QuarantineIssue, ...]) -> FieldsRead:
    """Without the values that an issue is about: they wait for a person. Lists keep what is sound."""
    emptied = {
        issue.field: FieldReading[Any]()
        for issue in issues
        if isinstance(getattr(fields, issue.field, None), FieldReading)
    }
    return FieldsRead(fields=fields.model_copy(update=emptied), issues=issues)


def _language(text: str) -> FieldReading[str]:
    language = language_of(text)
    if language == NO_LANGUAGE:
        return FieldReading()
    return FieldReading(status=FieldStatus.VALUE, value=language)


def _labelled(read: FieldsRead, document: ExtractedDocument) -> FieldsRead:
    """Every place with the label of the block that it stands in: page, slide, sheet."""
    blocks = document.blocks
    starts = [block.locator.from_ for block in blocks]

    def labelled(place: Place | None) -> Place | None:
        if place is None or not starts:
            return place
        block = blocks[max(0, bisect_right(starts, place.from_) - 1)]
        return place.model_copy(update={"label": block.locator.label}) if block.locator.label else place

    def changed(value: object) -> object:
        if isinstance(value, FieldReading | DocumentReference | QuarantineIssue):
            return value.model_copy(update={"place": labelled(value.place)})
        if isinstance(value, tuple):
            return tuple(changed(one) for one in value)
        return value

    updates = {name: changed(getattr(read.fields, name)) for name in type(read.fields).model_fields}
    return FieldsRead(
        fields=read.fields.model_copy(update=updates),
        issues=tuple(issue.model_copy(update={"place": labelled(issue.place)}) for issue in read.issues),
    )
