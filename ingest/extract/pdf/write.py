"""Paragraphs and tables of all pages to canonical text and blocks: headings, lists, hyphens, columns' names. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ingest.extract.base import BlockKind
from ingest.extract.builder import Place, TextBuilder, one_line, row_text
from ingest.extract.pdf.bidi import is_rtl
from ingest.extract.pdf.paragraphs import LIST_MARK, Paragraph, TableText, looks_like_names, names_by_words

# A heading is this much larger than the text, or bold where the text is not, and a line or two long.
HEADING_FACTOR: Final = 1.12
HEADING_FACTOR_RECOGNISED: Final = 1.4
HEADING_CHARS_MAX: Final = 160
HEADING_LINES_MAX: Final = 3
BOLD_HEADING_CHARS_MAX: Final = 100
LEVEL_MAX: Final = 6
# Columns of a table that goes on overleaf stand where they stood, give or take so many points.
SAME_EDGES: Final = 4.0
BULLETS: Final = "•◦▪‣*–—-"
# First words of compounds that are written with a hyphen, so that it stays at a line's end.
_HYPHENATED: Final = (
    "אי בין תת רב חד דו תלת על בלתי אנטי קדם טרום פרו אל בית כלל פנים חוץ"
    " well self long short high low half full part mid cross all ever second third two three four non ex vice year"
)
HYPHENATED: Final = frozenset(_HYPHENATED.split())

_NUMBERED: Final = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s")
_NO_HEADING_END: Final = re.compile(r"[.,;:!?]$")
_LETTER: Final = re.compile(r"[^\W\d_]")
_BROKEN: Final = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$")
_COMPOUND: Final = re.compile(r"[^\W\d_]+[-\u2010\u05be][^\W\d_]")
# `2024-09-` at the end of a right-to-left line: the hyphen is shown on the number's right, where a minus sign stands.
_BROKEN_NUMBER: Final = re.compile(r"(?<!\S)-(\d+(?:-\d+)*)$")
_NUMBER_REST: Final = re.compile(r"\d+(?:-\d+)*(?!\w)")
# What words of a language do not hold: addresses and identifiers are never divided by a hyphen of the printer's.
_PARTS: Final = re.compile(r"[@/_\d]|\w[.]\w")
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[-־][^\W\d_]+)*")
_REFERENCES: Final = re.compile(
    r"(?:\d{1,2}\.?\s+)?(?:רשימת\s+)?(?:מקורות|הפניות|ביבליוגרפיה|רשימה\s+ביבליוגרפית|מראי\s+מקום|references|"
    r"bibliography|works\s+cited)\s*:?",
    re.I,
)

Part = Paragraph | TableText


class Writer:
    """Feeds a builder with the parts of a document."""

    def __init__(self, parts: Sequence[Part], *, drop_references: bool) -> None:
        self.builder = TextBuilder()
        self.first_heading = ""
        self.dropped_references = 0
        self._parts = parts
        self._drop = drop_references
        self._words: Counter[str] = Counter()
        texts = [part for part in parts if isinstance(part, Paragraph)]
        sizes: Counter[float] = Counter()
        for part in texts:
            sizes[round(part.size * 2) / 2] += part.characters
            for line in part.lines:
                self._words.update(_WORDS.findall(line.text))
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        bold = sum(part.characters for part in texts if part.bold)
        self._bold_text = bold > sum(part.characters for part in texts) / 2
        self._levels = self._heading_sizes(texts)
        self._group = 0
        self._in_list = False
        self._skipping: int | None = None
        self._names: list[str] = []
        self._table: TableText | None = None

    def write(self) -> None:
        """Write all parts."""
        for at, part in enumerate(self._parts):
            if isinstance(part, TableText):
                if self._skipping is None:
                    following = self._parts[at + 1] if at + 1 < len(self._parts) else None
                    self._write_table(part, following if isinstance(following, TableText) else None)
                self._in_list = False
            else:
                self._write_paragraph(part)

    def _heading_sizes(self, texts: Sequence[Paragraph]) -> dict[float, int]:
        larger = {round(part.size * 2) / 2 for part in texts if self._larger(part)}
        return {size: min(LEVEL_MAX, level) for level, size in enumerate(sorted(larger, reverse=True), start=1)}

    def _larger(self, part: Paragraph) -> bool:
        factor = HEADING_FACTOR_RECOGNISED if part.recognised else HEADING_FACTOR
        return part.size >= factor * self._body and self._short(part, HEADING_CHARS_MAX)

    def _short(self, part: Paragraph, most: int) -> bool:
        text = part.lines[-1].text
        return (
            part.characters <= most
            and len(part.lines) <= HEADING_LINES_MAX
            and _NO_HEADING_END.search(text) is None
            and any(_LETTER.search(line.text) for line in part.lines)
        )

    def _level(self, part: Paragraph, text: str) -> int:
        """The level of a heading; 0 where it is none."""
        if self._larger(part):
            return self._levels[round(part.size * 2) / 2]
        listed = text[0] in BULLETS
        if part.bold and not self._bold_text and not listed and self._short(part, BOLD_HEADING_CHARS_MAX):
            numbered = _NUMBERED.match(text)
            depth = numbered[1].count(".") if numbered else 0
            return min(LEVEL_MAX, len(self._levels) + 1 + depth)
        return 0

    def _write_paragraph(self, part: Paragraph) -> None:
        text = self._joined(part)
        level = self._level(part, text)
        references = _REFERENCES.fullmatch(one_line(text)) is not None
        if self._skipping is not None and level and level <= self._skipping and not references:
            self._skipping = None
        if self._drop and references and self._skipping is None:
            self._skipping = level or LEVEL_MAX
        if self._skipping is not None:
            self.dropped_references += 1
            return
        place = Place(page=part.page)
        self._table = None
        if level:
            self._in_list = False
            self.builder.heading(text, level, place=place, confidence=part.confidence)
            self.first_heading = self.first_heading or one_line(text)
            return
        mark = LIST_MARK.match(text)
        if mark is None:
            self._in_list = False
            self.builder.add(BlockKind.PARAGRAPH, text, place=place, confidence=part.confidence)
            return
        self._group += not self._in_list
        self._in_list = True
        item = f"- {text[mark.end() :]}" if text[0] in BULLETS else text
        self.builder.add(BlockKind.LIST_ITEM, item, group=self._group, place=place, confidence=part.confidence)

    def _joined(self, part: Paragraph) -> str:
        text = part.lines[0].text
        for line in part.lines[1:]:
            text = self._glued(text, line.text, hard=line.hard)
        return text

    def _glued(self, text: str, line: str, *, hard: bool = False) -> str:
        """Two lines of one paragraph; a word that was divided between them is made whole."""
        if text.endswith("־"):
            return text + line
        number = _BROKEN_NUMBER.search(text)
        if number is not None and _NUMBER_REST.match(line):
            return f"{text[: number.start()]}{number[1]}-{line}"
        broken, first = _BROKEN.search(text), _FIRST_WORD.match(line)
        if broken is not None and first is not None:
            head, tail = broken[1], first[0]
            rest = line.split(maxsplit=1)[0]
            # `line-` and `of-business`: what goes on with a hyphen of its own is a compound.
            if not _PARTS.search(rest) and not _COMPOUND.match(rest) and self._divided(head, tail):
                return text[:-1] + line
            return text + line
        if text[-1] in "-–" and line[:1].isdigit() and text[-2:-1].isalnum():
            return text + line
        return f"{text}\n{line}" if hard else f"{text} {line}"

    def _divided(self, head: str, tail: str) -> bool:
        """Whether a hyphen at a line's end only divides a word; elsewhere in the document it may be seen whole."""
        if self._words[head + tail]:
            return True
        if self._words[f"{head}-{tail}"] or self._words[f"{head}־{tail}"]:
            return False
        if is_rtl(tail[0]):
            return head not in HYPHENATED and not self._words[tail]
        return tail[0].islower() and not head.isupper() and head.lower() not in HYPHENATED

    def _cell(self, lines: Sequence[str]) -> str:
        text = lines[0] if lines else ""
        for line in lines[1:]:
            text = self._glued(text, line)
        return one_line(text)

    def _write_table(self, part: TableText, following: TableText | None) -> None:
        rows = [[self._cell(cell) for cell in row] for row in part.rows]
        if not _goes_on(self._table, part):
            self._group += 1
            # A first row that stands alone at a page's end has the rows that it names overleaf.
            rest = following if following is not None and _goes_on(part, following) else None
            below = [*part.rows[1:], *(rest.rows if rest else ())]
            bold = [*part.bold[1:], *(rest.bold if rest else ())]
            named = bool(below) and (
                (all(rows[0]) and (part.own_font_first or (part.bold[:1] == (True,) and not any(bold))))
                or looks_like_names(part.rows[0], below)
                or (part.sure and len(below) > 1 and names_by_words(part.rows[0]))
            )
            self._names = rows[0] if named else []
        if self._names and rows[0] == self._names:
            rows = rows[1:]
        for row in rows:
            self.builder.add(
                BlockKind.TABLE_ROW,
                row_text(_pair(row), self._names),
                group=self._group,
                place=Place(page=part.page),
                confidence=part.confidence,
            )
        self._table = part


def _pair(row: list[str]) -> list[str]:
    """A row of a form, `name: | value`, as one cell."""
    if len(row) == 2 and row[0].endswith(":") and row[1]:
        return [f"{row[0]} {row[1]}"]
    return row


def _goes_on(before: TableText | None, part: TableText) -> bool:
    """Whether a table is the rest of one at the end of the page before."""
    return before is not None and before.ends_page and part.starts_page and _same_edges(before, part)


def _same_edges(one: TableText, other: TableText) -> bool:
    if one.spans and other.spans:
        # The text of a column is not as wide on every page: each column lies over its own, and over no other.
        return len(one.spans) == len(other.spans) and all(
            (min(right, end) > max(left, start)) == (i == j)
            for i, (left, right) in enumerate(one.spans)
            for j, (start, end) in enumerate(other.spans)
        )
    return len(one.edges) == len(other.edges) and all(
        abs(a - b) <= SAME_EDGES for a, b in zip(one.edges, other.edges, strict=True)
    )
