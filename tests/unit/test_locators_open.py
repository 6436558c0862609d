"""Every locator, followed into the original by another library, opens at the words that are quoted."""

from __future__ import annotations

import csv
import email
import email.policy
import io
import re
from collections.abc import Callable
from urllib.parse import parse_qs, unquote

import docx
import openpyxl
import pptx
import pypdfium2 as pdfium
import pytest
import srt
import webvtt

from ingest.extract.base import Block, BlockKind, ExtractedDocument
from ingest.extract.registry import extract
from search_config.locators import fragment
from tests.pdf.makers import MIXED, drawn
from tests.unit.office_files import fill_table, mail, saved

LIMIT = 10_000_000
ROWS = [["פריט", "ספק", "מחיר"], ["כיסא", 'אור בע"מ', "300"], ["שולחן", "Bug (1998)", "1,200"]]


def words(text: str) -> set[str]:
    """Letters and figures of each word, in one order: a page may store them in any."""
    return {"".join(sorted(char for char in word if char.isalnum())) for word in re.split(r"[\s|]+", text)} - {""}


def page(data: bytes, place: str) -> str:
    pdf = pdfium.PdfDocument(data)
    text: str = pdf[int(place.removeprefix("page=")) - 1].get_textpage().get_text_bounded()
    pdf.close()
    return text


def slide(data: bytes, place: str) -> str:
    shown = pptx.Presentation(io.BytesIO(data)).slides[int(place.removeprefix("slide=")) - 1]
    frames = [shape.text_frame.text for shape in shown.shapes if shape.has_text_frame]
    tables = [cell.text for shape in shown.shapes if shape.has_table for row in shape.table.rows for cell in row.cells]
    return "\n".join([*frames, *tables, shown.notes_slide.notes_text_frame.text if shown.has_notes_slide else ""])


def cells(data: bytes, place: str) -> str:
    given = parse_qs(place)
    sheet = openpyxl.load_workbook(io.BytesIO(data), data_only=True)[given["sheet"][0]]
    found = sheet[given["range"][0]]
    rows = found if isinstance(found, tuple) else ((found,),)
    return " ".join(str(cell.value) for row in rows for cell in row if cell.value is not None)


def csv_cells(data: bytes, place: str) -> str:
    first, last = (tuple(map(int, corner.split(","))) for corner in place.removeprefix("cell=").split("-"))
    rows = list(csv.reader(io.StringIO(data.decode())))[first[0] - 1 : last[0]]
    return " ".join(cell for row in rows for cell in row[first[1] - 1 : last[1]])


def seconds(cues: list[tuple[float, float, str]], place: str) -> str:
    start, end = (float(one) for one in place.removeprefix("t=").split(","))
    return " ".join(text for begins, ends, text in cues if begins < end and ends > start)


def srt_words(data: bytes, place: str) -> str:
    cues = [(c.start.total_seconds(), c.end.total_seconds(), c.content) for c in srt.parse(data.decode())]
    return seconds(cues, place)


def vtt_words(data: bytes, place: str) -> str:
    captions = webvtt.from_buffer(io.StringIO(data.decode())).captions
    return seconds([(c.start_in_seconds, c.end_in_seconds, c.text) for c in captions], place)


def attached(data: bytes, place: str) -> str:
    name = unquote(place.removeprefix("attachment=").split("&")[0])
    message = email.message_from_bytes(data, policy=email.policy.default)
    part = next(part for part in message.walk() if part.get_filename() == name)
    return csv_cells(bytes(part.get_payload(decode=True)), place.split("&", 1)[1])


def show() -> bytes:
    deck = pptx.Presentation()
    for title, note in (("פתיחה", "להזכיר את התקציב"), ("מחירים", "")):
        made = deck.slides.add_slide(deck.slide_layouts[1])
        made.shapes.title.text = title
        made.placeholders[1].text_frame.text = f"תוכן של {title}"
        if note:
            made.notes_slide.notes_text_frame.text = note
    return saved(deck)


def book() -> bytes:
    made = openpyxl.Workbook()
    made.active.title = "מחירים & עוד"
    for _ in range(3):
        made.active.append([])
    for row in ROWS:
        made.active.append(["", *row])
    other = made.create_sheet("הערות")
    other["D9"] = "נבדק ב-2023"
    return saved(made)


def csv_file() -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(ROWS)
    return out.getvalue().encode()


CUES = ((1, 4, "שלום לכולם"), (3, 6, "מה שלומכם היום?"), (65, 70, "נתחיל בתקציב"), (3700, 3702, "תודה רבה"))


def cue_file(comma: str, head: str) -> bytes:
    def clock(at: int) -> str:
        return f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}{comma}000"

    cues = "\n\n".join(f"{i}\n{clock(a)} --> {clock(b)}\n{text}" for i, (a, b, text) in enumerate(CUES, 1))
    return (head + cues + "\n").encode()


Follow = Callable[[bytes, str], str]
CASES: dict[str, tuple[bytes, Follow]] = {
    "file.pdf": (drawn([MIXED[:2], MIXED[2:]]), page),
    "file.pptx": (show(), slide),
    "file.xlsx": (book(), cells),
    "file.csv": (csv_file(), csv_cells),
    "file.srt": (cue_file(",", ""), srt_words),
    "file.vtt": (cue_file(".", "WEBVTT\n\n"), vtt_words),
}


def said(document: ExtractedDocument, block: Block, names: set[str]) -> set[str]:
    """The words of a block; a table row repeats its columns' names, which stand above it."""
    quoted = words(document.text[block.locator.from_ : block.locator.to])
    return quoted - names if block.kind is BlockKind.TABLE_ROW else quoted


@pytest.mark.parametrize("name", CASES)
def test_every_place_holds_the_words(name: str) -> None:
    data, follow = CASES[name]
    document = extract(data, name=name, max_bytes=LIMIT)
    names = words(" ".join(ROWS[0]))
    seen = 0
    for block in document.blocks:
        place = fragment(block.locator, document.media_type).removeprefix("#")
        if name == "file.xlsx" and "range=" not in place:
            continue  # the heading that names the sheet
        found = words(follow(data, place))
        assert said(document, block, names) <= found, place
        seen += 1
    assert seen > 1


def test_a_place_in_an_attachment_holds_the_words() -> None:
    data = mail("נושא", "גוף ההודעה", attachments=[("מחירון מצורף.csv", csv_file())]).as_bytes()
    document = extract(data, name="mail.eml", max_bytes=LIMIT)
    rows = [block for block in document.blocks if block.kind is BlockKind.TABLE_ROW]
    assert len(rows) == 2
    for block in rows:
        place = fragment(block.locator, "text/csv").removeprefix("#")
        assert said(document, block, words(" ".join(ROWS[0]))) <= words(attached(data, place)), place


@pytest.mark.parametrize("suffix", ["txt", "md", "html", "docx"])
def test_characters_are_of_the_canonical_text(suffix: str) -> None:
    made = docx.Document()
    made.add_paragraph(MIXED[0])
    fill_table(made, ROWS)
    plain = f"{MIXED[0]}\n\n{MIXED[1]}".encode()
    sources = {"txt": plain, "md": plain, "html": b"<p>" + plain.replace(b"\n\n", b"</p><p>"), "docx": saved(made)}
    document = extract(sources[suffix], name=f"file.{suffix}", max_bytes=LIMIT)
    for block in document.blocks:
        start, end = fragment(block.locator, document.media_type).removeprefix("#char=").split(",")
        assert document.text[int(start) : int(end)] == document.text[block.locator.from_ : block.locator.to]
    assert document.text.startswith(MIXED[0])
