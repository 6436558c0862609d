"""A second, naive chunker for strategies C and E without a window: word by word, in plain lists.

It shares the sentence splitter, which has tests of its own, and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ingest.extract.base import BlockKind, ExtractedDocument
from search_config.sentences import sentence_starts

Span = tuple[int, int]


@dataclass
class Piece:
    """A body, where it begins with its headings, and its section."""

    start: int
    body: Span
    section: tuple[str, ...]
    headed: bool = False


def reference_chunks(document: ExtractedDocument, target: int) -> list[tuple[int, int, str]]:
    """(from, to, content) of every chunk."""
    pieces: list[Piece] = []
    waiting: list[Span] = []
    for block in document.blocks:
        span = (block.locator.from_, block.locator.to)
        if block.kind == BlockKind.HEADING:
            waiting.append(span)
            continue
        own = [Piece(body[0], body, block.section) for body in _bodies(document.text, span, block.kind, target)]
        if waiting:
            own[0].start, own[0].headed = waiting[0][0], True
        pieces += own
        waiting = []
    if waiting and not pieces:
        whole = (waiting[0][0], waiting[-1][1])
        bodies = _bodies(document.text, whole, BlockKind.PARAGRAPH, target)
        pieces, waiting = [Piece(body[0], body, ()) for body in bodies], []
    chunks: list[Piece] = []
    for piece in pieces:
        last = chunks[-1] if chunks else None
        if last and not piece.headed and piece.section == last.section and piece.body[1] - last.body[0] <= target:
            last.body = (last.body[0], piece.body[1])
        else:
            chunks.append(piece)
    if waiting:
        chunks[-1].body = (chunks[-1].body[0], waiting[-1][1])
    return [(chunk.start, chunk.body[1], document.text[chunk.start : chunk.body[1]]) for chunk in chunks]


def _bodies(text: str, span: Span, kind: BlockKind, target: int) -> list[Span]:
    if kind in (BlockKind.CODE, BlockKind.TABLE_ROW) or span[1] - span[0] <= target:
        return [span]
    result: list[Span] = []
    for low, high in pairwise([span[0], *sentence_starts(text, *span), span[1]]):
        words = [found.span() for found in re.compile(r"\S+").finditer(text, low, high)]
        if result and words[-1][1] - result[-1][0] <= target:
            result[-1] = (result[-1][0], words[-1][1])
        else:
            result += _by_words(words, target)
    return result


def _by_words(words: list[Span], target: int) -> list[Span]:
    """As many words as fit; a word longer than the target is cut, its rest goes on as a word."""
    result: list[Span] = []
    for first, end in words:
        start = first
        if result and end - result[-1][0] <= target:
            result[-1] = (result[-1][0], end)
            continue
        while end - start > target:
            result.append((start, start + target))
            start += target
        result.append((start, end))
    return result
