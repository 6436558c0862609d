"""PPTX: slide by slide, its title as the section; shapes from the top, on a right-to-left slide from the right."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from ingest.extract.archive import open_archive
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import Place, TextBuilder, one_line
from ingest.extract.foreign import parsing
from ingest.extract.kinds import PPTX
from ingest.extract.office import core_metadata, macro_report, with_main_type
from ingest.extract.options import ExtractOptions
from ingest.extract.tables import Row, add_table
from search_config.language import language_of

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide

A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
BULLET: Final = "- "
MAIN_TYPE: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
# Slide shows and templates differ in this name alone, and the library refuses them.
OTHER_MAIN_TYPES: Final = (
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml",
    "application/vnd.openxmlformats-officedocument.presentationml.template.main+xml",
    "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml",
    "application/vnd.ms-powerpoint.template.macroEnabled.main+xml",
)
# Groups inside groups; a deeper one is not made by hand.
GROUP_DEPTH_MAX: Final = 20
# Two shapes stand side by side where they share this much of the lower one's height.
SIDE_BY_SIDE_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Placed:
    """A shape with its box, in English Metric Units; a shape without a place of its own comes first."""

    shape: BaseShape
    left: int
    top: int
    width: int
    height: int


def extract_pptx(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a presentation.

    Raises:
        ExtractionFailed, EncryptedDocument, ExpansionTooLarge
    """
    import pptx
    from pptx.exc import PythonPptxError

    with open_archive(data, name=name, options=options) as archive, parsing("PPTX", name, PythonPptxError):
        presentation = pptx.Presentation(io.BytesIO(with_main_type(archive, data, MAIN_TYPE, OTHER_MAIN_TYPES)))
        report = macro_report(archive.namelist())
        metadata = core_metadata(presentation.core_properties)
        walk = _Walk()
        for number, slide in enumerate(presentation.slides, start=1):
            walk.slide(slide, number)
    if walk.hidden:
        report.append(f"Hidden slides, read all the same: {', '.join(map(str, walk.hidden))}.")
    if walk.pictures:
        report.append(f"{walk.pictures} picture(s) were not read.")
    text, blocks = walk.builder.build()
    title = metadata.get("title") or walk.first_title or PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=blocks, media_type=PPTX, metadata=metadata, report=tuple(report)
    )


class _Walk:
    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.first_title = ""
        self.hidden: list[int] = []
        self.pictures = 0
        self._place = Place()
        self._group = 0

    def slide(self, slide: Slide, number: int) -> None:
        """Add a slide: its title, its shapes, its notes."""
        self._place = Place(slide=number)
        if slide._element.get("show") == "0":  # the library has no name for it
            self.hidden.append(number)
        title = slide.shapes.title
        heading = one_line(" ".join(_paragraphs(title._element))) if title is not None else ""
        self.builder.close_sections(1)
        others = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
        if slide.has_notes_slide or any(_has_text(shape) for shape in others):
            self.builder.heading(heading, 1, place=self._place)
        else:  # all that the slide says, not the heading of the next one
            self.builder.add(BlockKind.PARAGRAPH, heading, place=self._place)
        self.first_title = self.first_title or heading
        self._shapes(others, right_to_left=_right_to_left(slide), depth=0)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            for paragraph in _paragraphs(slide.notes_slide.notes_text_frame._txBody):
                self.builder.add(BlockKind.PARAGRAPH, paragraph, place=self._place)

    def _shapes(self, shapes: Sequence[BaseShape], *, right_to_left: bool, depth: int) -> None:
        for shape in _in_reading_order(shapes, right_to_left=right_to_left):
            if _is_furniture(shape):
                continue
            inside: Any = getattr(shape, "shapes", None)
            if inside is not None:
                if depth < GROUP_DEPTH_MAX:
                    self._shapes(list(inside), right_to_left=right_to_left, depth=depth + 1)
            elif getattr(shape, "has_table", False):
                self._table(shape)
            elif shape.has_text_frame:
                self._text(shape)
            elif shape._element.tag.endswith("}pic"):
                self.pictures += 1

    def _text(self, shape: BaseShape) -> None:
        paragraphs = [text for text in _paragraphs(shape._element) if text.strip()]
        listed = shape.is_placeholder and _is_body(shape) and len(paragraphs) > 1
        self._group += 1
        for text in paragraphs:
            if listed:
                self.builder.add(BlockKind.LIST_ITEM, f"{BULLET}{text}", group=self._group, place=self._place)
            else:
                self.builder.add(BlockKind.PARAGRAPH, text, place=self._place)

    def _table(self, shape: Any) -> None:
        self._group += 1
        table = shape.table
        rows: list[Row] = []
        above: dict[int, str] = {}
        for index, row in enumerate(table.rows):
            cells: list[str] = []
            for at, cell in enumerate(row.cells):
                merged_down = cell._tc.get("vMerge") in ("1", "true")
                if not cell.is_spanned:
                    above[at] = one_line(" ".join(_paragraphs(cell._tc)))
                cells.append(above.get(at, "") if merged_down or not cell.is_spanned else "")
            rows.append(Row(tuple(cells), place=self._place, strong=index == 0 and bool(table.first_row)))
        add_table(self.builder, rows, group=self._group)


def _paragraphs(element: Any) -> Iterator[str]:
    """Text of each paragraph below an element: runs, fields and line ends."""
    for paragraph in element.iter(f"{A}p"):
        parts = []
        for piece in paragraph.iterchildren(f"{A}r", f"{A}br", f"{A}fld"):
            parts.append("\n" if piece.tag == f"{A}br" else "".join(text.text or "" for text in piece.iter(f"{A}t")))
        yield "".join(parts)


def _has_text(shape: BaseShape) -> bool:
    return not _is_furniture(shape) and any(text.strip() for text in _paragraphs(shape._element))


def _right_to_left(slide: Slide) -> bool:
    """Whether the slide is read from the right: as most paragraphs say; where none says, by its letters."""
    marks = [properties.get("rtl") for properties in slide._element.iter(f"{A}pPr") if properties.get("rtl")]
    if marks:
        return 2 * sum(mark in ("1", "true") for mark in marks) > len(marks)
    return language_of(" ".join(text.text or "" for text in slide._element.iter(f"{A}t"))) == "he"


def _is_furniture(shape: BaseShape) -> bool:
    """Whether it repeats on every slide: number, date, footer."""
    from pptx.enum.shapes import PP_PLACEHOLDER

    repeated = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER)
    return shape.is_placeholder and shape.placeholder_format.type in repeated


def _is_body(shape: BaseShape) -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER

    bodies = (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY)
    return shape.placeholder_format.type in bodies


def _in_reading_order(shapes: Sequence[BaseShape], *, right_to_left: bool) -> list[BaseShape]:
    """Row by row from the top; inside a row from the right, or from the left."""
    placed = [_Placed(shape, shape.left or 0, shape.top or 0, shape.width or 0, shape.height or 0) for shape in shapes]
    rows: list[list[_Placed]] = []
    for one in sorted(placed, key=lambda box: box.top):
        row = rows[-1] if rows else None
        if row is not None and row[0].top + row[0].height - one.top > SIDE_BY_SIDE_SHARE * one.height:
            row.append(one)
        else:
            rows.append([one])
    ordered: list[BaseShape] = []
    for row in rows:
        row.sort(key=lambda box: (-(box.left + box.width) if right_to_left else box.left, box.top))
        ordered += [one.shape for one in row]
    return ordered
