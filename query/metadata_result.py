"""An exact answer from the documents' fields, or what can't be told exactly, with counts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from query.filter_fields import Filters

Kind = Literal["count", "sum", "average", "max", "min", "latest", "earliest", "who", "when", "amount", "list"]
Reason = Literal["not_found", "stated_none", "quarantined", "failed", "in_progress"]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CountedDocument(_Closed):
    """A document behind a number."""

    id: str
    name: str
    value: Decimal | date | None = Field(None, description="Its amount or day, where one is asked for.")
    currency: str | None = None
    parties: tuple[str, ...] = ()


class CountedValue(_Closed):
    """One name, part or currency, with what is counted under it."""

    name: str
    part: str | None = Field(None, description="vendor, client and so on.")
    documents: int = Field(ge=0)
    total: Decimal | None = Field(None, description="Sum of their amounts, in `currency`.")
    currency: str | None = None


class Excluded(_Closed):
    """Documents that may belong to the answer and are not in it, or have no value to add."""

    reason: Reason
    field: str | None = None
    documents: int = Field(ge=1)


class MetadataAnswer(_Closed):
    """What the fields of documents say to a question."""

    kind: Kind
    field: str | None = Field(None, description="The field that is summed, compared or told.")
    value: int | Decimal | date | None = Field(
        None, description="The number or day; null where there is none, or none that would be right."
    )
    currency: str | None = None
    values: tuple[CountedValue, ...] = Field((), description="Names, or sums by currency.")
    documents: tuple[CountedDocument, ...] = Field((), description="The documents counted, the first 100 of them.")
    counted: int = Field(ge=0, description="How many documents are behind the answer.")
    excluded: tuple[Excluded, ...] = ()
    exact: bool = Field(description="False where documents are left out that may belong here, or sums can't be made.")
    not_understood: tuple[str, ...] = Field((), description="Words of the question that no filter stands for.")
    filters: Filters = Field(description="What was counted: the request's filters, and those of the question.")
    as_of: date = Field(description="The day that periods were counted from.")
    text: str = Field(description="The same as a sentence, in the question's language.")
