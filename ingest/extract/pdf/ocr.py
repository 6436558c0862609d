"""Scanned pages through Tesseract (`heb+eng`), with the confidence of each word. Needs the extra `ocr`.

Its words come with boxes and in reading order; they are laid out as a page shows them, so that columns, tables and
directions are found in one way for all pages.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ingest.extract.canonical import BIDI_CONTROLS
from ingest.extract.pdf.bidi import Direction, direction_of, is_rtl, reordered
from ingest.extract.pdf.model import Frame, Glyph, Layer, RawPage

if TYPE_CHECKING:
    import pypdfium2 as pdfium

LANGUAGES: Final = ("heb", "eng")
PACKAGES: Final = "tesseract-ocr tesseract-ocr-heb"
# What Tesseract's models were trained at; a larger page is drawn smaller, so that memory is bounded.
DOTS_PER_INCH: Final = 300
POINTS_PER_INCH: Final = 72
SIDE_DOTS_MAX: Final = 5_000
# Seconds for one page; a page of noise can take minutes.
PAGE_SECONDS: Final = 120
# A line's box reaches from its highest letters to its lowest; the size of the type is about this share of it, and the
# baseline stands this share of it above the bottom.
SIZE_SHARE: Final = 0.95
DESCENT_SHARE: Final = 0.2
# Words that Tesseract itself gives so little for are specks and lines, of 100.
CONFIDENCE_MIN: Final = 10.0
PERCENT: Final = 100.0
WORD_LEVEL: Final = 5

_CONTROLS: Final = re.compile(f"[{BIDI_CONTROLS}\\s]")
_LATIN: Final = re.compile("[A-Za-z]")


@functools.cache
def missing() -> str | None:
    """What is missing for recognition, in words; None where it can be done."""
    try:
        import pytesseract
    except ImportError:
        return "the Python package pytesseract is not installed (pip install 'mafteach[ocr]')"
    try:
        languages = pytesseract.get_languages()
    except (pytesseract.TesseractNotFoundError, OSError):
        return f"Tesseract is not installed (Debian packages: {PACKAGES})"
    absent = [language for language in LANGUAGES if language not in languages]
    return f"Tesseract has no data for {', '.join(absent)} (Debian packages: {PACKAGES})" if absent else None


def recognise(page: pdfium.PdfPage, number: int) -> RawPage | None:
    """Recognise the text of a page that is a picture.

    Args:
        page: an open page.
        number: from 1.

    Returns:
        The page as if it had been written: glyphs with places and confidence; None where it took too long.
    """
    import pytesseract

    width, height = page.get_size()
    scale = min(DOTS_PER_INCH / POINTS_PER_INCH, SIDE_DOTS_MAX / max(width, height, 1.0))
    image = page.render(scale=scale, grayscale=True).to_pil()
    try:
        table: dict[str, list[Any]] = pytesseract.image_to_data(
            image,
            lang="+".join(LANGUAGES),
            config=f"--dpi {round(scale * POINTS_PER_INCH)}",
            timeout=PAGE_SECONDS,
            output_type=pytesseract.Output.DICT,
        )
    except RuntimeError:  # the time is up
        return None
    frame = Frame(0, (0.0, 0.0, width, height))
    return RawPage(number, [Layer(frame, _glyphs(table, scale))], drawn=True, pictures=1.0)


def _glyphs(table: dict[str, list[Any]], scale: float) -> list[Glyph]:
    lines: dict[tuple[int, int, int], list[int]] = {}
    for i, text in enumerate(table["text"]):
        if table["level"][i] != WORD_LEVEL or not text.strip() or float(table["conf"][i]) < CONFIDENCE_MIN:
            continue
        key = (table["block_num"][i], table["par_num"][i], table["line_num"][i])
        lines.setdefault(key, []).append(i)
    glyphs: list[Glyph] = []
    for words in lines.values():
        bottoms = [table["top"][i] + table["height"][i] for i in words]
        top, bottom = min(table["top"][i] for i in words), max(bottoms)
        size = max(1.0, (bottom - top) / scale * SIZE_SHARE)
        baseline = bottom / scale - DESCENT_SHARE * size
        texts = [_cleaned(table["text"][i]) for i in words]
        direction = direction_of("".join(texts), "L")
        for i, text in zip(words, texts, strict=True):
            confidence = max(0.0, min(1.0, float(table["conf"][i]) / PERCENT))
            box = _Box(table["left"][i] / scale, table["width"][i] / scale, baseline, size, confidence, i)
            glyphs += _word(text, direction, box)
    return glyphs


def _cleaned(text: str) -> str:
    return _CONTROLS.sub("", unicodedata.normalize("NFC", text))


@dataclass(frozen=True, slots=True)
class _Box:
    """Where a word stands: left end, width, baseline, size of its type, confidence, and its number."""

    left: float
    width: float
    baseline: float
    size: float
    confidence: float
    number: int


def _word(text: str, direction: Direction, box: _Box) -> list[Glyph]:
    """A word as its line shows it, over the width of its box.

    Tesseract gives a word with Latin letters as it is seen (`.Acme` at the end of a Hebrew sentence), others in reading
    order.
    """
    cells: list[str] = []
    for char in text:
        if cells and unicodedata.combining(char):
            cells[-1] += char
        else:
            cells.append(char)
    if not cells:
        return []
    leftward = any(is_rtl(cell[0]) for cell in cells) or (direction == "R" and _LATIN.search(text) is None)
    shown = [cell for _, cell in reordered(cells, "R")] if leftward else cells
    width = box.width / len(cells)
    return [
        Glyph(
            text=cell,
            x0=box.left + at * width,
            x1=box.left + (at + 1) * width,
            y=box.baseline,
            size=round(box.size, 1),
            drawn_by=box.number,
            order=box.number,
            confidence=box.confidence,
        )
        for at, cell in enumerate(shown)
    ]
