"""PDF files by other people's programs: Chromium, LibreOffice, reportlab, Tesseract."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
from bidi.algorithm import get_display
from PIL import Image
from rapidfuzz.distance import Levenshtein
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions
from ingest.extract.pdf import extract_pdf

FONT_FILE = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
FONT = "DejaVuSans"
PAGE_TOP, LEFT, RIGHT, PITCH = 780, 50, 545, 18

MIXED = (
    "נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8)",
    'בסך 12,500 ש"ח, כולל מע"מ בשיעור 17%.',
    "קוד התקלה הוא E-4031 ולא E-4032.",
    "טלפון 03-5551234, בתאריך 15.2.24, בשעה 10:30.",
    "הפרויקט נמשך בין 2019–2021 (כולל), ראו [א] בנספח.",
)


def read(data: bytes, name: str = "file.pdf", **options: object) -> ExtractedDocument:
    """Extract as the service does."""
    return extract_pdf(data, name=name, options=ExtractOptions.model_validate(options))


def error_rate(text: str, expected: str) -> float:
    """Character error rate, white space squeezed."""
    known = " ".join(expected.split())
    return Levenshtein.distance(" ".join(text.split()), known) / len(known)


def shown(line: str) -> str:
    """A logical line as a right-to-left paragraph shows it, from the left."""
    visual = get_display(line, base_dir="R")
    return visual if isinstance(visual, str) else visual.decode()


def drawn(
    pages: Sequence[Sequence[str]], *, backwards: bool = False, by_words: bool = False, password: str | None = None
) -> bytes:
    """Lines by reportlab. Seen rightly: the visual line, as old programs store it; backwards: the logical line from
    left to right; `by_words`: each word backwards at its right place, as some layers of recognised text have it."""
    if FONT not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont(FONT, str(FONT_FILE)))
    out = io.BytesIO()
    encryption = None if password is None else StandardEncryption(password)
    sheet = canvas.Canvas(out, encrypt=encryption)
    for lines in pages:
        sheet.setFont(FONT, 12)
        for i, line in enumerate(lines):
            y = PAGE_TOP - i * PITCH
            if by_words:
                x = float(RIGHT)
                for word in line.split():
                    sheet.drawRightString(x, y, word)
                    x -= pdfmetrics.stringWidth(word + " ", FONT, 12)
            elif backwards:
                sheet.drawString(LEFT, y, line)
            else:
                sheet.drawRightString(RIGHT, y, shown(line))
        sheet.showPage()
    sheet.save()
    return out.getvalue()


def printed(html: str, folder: Path) -> bytes:
    """A page that Chromium prints."""
    source, target = folder / "page.html", folder / "page.pdf"
    source.write_text(html, encoding="utf-8")
    subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={target}",
            str(source),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target.read_bytes()


def exported(source: Path, folder: Path) -> bytes:
    """A document that LibreOffice exports."""
    subprocess.run(
        [
            "soffice",
            "--headless",
            f"-env:UserInstallation=file://{folder / 'office'}",
            "--convert-to",
            "pdf",
            "--outdir",
            str(folder),
            str(source),
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    return (folder / f"{source.stem}.pdf").read_bytes()


def picture(data: bytes, page: int = 0) -> Image.Image:
    """A page as a scanner sees it, at 300 dots an inch."""
    pdf = pdfium.PdfDocument(data)
    image: Image.Image = pdf[page].render(scale=300 / 72, grayscale=True).to_pil()
    pdf.close()
    return image


def scanned(images: Sequence[Image.Image]) -> bytes:
    """Pictures as the pages of a PDF without text."""
    out = io.BytesIO()
    images[0].save(out, format="PDF", resolution=300, save_all=True, append_images=list(images[1:]))
    return out.getvalue()


def joined(files: Sequence[bytes]) -> bytes:
    """One PDF out of the pages of several."""
    target = pdfium.PdfDocument.new()
    for data in files:
        source = pdfium.PdfDocument(data)
        target.import_pages(source)
        source.close()
    out = io.BytesIO()
    target.save(out)
    target.close()
    return out.getvalue()


def page_words(data: bytes, page: int) -> set[str]:
    """Words of a page by the library alone, whatever their order: the letters of each, sorted."""
    pdf = pdfium.PdfDocument(data)
    text = pdf[page - 1].get_textpage().get_text_bounded()
    pdf.close()
    return {"".join(sorted(word)) for word in re.findall(r"[^\W\d_]{3,}", text)}
