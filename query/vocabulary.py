"""The names that the asker's own documents know: parties and tags. Another tenant's are never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from query.aggregate_bodies import VALUES, values_page
from query.filters import tenant_filter
from query.question import Vocabulary
from query.retrieve import raise_failure
from search_config import fields
from search_config.client import Engine

# Names that a question is compared with. A tenant with more gives its first ones, in order; the rest is not understood
# by name, and says so.
MAX_NAMES: Final = 20_000


def vocabulary(engine: Engine, index: str, tenant: str, groups: Sequence[str] | None) -> Vocabulary:
    """Read the names from the documents index.

    Raises:
        TenantError
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    query = {"bool": {"filter": tenant_filter(tenant, groups=groups)}}
    found: dict[str, list[str]] = {fields.PARTIES: [], fields.TAGS: []}
    after: dict[str, Mapping[str, Any] | None] = dict.fromkeys(found)
    left = list(found)
    while left:
        header = {"index": index, "allow_partial_search_results": False}
        answers = engine.msearch([(dict(header), values_page(query, field, after[field])) for field in left])
        still = []
        for field, answer in zip(left, answers, strict=True):
            raise_failure(answer, index)
            page = answer["aggregations"][VALUES]
            found[field] += [str(bucket["key"]["value"]) for bucket in page["buckets"]]
            after[field] = page.get("after_key")
            if after[field] is not None and len(found[field]) < MAX_NAMES:
                still.append(field)
        left = still
    return Vocabulary(parties=tuple(found[fields.PARTIES]), tags=tuple(found[fields.TAGS]))
