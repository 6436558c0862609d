"""Builds canonical text out of parts and notes where each comes to stand: offsets are carried, never searched for."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

from ingest.extract.base import Block, BlockKind, ExtractedDocument
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands in the original, beside its characters: the fields of `Locator` of these names."""

    page: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    attachment: str | None = None

    def known(self) -> dict[str, int | float | str]:
        """The fields that say something, by their names."""
        return {name: value for name in _PLACE_FIELDS if (value := getattr(self, name)) is not None}


_PLACE_FIELDS: Final = tuple(field.name for field in fields(Place))
NOWHERE: Final = Place()


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

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._length

    def heading(self, text: str, level: int, *, place: Place = NOWHERE, confidence: float | None = None) -> None:
        """Add a heading of level 1 (outermost; 0 for the title over all) and up; it closes its level and deeper."""
        line = " ".join(text.split())
        if not _visible(line):
            return
        self.close_sections(level)
        self._headings.append((level, shortened(_visible(line))))
        self.add(BlockKind.HEADING, line, place=place, confidence=confidence)

    def close_sections(self, level: int) -> None:
        """End the sections of this level and deeper, where the next part has no heading of its own."""
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        group: int = 0,
        place: Place = NOWHERE,
        confidence: float | None = None,
    ) -> None:
        """Add a block; blank ones are left out.

        Args:
            kind: what it is.
            text: its text; outer white space is dropped.
            group: the list or table that it belongs to: items of one group stand on successive lines.
            place: where it stands in the original.
            confidence: of the recognition of scanned text, 0 to 1.
        """
        visible = _visible(text) if kind is not BlockKind.CODE else without_typesetting(canonicalise(text)).strip("\n")
        if not visible.strip():
            return
        if self._last is not None:
            lined = kind in _LINED and self._last == (kind, group)
            self._append(LINE_BREAK if lined else PARAGRAPH_BREAK)
        start = self._length
        self._append(visible)
        places = {} if place is NOWHERE else place.known()
        locator = Locator.model_validate({"from": start, "to": self._length, **places})
        self._blocks.append(Block(kind=kind, locator=locator, section=self.section, confidence=confidence))
        self._last = (kind, group)

    def include(self, document: ExtractedDocument, *, attachment: str | None = None) -> None:
        """Add all of another document below the sections that are open here; its text comes to stand as it is.

        Args:
            document: what was extracted of a part of this one.
            attachment: the part's name, where it is an attachment.
        """
        if not document.blocks:
            return
        first, last = document.blocks[0].locator.from_, document.blocks[-1].locator.to
        if self._last is not None:
            self._append(PARAGRAPH_BREAK)
        shift = self._length - first
        self._append(document.text[first:last])
        for block in document.blocks:
            moved: dict[str, object] = {"from_": block.locator.from_ + shift, "to": block.locator.to + shift}
            if attachment:
                inner = block.locator.attachment
                moved["attachment"] = f"{attachment} > {inner}" if inner else attachment
            self._blocks.append(
                block.model_copy(
                    update={
                        "locator": block.locator.model_copy(update=moved),
                        "section": (*self.section, *block.section),
                    }
                )
            )
        self._last = (BlockKind.PARAGRAPH, 0)

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
        return _unnamed([cell for cell in cells if cell.strip()])
    pairs = zip(names, cells, strict=True)
    return CELL_SEPARATOR.join(
        f"{name}{LABEL_SEPARATOR}{cell}" if name.strip() else cell for name, cell in pairs if cell.strip()
    )


def _unnamed(cells: list[str]) -> str:
    """Cells without names; a label that ends in a colon stands before its value as it is."""
    parts = [cell + (" " if cell.rstrip().endswith(":") else CELL_SEPARATOR) for cell in cells[:-1]]
    return "".join([*parts, *cells[-1:]])


def shortened(title: str) -> str:
    """A title or heading as it is repeated with every passage below it; the canonical text keeps it whole."""
    return title if len(title) <= TITLE_CHARS_MAX else f"{title[: TITLE_CHARS_MAX - 1].rstrip()}…"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def _visible(text: str) -> str:
    squeezed = _SPACES.sub(lambda found: "\n" if "\n" in found[0] else " ", without_typesetting(text))
    return canonicalise(squeezed).strip()
