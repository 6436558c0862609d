"""The walk through an HTML tree: one pass over start and end events, with a small stack of what is open."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from lxml import etree

from ingest.extract.base import BlockKind
from ingest.extract.builder import TextBuilder, one_line, row_text
from ingest.extract.visual import to_logical

_NOT_READ_NAMES: Final = (
    "head script style template noscript nav iframe object embed svg math canvas audio video select button"
)
# Elements that end a paragraph where they begin and where they end.
_BLOCK_NAMES: Final = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure"
    " footer form header hr html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul"
)
NOT_READ: Final = frozenset(_NOT_READ_NAMES.split())
HEADINGS: Final = frozenset(f"h{level}" for level in range(1, 7))
BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
# A table that holds one of these lays out a page; its cells are read as blocks, not as a row.
IN_LAYOUT_TABLES: Final = ("table", "h1", "h2", "h3", "h4", "h5", "h6")
BULLET: Final = "- "
# The limit of the HTML standard for columns is 1,000; tables of this many columns or merged rows are not met.
SPAN_MAX: Final = 100
SPAN_DIGITS_MAX: Final = 4
# A cell that reaches down is repeated in each of its rows, unless it holds a text.
REPEATED_CHARS_MAX: Final = 200

_HIDING_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SOURCE_SPACE: Final = re.compile(r"[ \t\r\n\f]+")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell's text, and how many columns and rows it takes."""

    text: str
    across: int = 1
    down: int = 1


@dataclass(slots=True)
class _Table:
    """A data table that is open: the columns' names once known, and the row under way."""

    group: int
    names: list[str] = field(default_factory=list)
    rows: int = 0
    in_head: bool = False
    cells: list[_Cell] = field(default_factory=list)
    only_names: bool = True
    hanging: dict[int, _Cell] = field(default_factory=dict)
    """Cells of rows above that reach into the next one, by their first column."""

    def taken(self) -> list[_Cell | None]:
        """The row under way, a place a column: a cell stands in its first column, and in every row that it reaches."""
        row: list[_Cell | None] = []
        cells, self.cells = iter(self.cells), []
        hanging, self.hanging = self.hanging, {}
        last = max(hanging, default=-1)
        while (cell := hanging.get(len(row)) or next(cells, None)) is not None or len(row) <= last:
            if cell is None:  # a gap before a cell from above
                row.append(None)
                continue
            if cell.down > 1:
                repeated = cell.text if len(cell.text) <= REPEATED_CHARS_MAX else ""
                self.hanging[len(row)] = replace(cell, text=repeated, down=cell.down - 1)
            row += [cell, *([None] * (cell.across - 1))]
        return row


@dataclass(slots=True)
class _List:
    """A list that is open; `number` is the next item's, None in a list without numbers."""

    number: int | None


class HtmlWalk:
    """Feeds a builder with what a reader sees of a tree.

    Args:
        builder: takes the blocks.
        visual: the text is in visual order; such pages were set line by line, so that line ends of the source stay.
    """

    def __init__(self, builder: TextBuilder, *, visual: bool = False) -> None:
        self.first_heading = ""
        self._visual = visual
        self._builder = builder
        self._text: list[str] = []
        self._lists: list[_List] = []
        self._marker = ""
        self._items = 0
        self._preformatted = 0
        self._table: _Table | None = None
        self._group = 0

    def read(self, root: etree._Element) -> None:
        """Walk the tree below `root`."""
        events = etree.iterwalk(root, events=("start", "end"))
        skipped: etree._Element | None = None
        for event, element in events:
            if skipped is not None:
                if event == "end" and element is skipped:
                    skipped = None
                    self._add_text(element.tail)
                continue
            if event == "start" and (not isinstance(element.tag, str) or _hidden(element)):
                skipped = element
                events.skip_subtree()
            elif event == "start":
                self._start(element)
                self._add_text(element.text)
            else:
                self._end(element)
                self._add_text(element.tail)
        self._flush()

    def _add_text(self, text: str | None) -> None:
        if text:
            kept = self._preformatted or (self._visual and "\n" in text.strip())
            self._text.append(text if kept else _SOURCE_SPACE.sub(" ", text))

    def _start(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == "br":
            self._text.append("\n")
        if tag in BLOCKS or tag in HEADINGS:
            self._flush()
        if self._table is not None:
            self._start_in_table(self._table, tag)
        match tag:
            case "pre":
                self._preformatted += 1
            case "ul" | "menu":
                self._open_list(None)
            case "ol":
                start = (element.get("start") or "1").strip()
                self._open_list(int(start) if start.isdecimal() else 1)
            case "li":
                self._open_item()
            case "table" if self._table is None and next(element.iterdescendants(*IN_LAYOUT_TABLES), None) is None:
                self._group += 1
                self._table = _Table(self._group)

    def _start_in_table(self, table: _Table, tag: str) -> None:
        match tag:
            case "thead":
                table.in_head = True
            case "tr":
                table.cells, table.only_names = [], True
            case "td":
                table.only_names = False

    def _end(self, element: etree._Element) -> None:
        tag = element.tag
        if self._table is not None and self._ended_in_table(self._table, element):
            return
        if tag in HEADINGS:
            text = self._taken()
            self._builder.heading(text, int(tag[1]))
            self.first_heading = self.first_heading or text
            return
        if tag in BLOCKS:
            self._flush()
        match tag:
            case "pre":
                self._preformatted -= 1
            case "ul" | "ol" | "menu" if self._lists:
                self._lists.pop()
            case "li":
                self._items, self._marker = max(0, self._items - 1), ""

    def _ended_in_table(self, table: _Table, element: etree._Element) -> bool:
        """Whether this end belongs to the table alone."""
        match element.tag:
            case "td" | "th":
                table.cells.append(_Cell(self._taken(), _span(element, "colspan"), _span(element, "rowspan")))
            case "caption":
                self._builder.add(BlockKind.PARAGRAPH, self._taken())
            case "tr":
                self._row(table)
            case "thead":
                table.in_head = False
            case "table":
                if not table.rows and table.names:
                    self._add_row(table, table.names, [])
                self._table = None
            case _:
                return False
        return True

    def _open_list(self, number: int | None) -> None:
        if not self._lists:
            self._group += 1
        self._lists.append(_List(number))

    def _open_item(self) -> None:
        self._items += 1
        self._marker = BULLET
        if self._lists and self._lists[-1].number is not None:
            self._marker = f"{self._lists[-1].number}. "
            self._lists[-1].number += 1

    def _row(self, table: _Table) -> None:
        row = table.taken()
        cells = ["" if cell is None else cell.text for cell in row]
        if len(row) > 1 and row[0] is not None and row[0].across == len(row):
            self._add_row(table, cells, [])  # one cell over all columns is no value of the first
            return
        if not table.rows and not table.names and (table.in_head or (table.only_names and len(cells) > 1)):
            table.names = cells
        else:
            self._add_row(table, cells, table.names)

    def _add_row(self, table: _Table, cells: list[str], names: list[str]) -> None:
        table.rows += 1
        self._builder.add(BlockKind.TABLE_ROW, row_text(cells, names), group=table.group)

    def _taken(self) -> str:
        text = one_line(self._in_order("".join(self._text)))
        self._text.clear()
        return text

    def _in_order(self, text: str) -> str:
        return to_logical(text) if self._visual else text

    def _flush(self) -> None:
        """End the paragraph under way; inside a table's cell it goes on behind a blank."""
        text = "".join(self._text)
        if self._table is not None:
            if text and not text.endswith(" "):
                self._text.append(" ")
            return
        self._text.clear()
        if not text.strip():
            return
        text = self._in_order(text)
        if self._preformatted:
            self._builder.add(BlockKind.CODE, text)
        elif self._items:
            self._builder.add(BlockKind.LIST_ITEM, f"{self._marker}{text.strip()}", group=self._group)
            self._marker = ""
        else:
            self._builder.add(BlockKind.PARAGRAPH, text)


def _span(element: etree._Element, name: str) -> int:
    """A `colspan` or `rowspan`: 1 where it is none; no more than anybody writes, so that a page cannot grow by it."""
    said = (element.get(name) or "").strip()
    return min(max(int(said), 1), SPAN_MAX) if said.isdecimal() and len(said) <= SPAN_DIGITS_MAX else 1


def _hidden(element: etree._Element) -> bool:
    return (
        element.tag in NOT_READ
        or element.get("hidden") is not None
        or (element.get("aria-hidden") or "").lower() == "true"
        or _HIDING_STYLE.search(element.get("style") or "") is not None
    )
