"""Passages for tests of answers, as a search gives them."""

from __future__ import annotations

from query.request import Hit
from search_config.records import Locator


def hit(content: str, *, rank: int = 1, title: str = "נוהל", start: int = 100, **place: object) -> Hit:
    """A passage that begins at `start` of its document's text."""
    return Hit(
        rank=rank,
        document_id=f"d{rank}",
        version=1,
        content_hash="0" * 64,
        chunk_id=f"d{rank}-0",
        title=title,
        section="",
        content=content,
        language="he",
        locator=Locator.model_validate({"from": start, "to": start + len(content), **place}),
        cosine_distance=0.1,
    )
