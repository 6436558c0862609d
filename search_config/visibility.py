"""Who may see a document: the groups on its row against the groups of who asks. Pure; both readers of the index use it.

`None` is an operator on the command line, who sees every document of the tenant. Everybody else has a sequence, an
empty one too: documents without groups, and those that share one of its groups.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from search_config import fields


def visible_clause(groups: Collection[str] | None) -> list[dict[str, Any]]:
    """Clauses for a `bool.filter` that limit a read to what these groups may see."""
    if groups is None:
        return []
    free = {"bool": {"must_not": [{"exists": {"field": fields.GROUPS}}]}}
    shared = [{"terms": {fields.GROUPS: sorted(set(groups))}}] if groups else []
    return [{"bool": {"should": [free, *shared], "minimum_should_match": 1}}]


def may_see(document_groups: Collection[str], groups: Collection[str] | None) -> bool:
    """Whether who asks may see a document, by its row."""
    return groups is None or not document_groups or not set(document_groups).isdisjoint(groups)
