"""Draw the words of a quoted passage on the page that its locator names, so that a person sees whether the link opens
at them.

    python -m scripts.draw_quotes [FOLDER]

Writes the pictures of docs/pdf.md: a page of Chromium in two columns, one with a table without lines, one that stands
backwards, and a scan. Needs Chromium and Tesseract with Hebrew.
"""

from __future__ import annotations

import argparse
import io
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

import pypdfium2 as pdfium
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions
from ingest.extract.pdf import extract_pdf, ocr
from ingest.extract.pdf.glyphs import read_page
from ingest.extract.pdf.model import Word
from ingest.extract.pdf.rows import rows_of
from scripts import pdf_makers
from scripts.pdf_documents import MIXED_LINES, hard_sources

FOLDER: Final = Path("docs/pdf")
# Pictures are half as fine as what is drawn on, in so many grey levels: small files in which text can be read.
SCALE: Final = 2.0
SHRUNK: Final = 0.6
COLOURS: Final = 16
RED: Final = (200, 0, 0)
SCAN_DOTS: Final = 300
POINTS_PER_INCH: Final = 72
# Share of the page, from its top, that the pictures show.
SHOWN_SHARE: Final = 0.45
BACKWARDS: Final = MIXED_LINES[:5]


def main() -> int:
    """Write the pictures; exit status 1 where a quoted word is not on the page that the locator names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    lost = 0
    for name, data, quote in _pages():
        image, missing = drawn_quote(data, quote)
        image.save(folder / f"{name}.png", optimize=True)
        print(f"{name}.png: {quote}" + (f"; NOT FOUND: {' '.join(missing)}" if missing else ""))
        lost += len(missing)
    return 1 if lost else 0


def _pages() -> Iterator[tuple[str, bytes, str]]:
    wanted = [source for source in hard_sources() if source.name in ("two-columns", "tables", "mixed-lines")]
    made = {source.name: data for source, data in pdf_makers.chromium(wanted, ruled=False)}
    yield "columns", made["two-columns"], 'ההוצאה עמדה על 1,250,000 ש"ח (כולל מע"מ), כ-12% יותר מן התקציב המאושר.'
    yield "table", made["tables"], "מס': 2 | מועד: 15.4.2024 | תיאור התשלום: סיום שלב א' | סכום בש\"ח: 40,000"
    yield "backwards", _backwards(), BACKWARDS[0]
    yield "scan", _scan(made["mixed-lines"]), 'בסך 12,500 ש"ח, כולל מע"מ בשיעור 17%'


def drawn_quote(data: bytes, quote: str) -> tuple[Image.Image, list[str]]:
    """The page of a quote with boxes around its words.

    Args:
        data: a PDF.
        quote: a part of its canonical text.

    Returns:
        The picture, and the words of the quote that are not on the page.
    """
    document = extract_pdf(data, name="quote.pdf", options=ExtractOptions())
    number = page_of(document, quote)
    pdf = pdfium.PdfDocument(data)
    page = pdf[number - 1]
    found = read_page(page, number)
    recognised = found if found.characters else ocr.recognise(page, number)
    image = page.render(scale=SCALE).to_pil().convert("RGB")
    pen = ImageDraw.Draw(image)
    wanted = Counter(letters for word in re.split(r"[\s|]+", quote) if (letters := _letters(word)))
    rows = rows_of(recognised.layers[0].glyphs if recognised else [])
    places = _places([word for row in rows for word in row.words], wanted)
    for word in places:
        pen.rectangle(_box(word), outline=RED, width=2)
    pdf.close()
    shown = image.crop((0, 0, image.width, round(SHOWN_SHARE * image.height)))
    small = shown.resize((round(shown.width * SHRUNK), round(shown.height * SHRUNK)), Image.Resampling.LANCZOS)
    return small.quantize(COLOURS), sorted((wanted - Counter(_letters(word.text) for word in places)).elements())


def _places(words: Sequence[Word], wanted: Counter[str]) -> list[Word]:
    """Each word as often as the quote has it: of several equal ones, those nearest to the words that stand once."""
    by_letters = {letters: [word for word in words if _letters(word.text) == letters] for letters in wanted}
    sure = [word for letters, found in by_letters.items() if len(found) <= wanted[letters] for word in found]
    if not sure:
        return []
    x, y = fmean(word.x0 for word in sure), fmean(word.y for word in sure)
    return [
        word
        for letters, found in by_letters.items()
        for word in sorted(found, key=lambda one: math.hypot(one.x0 - x, one.y - y))[: wanted[letters]]
    ]


def page_of(document: ExtractedDocument, quote: str) -> int:
    """The page that the locator of the quote's block names.

    Raises:
        ValueError: the text does not hold the quote.
    """
    at = document.text.index(quote)
    return next(block.locator.page or 1 for block in document.blocks if block.locator.to > at)


def _letters(word: str) -> str:
    """The letters and figures of a word in one order, whichever way the page stores them."""
    return "".join(sorted(char for char in word if char.isalnum()))


def _box(word: Word) -> tuple[float, float, float, float]:
    top, bottom = word.y - 0.85 * word.size, word.y + 0.25 * word.size
    return word.x0 * SCALE, top * SCALE, word.x1 * SCALE, bottom * SCALE


def _backwards() -> bytes:
    """A page on which a program drew the letters of Hebrew lines from left to right."""
    pdf_makers.register_fonts()
    out = io.BytesIO()
    sheet = canvas.Canvas(out, pagesize=A4)
    sheet.setFont("measured", pdf_makers.SIZE)
    for i, line in enumerate(BACKWARDS):
        sheet.drawString(pdf_makers.MARGIN, A4[1] - pdf_makers.MARGIN - 18 * i, line)
    sheet.save()
    return out.getvalue()


def _scan(data: bytes) -> bytes:
    """The first page as a picture."""
    pdf = pdfium.PdfDocument(data)
    image = pdf[0].render(scale=SCAN_DOTS / POINTS_PER_INCH, grayscale=True).to_pil()
    pdf.close()
    out = io.BytesIO()
    image.save(out, format="PDF", resolution=SCAN_DOTS)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
