"""Reads a page's glyphs through pdfium: boxes and letters; the order in which they are stored plays no part.

pdfium gives letters in an order of its own, inserts blanks, and mirrors some brackets. So blanks that no program drew
are left out, and the shape of brackets is looked at where it matters (`brackets.py`).
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingest.extract.canonical import BIDI_CONTROLS, TYPESETTING_MARKS
from ingest.extract.pdf.bidi import is_rtl
from ingest.extract.pdf.model import Frame, Glyph, Layer, RawPage
from ingest.extract.pdf.rules import read_drawings

REPLACEMENT: Final = 0xFFFD
# Bullets of the Symbol and Wingdings fonts, which have private codes.
SYMBOL_BULLETS: Final = frozenset((0xF0B7, 0xF0A7, 0xF0D8, 0xF076, 0xF0FC, 0xF02D, 0xF06F, 0xF071))
BULLET: Final = "•"
# What pdfium gives for a hyphen at a line's end.
LINE_HYPHENS: Final = frozenset((0x02, 0xFFFE))
WEIGHT_BOLD: Final = 600
# A text whose direction is within these degrees of a layer's belongs to it.
ANGLE_STEP: Final = 2
# Glyphs smaller than this are not read by anybody; they hide text in a page.
SIZE_MIN: Final = 0.9
# Width of a Hebrew letter where the box tells nothing, in sizes.
LETTER_WIDTH: Final = 0.5
# How far the second print of a letter is shifted to make it bold, and how far a mark may stand outside its letter.
TWICE_SHIFT: Final = 0.1
MARK_REACH: Final = 0.1
FIRST_PRINTED: Final = 0x20
FIRST_SURROGATE: Final = 0xD800
LAST_PRIVATE: Final = 0xF8FF
MAX_CODE: Final = 0x10FFFF
# Latin ligatures, and Hebrew wide letters, ligatures and letters with points, which have plain equivalents.
FIRST_PRESENTATION: Final = 0xFB00
LAST_PRESENTATION: Final = 0xFB4F
_INVISIBLE: Final = re.compile(f"[{BIDI_CONTROLS}{TYPESETTING_MARKS}]")
# A name of a font in a bold face says so.
BOLD_NAMES: Final = ("bold", "black", "heavy", "demi")


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What all glyphs of one drawing operation share."""

    number: int
    size: float
    angle: int
    leftward: bool
    bold: bool
    font: int


@dataclass(slots=True)
class _Shape:
    """One drawn shape with the characters that it stands for, and where."""

    drawing: _Drawing
    order: int
    origin: tuple[float, float]
    boxes: list[tuple[float, float, float, float]]
    chars: list[str]


def read_page(page: pdfium.PdfPage, number: int) -> RawPage:
    """Read the glyphs and the drawn lines of a page.

    Args:
        page: an open page.
        number: from 1.

    Raises:
        pdfium.PdfiumError: the page is damaged.
    """
    found = RawPage(number)
    box = page.get_cropbox()
    text = page.get_textpage()
    shapes = _shapes(text, found)
    text.close()
    by_angle: dict[int, list[_Shape]] = {}
    for shape in shapes:
        by_angle.setdefault(shape.drawing.angle, []).append(shape)
    for angle, members in sorted(by_angle.items(), key=lambda item: -len(item[1])):
        frame = Frame(angle, box)
        glyphs = [_glyph(shape, frame) for shape in members]
        found.layers.append(Layer(frame, _with_marks(_drawn_once(glyphs))))
    read_drawings(page, found, found.layers[0].frame if found.layers else Frame(0, box))
    return found


def _shapes(text: pdfium.PdfTextPage, found: RawPage) -> list[_Shape]:
    """Characters that came out of one drawn shape together: a ligature, or a letter with its points.

    pdfium divides the shape's box among them, in either order; they share their origin, which no two drawn letters do.
    """
    drawings: dict[int, _Drawing] = {}
    shapes: dict[tuple[int, float, float], _Shape] = {}
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    for i in range(text.count_chars()):
        text_object = ctypes.cast(raw.FPDFText_GetTextObject(text, i), ctypes.c_void_p).value
        if text_object is None:  # a blank or a line end that pdfium put in
            continue
        drawing = drawings.get(text_object)
        if drawing is None:
            drawing = drawings[text_object] = _drawing(text, i, len(drawings))
        if drawing.size < SIZE_MIN:
            continue
        char = _letter(text, i)
        if char == "":
            continue
        if char is None:
            found.unmapped += 1
            continue
        read_box = raw.FPDFText_GetLooseCharBox if not unicodedata.combining(char[0]) else _tight_box
        read_box(text, i, box)
        raw.FPDFText_GetCharOrigin(text, i, x, y)
        key = (drawing.number, round(x.value, 2), round(y.value, 2))
        corners = (box.left, box.bottom, box.right, box.top)
        shape = None if char.isspace() else shapes.get(key)
        if shape is None:
            shape = _Shape(drawing, i, (x.value, y.value), [], [])
            shapes[key if not char.isspace() else (-1 - i, 0.0, 0.0)] = shape
        shape.boxes.append(corners)
        shape.chars.append(char)
    return list(shapes.values())


def _tight_box(text: pdfium.PdfTextPage, i: int, box: raw.FS_RECTF) -> None:
    """The box of a mark's ink: its advance is nothing."""
    left, bottom, right, top = text.get_charbox(i)
    box.left, box.bottom, box.right, box.top = left, bottom, right, top


def _letter(text: pdfium.PdfTextPage, i: int) -> str | None:
    """The character as it is read, nothing for marks of direction; None where the file does not say which it is."""
    code = raw.FPDFText_GetUnicode(text, i)
    if code in LINE_HYPHENS or raw.FPDFText_IsHyphen(text, i) == 1:
        return "-"
    if code in SYMBOL_BULLETS:
        return BULLET
    unknown = code in (0, REPLACEMENT) or FIRST_SURROGATE <= code <= LAST_PRIVATE or code > MAX_CODE
    control = code < FIRST_PRINTED and code not in (9, 10, 13)
    if unknown or control or raw.FPDFText_HasUnicodeMapError(text, i) == 1:
        return None
    char = chr(code)
    if _INVISIBLE.match(char):
        return ""
    return unicodedata.normalize("NFKC", char) if FIRST_PRESENTATION <= code <= LAST_PRESENTATION else char


def _drawing(text: pdfium.PdfTextPage, i: int, number: int) -> _Drawing:
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, i, matrix)
    area = matrix.a * matrix.d - matrix.b * matrix.c
    # Hebrew of a recognised page runs leftward: its matrix is mirrored, and it is upright all the same.
    sign = -1.0 if area < 0 else 1.0
    angle = math.degrees(math.atan2(sign * matrix.b, sign * matrix.a))
    return _Drawing(
        number=number,
        size=round(raw.FPDFText_GetFontSize(text, i) * (math.sqrt(abs(area)) or 1.0), 1),
        angle=round(angle / ANGLE_STEP) * ANGLE_STEP % 360,
        leftward=area < 0,
        bold=_bold(text, i),
        font=ctypes.cast(raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, i)), ctypes.c_void_p).value or 0,
    )


def _bold(text: pdfium.PdfTextPage, i: int) -> bool:
    if raw.FPDFText_GetFontWeight(text, i) >= WEIGHT_BOLD:
        return True
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, i, name, len(name), flags)
    lowered = name.value.decode("latin-1").lower()
    return any(word in lowered for word in BOLD_NAMES)


def _glyph(shape: _Shape, frame: Frame) -> Glyph:
    drawing = shape.drawing
    origin = frame.point(*shape.origin)
    xs = [frame.point(x, y)[0] for left, bottom, right, top in shape.boxes for x, y in ((left, bottom), (right, top))]
    x0, x1 = min(xs), max(xs)
    marks = [char for char in shape.chars if unicodedata.combining(char[0])]
    bases = [char for char in shape.chars if not unicodedata.combining(char[0])]
    if bases and not drawing.leftward:
        x0 = min(x0, origin[0])
    if bases and marks:  # the box is of some of the marks
        x1 = max(x1, x0 + LETTER_WIDTH * drawing.size)
    if len(bases) > 1 and not any(is_rtl(char) for char in bases):
        bases = [char for _, char in sorted((box[0], char) for box, char in zip(shape.boxes, shape.chars, strict=True))]
    return Glyph(
        text="".join(bases + marks),
        x0=x0,
        x1=x1,
        y=origin[1],
        size=drawing.size,
        bold=drawing.bold,
        font=drawing.font,
        drawn_by=drawing.number,
        order=shape.order,
        leftward=drawing.leftward,
        box=shape.boxes[0],
    )


def _drawn_once(glyphs: list[Glyph]) -> list[Glyph]:
    """Without the second print of a letter that is bold by being printed twice."""
    kept: dict[tuple[str, int, int], list[Glyph]] = {}
    out: list[Glyph] = []
    for glyph in glyphs:
        cell = (glyph.text, round(glyph.y), round(glyph.x0 / max(1.0, glyph.size)))
        near = [one for step in (-1, 0, 1) for one in kept.get((cell[0], cell[1], cell[2] + step), ())]
        if not glyph.text.isspace() and any(
            one.drawn_by != glyph.drawn_by and abs(one.x0 - glyph.x0) < TWICE_SHIFT * glyph.size for one in near
        ):
            continue
        kept.setdefault(cell, []).append(glyph)
        out.append(glyph)
    return out


def _with_marks(glyphs: list[Glyph]) -> list[Glyph]:
    """Combining marks that were drawn by themselves, set upon the letters that they stand on."""
    marks = [glyph for glyph in glyphs if unicodedata.combining(glyph.text[0])]
    if not marks:
        return glyphs
    lines: dict[int, list[Glyph]] = {}
    letters = [glyph for glyph in glyphs if not unicodedata.combining(glyph.text[0])]
    for letter in letters:
        lines.setdefault(round(letter.y / letter.size), []).append(letter)
    for mark in marks:
        line = round(mark.y / mark.size)
        middle = (mark.x0 + mark.x1) / 2
        near = [
            letter
            for at in (line - 1, line, line + 1)
            for letter in lines.get(at, ())
            if letter.x0 - MARK_REACH * letter.size <= middle <= letter.x1 + MARK_REACH * letter.size
            and abs(letter.y - mark.y) < letter.size
            and not letter.text.isspace()
        ]
        if near:
            base = min(near, key=lambda letter: (abs(letter.y - mark.y), abs((letter.x0 + letter.x1) / 2 - middle)))
            base.text += mark.text
    return letters
