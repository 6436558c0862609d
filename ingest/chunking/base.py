"""The records of chunking, and what each strategy is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ingest.extract.base import ExtractedDocument
from search_config.records import Locator
from search_config.settings import ChunkingStrategy

# Characters of the text before a chunk that are embedded with it in strategies B, D and F: about one line, ten words.
OVERLAP_CHARS: Final = 64
SECTION_SEPARATOR: Final = " > "


@dataclass(frozen=True, slots=True)
class Traits:
    """What a strategy does."""

    boundaries: bool
    overlap: bool
    header: bool


STRATEGIES: Final[dict[ChunkingStrategy, Traits]] = {
    "A": Traits(boundaries=False, overlap=False, header=False),
    "B": Traits(boundaries=False, overlap=True, header=False),
    "C": Traits(boundaries=True, overlap=False, header=False),
    "D": Traits(boundaries=True, overlap=True, header=False),
    "E": Traits(boundaries=True, overlap=False, header=True),
    "F": Traits(boundaries=True, overlap=True, header=True),
}


class ChunkingSpec(BaseModel):
    """How documents are cut."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: ChunkingStrategy
    target: int = Field(ge=1, description="Characters of a chunk.")
    window: int = Field(ge=1, description="Tokens that the model reads of a passage; no embedded text has more.")

    @property
    def traits(self) -> Traits:
        """What the strategy does."""
        return STRATEGIES[self.strategy]


class Chunk(BaseModel):
    """A passage: `document.text[locator.from:locator.to] == content`, always."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str = Field(min_length=1)
    locator: Locator
    section_path: tuple[str, ...] = Field((), description="Headings above its first paragraph, without the title.")
    header: str = Field("", description="Embedded before the content and never quoted; empty without a header.")
    overlap_from: int | None = Field(None, ge=0, description="Where the embedded overlap before `from` begins.")
    confidence: float | None = Field(None, ge=0, le=1, description="OCR confidence; None for born-digital text.")

    @property
    def section(self) -> str:
        """The section path as one line."""
        return SECTION_SEPARATOR.join(self.section_path)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of text that is kept whole where it can be: a block with the headings before it, or a part of one.

    The body, `text[body_from:body_to]`, is what length is measured by and what may be cut; headings before it (and
    after it, at a document's end) ride along, so that none becomes a chunk of its own.
    """

    start: int
    end: int
    body_from: int
    body_to: int
    cuttable: bool
    section: tuple[str, ...]
    block: int

    @property
    def headed(self) -> bool:
        """Whether it begins a section."""
        return self.start < self.body_from


Group = tuple[Unit, ...]
"""Neighbouring units that make one chunk."""


def embedded_text(chunk: Chunk, document: ExtractedDocument) -> str:
    """What the model reads for a chunk: header, line end, overlap, content, as far as its strategy has them."""
    start = chunk.locator.from_ if chunk.overlap_from is None else chunk.overlap_from
    return with_header(chunk.header, document.text[start : chunk.locator.to])


def with_header(header: str, text: str) -> str:
    """The header on a line of its own before the text."""
    return f"{header}\n{text}" if header else text
