"""What a request may narrow by: one closed record for both doors, for questions, and for the one filter builder."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from search_config.document_fields import CURRENCY_PATTERN

ShortText = Annotated[str, Field(min_length=1, max_length=200)]
# Values of one filter; more are a list of documents, which is asked for otherwise.
MAX_VALUES = 200
Values = Annotated[tuple[ShortText, ...], Field(max_length=MAX_VALUES)]
# Two decimals, as amounts are stored; 16 digits are below what the engine's whole numbers hold.
Amount = Annotated[Decimal, Field(ge=0, max_digits=16, decimal_places=2)]


class Filters(BaseModel):
    """What a request may narrow by; each list means "one of", the fields are joined by "and". Never a tenant.

    Names of parties are whole names, as the facets show them. Ranges include both ends.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: Values = ()
    type: Values = ()
    language: Values = ()
    tags: Values = ()
    reference: Values = Field((), description="One of the document's own numbers.")
    groups: Values = Field((), description="Only documents of these groups, among those that the asker may see.")
    party: Values = Field((), description="A party of the document, in whatever part.")
    vendor: Values = ()
    client: Values = ()
    authority: Values = ()
    person: Values = ()
    currency: tuple[Annotated[str, Field(pattern=CURRENCY_PATTERN)], ...] = Field((), max_length=MAX_VALUES)
    amount_min: Amount | None = Field(None, description="In units of `currency`, which must name one currency.")
    amount_max: Amount | None = None
    date_from: date | None = Field(None, description="The date that came with the file: front matter, properties.")
    date_to: date | None = None
    dated_from: date | None = Field(None, description="The document's day: signed, else the date that came with it.")
    dated_to: date | None = None
    signed_from: date | None = None
    signed_to: date | None = None
    effective_from: date | None = None
    effective_to: date | None = None
    expires_from: date | None = None
    expires_to: date | None = None
    in_force_on: date | None = Field(
        None,
        description="Begun by this day (effective, else signed), not expired before it, and not replaced by it.",
    )
    excluded_document_id: Values = Field((), description="Documents to leave out.")

    def given(self) -> dict[str, Any]:
        """The filters that were given, by field, as JSON values."""
        return self.model_dump(mode="json", exclude_defaults=True)
