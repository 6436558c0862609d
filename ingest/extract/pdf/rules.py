"""What is drawn on a page beside text: lines that may rule a table, and how much of it pictures cover."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingest.extract.pdf.model import Frame, RawPage, Rule

# A filled box thinner than this is a line; lines shorter than that are dashes and ornaments.
LINE_THICKNESS_MAX: Final = 2.0
LINE_LENGTH_MIN: Final = 6.0
# Past so many drawing operations, or parts of one, a page is a drawing and not a table.
OBJECTS_MAX: Final = 4_000
SEGMENTS_MAX: Final = 2_000
# Forms in forms are looked into so deep.
DEPTH_MAX: Final = 3

Point = tuple[float, float]


def read_drawings(page: pdfium.PdfPage, found: RawPage, frame: Frame) -> None:
    """Fill in `rules`, `pictures` and `drawn` of a page.

    Args:
        page: an open page.
        found: what is filled.
        frame: of the page's text; lines are given in it.
    """
    left, bottom, right, top = frame.box
    area = max(1.0, (right - left) * (top - bottom))
    for count, drawn in enumerate(page.get_objects(max_depth=DEPTH_MAX)):
        found.drawn = True
        if count >= OBJECTS_MAX:
            break
        if drawn.type == raw.FPDF_PAGEOBJ_IMAGE:
            x0, y0, x1, y1 = _bounds(drawn)
            width, height = min(x1, right) - max(x0, left), min(y1, top) - max(y0, bottom)
            found.pictures += max(0.0, width) * max(0.0, height) / area
        elif drawn.type == raw.FPDF_PAGEOBJ_PATH and len(found.rules) < SEGMENTS_MAX:
            found.rules += _rules(drawn, frame)


def _rules(drawn: pdfium.PdfObject, frame: Frame) -> Iterator[Rule]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(drawn, fill, stroke)
    if stroke.value:
        for start, end in _segments(drawn):
            yield from _rule(start, end, frame)
    elif fill.value:
        x0, y0, x1, y1 = _bounds(drawn)
        if x1 - x0 <= LINE_THICKNESS_MAX:
            yield from _rule(((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1), frame)
        elif y1 - y0 <= LINE_THICKNESS_MAX:
            yield from _rule((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), frame)


def _rule(start: Point, end: Point, frame: Frame) -> Iterator[Rule]:
    """The line, where it is horizontal or vertical and long enough."""
    (x0, y0), (x1, y1) = frame.point(*start), frame.point(*end)
    if abs(y1 - y0) <= 1 and abs(x1 - x0) >= LINE_LENGTH_MIN:
        yield Rule(min(x0, x1), (y0 + y1) / 2, max(x0, x1), (y0 + y1) / 2)
    elif abs(x1 - x0) <= 1 and abs(y1 - y0) >= LINE_LENGTH_MIN:
        yield Rule((x0 + x1) / 2, min(y0, y1), (x0 + x1) / 2, max(y0, y1))


def _around(drawn: pdfium.PdfObject) -> pdfium.PdfMatrix:
    """From the coordinates of the forms that hold it to the page's."""
    matrix = pdfium.PdfMatrix()
    container = drawn.container
    while container is not None:
        matrix = matrix.multiply(container.get_matrix())
        container = container.container
    return matrix


def _bounds(drawn: pdfium.PdfObject) -> tuple[float, float, float, float]:
    bounds = drawn.get_bounds()
    rect = bounds if drawn.container is None else _around(drawn).on_rect(*bounds)
    return rect[0], rect[1], rect[2], rect[3]


def _segments(drawn: pdfium.PdfObject) -> Iterator[tuple[Point, Point]]:
    matrix = drawn.get_matrix().multiply(_around(drawn))
    x, y = ctypes.c_float(), ctypes.c_float()
    first: Point | None = None
    last: Point | None = None
    for i in range(min(SEGMENTS_MAX, raw.FPDFPath_CountSegments(drawn))):
        segment = raw.FPDFPath_GetPathSegment(drawn, i)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == raw.FPDF_SEGMENT_LINETO and last is not None:
            yield last, point
        last = point
        if raw.FPDFPathSegment_GetClose(segment) and first is not None:
            yield last, first
            last = first
