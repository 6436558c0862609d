"""WordprocessingML read element by element: text of paragraphs as a reader sees it, styles, and list numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingest.extract.numerals import numeral

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Not read: deleted and moved-away text, the instructions of fields, ruby, comments' marks, and properties. Text boxes
# are read after their paragraph; the fallback of a choice repeats it for old programs.
_SKIPPED_NAMES: Final = "del moveFrom delText delInstrText instrText pPr rPr rt txbxContent fldData"
_SKIPPED: Final = frozenset([*(f"{W}{name}" for name in _SKIPPED_NAMES.split()), f"{MC}Fallback"])
_NUMBERS_TEXT: Final = re.compile(r"%([1-9])")
_HEADING_NAME: Final = re.compile(r"(?:heading|כותרת)\s*([1-9])", re.I)
TITLE_NAMES: Final = frozenset({"title", "כותרת טקסט", "כותרת", "כותר"})
_CONTENTS_NAME: Final = re.compile(r"(?:toc|תוכן עניינים)\s*[1-9]|table of (?:contents|figures)", re.I)
BULLET: Final = "- "
LEVELS: Final = 9
# An outline level of 9 says "body text".
OUTLINE_LEVELS: Final = 9
OFF: Final = frozenset({"0", "false", "off", "none"})


@dataclass(slots=True)
class Paragraph:
    """What one paragraph holds."""

    text: str
    boxes: list[etree._Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Foot- and endnotes that it refers to: the kind's element name, and the note's id."""


def read_paragraph(element: etree._Element) -> Paragraph:
    """The text of a `w:p`, in the order in which it is stored, which is the reading order."""
    parts: list[str] = []
    found = Paragraph("")
    events = etree.iterwalk(element, events=("start",))
    for _, one in events:
        tag = one.tag
        if tag == f"{W}txbxContent":
            found.boxes.append(one)
        if tag in _SKIPPED or (tag == f"{W}r" and _hidden(one)):
            events.skip_subtree()
        elif tag in (f"{W}t", f"{M}t"):
            parts.append(one.text or "")
        elif tag in (f"{W}tab", f"{W}ptab"):
            parts.append("\t")
        elif tag in (f"{W}br", f"{W}cr"):
            parts.append("\n")
        elif tag == f"{W}noBreakHyphen":
            parts.append("-")
        elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
            found.notes.append((tag.removeprefix(W).removesuffix("Reference"), one.get(f"{W}id") or ""))
    found.text = "".join(parts)
    return found


def _hidden(run: etree._Element) -> bool:
    return _on(run.find(f"{W}rPr/{W}vanish"))


def _on(flag: etree._Element | None) -> bool:
    return flag is not None and (flag.get(f"{W}val") or "1").lower() not in OFF


def is_bold(paragraph: etree._Element) -> bool:
    """Whether all its runs that hold text are bold by themselves."""
    runs = [run for run in paragraph.iter(f"{W}r") if any((text.text or "").strip() for text in run.iter(f"{W}t"))]
    return bool(runs) and all(_on(run.find(f"{W}rPr/{W}b")) or _on(run.find(f"{W}rPr/{W}bCs")) for run in runs)


def value(element: etree._Element | None, path: str) -> str | None:
    """The `w:val` of the element at the path below; None where there is none."""
    found = None if element is None else element.find(path)
    return None if found is None else found.get(f"{W}val")


def number(text: str | None, default: int) -> int:
    """A whole number as it stands in an attribute."""
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text) else default


class Styles:
    """The styles of a document, each with what it inherits."""

    def __init__(self, root: etree._Element | None) -> None:
        found = [] if root is None else root.iterfind(f"{W}style")
        self._styles = {style.get(f"{W}styleId") or "": style for style in found}

    def chain(self, style_id: str | None) -> Iterator[etree._Element]:
        """The style and those that it is based on, nearest first; a circle ends where it closes."""
        seen: set[str] = set()
        while style_id is not None and style_id not in seen and style_id in self._styles:
            seen.add(style_id)
            style = self._styles[style_id]
            yield style
            style_id = value(style, f"{W}basedOn")

    def names(self, style_id: str | None) -> list[str]:
        """Names of the style and of those that it is based on; built-in ones are English in every Word."""
        return [(value(style, f"{W}name") or "").strip() for style in self.chain(style_id)]

    def heading_level(self, paragraph: etree._Element) -> int | None:
        """1 to 9 of a heading, 0 of the document's title, None of other paragraphs."""
        properties = paragraph.find(f"{W}pPr")
        style_id = value(properties, f"{W}pStyle")
        direct = value(properties, f"{W}outlineLvl")
        if direct is not None:
            level = number(direct, OUTLINE_LEVELS)
            return level + 1 if 0 <= level < OUTLINE_LEVELS else None
        for style, name in zip(self.chain(style_id), self.names(style_id), strict=True):
            if name.lower() in TITLE_NAMES:
                return 0
            named = _HEADING_NAME.fullmatch(name)
            if named is not None:
                return int(named[1])
            level = number(value(style, f"{W}pPr/{W}outlineLvl"), OUTLINE_LEVELS)
            if 0 <= level < OUTLINE_LEVELS:
                return level + 1
        return None

    def is_contents(self, paragraph: etree._Element) -> bool:
        """Whether it is a line of a table of contents."""
        style_id = value(paragraph.find(f"{W}pPr"), f"{W}pStyle")
        return any(_CONTENTS_NAME.fullmatch(name) for name in self.names(style_id)[:1])

    def numbering(self, paragraph: etree._Element) -> tuple[str, int] | None:
        """The list (`w:numId`) and level that the paragraph is an item of, by itself or by its style."""
        own = paragraph.find(f"{W}pPr/{W}numPr")
        style_id = value(paragraph.find(f"{W}pPr"), f"{W}pStyle")
        found = [own, *(style.find(f"{W}pPr/{W}numPr") for style in self.chain(style_id))]
        level = next((at for one in found if (at := value(one, f"{W}ilvl")) is not None), "0")
        list_id = next((at for one in found if (at := value(one, f"{W}numId")) is not None), None)
        if list_id is None or list_id == "0":  # 0 takes a paragraph out of its style's list
            return None
        return list_id, min(max(number(level, 0), 0), LEVELS - 1)


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    style: str
    text: str


class Numbering:
    """The numbers of lists, counted as Word counts them."""

    def __init__(self, root: etree._Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, list[int | None]] = {}
        if root is None:
            return
        for abstract in root.iterfind(f"{W}abstractNum"):
            levels = {number(level.get(f"{W}ilvl"), 0): _level(level) for level in abstract.iterfind(f"{W}lvl")}
            self._levels[abstract.get(f"{W}abstractNumId") or ""] = levels
        for one in root.iterfind(f"{W}num"):
            list_id = one.get(f"{W}numId") or ""
            self._abstract[list_id] = value(one, f"{W}abstractNumId") or ""
            for override in one.iterfind(f"{W}lvlOverride"):
                start = value(override, f"{W}startOverride")
                if start is not None:
                    self._restarts[list_id, number(override.get(f"{W}ilvl"), 0)] = number(start, 1)

    def marker(self, list_id: str, level: int) -> str:
        """Count one item, and give what stands before its text: "3.2. ", "- ", or nothing."""
        abstract = self._abstract.get(list_id, "")
        levels = self._levels.get(abstract, {})
        own = levels.get(level)
        if own is None or own.style == "bullet":
            return BULLET
        counts = self._counts.setdefault(abstract, [None] * LEVELS)
        restart = self._restarts.pop((list_id, level), None)
        before = counts[level]
        counts[level] = restart if restart is not None else own.start if before is None else before + 1
        counts[level + 1 :] = [None] * (LEVELS - level - 1)

        def written(found: re.Match[str]) -> str:
            at = int(found[1]) - 1
            shown = levels.get(at)
            if shown is None:
                return ""
            count = counts[at]
            return numeral(shown.start if count is None else count, shown.style)

        mark = _NUMBERS_TEXT.sub(written, own.text).strip()
        return f"{mark} " if mark else ""


def _level(level: etree._Element) -> _Level:
    return _Level(
        start=number(value(level, f"{W}start"), 1),
        style=value(level, f"{W}numFmt") or "decimal",
        text=value(level, f"{W}lvlText") or "",
    )
