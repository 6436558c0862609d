"""Where a passage stands in the original: the places of the blocks that it touches, made one."""

from __future__ import annotations

import bisect

from ingest.extract.base import Block, BlockKind, ExtractedDocument
from search_config.language import language_of
from search_config.locators import passage_label, spanning
from search_config.records import Locator


class Places:
    """The places of a document's passages."""

    def __init__(self, document: ExtractedDocument) -> None:
        self.document = document
        self._starts = [block.locator.from_ for block in document.blocks]
        self._language = language_of(document.text)

    def blocks(self, start: int, end: int) -> tuple[Block, ...]:
        """The blocks that `text[start:end]` touches, in reading order."""
        low = max(0, bisect.bisect_right(self._starts, start) - 1)
        high = bisect.bisect_left(self._starts, end)
        touched = self.document.blocks[low:high]
        return tuple(block for block in touched if block.locator.to > start) or touched[-1:]

    def confidence(self, start: int, end: int) -> float | None:
        """OCR confidence of `text[start:end]`: the mean of its blocks', by their characters in it; None without any."""
        weight = total = 0.0
        for block in self.blocks(start, end):
            characters = min(end, block.locator.to) - max(start, block.locator.from_)
            if block.confidence is not None and characters > 0:
                weight += characters
                total += characters * block.confidence
        return total / weight if weight else None

    def of(self, start: int, end: int) -> Locator:
        """The locator of `text[start:end]`, with its label in the document's language."""
        touched = self.blocks(start, end)
        # Headings ride along: what a passage says stands where its own text does, not on the title slide before it.
        said = [block for block in touched if block.kind is not BlockKind.HEADING]
        parts = [block.locator for block in said or touched]
        if not parts:  # no block at all: a text that was never parted
            parts = [Locator.model_validate({"from": start, "to": end})]
        merged = spanning(parts, start, end)
        return merged.model_copy(update={"label": passage_label(parts, merged, self._language)})
