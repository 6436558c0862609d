"""Fields that came with the file, in its front matter; each wins over what its text says. Pure.

Keys: `type`, `date` (signed), `reference`, `language` as `ingest.metadata` types them; `signed`, `effective`, `expires`
(YYYY-MM-DD, or `none`), `amount`, `currency`, `vendor`, `client`, `authority`, `supersedes`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar

from ingest.fields.names import kind_of
from ingest.metadata import TypedMetadata
from search_config.document_fields import (
    CURRENCY_PATTERN,
    PARTIES_MAX,
    REFERENCES_MAX,
    DocumentFields,
    DocumentReference,
    DocumentType,
    FieldReading,
    FieldStatus,
    Origin,
    Party,
    PartyKind,
    QuarantineIssue,
    Relation,
    Trouble,
)

Value = TypeVar("Value")
DATES: Final = ("signed", "effective", "expires")
PARTY_KEYS: Final = (PartyKind.VENDOR, PartyKind.CLIENT, PartyKind.AUTHORITY)
NONE: Final = "none"
SHOWN_CHARS: Final = 80
NAME_CHARS_MAX: Final = 200


def with_file_fields(
    fields: DocumentFields,
    issues: tuple[QuarantineIssue, ...],
    metadata: TypedMetadata,
    raw: Mapping[str, Any],
) -> tuple[DocumentFields, tuple[QuarantineIssue, ...]]:
    """The fields with what the file says of itself; issues of fields that the file settles are gone.

    Args:
        fields: as the rules read them.
        issues: of the rules.
        metadata: typed.
        raw: front matter as it stood, for the keys that `metadata` does not type.
    """
    new: list[QuarantineIssue] = []
    updates: dict[str, Any] = {}
    updates |= _typed(fields, metadata)
    for name in DATES:
        if name in raw:
            updates |= _one(name, _date, raw[name], new)
    if "amount" in raw:
        updates |= _one("amount", _amount, raw["amount"], new)
    if "currency" in raw:
        updates |= _one("currency", _currency, raw["currency"], new)
    updates |= _parties(fields, raw)
    replaced = raw.get("supersedes")
    if isinstance(replaced, str) and replaced.strip():
        older = replaced.strip()[:NAME_CHARS_MAX]
        own = DocumentReference(reference=older, relation=Relation.SUPERSEDES, origin=Origin.FILE)
        rest_of = [one for one in updates.get("refers_to", fields.refers_to) if one.reference != own.reference]
        updates["refers_to"] = (own, *rest_of)[:REFERENCES_MAX]
    kept = tuple(issue for issue in issues if issue.field not in updates)
    return fields.model_copy(update=updates), (*kept, *new)


def _typed(fields: DocumentFields, metadata: TypedMetadata) -> dict[str, Any]:
    """What `ingest.metadata` typed."""
    updates: dict[str, Any] = {}
    if metadata.type is not None:
        updates["type"] = said(DocumentType(metadata.type))
    if metadata.language is not None:
        updates["language"] = said(metadata.language)
    if metadata.date is not None:
        updates["signed"] = said(date.fromisoformat(metadata.date))
    if metadata.reference is not None:
        updates["references"] = (said(metadata.reference),)
        updates["refers_to"] = tuple(one for one in fields.refers_to if one.reference != metadata.reference)
    return updates


def _parties(fields: DocumentFields, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Parties that the file names: a list of all, or one in its part, before those of the text."""
    parties = [
        Party(name=str(raw[kind.value]).strip()[:NAME_CHARS_MAX], kind=kind)
        for kind in PARTY_KEYS
        if isinstance(raw.get(kind.value), str) and str(raw[kind.value]).strip()
    ]
    listed = raw.get("parties")
    if isinstance(listed, list):
        named = {party.name for party in parties}
        names = [str(one).strip()[:NAME_CHARS_MAX] for one in listed if isinstance(one, str) and str(one).strip()]
        known = {one.value.name: one.value for one in fields.parties if one.value is not None}
        # The text may say more of a party that the file names: its part, its number.
        parties += [known.get(name, Party(name=name, kind=kind_of(name, None))) for name in names if name not in named]
    if parties and isinstance(listed, list):
        return {"parties": tuple(said(party) for party in parties)[:PARTIES_MAX]}
    if parties:
        taken = {party.name for party in parties}
        rest = [one for one in fields.parties if one.value is None or one.value.name not in taken]
        return {"parties": (*(said(party) for party in parties), *rest)[:PARTIES_MAX]}
    return {}


def said(value: Value) -> FieldReading[Value]:
    """A reading that came with the file."""
    return FieldReading(status=FieldStatus.VALUE, value=value, origin=Origin.FILE)


def _one(name: str, read: Any, value: object, issues: list[QuarantineIssue]) -> dict[str, Any]:
    """The field, or nothing where the value does not validate; the issue says so."""
    words = str(value).strip()
    if words.lower() == NONE:
        return {name: FieldReading(status=FieldStatus.STATED_NONE, origin=Origin.FILE)}
    try:
        return {name: said(read(words))}
    except (ValueError, InvalidOperation):
        issues.append(
            QuarantineIssue(
                field=name,
                trouble=Trouble.INVALID_VALUE,
                what="The file's own value of this field does not validate.",
                as_read=words[:SHOWN_CHARS],
            )
        )
        return {}


def _date(words: str) -> date:
    return date.fromisoformat(words[: len("YYYY-MM-DD")])


def _amount(words: str) -> Decimal:
    value = Decimal(words.replace(",", ""))
    if not value.is_finite() or value < 0:
        raise ValueError("an amount is a number from 0")
    return value


def _currency(words: str) -> str:
    if re.fullmatch(CURRENCY_PATTERN, words) is None:
        raise ValueError("a currency is three capital letters")
    return words
