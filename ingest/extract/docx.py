"""DOCX: headings by style, lists with their numbers, tables row by row, foot- and endnotes, text boxes.

Page headers and footers, comments, deleted text and hidden text are not part of what is read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from lxml import etree

from ingest.extract.archive import open_archive
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import TITLE_CHARS_MAX, TextBuilder, one_line
from ingest.extract.foreign import parsing
from ingest.extract.kinds import DOCX
from ingest.extract.office import core_metadata, macro_report, with_main_type
from ingest.extract.options import ExtractOptions
from ingest.extract.tables import Row, add_table, filled
from ingest.extract.word_xml import Numbering, Paragraph, Styles, W, is_bold, number, read_paragraph, value

if TYPE_CHECKING:
    from docx.document import Document

MAIN_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
# Documents with macros and templates differ in this name alone, and the library refuses them.
OTHER_MAIN_TYPES: Final = (
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
# Wrappers around paragraphs and tables: content controls, inserted and moved text, custom XML.
_WRAPPERS: Final = frozenset(f"{W}{name}" for name in ["sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"])
_NOTE_RELATIONS: Final = ("footnotes", "endnotes")
RELATIONS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
# Tables inside tables lay out letters; deeper ones are read as the text of their cell.
LAYOUT_DEPTH_MAX: Final = 8
# Columns that one cell may cover; Word itself allows 63.
SPAN_MAX: Final = 63
# Notes that only draw the line above notes.
_DRAWN_NOTES: Final = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def extract_docx(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a Word document.

    Raises:
        ExtractionFailed, EncryptedDocument, ExpansionTooLarge
    """
    import docx
    from docx.exceptions import PythonDocxError
    from docx.opc.exceptions import OpcError

    with open_archive(data, name=name, options=options) as archive, parsing("DOCX", name, PythonDocxError, OpcError):
        document = docx.Document(io.BytesIO(with_main_type(archive, data, MAIN_TYPE, OTHER_MAIN_TYPES)))
        report = macro_report(archive.namelist())
        walk = _Walk(document)
        walk.read(document.element.body, depth=0)
        metadata = core_metadata(document.core_properties)
    if walk.contents:
        report.append("The table of contents was left out.")
    if walk.foreign_parts:
        report.append(f"{walk.foreign_parts} part(s) of another format inside the document were not read.")
    text, blocks = walk.builder.build()
    title = walk.title or metadata.get("title") or walk.first_heading or PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=blocks, media_type=DOCX, metadata=metadata, report=tuple(report)
    )


class _Walk:
    """Feeds a builder with the body's paragraphs and tables."""

    def __init__(self, document: Document) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self.first_heading = ""
        self.contents = False
        self.foreign_parts = 0
        self._styles = Styles(document.styles.element)
        self._numbering = Numbering(_part(document, "numbering"))
        self._notes = {kind.removesuffix("s"): _notes(_part(document, kind)) for kind in _NOTE_RELATIONS}
        self._noted = 0
        self._group = 0
        self._list = ""

    def read(self, container: etree._Element, *, depth: int) -> None:
        """Add all blocks of a body, a cell or a text box."""
        for element in _block_elements(container):
            if element.tag == f"{W}p":
                self._paragraph(element, depth)
            elif element.tag == f"{W}tbl":
                self._table(element, depth)
            else:
                self.foreign_parts += 1

    def _paragraph(self, element: etree._Element, depth: int) -> None:
        if self._styles.is_contents(element):
            self.contents = True
            return
        found = read_paragraph(element)
        self._text(element, found.text)
        self._below(found, depth)

    def _text(self, element: etree._Element, text: str) -> None:
        if not text.strip():
            return
        level = self._styles.heading_level(element)
        numbered = self._styles.numbering(element)
        marker = "" if numbered is None else self._numbering.marker(*numbered)
        if level is not None and len(text) <= TITLE_CHARS_MAX:
            line = one_line(f"{'' if marker == '- ' else marker}{text}")
            self.builder.heading(line, level)
            if level == 0:
                self.title = self.title or line
            else:
                self.first_heading = self.first_heading or line
        elif numbered is None:
            self.builder.add(BlockKind.PARAGRAPH, text)
        else:
            if numbered[0] != self._list:
                self._list, self._group = numbered[0], self._group + 1
            self.builder.add(BlockKind.LIST_ITEM, f"{marker}{text.strip()}", group=self._group)

    def _below(self, found: Paragraph, depth: int) -> None:
        """What hangs on a paragraph: its text boxes, and the notes that it refers to."""
        for box in found.boxes:
            if depth < LAYOUT_DEPTH_MAX:
                self.read(box, depth=depth + 1)
        for kind, note_id in found.notes:
            text = self._notes.get(kind, {}).get(note_id, "")
            self._noted += 1
            if text:
                self.builder.add(BlockKind.PARAGRAPH, f"[{self._noted}] {text}")

    def _table(self, table: etree._Element, depth: int) -> None:
        rows = [list(_cells(row)) for row in _rows(table)]
        if depth < LAYOUT_DEPTH_MAX and self._lays_out(table, rows):
            for cell in (cell for row in rows for cell, _, merged in row if not merged):
                self.read(cell, depth=depth + 1)
            return
        self._group += 1
        self._list = ""
        hanging: list[Paragraph] = []
        add_table(self.builder, self._read_rows(table, rows, hanging), group=self._group)
        for found in hanging:
            self._below(found, depth + 1)

    def _lays_out(self, table: etree._Element, rows: list[list[tuple[etree._Element, int, bool]]]) -> bool:
        """Whether a table only places blocks on the page: one column, tables or headings inside."""
        if max((len(row) for row in rows), default=0) < 2 or next(table.iterdescendants(f"{W}tbl"), None) is not None:
            return True
        return any(self._styles.heading_level(paragraph) is not None for paragraph in table.iterdescendants(f"{W}p"))

    def _read_rows(
        self, table: etree._Element, rows: list[list[tuple[etree._Element, int, bool]]], hanging: list[Paragraph]
    ) -> Iterator[Row]:
        above: dict[int, str] = {}
        bold = [all(is_bold(p) for cell, _, _ in row for p in cell.iterfind(f"{W}p") if _says(p)) for row in rows]
        bold_head = len(rows) > 1 and bold[0] and not bold[1]
        for index, (row, cells) in enumerate(zip(_rows(table), rows, strict=True)):
            texts: list[str] = [""] * min(number(value(row, f"{W}trPr/{W}gridBefore"), 0), SPAN_MAX)
            for cell, span, merged in cells:
                at = len(texts)
                if not merged:
                    read = [read_paragraph(paragraph) for paragraph in cell.iterdescendants(f"{W}p")]
                    hanging += [one for one in read if one.boxes or one.notes]
                    above[at] = one_line(" ".join(one.text for one in read))
                texts += [above.get(at, ""), *[""] * (span - 1)]
            header = row.find(f"{W}trPr/{W}tblHeader") is not None
            if filled(texts):
                yield Row(tuple(texts), strong=header or (index == 0 and bold_head))


def _says(paragraph: etree._Element) -> bool:
    return any((text.text or "").strip() for text in paragraph.iter(f"{W}t"))


def _block_elements(container: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs, tables and parts of other formats, in order, out of their wrappers."""
    waiting = list(reversed(container))
    while waiting:
        element = waiting.pop()
        if element.tag in _WRAPPERS:
            waiting.extend(reversed(element))
        elif element.tag in (f"{W}p", f"{W}tbl", f"{W}altChunk"):
            yield element


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """Rows that were not deleted."""
    waiting = list(reversed(table))
    while waiting:
        element = waiting.pop()
        if element.tag in _WRAPPERS:
            waiting.extend(reversed(element))
        elif element.tag == f"{W}tr" and element.find(f"{W}trPr/{W}del") is None:
            yield element


def _cells(row: etree._Element) -> Iterator[tuple[etree._Element, int, bool]]:
    """Cells of a row: the element, the columns that it covers, and whether it goes on from the row above."""
    waiting = list(reversed(row))
    while waiting:
        element = waiting.pop()
        if element.tag in _WRAPPERS:
            waiting.extend(reversed(element))
        elif element.tag == f"{W}tc":
            span = number(value(element, f"{W}tcPr/{W}gridSpan"), 1)
            merge = element.find(f"{W}tcPr/{W}vMerge")
            goes_on = merge is not None and merge.get(f"{W}val") != "restart"
            yield element, min(max(span, 1), SPAN_MAX), goes_on


def _part(document: Document, kind: str) -> etree._Element | None:
    """The root of a part that the main one refers to (`numbering`, `footnotes`); None where there is none."""
    for relation in document.part.rels.values():
        if relation.reltype == f"{RELATIONS}{kind}" and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            return etree.fromstring(relation.target_part.blob, parser)
    return None


def _notes(root: etree._Element | None) -> dict[str, str]:
    """Text of each note, by its id."""
    notes = () if root is None else root.iterchildren(f"{W}footnote", f"{W}endnote")
    return {
        note.get(f"{W}id") or "": one_line(" ".join(read_paragraph(p).text for p in note.iterdescendants(f"{W}p")))
        for note in notes
        if note.get(f"{W}type") not in _DRAWN_NOTES
    }
