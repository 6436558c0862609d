"""Fields flat, as they are filtered and counted by. Pure."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from search_config.document_fields import (
    MINOR_UNITS,
    DocumentFields,
    FieldReading,
    FieldStatus,
    FilterFields,
    Relation,
    party_kind,
)

# Fields of one value, by the names that `not_found` and `stated_none` list.
SINGLE: Final = ("type", "signed", "effective", "expires", "amount", "currency", "language")
LISTS: Final = ("parties", "references")


def flatten(fields: DocumentFields) -> FilterFields:
    """The filterable form. `superseded_by` stays empty: it is the other document that says it.

    Amounts are in hundredths of their currency, rounded half up; so are those of currencies that have none.
    """
    parties = [one.value for one in fields.parties if one.value is not None]
    amount = fields.amount.value
    return FilterFields(
        parties=tuple(dict.fromkeys(party.name for party in parties)),
        party_kinds=tuple(dict.fromkeys(party_kind(party.kind, party.name) for party in parties)),
        signed_on=fields.signed.value,
        effective_on=fields.effective.value,
        expires_on=fields.expires.value,
        amount_minor=None if amount is None else minor_units(amount),
        currency=fields.currency.value,
        references=tuple(one.value for one in fields.references if one.value is not None),
        refers_to=tuple(dict.fromkeys(one.document_id or one.reference for one in fields.refers_to)),
        supersedes=tuple(
            dict.fromkeys(
                one.document_id
                for one in fields.refers_to
                if one.relation is Relation.SUPERSEDES and one.document_id is not None
            )
        ),
        not_found=_with_status(fields, FieldStatus.NOT_FOUND),
        stated_none=_with_status(fields, FieldStatus.STATED_NONE),
    )


def minor_units(amount: Decimal) -> int:
    """An amount in hundredths."""
    return int((amount * MINOR_UNITS).to_integral_value(rounding=ROUND_HALF_UP))


def _with_status(fields: DocumentFields, status: FieldStatus) -> tuple[str, ...]:
    names = []
    for name in SINGLE:
        reading: FieldReading[object] = getattr(fields, name)
        if reading.status is status:
            names.append(name)
    for name in LISTS:
        readings: tuple[FieldReading[object], ...] = getattr(fields, name)
        if not readings and status is FieldStatus.NOT_FOUND:
            names.append(name)
    return tuple(names)
