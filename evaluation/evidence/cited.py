"""Passages behind citations that the search did not rank: an answer from the documents' fields cites where each field
was read, and that place need not be among the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.evidence.canonical import text_hash
from evaluation.evidence.cases import SURROUNDINGS, FrozenPassage
from query.answer_result import Citation
from query.candidate import Passage, passage_of
from query.filters import tenant_filter
from query.request import Hit
from search_config import fields
from search_config.client import Engine
from search_config.records import DocumentRecord, Locator

# A document that is gone by the time of freezing says no longer who may see it: nobody but an operator may then.
UNKNOWN_GROUPS = ("?",)


def cited_passages(
    citations: Sequence[Citation],
    hits: Sequence[Hit],
    documents: Mapping[str, DocumentRecord],
    *,
    engine: Engine,
    index: str,
    tenant: str,
) -> tuple[FrozenPassage, ...]:
    """The passages of citations that are not among the hits, each once, in the order of the citations.

    A citation whose passage is not in the index any more, or that was read in none, is frozen as its own words, where
    they stand in the document; of a document without them nothing is made up.

    Args:
        citations: of the answer.
        hits: what the search ranked.
        documents: of the citations, by id.
        index: of the chunks.
        tenant: whose.

    Raises:
        TenantError, EngineError, EngineRejected
    """
    ranked = {(hit.document_id, hit.chunk_id) for hit in hits}
    others = [one for one in citations if (one.document_id, one.chunk_id) not in ranked]
    chunks = _chunks(engine, index, tenant, sorted({one.chunk_id for one in others if one.chunk_id}))
    found: dict[tuple[str, str, int, int], FrozenPassage] = {}
    for one in others:
        chunk = chunks.get(one.chunk_id)
        record = documents.get(one.document_id)
        held = chunk is not None and chunk.document_id == one.document_id and chunk.content_hash == one.content_hash
        if chunk is not None and held:
            made = frozen(chunk, record, rank=None, otherwise_named=one.document_name)
        elif record is not None and _stands(one, record):
            made = _of_words(one, record)
        else:
            continue
        found.setdefault((made.document_id, made.chunk_id, made.locator.from_, made.locator.to), made)
    return tuple(found.values())


def surroundings(record: DocumentRecord | None, content_hash: str, place: Locator, text: str) -> tuple[str, str] | None:
    """Up to 200 characters on either side of a passage; None where the document is another by now: other text around
    the passage would mislead."""
    if record is None or record.text is None or record.content_hash != content_hash:
        return None
    if record.text[place.from_ : place.to] != text:
        return None
    return (
        record.text[max(0, place.from_ - SURROUNDINGS) : place.from_],
        record.text[place.to : place.to + SURROUNDINGS],
    )


def _stands(citation: Citation, record: DocumentRecord) -> bool:
    """Whether the quoted words, of which there are some, stand at their place in that version."""
    return (
        bool(citation.quote)
        and surroundings(record, citation.content_hash, citation.locator, citation.quote) is not None
    )


def _chunks(engine: Engine, index: str, tenant: str, ids: Sequence[str]) -> dict[str, Passage]:
    if not ids:
        return {}
    body: dict[str, Any] = {
        "size": len(ids),
        "query": {"bool": {"filter": [*tenant_filter(tenant), {"terms": {fields.CHUNK_ID: list(ids)}}]}},
        "_source": {"excludes": [fields.EMBEDDING, fields.TOKEN_CODES]},
    }
    rows = engine.search(index, body)["hits"]["hits"]
    return {one.chunk_id: one for one in (passage_of(row["_source"]) for row in rows)}


def frozen(
    passage: Hit | Passage, record: DocumentRecord | None, *, rank: int | None, otherwise_named: str
) -> FrozenPassage:
    """A passage as it stands, with what stands around it.

    Args:
        record: of its document, where that is there still.
        rank: in the search; None for what the search did not rank.
        otherwise_named: the document's name where its record is gone.
    """
    around = surroundings(record, passage.content_hash, passage.locator, passage.content)
    return FrozenPassage(
        rank=rank,
        chunk_id=passage.chunk_id,
        document_id=passage.document_id,
        document_name=record.name if record else otherwise_named,
        version=passage.version,
        content_hash=passage.content_hash,
        section=passage.section,
        language=passage.language,
        url=passage.url,
        locator=passage.locator,
        text=passage.content,
        text_sha256=text_hash(passage.content),
        before=around[0] if around else None,
        after=around[1] if around else None,
        groups=record.groups if record else UNKNOWN_GROUPS,
    )


def _of_words(citation: Citation, record: DocumentRecord) -> FrozenPassage:
    around = surroundings(record, citation.content_hash, citation.locator, citation.quote)
    return FrozenPassage(
        rank=None,
        chunk_id=citation.chunk_id,
        document_id=citation.document_id,
        document_name=record.name,
        version=citation.version,
        content_hash=citation.content_hash,
        section="",
        language=record.language or "other",
        url=citation.url,
        locator=citation.locator,
        text=citation.quote,
        text_sha256=text_hash(citation.quote),
        before=around[0] if around else None,
        after=around[1] if around else None,
        groups=record.groups,
    )
