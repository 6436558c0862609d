"""A labelled set of documents for the fields that are read at ingest.

Layout of a folder
    documents/     the documents, in any format that ingest takes
    labels.jsonl   one document a line: its fields, with the places in the canonical text
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.dataset import DOCUMENTS_FOLDER, PROBLEMS_SHOWN
from ingest.extract.base import ExtractedDocument
from ingest.extract.registry import extract
from search_config.document_fields import DocumentType, FieldStatus, PartyKind, Relation, Trouble
from search_config.errors import DocumentError, InvalidDataset

LABELS_FILE: Final = "labels.jsonl"
Split = Literal["dev", "heldout"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _Placed(_Part):
    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)


class LabelledDate(_Placed):
    """A date, or that the document says it has none."""

    status: FieldStatus
    value: date | None = None


class LabelledAmount(_Placed):
    """A total, or that the document says it costs nothing."""

    status: FieldStatus
    value: Decimal | None = None
    currency: str | None = None


class LabelledParty(_Placed):
    """A party; `identifier` only where the label covers it."""

    name: str
    kind: PartyKind
    identifier: str | None = None


class LabelledNumber(_Placed):
    """A number of the document's own."""

    value: str


class LabelledReference(_Placed):
    """A reference to another document."""

    reference: str
    relation: Relation


class FieldLabels(_Part):
    """What one document says; a field that is not named is not in it."""

    id: str = Field(min_length=1, description="The file's name below `documents/`.")
    split: Split
    type: DocumentType
    language: str
    signed: LabelledDate | None = None
    effective: LabelledDate | None = None
    expires: LabelledDate | None = None
    amount: LabelledAmount | None = None
    parties: tuple[LabelledParty, ...] = ()
    references: tuple[LabelledNumber, ...] = ()
    refers_to: tuple[LabelledReference, ...] = ()
    issues: tuple[Trouble, ...] = Field((), description="What must be quarantined.")

    def places(self) -> tuple[_Placed, ...]:
        """All places that the labels name."""
        single = (self.signed, self.effective, self.expires, self.amount)
        return (*(one for one in single if one is not None), *self.parties, *self.references, *self.refers_to)


class FieldSet(BaseModel):
    """Labels that fit their documents."""

    model_config = ConfigDict(frozen=True)

    labels: tuple[FieldLabels, ...]
    documents: Mapping[str, ExtractedDocument]


def load_field_set(folder: Path, *, max_file_bytes: int) -> FieldSet:
    """Read and check a folder.

    Raises:
        InvalidDataset: no labels, a line that is none, a document that can't be read, a place outside its text; the
            first problems by line, the rest counted.
    """
    problems: list[str] = []
    labels: list[FieldLabels] = []
    documents: dict[str, ExtractedDocument] = {}
    path = folder / LABELS_FILE
    if not path.is_file():
        raise InvalidDataset(
            f"There is no {LABELS_FILE} here.", where=str(folder), remedy="docs/fields.md shows the layout."
        )
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            one = FieldLabels.model_validate(json.loads(line))
            file = folder / DOCUMENTS_FOLDER / one.id
            document = extract(file.read_bytes(), name=file.name, max_bytes=max_file_bytes)
        except (json.JSONDecodeError, ValidationError, OSError, DocumentError) as error:
            problems.append(f"line {number}: {error}")
            continue
        if one.id in documents:
            problems.append(f"line {number}: {one.id} occurs twice")
        if any(not 0 <= place.from_ < place.to <= len(document.text) for place in one.places()):
            problems.append(f"line {number}: a place outside the text of {one.id}")
        labels.append(one)
        documents[one.id] = document
    if not labels and not problems:
        problems.append("no labels")
    if problems:
        shown = "; ".join(problems[:PROBLEMS_SHOWN])
        rest = f"; and {len(problems) - PROBLEMS_SHOWN} more" if len(problems) > PROBLEMS_SHOWN else ""
        raise InvalidDataset(
            f"{len(problems)} problem(s): {shown}{rest}.", where=str(path), remedy="docs/fields.md shows the layout."
        )
    return FieldSet(labels=tuple(labels), documents=documents)
