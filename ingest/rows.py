"""Rows out of works: chunks, and what a document's row says at each step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from ingest.chunk_store import ChunkRow
from ingest.layout import layout_of
from ingest.work import Work
from search_config import fields
from search_config.errors import DoubtfulDocument, MafteachError
from search_config.language import language_of
from search_config.records import (
    ChunkRecord,
    DocumentRecord,
    DocumentState,
    IngestRequest,
    Lease,
    Stamps,
    chunk_id,
    folder_of,
)

Json = dict[str, Any]

# No caller has this group: names of groups do not begin with a space.
NOBODY: Final = " nobody"


def chunk_rows(work: Work, stamps: Stamps, now: datetime) -> Iterator[ChunkRow]:
    """The records of a document's chunks with their vectors, codes and terms."""
    document, known = work.document, work.read.metadata
    made = zip(work.chunks, work.vectors, work.codes, work.terms, strict=True)
    for ordinal, (chunk, vector, code, terms) in enumerate(made):
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
                confidence=chunk.confidence,
                model=stamps.model,
                pipeline=stamps.pipeline,
                indexed_at=now,
                type=known.type,
                tags=known.tags,
                date=known.date,
                reference=known.reference,
                groups=work.raw.groups,
                filter_fields=work.read.filter_fields,
            ),
            vector,
            code,
            terms,
        )


def first_row(work: Work, state: DocumentState, *, lease: Lease | None = None) -> DocumentRecord:
    """The row of a document that has none yet; it describes no content."""
    now = datetime.now(UTC)
    raw = work.raw
    return DocumentRecord(
        document_id=work.id,
        tenant=raw.tenant,
        name=raw.name,
        source=raw.source,
        folder=folder_of(raw.source),
        state=state,
        attempts=work.attempts,
        url=raw.url,
        groups=raw.groups,
        lease=lease,
        request=work.request,
        created_at=now,
        updated_at=now,
        queued_at=now,
        started_at=None if lease is None else now,
    )


def waiting_row(tenant: str, document_id: str, source: str, folder: str, request: IngestRequest) -> DocumentRecord:
    """The row of a document that has none yet and waits for a worker."""
    now = datetime.now(UTC)
    return DocumentRecord(
        document_id=document_id,
        tenant=tenant,
        name=request.name,
        source=source,
        folder=folder,
        state=DocumentState.QUEUED,
        url=request.url,
        groups=request.groups,
        request=request,
        created_at=now,
        updated_at=now,
        queued_at=now,
    )


def bare_row(work: Work, error: MafteachError) -> DocumentRecord:
    """The row of a document whose own values the engine does not take: only what names it, and why it failed."""
    row = first_row(work, DocumentState.FAILED)
    # A restricted document whose groups the engine does not take is nobody's, rather than everybody's.
    groups = (NOBODY,) if work.raw.groups else ()
    bare = {"url": None, "groups": groups, "request": IngestRequest(payload=work.raw.payload, name=work.raw.name)}
    ended = {"reason": str(error), "reason_code": error.code, "finished_at": row.updated_at}
    return row.model_copy(update={**bare, **ended})


def queued(request: IngestRequest) -> Json:
    """Part of a row: it waits for a worker, who will do this."""
    now = _now()
    return {
        **progress(DocumentState.QUEUED),
        **_nothing_wrong(),
        fields.LEASE: None,
        fields.REQUEST: request.model_dump(mode="json"),
        fields.QUEUED_AT: now,
    }


def claimed(work: Work, lease: Lease) -> Json:
    """Part of a row: a worker begins."""
    return {
        **progress(DocumentState.EXTRACTING),
        **_nothing_wrong(),
        fields.LEASE: lease.model_dump(mode="json"),
        fields.REQUEST: work.request.model_dump(mode="json"),
        fields.ATTEMPTS: work.attempts,
        fields.STARTED_AT: _now(),
    }


def progress(state: DocumentState) -> Json:
    """Part of a row: its state alone."""
    return {fields.STATE: state.value, fields.UPDATED_AT: _now()}


def ended(state: DocumentState, error: MafteachError) -> Json:
    """Part of a row: work on it ended with an error."""
    issues = error.issues if isinstance(error, DoubtfulDocument) else ()
    return {
        **progress(state),
        fields.REASON: str(error),
        fields.REASON_CODE: error.code,
        fields.ISSUES: [what for _, what in issues],
        fields.ISSUE_CODES: list(dict.fromkeys(code for code, _ in issues)),
        fields.LEASE: None,
        fields.FINISHED_AT: _now(),
    }


def given_back(work: Work, error: MafteachError) -> Json:
    """Part of a row: it waits again, for no fault of its own."""
    return {
        **progress(DocumentState.QUEUED),
        fields.REASON: str(error),
        fields.REASON_CODE: error.code,
        fields.LEASE: None,
        fields.ATTEMPTS: max(0, work.attempts - 1),
    }


def unfinished(work: Work, error: MafteachError) -> Json:
    """Part of a row: work on it ended with an error. Where no version of it can be searched, the row shows how far it
    came: the chunks, and for who has to judge it the text."""
    state = DocumentState.QUARANTINED if isinstance(error, DoubtfulDocument) else DocumentState.FAILED
    part = ended(state, error) | {fields.ATTEMPTS: work.attempts}
    if work.published:
        return part
    part |= {fields.CHUNKS_GENERATED: len(work.chunks), fields.CHUNKS_INDEXED: work.indexed}
    return part | _content(work) if state is DocumentState.QUARANTINED and work.extraction is not None else part


def finished(work: Work) -> Json:
    """Part of a row: the version that it describes is whole in the index, and alone there."""
    return {
        **progress(DocumentState.READY),
        **_nothing_wrong(),
        fields.LEASE: None,
        fields.CHUNKS_INDEXED: work.indexed,
        fields.FINISHED_AT: _now(),
    }


def published(work: Work, stamps: Stamps, state: DocumentState, lease: Lease | None) -> Json:
    """The whole row of a document whose new version can be searched from now on."""
    now = datetime.now(UTC)
    before = work.previous
    row = first_row(work, state, lease=lease).model_copy(
        update={
            "version": work.version,
            "chunks_generated": len(work.chunks),
            "chunks_indexed": work.indexed,
            "stamps": stamps,
            "content_hash": work.hash,
            "created_at": now if before is None else before.created_at,
            "queued_at": work.started if before is None else before.queued_at,
            "started_at": work.started,
            "finished_at": now if state is DocumentState.READY else None,
        }
    )
    return row.model_dump(mode="json", exclude_none=True) | _content(work)


def _content(work: Work) -> Json:
    document, read = work.document, work.read
    found = {
        "title": document.title,
        "language": read.metadata.language or language_of(document.text),
        "media_type": document.media_type,
        "type": read.metadata.type,
        "tags": list(read.metadata.tags),
        "date": read.metadata.date,
        "reference": read.metadata.reference,
        "metadata": document.metadata,
        "extracted": None if read.extracted is None else read.extracted.model_dump(mode="json", by_alias=True),
        "filter_fields": read.filter_fields.model_dump(mode="json", exclude_none=True),
        "text": document.text,
        "layout": layout_of(document),
    }
    return {name: value for name, value in found.items() if value is not None}


def _nothing_wrong() -> Json:
    return {fields.REASON: None, fields.REASON_CODE: None, fields.ISSUES: [], fields.ISSUE_CODES: []}


def _now() -> str:
    return datetime.now(UTC).isoformat()
