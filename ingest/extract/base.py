"""What every extractor gives: canonical text, and blocks that say where its parts stand."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from search_config.records import Locator


class BlockKind(StrEnum):
    """What a block is; code blocks and table rows are never cut unless they alone exceed the window."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"


class Block(BaseModel):
    """A part of the canonical text: `text[from:to]`, in reading order, without overlap."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: BlockKind
    locator: Locator = Field(description="`from` and `to` in the canonical text, and the place in the original.")
    section: tuple[str, ...] = Field((), description="Headings above it, outermost first; a heading names itself last.")
    confidence: float | None = Field(None, ge=0, le=1, description="OCR confidence; None for born-digital text.")


class ExtractedDocument(BaseModel):
    """A document's canonical text (NFC, `\\n` line ends, no byte order mark) and its blocks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    title: str
    blocks: tuple[Block, ...]
    media_type: str
    metadata: dict[str, Any] = Field(default_factory=dict, description="Front matter and the like; never content.")
    report: tuple[str, ...] = Field((), description="What a person should know of the extraction.")
    doubts: tuple[tuple[str, str], ...] = Field(
        (), description="Why a person must look at it first, a stable code and a sentence each; it is quarantined."
    )

    @model_validator(mode="after")
    def _blocks_lie_in_order(self) -> ExtractedDocument:
        end = 0
        for block in self.blocks:
            if block.locator.from_ < end or block.locator.to > len(self.text):
                raise ValueError(f"block {block.kind} at {block.locator.from_} overlaps or leaves the text")
            end = block.locator.to
        return self


class Extractor(Protocol):
    """Turns a file's bytes into an `ExtractedDocument`."""

    def __call__(self, data: bytes, *, name: str) -> ExtractedDocument:
        """Extract.

        Raises:
            DocumentError: (a subclass) the bytes are not a usable document of this format.
        """
