"""ODT: headings, lists with their numbers, tables row by row, notes, text boxes; no deleted text, no comments.

The walk goes over the tree of `content.xml` in document order, which is the reading order.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from zipfile import ZipFile

from lxml import etree

from ingest.extract.archive import encrypted, open_archive
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import TITLE_CHARS_MAX, TextBuilder, one_line
from ingest.extract.canonical import canonicalise
from ingest.extract.foreign import parsing
from ingest.extract.kinds import ODT
from ingest.extract.numerals import numeral
from ingest.extract.options import ExtractOptions
from ingest.extract.tables import Row, add_table, filled
from ingest.extract.word_xml import BULLET, number

OASIS: Final = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT: Final = f"{{{OASIS}text:1.0}}"
TABLE: Final = f"{{{OASIS}table:1.0}}"
OFFICE: Final = f"{{{OASIS}office:1.0}}"
STYLE: Final = f"{{{OASIS}style:1.0}}"
DRAW: Final = f"{{{OASIS}drawing:1.0}}"
META: Final = f"{{{OASIS}meta:1.0}}"
DC: Final = "{http://purl.org/dc/elements/1.1/}"
# Headings have ten levels.
LEVEL_MAX: Final = 10
# A cell or row may say how often it is repeated; a whole sheet's width of empty cells is written so.
REPEATED_MAX: Final = 64
SPACES_MAX: Final = 100
DEPTH_MAX: Final = 8
_NOT_READ: Final = frozenset(
    [f"{TEXT}{name}" for name in ("tracked-changes", "note-citation", "ruby-text", "sequence-decls")]
    + [f"{OFFICE}annotation", f"{OFFICE}forms", f"{DRAW}a-desc"]
)
_INDEXES: Final = frozenset(
    f"{TEXT}{name}" for name in ("table-of-content", "illustration-index", "table-index", "alphabetical-index")
)
_HANGING: Final = frozenset([f"{TEXT}note", f"{DRAW}frame", f"{DRAW}custom-shape", f"{DRAW}g"])
# numFormat of ODF to the style that `numeral` knows.
_STYLES: Final = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_HEBREW_FORMATS: Final = {"א, ב, ג, ...": "hebrew1", "א": "hebrew1"}


def extract_odt(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract an OpenDocument text.

    Raises:
        ExtractionFailed, EncryptedDocument, ExpansionTooLarge
    """
    with open_archive(data, name=name, options=options) as archive, parsing("ODT", name):
        if "META-INF/manifest.xml" in archive.namelist() and b"encryption-data" in archive.read(
            "META-INF/manifest.xml"
        ):
            raise encrypted(name)
        content = _parsed(archive, "content.xml")
        styles = _parsed(archive, "styles.xml") if "styles.xml" in archive.namelist() else None
        walk = _Walk(content, styles)
        body = content.find(f"{OFFICE}body/{OFFICE}text")
        if body is not None:
            walk.read(body, depth=0)
        metadata = _metadata(archive)
        macros = any(part.startswith(("Basic/", "Scripts/")) for part in archive.namelist())
    report = ["It holds macros; they were not run."] if macros else []
    if walk.indexes:
        report.append("The table of contents was left out.")
    text, blocks = walk.builder.build()
    title = walk.title or metadata.get("title") or walk.first_heading or PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=blocks, media_type=ODT, metadata=metadata, report=tuple(report)
    )


def _parsed(archive: ZipFile, part: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(archive.read(part), parser)


def _metadata(archive: ZipFile) -> dict[str, Any]:
    if "meta.xml" not in archive.namelist():
        return {}
    root = _parsed(archive, "meta.xml")
    fields = {
        "title": root.find(f".//{DC}title"),
        "author": root.find(f".//{META}initial-creator"),
        "created": root.find(f".//{META}creation-date"),
        "modified": root.find(f".//{DC}date"),
    }
    texts = {key: one_line(canonicalise(found.text or "")) for key, found in fields.items() if found is not None}
    return {
        key: text[: len("2024-01-01")] if key in ("created", "modified") else text
        for key, text in texts.items()
        if text
    }


class _Walk:
    """Feeds a builder with the body's parts."""

    def __init__(self, content: etree._Element, styles: etree._Element | None) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self.first_heading = ""
        self.indexes = False
        self._parents: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._lists: dict[str, dict[int, etree._Element]] = {}
        for root in (styles, content):
            if root is not None:
                self._take_styles(root)
        self._group = 0
        self._noted = 0

    def _take_styles(self, root: etree._Element) -> None:
        for style in root.iter(f"{STYLE}style"):
            name = style.get(f"{STYLE}name") or ""
            self._parents[name] = style.get(f"{STYLE}parent-style-name") or ""
            self._names[name] = style.get(f"{STYLE}display-name") or name
        for style in root.iter(f"{TEXT}list-style"):
            self._lists[style.get(f"{STYLE}name") or ""] = {
                number(level.get(f"{TEXT}level"), 1): level for level in style
            }

    def _is_title(self, element: etree._Element) -> bool:
        name = element.get(f"{TEXT}style-name") or ""
        for _ in range(LEVEL_MAX):
            if self._names.get(name, name).lower() in ("title", "כותרת"):
                return True
            if not (name := self._parents.get(name, "")):
                break
        return False

    def read(self, container: etree._Element, *, depth: int) -> None:
        """Add all blocks below an element."""
        waiting = list(reversed(container))
        while waiting:
            element = waiting.pop()
            tag = element.tag
            if not isinstance(tag, str) or tag in _NOT_READ:
                continue
            if tag in _INDEXES:
                self.indexes = True
            elif tag == f"{TEXT}h":
                self._heading(element, depth)
            elif tag == f"{TEXT}p":
                self._paragraph(element, depth)
            elif tag == f"{TEXT}list":
                self._group += 1
                self._list(element, depth)
            elif tag == f"{TABLE}table":
                self._table(element, depth)
            else:
                waiting.extend(reversed(element))

    def _heading(self, element: etree._Element, depth: int) -> None:
        text, hanging = _inline(element)
        level = min(max(number(element.get(f"{TEXT}outline-level"), 1), 1), LEVEL_MAX)
        if len(text) <= TITLE_CHARS_MAX:
            self.builder.heading(text, level)
            self.first_heading = self.first_heading or one_line(text)
        else:
            self.builder.add(BlockKind.PARAGRAPH, text)
        self._hanging(hanging, depth)

    def _paragraph(self, element: etree._Element, depth: int) -> None:
        text, hanging = _inline(element)
        if self._is_title(element) and len(text) <= TITLE_CHARS_MAX:
            self.builder.heading(text, 0)
            self.title = self.title or one_line(text)
        else:
            self.builder.add(BlockKind.PARAGRAPH, text)
        self._hanging(hanging, depth)

    def _hanging(self, hanging: list[etree._Element], depth: int) -> None:
        """Notes and frames that stand inside a paragraph, read behind it."""
        for element in hanging:
            if element.tag == f"{TEXT}note":
                self._noted += 1
                body = element.find(f"{TEXT}note-body")
                text = "" if body is None else one_line(" ".join(_inline(p)[0] for p in _paragraphs(body)))
                if text:
                    self.builder.add(BlockKind.PARAGRAPH, f"[{self._noted}] {text}")
            elif depth < DEPTH_MAX:
                self.read(element, depth=depth + 1)

    def _list(self, root: etree._Element, depth: int) -> None:
        """A list with those inside it, item by item; each open level is an entry of a stack, never a call."""
        style = root.get(f"{TEXT}style-name") or ""
        levels: list[Iterator[etree._Element]] = [iter(root)]
        counts: list[int] = [0]
        while levels:
            element = next(levels[-1], None)
            if element is None:
                levels.pop()
                counts.pop()
            elif element.tag in (f"{TEXT}list-item", f"{TEXT}list-header"):
                counts[-1] = number(element.get(f"{TEXT}start-value"), counts[-1] + 1)
                marker = self._marker(style, len(levels), counts[-1]) if element.tag == f"{TEXT}list-item" else ""
                for part in element:
                    if part.tag in (f"{TEXT}p", f"{TEXT}h"):
                        text, hanging = _inline(part)
                        if text.strip():
                            line = f"{marker}{text.strip()}"
                            self.builder.add(BlockKind.LIST_ITEM, line, group=self._group)
                            marker = ""
                        self._hanging(hanging, depth)
                    elif part.tag == f"{TEXT}list" and len(levels) <= LEVEL_MAX:
                        # Lists inside an item come behind its own words.
                        levels.append(iter(part))
                        counts.append(0)

    def _marker(self, style: str, level: int, count: int) -> str:
        found = self._lists.get(style, {}).get(level)
        if found is None or not found.tag.endswith("list-level-style-number"):
            return BULLET
        form = found.get(f"{STYLE}num-format") or ""
        written = numeral(count, _STYLES.get(form) or _HEBREW_FORMATS.get(form) or ("none" if not form else "decimal"))
        mark = f"{found.get(f'{STYLE}num-prefix') or ''}{written}{found.get(f'{STYLE}num-suffix') or ''}".strip()
        return f"{mark} " if mark else ""

    def _table(self, table: etree._Element, depth: int) -> None:
        rows = [(row, header) for row, header in _rows(table)]
        columns = max((len(row.findall(f"{TABLE}table-cell")) for row, _ in rows), default=0)
        nested = next(table.iterdescendants(f"{TABLE}table", f"{TEXT}h"), None) is not None
        if depth < DEPTH_MAX and (columns < 2 or nested):
            for row, _ in rows:
                for cell in row.iterchildren(f"{TABLE}table-cell"):
                    self.read(cell, depth=depth + 1)
            return
        self._group += 1
        hanging: list[etree._Element] = []
        add_table(self.builder, _read_rows(rows, hanging), group=self._group)
        self._hanging(hanging, depth + 1)


def _rows(table: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """Rows, each with whether it heads the table."""
    waiting = [(element, False) for element in reversed(table)]
    while waiting:
        element, header = waiting.pop()
        if element.tag == f"{TABLE}table-row":
            yield element, header
        elif element.tag in (f"{TABLE}table-header-rows", f"{TABLE}table-rows", f"{TABLE}table-row-group"):
            inside = header or element.tag == f"{TABLE}table-header-rows"
            waiting.extend((one, inside) for one in reversed(element))


def _read_rows(rows: list[tuple[etree._Element, bool]], hanging: list[etree._Element]) -> Iterator[Row]:
    above: dict[int, str] = {}
    for row, header in rows:
        texts: list[str] = []
        for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
            repeated = min(max(number(cell.get(f"{TABLE}number-columns-repeated"), 1), 1), REPEATED_MAX)
            if cell.tag == f"{TABLE}covered-table-cell":
                texts += [above.get(len(texts) + i, "") for i in range(repeated)]
                continue
            parts = []
            for paragraph in _paragraphs(cell):
                text, found = _inline(paragraph)
                parts.append(text)
                hanging += found
            text = one_line(" ".join(parts))
            spans_rows = number(cell.get(f"{TABLE}number-rows-spanned"), 1) > 1
            for i in range(repeated):
                above[len(texts) + i] = text if spans_rows else ""
            texts += [text] * repeated
        if filled(texts):
            yield Row(tuple(texts), strong=header)


def _paragraphs(element: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs below an element, but for those in notes and frames of other paragraphs."""
    events = etree.iterwalk(element, events=("start",))
    for _, one in events:
        if one.tag in (f"{TEXT}p", f"{TEXT}h"):
            yield one
            events.skip_subtree()
        elif one.tag in _NOT_READ:
            events.skip_subtree()


def _inline(element: etree._Element) -> tuple[str, list[etree._Element]]:
    """The text of a paragraph, and what hangs on it: notes and frames."""
    parts: list[str] = []
    hanging: list[etree._Element] = []
    events = etree.iterwalk(element, events=("start", "end"))
    for event, one in events:
        if event == "end":
            if one is not element:
                parts.append((one.tail or "").replace("\n", " "))
        elif one.tag in _HANGING:
            hanging.append(one)
            events.skip_subtree()
        elif not isinstance(one.tag, str) or one.tag in _NOT_READ:
            events.skip_subtree()
        else:
            parts.append(_said(one))
    return "".join(parts), hanging


def _said(element: etree._Element) -> str:
    """What an element says before its first child."""
    match element.tag.removeprefix(TEXT):
        case "s":
            return " " * min(max(number(element.get(f"{TEXT}c"), 1), 1), SPACES_MAX)
        case "tab":
            return "\t"
        case "line-break":
            return "\n"
    return (element.text or "").replace("\n", " ")
