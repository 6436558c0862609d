"""Records out of a finished work."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ingest.chunk_store import ChunkRow
from ingest.work import Work
from search_config.language import language_of
from search_config.records import ChunkRecord, DocumentRecord, DocumentState, Stamps, chunk_id


def chunk_rows(work: Work, stamps: Stamps, now: datetime) -> Iterator[ChunkRow]:
    """The records of a document's chunks with their vectors and codes."""
    document = work.extracted
    known = work.metadata
    for ordinal, (chunk, vector, code) in enumerate(zip(work.chunks, work.vectors, work.codes, strict=True)):
        yield ChunkRow(
            ChunkRecord(
                chunk_id=chunk_id(work.id, work.hash, stamps, ordinal),
                document_id=work.id,
                tenant=work.raw.tenant,
                version=work.version,
                content_hash=work.hash,
                ordinal=ordinal,
                title=document.title,
                section=chunk.section,
                content=chunk.content,
                language=language_of(chunk.content),
                media_type=document.media_type,
                url=work.raw.url,
                locator=chunk.locator,
                overlap_from=chunk.overlap_from,
                model=stamps.model,
                pipeline=stamps.pipeline,
                indexed_at=now,
                type=known.type,
                tags=known.tags,
                date=known.date,
                reference=known.reference,
                groups=work.raw.groups,
            ),
            vector,
            code,
        )


def document_row(work: Work, stamps: Stamps, state: DocumentState, *, reason: str | None = None) -> DocumentRecord:
    """The row as it will be; it describes content only where that is searchable, in the state ready."""
    now = datetime.now(UTC)
    previous = work.previous
    going_on = previous is not None and previous.state is not DocumentState.READY
    row = DocumentRecord(
        document_id=work.id,
        tenant=work.raw.tenant,
        name=work.raw.name,
        source=work.raw.source,
        state=state,
        reason=reason,
        attempts=(previous.attempts if previous is not None and going_on else 0) + 1,
        version=work.version,
        url=work.raw.url,
        groups=work.raw.groups,
        created_at=now if previous is None else previous.created_at,
        updated_at=now,
    )
    if state is not DocumentState.READY:
        return row
    document = work.extracted
    return row.model_copy(
        update={
            "chunks_generated": len(work.chunks),
            "chunks_indexed": len(work.chunks),
            "stamps": stamps,
            "content_hash": work.hash,
            "title": document.title,
            "language": work.metadata.language or language_of(document.text),
            "media_type": document.media_type,
            "type": work.metadata.type,
            "tags": work.metadata.tags,
            "date": work.metadata.date,
            "reference": work.metadata.reference,
            "metadata": document.metadata,
            "text": document.text,
        }
    )
