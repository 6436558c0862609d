"""Blocks of a document as they are kept beside its text, so that it can be cut anew without its file."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter, ValidationError

from ingest.extract.base import Block, ExtractedDocument
from ingest.extraction import Extraction
from ingest.metadata import TypedMetadata
from search_config.errors import IndexingIncomplete
from search_config.records import DocumentRecord

_BLOCKS: Final = TypeAdapter(tuple[Block, ...])


def layout_of(document: ExtractedDocument) -> str:
    """The blocks as JSON; without the text, into which they are offsets."""
    return _BLOCKS.dump_json(document.blocks, by_alias=True, exclude_defaults=True).decode()


def extraction_of(record: DocumentRecord) -> Extraction:
    """What was read of a document's searchable version, out of its row.

    Args:
        record: whole, with text and layout.

    Raises:
        IndexingIncomplete: the row does not hold both.
    """
    problem = None
    blocks: tuple[Block, ...] = ()
    if record.text is None or record.layout is None:
        problem = "An earlier version ingested it, and kept nothing that it can be cut anew from"
    else:
        try:
            blocks = _BLOCKS.validate_json(record.layout)
        except ValidationError as error:
            problem = f"Its layout is damaged ({error.error_count()} problems)"
    if problem is not None:
        raise IndexingIncomplete(
            f"{problem}.", where=f"{record.name} ({record.document_id})", remedy="Ingest it again, or delete it."
        )
    return Extraction(
        document=ExtractedDocument(
            text=record.text or "",
            title=record.title or "",
            blocks=blocks,
            media_type=record.media_type or "",
            metadata=record.metadata,
        ),
        metadata=TypedMetadata(
            type=record.type,
            date=record.date,
            tags=record.tags,
            reference=record.reference,
            language=record.language,
        ),
        extracted=record.extracted,
        filter_fields=record.filter_fields,
    )
