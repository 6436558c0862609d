"""The overlap that strategies B, D and F embed before a chunk's content. Pure."""

from __future__ import annotations

from ingest.chunking.words import skip_space


def overlap_start(text: str, start: int, length: int) -> int | None:
    """Where an overlap of at most `length` characters before `start` begins, at the beginning of a word.

    None where no whole word fits, and at the text's beginning.
    """
    low = start - length
    if low <= 0:
        first = skip_space(text, 0, start)
    elif text[low - 1].isspace():
        first = skip_space(text, low, start)
    else:  # inside a word: go on to the next one
        inside = low
        while inside < start and not text[inside].isspace():
            inside += 1
        first = skip_space(text, inside, start)
    return first if first < start else None
