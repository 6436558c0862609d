"""Rows of the documents index as exact answers read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from query.metadata_result import CountedDocument
from search_config import fields
from search_config.document_fields import MINOR_UNITS


@dataclass(frozen=True, slots=True)
class Row:
    """One document: its names and its flat fields."""

    id: str
    name: str
    title: str
    flat: Mapping[str, Any]

    def day(self, name: str) -> date | None:
        """`signed`, `effective` or `expires`."""
        value = self.flat.get(f"{name}_on")
        return None if value is None else date.fromisoformat(str(value)[:10])

    def amount(self) -> Decimal | None:
        """In units of its currency."""
        minor = self.flat.get("amount_minor")
        return None if minor is None else (Decimal(int(minor)) / MINOR_UNITS).quantize(Decimal("0.01"))

    def counted(self, name: str | None = None) -> CountedDocument:
        """For an answer, with one field's value."""
        value: Decimal | date | None = None
        if name == "amount":
            value = self.amount()
        elif name is not None:
            value = self.day(name)
        return CountedDocument(
            id=self.id,
            name=self.title or self.name,
            value=value,
            currency=self.flat.get("currency") if name == "amount" else None,
            parties=tuple(self.flat.get("parties") or ()),
        )


def row_of(source: Mapping[str, Any]) -> Row:
    """A row from the engine's `_source`."""
    return Row(
        id=source[fields.DOCUMENT_ID],
        name=source[fields.NAME],
        title=source.get(fields.TITLE) or "",
        flat=source.get(fields.FILTER_FIELDS) or {},
    )
