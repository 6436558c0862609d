"""Plain text: paragraphs by blank lines, a title line, numbered section headings. The text is kept to the letter.

Headings are guessed conservatively, because a false one is worse than none: a short numbered line that ends in no
punctuation, with text of its own section below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ingest.extract.base import Block, BlockKind, ExtractedDocument
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode, report_of
from ingest.extract.detect import PLAIN
from ingest.extract.visual import to_logical
from search_config.records import Locator

# A heading fits on one line of print; a title may be longer, as titles of protocols and letters are.
HEADING_CHARS_MAX: Final = 80
TITLE_CHARS_MAX: Final = 120
# Hard-wrapped text has lines of 60 to 100 characters; where a line is longer, each line is a paragraph of its own.
WRAPPED_LINE_CHARS_MAX: Final = 200
# In "19.3.24" the third number is a year of two digits; sections of sections are not counted that far.
THIRD_NUMBER_MAX: Final = 19

_LINE_ENDS: Final = re.compile("\r\n?")
_LINE: Final = re.compile(r"[^\n]+")
_NUMBERED: Final = re.compile(r"\s*(\d{1,2}(?:\.\d{1,2}){0,3})(\.?)\s+\S")
_SENTENCE_END: Final = re.compile(r"[.!?:;,…׃][\"'”’)\]]*\s*$")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Span:
    """A paragraph or line of the text; `level` is a heading's depth, 0 for body text, -1 for the title."""

    start: int
    end: int
    level: int = 0


def extract_plain(data: bytes, *, name: str) -> ExtractedDocument:
    """Extract a plain text file.

    Raises:
        BinaryDocument, UndecodableDocument
    """
    decoded = decode(data, name=name)
    text = canonicalise(to_logical(_LINE_ENDS.sub("\n", decoded.text)) if decoded.visual else decoded.text)
    spans = _with_title(text, _real_headings(_spans(text)))
    first = spans[0] if spans else None
    titled = first is not None and first.level < 0
    title = text[first.start : first.end].strip() if first is not None and titled else PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=_blocks(text, spans), media_type=PLAIN, report=report_of(decoded)
    )


def _spans(text: str) -> list[_Span]:
    spans: list[_Span] = []
    for lines in _paragraphs(text):
        level = _heading_level(text[slice(*lines[0])])
        if level and (len(lines) == 1 or _heads(text, lines)):
            spans.append(_Span(*lines[0], level))
            lines = lines[1:]
        if lines and max(end - start for start, end in lines) > WRAPPED_LINE_CHARS_MAX:
            spans += [_Span(start, end) for start, end in lines]
        elif lines:
            spans.append(_Span(lines[0][0], lines[-1][1]))
    return spans


def _paragraphs(text: str) -> Iterator[list[tuple[int, int]]]:
    """The lines of each paragraph; a line of nothing but white space ends one as an empty line does."""
    lines: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        blank = line[0].isspace()
        if lines and (blank or line.start() > lines[-1][1] + 1):
            yield lines
            lines = []
        if not blank:
            lines.append(line.span())
    if lines:
        yield lines


def _heading_level(line: str) -> int:
    """Depth of a numbered heading (`1.` is 1, `3.2` is 2), 0 where the line is none."""
    numbered = _NUMBERED.match(line)
    if numbered is None or len(line.strip()) > HEADING_CHARS_MAX or _SENTENCE_END.search(line):
        return 0
    numbers = numbered[1].split(".")
    a_date = len(numbers) > 2 and int(numbers[2]) > THIRD_NUMBER_MAX
    bare_number = len(numbers) == 1 and not numbered[2]
    if a_date or bare_number or not _LETTER.search(line):
        return 0
    return len(numbers)


def _heads(text: str, lines: Sequence[tuple[int, int]]) -> bool:
    """Whether the first line heads the others: they are longer text and not the next items of a numbered list."""
    (start, end), (next_start, next_end) = lines[0], lines[1]
    return next_end - next_start > end - start and not _NUMBERED.match(text, next_start, next_end)


def _real_headings(spans: list[_Span]) -> list[_Span]:
    """Demote what heads nothing: the items of a list written with blank lines, and a last line."""
    real: list[_Span] = []
    for i, span in enumerate(spans):
        following = spans[i + 1] if i + 1 < len(spans) else None
        heads_text = following is not None and (following.level == 0 or following.level > span.level)
        real.append(span if not span.level or heads_text else _Span(span.start, span.end))
    return real


def _with_title(text: str, spans: list[_Span]) -> list[_Span]:
    """Mark the first line as title where it is short, stands alone, ends in no punctuation, and text follows."""
    if len(spans) < 2 or spans[0].level:
        return spans
    start, end = spans[0].start, spans[0].end
    line = text[start:end]
    alone = "\n" not in line and text[end : spans[1].start].count("\n") > 1
    if not alone or len(line.strip()) > TITLE_CHARS_MAX or _SENTENCE_END.search(line) or not _LETTER.search(line):
        return spans
    return [_Span(start, end, -1), *spans[1:]]


def _blocks(text: str, spans: list[_Span]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    open_headings: list[tuple[int, str]] = []
    for span in spans:
        section = tuple(heading for _, heading in open_headings)
        if span.level > 0:
            open_headings = [one for one in open_headings if one[0] < span.level]
            open_headings.append((span.level, text[span.start : span.end].strip()))
            section = tuple(heading for _, heading in open_headings)
        elif span.level < 0:
            section = (text[span.start : span.end].strip(),)
        kind = BlockKind.HEADING if span.level else BlockKind.PARAGRAPH
        locator = Locator.model_validate({"from": span.start, "to": span.end})
        blocks.append(Block(kind=kind, locator=locator, section=section))
    return tuple(blocks)
