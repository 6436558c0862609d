"""Builds canonical text out of parts and notes where each comes to stand: offsets are carried, never searched for."""

from __future__ import annotations

import re
from typing import Final

from ingest.extract.base import Block, BlockKind
from ingest.extract.canonical import canonicalise, without_typesetting
from search_config.records import Locator

PARAGRAPH_BREAK: Final = "\n\n"
LINE_BREAK: Final = "\n"
# Between the cells of a table row, and between a column's name and its value.
CELL_SEPARATOR: Final = " | "
LABEL_SEPARATOR: Final = ": "
# A title is a line or two; mark-up that was never closed can make one of a whole page, and every chunk carries it.
TITLE_CHARS_MAX: Final = 300
# Kinds whose neighbours stand on successive lines when they belong to one list or table.
_LINED: Final = frozenset({BlockKind.LIST_ITEM, BlockKind.TABLE_ROW})
_SPACES: Final = re.compile(r"\s+")


class TextBuilder:
    """Collects blocks in reading order; the text is canonical by construction."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[tuple[int, str]] = []
        self._last: tuple[BlockKind, int] | None = None

    @property
    def section(self) -> tuple[str, ...]:
        """The headings that are open here, outermost first."""
        return tuple(text for _, text in self._headings)

    def heading(self, text: str, level: int) -> None:
        """Add a heading of level 1 (outermost) and up; it closes those of its level and deeper."""
        line = " ".join(text.split())
        if not _visible(line):
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, shortened(_visible(line))))
        self.add(BlockKind.HEADING, line)

    def add(self, kind: BlockKind, text: str, *, group: int = 0) -> None:
        """Add a block; blank ones are left out.

        Args:
            kind: what it is.
            text: its text; outer white space is dropped.
            group: the list or table that it belongs to: items of one group stand on successive lines.
        """
        visible = _visible(text) if kind is not BlockKind.CODE else without_typesetting(canonicalise(text)).strip("\n")
        if not visible.strip():
            return
        if self._last is not None:
            lined = kind in _LINED and self._last == (kind, group)
            self._append(LINE_BREAK if lined else PARAGRAPH_BREAK)
        start = self._length
        self._append(visible)
        locator = Locator.model_validate({"from": start, "to": self._length})
        self._blocks.append(Block(kind=kind, locator=locator, section=self.section))
        self._last = (kind, group)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def build(self) -> tuple[str, tuple[Block, ...]]:
        """The canonical text, and its blocks."""
        return "".join(self._parts), tuple(self._blocks)


def row_text(cells: list[str], names: list[str]) -> str:
    """One table row as a line: each value behind its column's name, so that a row is understood on its own.

    Cells are only joined where there are no names, or another number of them (merged cells).
    """
    if len(names) != len(cells):
        return CELL_SEPARATOR.join(cell for cell in cells if cell.strip())
    pairs = zip(names, cells, strict=True)
    return CELL_SEPARATOR.join(
        f"{name}{LABEL_SEPARATOR}{cell}" if name.strip() else cell for name, cell in pairs if cell.strip()
    )


def shortened(title: str) -> str:
    """A title or heading as it is repeated with every passage below it; the canonical text keeps it whole."""
    return title if len(title) <= TITLE_CHARS_MAX else f"{title[: TITLE_CHARS_MAX - 1].rstrip()}…"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def _visible(text: str) -> str:
    squeezed = _SPACES.sub(lambda found: "\n" if "\n" in found[0] else " ", without_typesetting(text))
    return canonicalise(squeezed).strip()
