"""One small document of every format, to be damaged: with headings, a table, a list and Hebrew beside figures."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from typing import Final

TITLE: Final = "הסכם שירותי גינון"
LINE: Final = 'נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8), בסך 12,500 ש"ח.'
ITEMS: Final = ("גיזום עצים אחת לרבעון.", "פינוי גזם בתוך 48 שעות.")
ROWS: Final = (("פריט", "כמות", "מחיר"), ("עציץ", "3", "12.50"), ("דשא", "100", "1,200"))


def docx_sample() -> bytes:
    """A Word document."""
    import docx

    document = docx.Document()
    document.add_heading(TITLE, 0)
    document.add_paragraph(LINE)
    for item in ITEMS:
        document.add_paragraph(item, style="List Number")
    table = document.add_table(rows=len(ROWS), cols=len(ROWS[0]))
    for row, texts in zip(table.rows, ROWS, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def pptx_sample() -> bytes:
    """A presentation of two slides."""
    import pptx

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = TITLE
    box = slide.shapes.add_textbox(0, 0, 1_000_000, 1_000_000)
    box.text_frame.text = LINE
    cells = show.slides.add_slide(show.slide_layouts[6]).shapes
    table = cells.add_table(len(ROWS), len(ROWS[0]), 0, 0, 1_000_000, 1_000_000).table
    for i, row in enumerate(ROWS):
        for j, text in enumerate(row):
            table.cell(i, j).text = text
    target = io.BytesIO()
    show.save(target)
    return target.getvalue()


def xlsx_sample() -> bytes:
    """A workbook of one sheet with a merged title and a formula."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append([TITLE])
    sheet.merge_cells("A1:C1")
    for row in ROWS:
        sheet.append(list(row))
    sheet["D4"] = "=C3*2"
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def odt_sample() -> bytes:
    """An OpenDocument text, written by hand: no library for it is needed to read one."""
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    items = "".join(f"<text:list-item><text:p>{item}</text:p></text:list-item>" for item in ITEMS)
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in ROWS
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content{spaces}><office:body><office:text>'
        f'<text:h text:outline-level="1">{TITLE}</text:h><text:p>{LINE}</text:p><text:list>{items}</text:list>'
        f"<table:table>{rows}</table:table></office:text></office:body></office:document-content>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text", zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
    return target.getvalue()


def pdf_sample() -> bytes:
    """A PDF of two pages, written by hand, with compressed text in a standard font."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
        *(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 7 0 R >> >> >>" % number
            for number in (5, 6)
        ),
        *(
            _pdf_text(lines)
            for lines in (("Garden services", "Signed on 10 February 2023."), ("Total 12,500", "E-4031"))
        ),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return pdf_file(objects)


def pdf_file(objects: Sequence[bytes]) -> bytes:
    """A PDF of its numbered objects, the catalogue first: the objects, the table of their places, and where that is."""
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def _pdf_text(lines: tuple[str, ...]) -> bytes:
    shown = "".join(f"({line}) Tj 0 -20 Td " for line in lines)
    packed = zlib.compress(f"BT /F1 14 Tf 72 720 Td {shown}ET".encode())
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def eml_sample() -> bytes:
    """A mail with an attached document, and a mail inside."""
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("The mail inside.")
    message = EmailMessage()
    message["From"] = "דנה <dana@example.org>"
    message["Subject"] = TITLE
    message["Message-ID"] = "<1@example.org>"
    message.set_content(LINE, charset="windows-1255")
    message.add_attachment(odt_sample(), maintype="application", subtype="octet-stream", filename="הסכם.odt")
    message.add_attachment(inner)
    return message.as_bytes()


def html_sample() -> bytes:
    """A page."""
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    items = "".join(f"<li>{item}</li>" for item in ITEMS)
    page = f"<html lang=he><h1>{TITLE}</h1><p>{LINE}</p><ul>{items}</ul><table>{rows}</table></html>"
    return page.encode("windows-1255")


def markdown_sample() -> bytes:
    """Markdown with front matter."""
    items = "\n".join(f"1. {item}" for item in ITEMS)
    head, *rows = (f"| {' | '.join(row)} |" for row in ROWS)
    table = "\n".join((head, "|---|---|---|", *rows))
    return f"---\ntype: contract\n---\n\n# {TITLE}\n\n{LINE}\n\n{items}\n\n{table}\n".encode()


def plain_sample() -> bytes:
    """Plain text, in UTF-16."""
    return "\n\n".join((TITLE, LINE, *ITEMS)).encode("utf-16")


def csv_sample() -> bytes:
    """A table of text, in windows-1255."""
    return "\n".join(";".join(row) for row in ROWS * 5).encode("windows-1255")


def srt_sample() -> bytes:
    """Subtitles."""
    return "\n".join(
        f"{i}\n00:00:{i:02d},000 --> 00:00:{i:02d},900\n{text}\n" for i, text in enumerate((LINE, *ITEMS) * 5, start=1)
    ).encode()


def vtt_sample() -> bytes:
    """Captions."""
    cues = (f"00:{i:02d}.000 --> 00:{i:02d}.900\n<v דנה>{text}</v>\n" for i, text in enumerate((LINE, *ITEMS) * 5))
    return ("WEBVTT\n\n" + "\n".join(cues)).encode()


SAMPLES: Final[dict[str, Callable[[], bytes]]] = {
    "docx": docx_sample,
    "pptx": pptx_sample,
    "xlsx": xlsx_sample,
    "odt": odt_sample,
    "pdf": pdf_sample,
    "eml": eml_sample,
    "html": html_sample,
    "md": markdown_sample,
    "txt": plain_sample,
    "csv": csv_sample,
    "srt": srt_sample,
    "vtt": vtt_sample,
}
