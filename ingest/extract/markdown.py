"""Markdown: CommonMark with tables. Canonical text is what a reader sees, without the marks.

Front matter is metadata. A table row becomes one line, "column: value | column: value"; code keeps its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import TextBuilder, one_line, row_text
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode, report_of
from ingest.extract.detect import MARKDOWN
from ingest.extract.front_matter import read_front_matter
from ingest.extract.html import add_fragment
from ingest.extract.visual import to_logical
from search_config.errors import ExtractionFailed

# Lists and quotations inside each other; the parser recurses, and drops what is deeper.
NESTING_MAX: Final = 100
# Finding the links of a paragraph takes quadratic time in its brackets; a longer one is taken as it stands.
INLINE_CHARS_MAX: Final = 10_000
BULLET: Final = "- "


def extract_markdown(data: bytes, *, name: str) -> ExtractedDocument:
    """Extract a Markdown file.

    Raises:
        BinaryDocument, UndecodableDocument
        ExtractionFailed: nested too deeply.
    """
    decoded = decode(data, name=name)
    source = canonicalise(to_logical(decoded.text) if decoded.visual else decoded.text)
    front = read_front_matter(source)
    walk = _Walk(name)
    try:
        walk.read(source[front.body_from :])
    except RecursionError as error:
        raise ExtractionFailed(
            "Lists or quotations are nested too deeply.", where=name, remedy="Simplify the file."
        ) from error
    text, blocks = walk.builder.build()
    named = front.values.get("title")
    title = one_line(canonicalise(named)) if isinstance(named, str) else ""
    return ExtractedDocument(
        text=text,
        title=title or walk.first_heading or PurePath(name).stem,
        blocks=blocks,
        media_type=MARKDOWN,
        metadata=front.values,
        report=(*front.report, *report_of(decoded)),
    )


class _Walk:
    """Goes through the parser's flat list of blocks once, and feeds the builder."""

    def __init__(self, name: str) -> None:
        self.builder = TextBuilder()
        self.first_heading = ""
        self._name = name
        self._parser = MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])
        self._parser.core.ruler.disable("inline")  # paragraphs are parsed one by one, below
        self._links: dict[str, Any] = {}
        self._markers: list[str] = []  # what the next text of each open list item begins with
        self._group = 0

    def read(self, source: str) -> None:
        stream = iter(self._parser.parse(source, self._links))
        for token in stream:
            match token.type:
                case "heading_open":
                    self._heading(int(token.tag[1:]), self._inline(next(stream)))
                case "table_open":
                    self._table(stream)
                case "bullet_list_open" | "ordered_list_open" if not self._markers:
                    self._group += 1
                case "list_item_open":
                    self._markers.append(f"{token.info}{token.markup} " if token.info else BULLET)
                case "list_item_close":
                    self._markers.pop()
                case "inline":
                    self._text(self._inline(token))
                case "fence" | "code_block":
                    self.builder.add(BlockKind.CODE, token.content)
                case "html_block":
                    add_fragment(self.builder, token.content, name=self._name)

    def _inline(self, token: Token) -> str:
        if len(token.content) > INLINE_CHARS_MAX:
            return token.content
        children: list[Token] = []
        self._parser.inline.parse(token.content, self._parser, self._links, children)
        return reader_text(children)

    def _heading(self, level: int, text: str) -> None:
        self.builder.heading(text, level)
        self.first_heading = self.first_heading or one_line(text)

    def _text(self, text: str) -> None:
        if not self._markers:
            self.builder.add(BlockKind.PARAGRAPH, text)
            return
        marker, self._markers[-1] = self._markers[-1], ""
        self.builder.add(BlockKind.LIST_ITEM, f"{marker}{text}", group=self._group)

    def _table(self, stream: Iterator[Token]) -> None:
        self._group += 1
        names: list[str] = []
        cells: list[str] = []
        rows = 0
        for token in stream:
            match token.type:
                case "table_close":
                    break
                case "tr_open":
                    cells = []
                case "inline":
                    cells.append(one_line(self._inline(token)))
                case "thead_close":
                    names = cells
                case "tr_close" if names:
                    rows += 1
                    self.builder.add(BlockKind.TABLE_ROW, row_text(cells, names), group=self._group)
        if not rows:  # the names are all that the table says
            self.builder.add(BlockKind.TABLE_ROW, row_text(names, []), group=self._group)


def reader_text(tokens: Sequence[Token]) -> str:
    """What a reader sees of inline tokens: no marks, an image by its description, a soft line end as a blank."""
    parts: list[str] = []
    for child in tokens:
        match child.type:
            case "text" | "text_special" | "code_inline":
                parts.append(child.content)
            case "softbreak":
                parts.append(" ")
            case "hardbreak":
                parts.append("\n")
            case "image":
                parts.append(reader_text(child.children or []))
            case "html_inline" if child.content.lower().startswith("<br"):
                parts.append("\n")
    return "".join(parts)
