"""The raw output of a search over a test's case, as a system writes it."""

from __future__ import annotations

from typing import Any

from evaluation.evidence.cases import Case
from query.request import Filters, Hit, IndexIdentity, SearchResult


def search_result(of: Case) -> dict[str, Any]:
    """One whose hits are the passages of the case."""
    hits = tuple(
        Hit(
            rank=one.rank or 0,
            chunk_id=one.chunk_id,
            document_id=one.document_id,
            version=one.version,
            content_hash=one.content_hash,
            title=one.document_name,
            section=one.section,
            content=one.text,
            language="he",
            locator=one.locator,
        )
        for one in of.passages
    )
    result = SearchResult(
        query=of.query,
        language="he",
        filters=Filters(),
        profile="default/1",
        index=IndexIdentity(name="i", model="m", pipeline="p"),
        weights={"bm25": 1.0},
        took_ms={},
        total=len(hits),
        hits=hits,
    )
    return result.model_dump(mode="json", by_alias=True)
