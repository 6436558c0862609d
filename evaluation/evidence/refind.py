"""Finding a frozen passage again today: by locator, id, hash or surroundings, or saying that it can't be. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.canonical import text_hash
from evaluation.evidence.cases import FrozenPassage
from query.request import Hit

How = Literal["locator", "id", "hash", "surroundings"]

# Characters of the surroundings that must stand on each side; fewer are found in many places.
LEAST_SURROUNDINGS: Final = 40
# A passage that grew beyond this many times its length is another passage.
MOST_GROWTH: Final = 3


class Refound(EvidenceRecord):
    """Where a frozen passage is now."""

    chunk_id: str
    document_id: str
    document_name: str
    how: How | None = Field(description="Null where it can't be found.")
    same_text: bool
    from_: int | None = Field(None, alias="from")
    to: int | None = None
    text: str | None = Field(None, description="Its text today, where that is another.")
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class Today:
    """What today's corpus has.

    Attributes:
        texts: canonical texts by document id.
        hits: what today's search gave.
    """

    texts: Mapping[str, str]
    hits: Sequence[Hit]


def refind(passage: FrozenPassage, today: Today) -> Refound:
    """The first way that leads to the passage."""
    text = today.texts.get(passage.document_id)
    start, end = passage.locator.from_, passage.locator.to
    if text is not None and text[start:end] == passage.text:
        return _found(passage, "locator", start, end)
    for hit in today.hits:
        if hit.chunk_id == passage.chunk_id and hit.content == passage.text:
            return _found(passage, "id", hit.locator.from_, hit.locator.to)
    for hit in today.hits:
        if text_hash(hit.content) == passage.text_sha256:
            return _found(passage, "hash", hit.locator.from_, hit.locator.to, document=hit.document_id)
    if text is not None and text.count(passage.text) == 1:
        at = text.index(passage.text)
        return _found(passage, "hash", at, at + len(passage.text))
    if text is not None and (span := _between(passage, text)) is not None:
        return _found(passage, "surroundings", *span, text=text[slice(*span)])
    why = "its document is not there any more" if text is None else "neither its text nor its surroundings stand there"
    return Refound(
        chunk_id=passage.chunk_id,
        document_id=passage.document_id,
        document_name=passage.document_name,
        how=None,
        same_text=False,
        why_not=why,
    )


def _between(passage: FrozenPassage, text: str) -> tuple[int, int] | None:
    """Where the passage's surroundings stand, each once and in order."""
    before, after = (passage.before or "")[-LEAST_SURROUNDINGS:], (passage.after or "")[:LEAST_SURROUNDINGS]
    if min(len(before), len(after)) < LEAST_SURROUNDINGS or text.count(before) != 1 or text.count(after) != 1:
        return None
    start, end = text.index(before) + len(before), text.index(after)
    return (start, end) if start < end <= start + MOST_GROWTH * len(passage.text) else None


def _found(
    passage: FrozenPassage, how: How, start: int, end: int, *, text: str | None = None, document: str | None = None
) -> Refound:
    return Refound(
        chunk_id=passage.chunk_id,
        document_id=document or passage.document_id,
        document_name=passage.document_name,
        how=how,
        same_text=text is None,
        from_=start,
        to=end,
        text=text,
    )
