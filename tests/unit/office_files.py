"""Documents that the formats' own libraries write: python-docx, python-pptx, openpyxl, odfpy, the standard library."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pptx
from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from odf import table as odf_table
from odf import text as odf_text
from odf.opendocument import OpenDocumentText
from pptx.util import Cm

MIXED = "נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8)."


def saved(document: Any) -> bytes:
    """The bytes that a library saves."""
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def repacked(data: bytes, changed: Mapping[str, bytes]) -> bytes:
    """A packed document with some parts replaced or added."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in source.infolist():
            if entry.filename not in changed:
                copy.writestr(entry.filename, source.read(entry))
        for name, part in changed.items():
            copy.writestr(name, part)
    return target.getvalue()


def part_of(data: bytes, name: str) -> bytes:
    """One part of a packed document."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name)


def add_run(paragraph: Any, wrapper: str, text: str, tag: str = "w:t") -> None:
    """Append a run inside a wrapper such as `w:ins`, as tracked changes are kept."""
    outer, run, inner = OxmlElement(wrapper), OxmlElement("w:r"), OxmlElement(tag)
    inner.text = text
    inner.set(qn("xml:space"), "preserve")
    run.append(inner)
    outer.append(run)
    paragraph._p.append(outer)


def fill_table(document: Document, rows: Sequence[Sequence[str]]) -> Any:
    """A table of a Word document."""
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return table


def word_contract() -> bytes:
    """A contract with headings, numbered clauses, tracked changes, a table, a page header."""
    document = docx.Document()
    document.core_properties.author = "דנה כהן"
    document.add_heading("הסכם שירותי גינון", 0)
    document.add_heading("הצדדים", 1)
    paragraph = document.add_paragraph("נחתם ביום 10 בפברואר 2023 עם ")
    paragraph.add_run("Acme Ltd.").bold = True
    paragraph.add_run(" (ח.פ. 51-234567-8).")
    changed = document.add_paragraph("התשלום ישולם ")
    add_run(changed, "w:del", "בתוך שישים יום", "w:delText")
    add_run(changed, "w:ins", "בתוך שלושים יום")
    document.add_paragraph("הספק יגזום את העצים.", style="List Number")
    document.add_paragraph("הספק יפנה את הגזם.", style="List Number")
    document.add_heading("מחירים", 2)
    fill_table(document, [("פריט", "כמות", "מחיר"), ("עציץ", "3", '12 ש"ח'), ("דשא", "100", "1,200 ₪")])
    document.sections[0].header.paragraphs[0].text = "כותרת שחוזרת בכל עמוד"
    return saved(document)


def presentation() -> bytes:
    """Slides with bullets, shapes side by side, a group, a table, notes, and a slide of a title alone."""
    show = pptx.Presentation()
    first = show.slides.add_slide(show.slide_layouts[5])
    first.shapes.title.text = "תכנית העבודה לשנת 2024"
    second = show.slides.add_slide(show.slide_layouts[1])
    second.shapes.title.text = "שלבים"
    second.placeholders[1].text_frame.text = "שלב א: תכנון"
    second.placeholders[1].text_frame.add_paragraph().text = "שלב ב: ביצוע"
    second.notes_slide.notes_text_frame.text = "להדגיש את לוח הזמנים"
    third = show.slides.add_slide(show.slide_layouts[6])
    for text, left in (("שלישי", 1), ("ראשון", 15), ("שני", 8)):
        third.shapes.add_textbox(Cm(left), Cm(3), Cm(5), Cm(2)).text_frame.text = text
    group = third.shapes.add_group_shape()
    group.shapes.add_textbox(Cm(1), Cm(8), Cm(5), Cm(2)).text_frame.text = "בתוך קבוצה"
    cells = third.shapes.add_table(3, 2, Cm(1), Cm(12), Cm(20), Cm(3)).table
    for i, row in enumerate((("רכיב", "סכום"), ("צמחים", "500"), ("עבודה", "700"))):
        for j, text in enumerate(row):
            cells.cell(i, j).text = text
    return saved(show)


def workbook(fill: Callable[[Any], object], *, title: str = "מחירים") -> bytes:
    """A workbook whose first sheet `fill` fills."""
    book = openpyxl.Workbook()
    book.active.title = title
    fill(book)
    return saved(book)


def open_document() -> bytes:
    """An ODT with headings, a note, a list and a table."""
    document = OpenDocumentText()
    document.text.addElement(odf_text.H(outlinelevel=1, text="נוהל השאלה"))
    paragraph = odf_text.P(text="הספר יוחזר בתוך שבועיים")
    note = odf_text.Note(noteclass="footnote")
    note.addElement(odf_text.NoteCitation(text="1"))
    body = odf_text.NoteBody()
    body.addElement(odf_text.P(text="למעט ספרי עיון"))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(", אלא אם הוזמן.")
    document.text.addElement(paragraph)
    listed = odf_text.List()
    for text in ("קורא רשום", "קורא אורח"):
        item = odf_text.ListItem()
        item.addElement(odf_text.P(text=text))
        listed.addElement(item)
    document.text.addElement(listed)
    table = odf_table.Table()
    for cells in (("סוג", "ימים", "קנס"), ("ספר", "14", "2 ₪"), ("כתב עת", "3", "5 ₪")):
        row = odf_table.TableRow()
        for text in cells:
            cell = odf_table.TableCell()
            cell.addElement(odf_text.P(text=text))
            row.addElement(cell)
        table.addElement(row)
    document.text.addElement(table)
    return saved(document)


def mail(
    subject: str = "הצעת מחיר לגינון",
    body: str = "שלום רב,\n\nמצורפת הצעת המחיר לשנת 2024.\n\nבברכה,\nדנה",
    *,
    charset: str = "utf-8",
    attachments: Iterable[tuple[str, bytes]] = (),
) -> EmailMessage:
    """A mail, with its attachments by name."""
    message = EmailMessage()
    message["From"] = "דנה כהן <dana@example.org>"
    message["To"] = "office@example.org"
    message["Subject"] = subject
    message["Date"] = "Thu, 15 Feb 2024 10:30:00 +0200"
    message["Message-ID"] = "<1@example.org>"
    message.set_content(body, charset=charset)
    for name, data in attachments:
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


SRT = (
    "1\n00:00:01,000 --> 00:00:04,000\nשלום לכולם.\n\n"
    "2\n00:00:04,500 --> 00:00:09,250\n<i>היום נדבר</i> על התקציב.\n\n"
    "3\n00:01:05,000 --> 00:01:09,000\nסוף הדברים.\n"
)
VTT = (
    "WEBVTT\n\nNOTE a remark\n\n00:01.000 --> 00:04.000 align:left\n<v Dana>Hello &amp; welcome.</v>\n\n"
    "00:00:12.000 --> 00:00:16.500\nThe budget comes first.\n"
)
