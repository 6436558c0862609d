"""The engine's own hybrid search of a query, as Dashboards' Dev Tools takes it; with its vector in it. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

from query.filters import tenant_filter
from query.language import query_language
from search_config import fields
from search_config.names import Names

Rule = Literal["rrf", "min-max", "z-score"]
RULES: Final[tuple[Rule, ...]] = ("rrf", "min-max", "z-score")
SIZE: Final = 10
# Neighbours of one leg, as many as the default profile takes.
CANDIDATES: Final = 100
# Fields of the lexical leg with simple weights; a profile's are learnt, and are more.
SEARCHED: Final = (f"{fields.CONTENT}^2", f"{fields.CONTENT}.{fields.EXACT}", fields.TITLE, fields.SECTION)
SHOWN: Final = (fields.TENANT, fields.TITLE, fields.SECTION, fields.CONTENT, fields.LOCATOR)
CLASSES: Final = {"he": "hebrew", "en": "english", "identifier": "identifier", "other": "hebrew"}


def hybrid_body(query: str, vector: Sequence[float], tenant: str) -> dict[str, Any]:
    """The body of the search.

    Raises:
        MissingTenant, InvalidTenant
    """
    return {
        "size": SIZE,
        "_source": list(SHOWN),
        "query": {
            "hybrid": {
                "filter": {"bool": {"filter": tenant_filter(tenant)}},
                "queries": [
                    {"multi_match": {"query": query, "fields": list(SEARCHED), "type": "most_fields"}},
                    {"knn": {fields.EMBEDDING: {"vector": list(vector), "k": CANDIDATES}}},
                ],
            }
        },
    }


def snippet(query: str, vector: Sequence[float], tenant: str, names: Names, rule: Rule) -> str:
    """The search as text to be pasted: the request's line, then its body.

    Raises:
        MissingTenant, InvalidTenant
    """
    pipeline = names.search_pipeline(f"{rule}-{CLASSES[query_language(query)]}")
    numbers = json.dumps([round(float(value), 6) for value in vector])
    body = json.dumps(hybrid_body(query, (), tenant), ensure_ascii=False, indent=2)
    # On one line: hundreds of numbers, a line each, bury the query.
    whole = body.replace('"vector": []', f'"vector": {numbers}', 1)
    return f"POST {names.chunks}/_search?search_pipeline={pipeline}\n{whole}"
