"""Which tenants there are: for doors that take a tenant's name from a person and owe an answer to a slip of the pen."""

from __future__ import annotations

from typing import Any, Final

from query.filters import tenant_filter
from search_config import fields
from search_config.client import Engine
from search_config.names import Names

# Names that one error message or completion can show.
MAX_TENANTS: Final = 1000


def tenant_is_known(engine: Engine, names: Names, tenant: str) -> bool:
    """Whether the tenant has a document, in whatever state, or a key.

    Raises:
        MissingTenant, InvalidTenant: not a tenant's name at all.
        EngineUnreachable, EngineOverloaded, EngineRejected
    """
    body = {
        "query": {"bool": {"filter": tenant_filter(tenant)}},
        "size": 0,
        "track_total_hits": 1,
        "terminate_after": 1,
    }
    answer = engine.search(_indices(names), body, ignore_unavailable="true")
    return int(answer["hits"]["total"]["value"]) > 0


def known_tenants(engine: Engine, names: Names) -> list[str]:
    """The tenants that have a document or a key, in order, 1,000 at most. Never shown to a tenant.

    Raises:
        EngineUnreachable, EngineOverloaded, EngineRejected
    """
    body: dict[str, Any] = {
        "size": 0,
        "aggs": {"tenants": {"terms": {"field": fields.TENANT, "size": MAX_TENANTS, "order": {"_key": "asc"}}}},
    }
    answer = engine.search(_indices(names), body, ignore_unavailable="true")
    return [str(bucket["key"]) for bucket in answer.get("aggregations", {}).get("tenants", {}).get("buckets", [])]


def _indices(names: Names) -> str:
    return f"{names.documents},{names.keys}"
