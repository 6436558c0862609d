"""What a person says of a document's fields, and what it makes of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from search_config.document_fields import (
    PARTIES_MAX,
    REFERENCES_MAX,
    Amount,
    Currency,
    DocumentFields,
    DocumentReference,
    DocumentType,
    FieldReading,
    FieldStatus,
    Origin,
    Party,
    QuarantineIssue,
    Relation,
)
from search_config.errors import InvalidRequest

NONE: Final = "none"
StatedNone = Literal["none"]


class CorrectedReference(BaseModel):
    """A document that this one refers to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str = Field(min_length=1, max_length=200)
    relation: Relation = Relation.REFERS


class Corrections(BaseModel):
    """Fields that a person corrects; those that are not named stay as they were read.

    A value replaces what was read; "none" says that the document has none; null that it is not found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: DocumentType | None = None
    parties: tuple[Party, ...] | None = Field(None, max_length=PARTIES_MAX)
    signed: date | StatedNone | None = None
    effective: date | StatedNone | None = None
    expires: date | StatedNone | None = None
    amount: Amount | StatedNone | None = None
    currency: Currency | StatedNone | None = None
    references: tuple[str, ...] | None = Field(None, max_length=REFERENCES_MAX)
    refers_to: tuple[CorrectedReference, ...] | None = Field(None, max_length=REFERENCES_MAX)
    language: str | None = Field(None, min_length=2, max_length=8)


def parse_corrections(given: Mapping[str, Any]) -> Corrections:
    """Validate what a person wrote, as JSON gives it.

    Raises:
        InvalidRequest: all that does not validate, by field.
    """
    try:
        return Corrections.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(
            dict.fromkeys(f"{'.'.join(map(str, item['loc'][:2]))}: {item['msg']}" for item in error.errors())
        )
        raise InvalidRequest(
            f"These corrections do not validate: {wrong}.",
            where="corrections",
            remedy='Give values of the fields, "none" where the document has none, null where it is not found.',
        ) from None


def apply_corrections(fields: DocumentFields, corrections: Corrections) -> DocumentFields:
    """The fields with a person's values, marked as a person's; they have no place."""
    updates: dict[str, Any] = {}
    for name in corrections.model_fields_set:
        value = getattr(corrections, name)
        if name in ("parties", "references"):
            updates[name] = tuple(_said(one) for one in value or ())
        elif name == "refers_to":
            updates[name] = tuple(
                DocumentReference(reference=one.reference, relation=one.relation, origin=Origin.PERSON)
                for one in value or ()
            )
        else:
            updates[name] = _said(value)
    return fields.model_copy(update=updates)


def remaining(issues: Sequence[QuarantineIssue], corrections: Corrections) -> tuple[QuarantineIssue, ...]:
    """Issues of the fields that the corrections leave as they are."""
    return tuple(issue for issue in issues if issue.field not in corrections.model_fields_set)


def _said(value: Any) -> FieldReading[Any]:
    if value is None:
        return FieldReading(origin=Origin.PERSON)
    if value == NONE:
        return FieldReading(status=FieldStatus.STATED_NONE, origin=Origin.PERSON)
    return FieldReading(status=FieldStatus.VALUE, value=value, origin=Origin.PERSON)
