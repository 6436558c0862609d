"""Strategies A and B: windows of so many characters, cut at white space, blind to paragraphs and sections. Pure."""

from __future__ import annotations

import bisect

from ingest.chunking.base import Group, Unit
from ingest.chunking.words import skip_space, word_cut
from ingest.extract.base import ExtractedDocument


def blind_groups(document: ExtractedDocument, target: int) -> list[Group]:
    """Cut into windows of at most `target` characters; a word longer than that is cut."""
    text = document.text
    block_starts = [block.locator.from_ for block in document.blocks]
    groups: list[Group] = []
    start = skip_space(text, 0, len(text))
    while start < len(text):
        end = word_cut(text, start, len(text), target)
        block = max(0, bisect.bisect_right(block_starts, start) - 1)
        groups.append((Unit(start, end, start, end, cuttable=True, section=(), block=block),))
        start = skip_space(text, end, len(text))
    return groups
