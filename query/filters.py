"""The one filter builder. Every read of chunks passes through it; it fails closed. Pure."""

from __future__ import annotations

from typing import Any

from query.request import Filters
from search_config import fields
from search_config.errors import InvalidRequest, InvalidTenant
from search_config.records import tenant_id

Clause = dict[str, Any]


def tenant_filter(tenant: str, filters: Filters | None = None) -> list[Clause]:
    """Filter clauses that limit a read to one tenant, and to what the request narrows by.

    Args:
        tenant: exactly one tenant's name; a wildcard, a list or a blank is refused.
        filters: what else must hold; the fields are joined by "and", the values of one field by "or".

    Returns:
        Clauses for a `bool.filter`, the tenant's first.

    Raises:
        MissingTenant, InvalidTenant: tenancy fails closed.
        InvalidRequest: a range of dates that ends before it begins.
    """
    if tenant is not None and not isinstance(tenant, str):
        raise InvalidTenant("A tenant is one name, not several.", where=type(tenant).__name__)
    clauses: list[Clause] = [{"term": {fields.TENANT: {"value": tenant_id(tenant)}}}]
    narrowed = filters or Filters()
    for field, values in (
        (fields.DOCUMENT_ID, narrowed.document_id),
        (fields.TYPE, narrowed.type),
        (fields.LANGUAGE, narrowed.language),
        (fields.TAGS, narrowed.tags),
        (fields.REFERENCE, narrowed.reference),
    ):
        if values:
            clauses.append({"terms": {field: list(values)}})
    clauses += _dates(narrowed)
    return clauses


def _dates(filters: Filters) -> list[Clause]:
    first, last = filters.date_from, filters.date_to
    if first and last and first > last:
        raise InvalidRequest(
            f"The range of dates ends ({last}) before it begins ({first}).",
            where="filters.date_from",
            remedy="Swap them.",
        )
    bounds = {"gte": first.isoformat() if first else None, "lte": last.isoformat() if last else None}
    given = {bound: day for bound, day in bounds.items() if day}
    return [{"range": {fields.DATE: given}}] if given else []
