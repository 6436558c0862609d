"""One property for every format and strategy: exact offsets, no chunk in another, no bare heading, all covered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any, get_args

import docx
import openpyxl
import pptx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odf import text as odf_text
from odf.opendocument import OpenDocumentText

from ingest.chunking import ChunkingSpec, chunk_document
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.canonical import canonicalise
from ingest.extract.registry import extract
from search_config.settings import ChunkingStrategy
from tests.pdf.makers import drawn
from tests.unit.counters import WordCounter
from tests.unit.office_files import fill_table, mail, saved

STRATEGIES: tuple[ChunkingStrategy, ...] = get_args(ChunkingStrategy)
BY_BOUNDARIES = ("C", "D", "E", "F")
LIMIT = 10_000_000

# Letters, points, presentation forms, direction marks, and what mark-up lives on.
words = st.text(alphabet='אבגךםab12.,;:"׳־–()|&<#* \u05b8\ufb2a\ufb4f\u200f\u00ad', min_size=1, max_size=12)
sentences = st.lists(words, min_size=1, max_size=25).map(" ".join)
Section = tuple[str, list[str], list[list[str]]]
sections = st.lists(
    st.tuples(
        st.one_of(st.just(""), words),
        st.lists(sentences, max_size=3),
        st.lists(st.lists(words, min_size=3, max_size=3), max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def as_docx(parts: Sequence[Section]) -> bytes:
    document = docx.Document()
    for heading, paragraphs, rows in parts:
        if heading:
            document.add_heading(heading, 1)
        for text in paragraphs:
            document.add_paragraph(text)
        if rows:
            fill_table(document, rows)
    return saved(document)


def as_pptx(parts: Sequence[Section]) -> bytes:
    show = pptx.Presentation()
    for heading, paragraphs, rows in parts:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = heading
        frame = slide.placeholders[1].text_frame
        for text in paragraphs:
            frame.add_paragraph().text = text
        if rows:
            table = slide.shapes.add_table(len(rows), 3, 0, 0, 1_000_000, 1_000_000).table
            for i, row in enumerate(rows):
                for j, text in enumerate(row):
                    table.cell(i, j).text = text
    return saved(show)


def as_xlsx(parts: Sequence[Section]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, (heading, paragraphs, rows) in enumerate(parts):
        sheet = book.create_sheet(f"גיליון {number}")
        for row in ([heading], *([text] for text in paragraphs), [], *rows):
            sheet.append([f"'{text}" if text.startswith("=") else text for text in row])
    return saved(book)


def as_odt(parts: Sequence[Section]) -> bytes:
    document = OpenDocumentText()
    for heading, paragraphs, rows in parts:
        document.text.addElement(odf_text.H(outlinelevel=1, text=heading))
        listed = odf_text.List()
        for text in paragraphs:
            document.text.addElement(odf_text.P(text=text))
        for text in (text for row in rows for text in row):
            item = odf_text.ListItem()
            item.addElement(odf_text.P(text=text))
            listed.addElement(item)
        document.text.addElement(listed)
    return saved(document)


def as_csv(parts: Sequence[Section]) -> bytes:
    rows = [row for _, _, rows in parts for row in rows] or [["א", "ב", "ג"]]
    return "\n".join(",".join('"' + text.replace('"', '""') + '"' for text in row) for row in rows).encode()


def as_mail(parts: Sequence[Section]) -> bytes:
    body = "\n\n".join("\n".join((heading, *paragraphs)) for heading, paragraphs, _ in parts)
    message = mail("נושא ההודעה", body, attachments=[("מצורף.docx", as_docx(parts)), ("a.csv", as_csv(parts))])
    return message.as_bytes()


def as_srt(parts: Sequence[Section]) -> bytes:
    said = [text for heading, paragraphs, _ in parts for text in (heading, *paragraphs) if text.strip()] or ["מילה"]
    cues = (
        f"{i + 1}\n00:{i:02d}:00,000 --> 00:{i:02d}:05,000\n{' '.join(text.split())}\n" for i, text in enumerate(said)
    )
    return "\n".join(cues).encode()


def as_vtt(parts: Sequence[Section]) -> bytes:
    cues = as_srt(parts).decode().replace(",000", ".000")
    return f"WEBVTT\n\n{cues}".encode()


def as_tsv(parts: Sequence[Section]) -> bytes:
    rows = [row for _, _, rows in parts for row in rows] or [["א", "ב", "ג"]]
    return "\n".join("\t".join(" ".join(text.split()) for text in row) for row in rows).encode()


def as_pdf(parts: Sequence[Section]) -> bytes:
    """A page a section; lines longer than a page is wide are divided."""
    texts = [[heading, *paragraphs, *(" ".join(row) for row in rows)] for heading, paragraphs, rows in parts]
    return drawn([[line for text in page for line in wrap(text, 60)] for page in texts])


def as_html(parts: Sequence[Section]) -> bytes:
    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;")

    pieces = ["<html><body>"]
    for heading, paragraphs, rows in parts:
        pieces += [f"<h2>{escaped(heading)}</h2>", *(f"<p>{escaped(text)}" for text in paragraphs), "<table>"]
        pieces += ["<tr>" + "".join(f"<td>{escaped(text)}" for text in row) for row in rows]
        pieces += ["</table>"]
    return "".join(pieces).encode()


def as_markdown(parts: Sequence[Section]) -> bytes:
    return "\n\n".join("\n\n".join((f"# {heading}", *paragraphs)) for heading, paragraphs, _ in parts).encode()


def as_plain(parts: Sequence[Section]) -> bytes:
    return "\n\n".join("\n\n".join((heading, *paragraphs)) for heading, paragraphs, _ in parts).encode()


MAKERS: dict[str, Callable[[Sequence[Section]], bytes]] = {
    "docx": as_docx,
    "pptx": as_pptx,
    "xlsx": as_xlsx,
    "odt": as_odt,
    "csv": as_csv,
    "eml": as_mail,
    "srt": as_srt,
    "vtt": as_vtt,
    "tsv": as_tsv,
    "pdf": as_pdf,
    "html": as_html,
    "md": as_markdown,
    "txt": as_plain,
}


def extracted(kind: str, parts: Sequence[Section]) -> ExtractedDocument:
    # One word of its own, so that no document is empty.
    whole = [*parts, ("", ["סוף המסמך כאן"], [])]
    return extract(MAKERS[kind](whole), name=f"מסמך.{kind}", max_bytes=LIMIT)


def check(document: ExtractedDocument, strategy: ChunkingStrategy, target: int, window: int) -> None:
    counter = WordCounter(window)
    chunks = chunk_document(document, ChunkingSpec(strategy=strategy, target=target, window=window), counter)
    covered = bytearray(len(document.text))
    end = 0
    for chunk in chunks:
        start, to = chunk.locator.from_, chunk.locator.to
        assert document.text[start:to] == chunk.content == chunk.content.strip()
        assert start >= end, "chunks overlap, or one lies in another"
        assert chunk.locator.label
        covered[start:to] = b"\1" * (to - start)
        end = to
        touched = [block for block in document.blocks if block.locator.from_ < to and block.locator.to > start]
        if strategy in BY_BOUNDARIES:
            assert {block.kind for block in touched} != {BlockKind.HEADING}, "a heading without content"
            said = [one.locator for one in touched if one.kind is not BlockKind.HEADING]
            assert len({(one.sheet, one.slide, one.page) for one in said}) <= 1, (
                "a passage of two sheets, slides, pages"
            )
    assert all(done or char.isspace() for done, char in zip(covered, document.text, strict=True))


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(parts=sections, target=st.integers(20, 300), window=st.integers(80, 400))
def test_every_strategy(kind: str, parts: list[Section], target: int, window: int) -> None:
    document = extracted(kind, parts)
    assert canonicalise(document.text) == document.text
    for strategy in STRATEGIES:
        check(document, strategy, target, window)


def plain_parts(name: str) -> list[Section]:
    return [(f"פרק {name}", [f"הפסקה של {name}.", "עובדה שחוזרת: 7731."], [["קוד", "שם", "מספר"], [name, "ב", "5"]])]


@pytest.mark.parametrize("kind", MAKERS)
def test_headers_are_of_their_own_document_and_a_fact_in_two_places_has_two(kind: str) -> None:
    spec = ChunkingSpec(strategy="E", target=60, window=400)
    for name, other in (("אחת", "שתיים"), ("שתיים", "אחת")):
        document = extracted(kind, [*plain_parts(name), *plain_parts(name)])
        chunks = chunk_document(document, spec, WordCounter(400))
        assert not any(other in chunk.header for chunk in chunks)
        if kind not in ("csv", "tsv"):
            places = {chunk.locator.from_ for chunk in chunks if "7731" in chunk.content}
            assert len(places) >= 2


def test_text_of_every_format_is_all_there() -> None:
    """What went in comes out: letters are compared, since each format has its own marks between them."""
    for kind in ("docx", "pptx", "odt", "html"):
        document = extracted(kind, plain_parts("אחת"))
        letters: Any = "".join(document.text.split())
        for said in ("פרקאחת", "הפסקהשלאחת.", "עובדהשחוזרת:7731.", "קוד", "אחת", "5"):
            assert said in letters, (kind, said)
