"""Joins the marks that the engine set in several analyses of one passage into one marked passage. Pure.

A word may be found by its prefix-stripped form, as an identifier, by its English stem: each is a sub-field, and the
engine marks each on its own. The marks of the engine are private-use characters, so that a passage about `<em>` stays
what it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# Asked of the engine; the Private Use Area holds no text.
OPEN: Final = "\ue000"
CLOSE: Final = "\ue001"
# What the answer has around a matched word. Escaping the rest for HTML is the affair of who shows it.
TAGS: Final = ("<em>", "</em>")

Span = tuple[int, int]


def marked(content: str, variants: Iterable[str]) -> str | None:
    """The whole passage with every word marked that any variant marks; None when none does.

    Args:
        content: the passage.
        variants: copies of it with OPEN and CLOSE around words. One that is not `content` without its marks is left
            out: a highlight never shows another text than the passage.
    """
    spans: list[Span] = []
    for variant in variants:
        if variant.replace(OPEN, "").replace(CLOSE, "") == content:
            spans += _spans(variant)
    pieces, position = [], 0
    for start, end in _union(spans):
        pieces += [content[position:start], TAGS[0], content[start:end], TAGS[1]]
        position = end
    return "".join([*pieces, content[position:]]) if spans else None


def _spans(variant: str) -> list[Span]:
    first, *marks = variant.split(OPEN)
    spans, position = [], len(first.replace(CLOSE, ""))
    for piece in marks:
        word, *rest = piece.split(CLOSE)
        if word and rest:
            spans.append((position, position + len(word)))
        position += len(piece) - len(rest)
    return spans


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
