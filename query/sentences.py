"""The sentences of a passage or of an answer, with their exact places. Pure; a text is never copied or changed.

A passage keeps a sentence that its lines wrap; in an answer every line is its own. Headings, the rows of a table and
the points of a list are sentences too: each can be the one that answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from search_config.sentences import sentence_starts

Span = tuple[int, int]

# Where a passage's text begins anew whatever the marks before it say: behind an empty line, and before and behind a
# heading or a table's row.
_PARAGRAPH: Final = re.compile(
    r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:#{1,6}\s|\|))|(?<=\|)[^\S\n]*\n|^#{1,6}\s[^\n]*\n", re.MULTILINE
)
_LINE: Final = re.compile(r"\n\s*")


def passage_sentences(text: str) -> tuple[Span, ...]:
    """`(from, to)` of each sentence of a passage, without the white space around it."""
    return _spans(text, {match.end() for match in _PARAGRAPH.finditer(text)})


def answer_sentences(text: str, whole: Sequence[Span] = ()) -> tuple[Span, ...]:
    """The same of an answer: a line break ends a sentence; what is `whole`, a quote of two sentences, stays in one."""
    return _spans(text, {match.end() for match in _LINE.finditer(text)}, whole)


def _spans(text: str, breaks: set[int], whole: Sequence[Span] = ()) -> tuple[Span, ...]:
    inner = {place for place in breaks if 0 < place < len(text)} | set(sentence_starts(text, 0, len(text)))
    for start, end in whole:
        inner -= set(range(start, end))
    bounds = sorted({0, len(text), *inner})
    return tuple(span for start, end in pairwise(bounds) if (span := _trimmed(text, start, end)) is not None)


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Without white space at the ends; None where nothing is left."""
    part = text[start:end]
    left, right = len(part) - len(part.lstrip()), len(part) - len(part.rstrip())
    return (start + left, end - right) if left < len(part) else None
