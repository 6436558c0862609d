"""What a document says of itself: typed fields, each a value, a stated none or not found, with the place it was read.

Filled at ingest by `ingest/fields`, stored whole in the documents index, and flattened into `FilterFields` on the
document's row and on each of its chunks, so that a search and an exact count narrow by the same values.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

# More parties than this in one document are a mailing list, not a contract.
PARTIES_MAX = 20
REFERENCES_MAX = 100
CURRENCY_PATTERN = r"^[A-Z]{3}$"
# Agorot, cents: whole numbers, so that sums are exact.
MINOR_UNITS = 100

# A thousand times the largest budget of a state; a longer row of digits is a number of something else.
AMOUNT_MAX = 10**15

Value = TypeVar("Value")
Amount = Annotated[Decimal, Field(ge=0, le=AMOUNT_MAX)]
Currency = Annotated[str, Field(pattern=CURRENCY_PATTERN, description="ISO 4217.")]


class _Record(BaseModel):
    # Validators are made when the first one is asked for: a search asks for none, and they take a tenth of a second.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class DocumentType(StrEnum):
    """Kinds of documents."""

    CONTRACT = "contract"
    INVOICE = "invoice"
    REPORT = "report"
    CORRESPONDENCE = "correspondence"
    PROTOCOL = "protocol"
    PROCEDURE = "procedure"
    OTHER = "other"


class PartyKind(StrEnum):
    """What a party is in its document."""

    VENDOR = "vendor"
    CLIENT = "client"
    AUTHORITY = "authority"
    PERSON = "person"
    OTHER = "other"


class FieldStatus(StrEnum):
    """Why a field has a value, or has none."""

    VALUE = "value"
    STATED_NONE = "stated_none"
    NOT_FOUND = "not_found"


class Place(_Record):
    """Where a field was read: characters `from` to `to` of the canonical text, and the words there, as they stand."""

    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)
    as_read: str
    label: str = Field("", description="For people: 'עמוד 7'; empty where the format has no places.")


class Origin(StrEnum):
    """Who read a field."""

    RULES = "rules"
    MODEL = "model"
    FILE = "file"
    PERSON = "person"


class FieldReading(_Record, Generic[Value]):
    """One field: a value with its place; a stated none with its place; or not found."""

    status: FieldStatus = FieldStatus.NOT_FOUND
    value: Value | None = None
    origin: Origin = Origin.RULES
    place: Place | None = Field(None, description="None for a value that came with the file: front matter, properties.")

    @model_validator(mode="after")
    def _value_and_status_agree(self) -> Self:
        if (self.status is FieldStatus.VALUE) != (self.value is not None):
            raise ValueError("a field has a value exactly where its status says so")
        return self


class Party(_Record):
    """One party of a document."""

    name: str = Field(min_length=1, max_length=200)
    kind: PartyKind = PartyKind.OTHER
    identifier: str | None = Field(None, description="Company, association or identity number, digits and dashes.")


class Relation(StrEnum):
    """What a reference to another document says."""

    REFERS = "refers"
    SUPERSEDES = "supersedes"
    AMENDS = "amends"


class DocumentReference(_Record):
    """A reference to another document, by its number or its name."""

    reference: str = Field(min_length=1, max_length=200)
    relation: Relation = Relation.REFERS
    document_id: str | None = Field(None, description="Where it is in the corpus.")
    origin: Origin = Origin.RULES
    place: Place | None = None


class DocumentFields(_Record):
    """The strict schema of what is read from every document."""

    type: FieldReading[DocumentType] = FieldReading()
    parties: tuple[FieldReading[Party], ...] = Field((), max_length=PARTIES_MAX)
    signed: FieldReading[date] = FieldReading()
    effective: FieldReading[date] = FieldReading()
    expires: FieldReading[date] = FieldReading()
    amount: FieldReading[Amount] = FieldReading()
    currency: FieldReading[Currency] = FieldReading()
    references: tuple[FieldReading[str], ...] = Field((), max_length=REFERENCES_MAX, description="Its own numbers.")
    refers_to: tuple[DocumentReference, ...] = Field((), max_length=REFERENCES_MAX)
    language: FieldReading[str] = FieldReading()


class Trouble(StrEnum):
    """Kinds of trouble with a field: what was read, and cannot be taken as it stands."""

    IMPOSSIBLE_DATE = "impossible_date"
    AMBIGUOUS_DATE = "ambiguous_date"
    CONTRADICTING_DATES = "contradicting_dates"
    EXPIRES_BEFORE_EFFECTIVE = "expires_before_effective"
    NEGATIVE_AMOUNT = "negative_amount"
    CONTRADICTING_TOTALS = "contradicting_totals"
    TOO_MANY_PARTIES = "too_many_parties"
    NOT_VERBATIM = "not_verbatim"
    INVALID_VALUE = "invalid_value"


class QuarantineIssue(_Record):
    """One thing that a person must decide before a document can be ready."""

    field: str = Field(min_length=1, description="Of `DocumentFields`.")
    trouble: Trouble
    what: str = Field(min_length=1, description="For people, in one sentence.")
    as_read: str = Field("", description="The words that it is about.")
    place: Place | None = None


class FilterFields(_Record):
    """The fields flat, as they are filtered and counted by; on a document's row and on each of its chunks."""

    parties: tuple[str, ...] = Field((), description="Names of all parties.")
    party_kinds: tuple[str, ...] = Field((), description="`kind:name`, so that a name is asked for in its part.")
    signed_on: date | None = None
    effective_on: date | None = None
    expires_on: date | None = None
    amount_minor: int | None = Field(None, ge=0, description="Total in hundredths of the currency.")
    currency: str | None = None
    references: tuple[str, ...] = ()
    refers_to: tuple[str, ...] = Field((), description="Ids of documents of the corpus, and numbers of others.")
    supersedes: tuple[str, ...] = Field((), description="Ids of the documents that this one replaces.")
    superseded_by: str | None = Field(None, description="Id of the document that replaces this one.")
    not_found: tuple[str, ...] = Field((), description="Fields that were looked for and not found.")
    stated_none: tuple[str, ...] = Field((), description="Fields that the document says it has none of.")


def party_kind(kind: PartyKind, name: str) -> str:
    """The keyword of a party in its part: `vendor:Acme Ltd.`."""
    return f"{kind}:{name}"
