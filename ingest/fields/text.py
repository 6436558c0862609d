"""The text as rules read it: quotes, dashes and spaces folded one for one, so that every offset stays. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from search_config.document_fields import Place

# One character for one character: a fold that changed a length would move every place behind it.
_FOLDS: Final = str.maketrans(
    {
        **dict.fromkeys("״”“„‟″", '"'),
        **dict.fromkeys("׳’‘‚‛′´`", "'"),
        **dict.fromkeys("‐‑‒–—―−־", "-"),
        **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000", " "),
    }
)
# How far left of a value the words stand that say what it is: two lines of print.
CLAUSE_CHARS: Final = 140
# A line of at least this length that ends without a full stop goes on in the next one; shorter ones are lines of
# their own, as in letterheads and forms.
WRAPPED_LINE_CHARS: Final = 60

# The end of a sentence: not inside `1.5` or `Ltd.)`, and not a Hebrew abbreviation such as `א.נ.,`.
_SENTENCE_END: Final = re.compile(r"(?<![\s.][A-Za-zא-ת])(?<!\bNo)(?<!\bno)(?<!\bLtd)(?<!\bInc)[.;](?=\s)")


def fold(text: str) -> str:
    """The same text with one kind of quote, apostrophe, dash and space; as long as before."""
    return text.translate(_FOLDS)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `text[start:end]`, without its line end."""

    start: int
    end: int
    text: str


def lines_of(text: str) -> Iterator[Line]:
    """The lines that are not blank."""
    start = 0
    for raw in text.split("\n"):
        if raw.strip():
            yield Line(start, start + len(raw), raw)
        start += len(raw) + 1


def place(text: str, start: int, end: int) -> Place:
    """The place of `text[start:end]`; `text` is the canonical text, not the folded one."""
    return Place(from_=start, to=end, as_read=text[start:end])


def clause_before(text: str, start: int, *, floor: int = 0, chars: int = CLAUSE_CHARS) -> str:
    """The words left of `start` that belong with what stands there: from the sentence's or the line's beginning.

    Args:
        text: folded.
        start: where the value begins.
        floor: nothing left of this.
        chars: at most.
    """
    low = max(floor, start - chars)
    window = text[low:start]
    cut = max((found.end() for found in _SENTENCE_END.finditer(window)), default=0)
    lines = window[cut:].split("\n")
    kept = lines.pop()
    while lines:
        before = lines.pop()
        # A label may stand alone above its value; a long line goes on in the next.
        labels = not kept.strip() and before.rstrip().endswith(":")
        if not labels and len(before) < WRAPPED_LINE_CHARS:
            break
        kept = f"{before} {kept}"
    return kept


def line_before(text: str, start: int) -> str:
    """What stands left of `start` on its line, at most `CLAUSE_CHARS` of it."""
    begins = text.rfind("\n", max(0, start - CLAUSE_CHARS), start) + 1
    return text[max(begins, start - CLAUSE_CHARS) : start]


def line_after(text: str, end: int) -> str:
    """What stands right of `end` on its line, at most `CLAUSE_CHARS` of it."""
    stop = text.find("\n", end, end + CLAUSE_CHARS)
    return text[end : stop if stop >= 0 else end + CLAUSE_CHARS]
