"""PDF documents: every page read, ordered and written as blocks that say on which page they stand."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import one_line
from ingest.extract.canonical import canonicalise
from ingest.extract.kinds import PDF
from ingest.extract.options import ExtractOptions
from ingest.extract.pdf import ocr
from ingest.extract.pdf.cells import headed, stands_apart
from ingest.extract.pdf.furniture import NAMED_MAX, EdgeRows
from ingest.extract.pdf.grid import Table
from ingest.extract.pdf.layout import arrange
from ingest.extract.pdf.model import Row
from ingest.extract.pdf.pages import DAMAGED, PageText, page_text
from ingest.extract.pdf.paragraphs import PageContext, Paragraph, TableText, laid_out, paragraphs_of, table_text
from ingest.extract.pdf.rows import rows_of_words
from ingest.extract.pdf.write import Part, Writer
from search_config.errors import DocumentTooLarge, DoubtfulDocument, EncryptedDocument, ExtractionFailed

# Pages whose rows are held at a time: enough to see what repeats, few enough that memory does not grow with the file.
BATCH_PAGES: Final = 24
# Readers look for the trailer in the last 1,024 bytes; files with more behind it exist.
TRAILER_WITHIN_BYTES: Final = 8_192
TRAILER: Final = b"startxref"
# Words of so little confidence are reported.
LOW_CONFIDENCE: Final = 0.6
PAGES_NAMED_MAX: Final = 20
OPEN_REMEDY: Final = "Open it in a PDF reader, print it to a new PDF, and ingest that."
# Titles that programs put there by themselves say nothing.
NO_TITLES: Final = ("microsoft", "untitled", "about:blank", "document", "ללא שם")

_NO_PAGES: Final = re.compile(rb"/Count\s+0\b")
_A_PAGE: Final = re.compile(rb"/Type\s*/Page\b")

# pdfium is not safe for threads.
_PDFIUM: Final = threading.Lock()


def extract_pdf(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a PDF.

    Args:
        data: the file's bytes.
        name: the file's name.
        options: `pdf_pages_max`, `drop_references`, `ocr`.

    Returns:
        The document; `doubts` names pages whose letters or whose order are in doubt, or that could not be read.

    Raises:
        EncryptedDocument: a password stands before it.
        DocumentTooLarge: more pages than allowed.
        ExtractionFailed: truncated or damaged, without pages, or pictures only where nothing recognises them.
        DoubtfulDocument: no page has letters that can be trusted.
    """
    with _PDFIUM:
        return _Reading(data, name, options).document()


class _Reading:
    """One file."""

    def __init__(self, data: bytes, name: str, options: ExtractOptions) -> None:
        self._data, self._name, self._options = data, name, options
        self._edges = EdgeRows()
        self._parts: list[Part] = []
        self._doubts: list[tuple[str, str]] = []
        self._problems: dict[str, list[int]] = {}
        self._recognised: list[int] = []
        self._turned: list[int] = []
        self._end = _PageEnd()

    def document(self) -> ExtractedDocument:
        pdf = self._opened()
        try:
            pages = len(pdf)
            self._check_pages(pages)
            for batch in _batches(self._pages(pdf, pages)):
                self._take(batch, pages)
            title = _title(pdf)
        finally:
            pdf.close()
        self._judge()
        writer = Writer(self._parts, drop_references=self._options.drop_references)
        writer.write()
        text, blocks = writer.builder.build()
        return ExtractedDocument(
            text=text,
            title=writer.first_heading or title or PurePath(self._name).stem,
            blocks=blocks,
            media_type=PDF,
            report=tuple(self._report(writer)),
            doubts=tuple(self._doubts),
        )

    def _opened(self) -> pdfium.PdfDocument:
        try:
            return pdfium.PdfDocument(self._data)
        except pdfium.PdfiumError as error:
            if _NO_PAGES.search(self._data) and not _A_PAGE.search(self._data):
                raise self._no_pages() from error
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                raise EncryptedDocument(
                    "The file is protected by a password.",
                    where=self._name,
                    remedy="Save it without a password, and ingest that.",
                ) from error
            raise ExtractionFailed(
                "The file is cut off or damaged: no PDF can be read from it.", where=self._name, remedy=OPEN_REMEDY
            ) from error

    def _check_pages(self, pages: int) -> None:
        if pages == 0:
            raise self._no_pages()
        if pages > self._options.pdf_pages_max:
            raise DocumentTooLarge(
                f"The file has {pages:,} pages; {self._options.pdf_pages_max:,} are allowed.",
                where=self._name,
                remedy="Split it, or raise MAFTEACH_PDF_PAGES_MAX.",
            )
        if TRAILER not in self._data[-TRAILER_WITHIN_BYTES:]:
            raise ExtractionFailed(
                "The file is cut off: its trailer is missing, and pages may be.", where=self._name, remedy=OPEN_REMEDY
            )

    def _no_pages(self) -> ExtractionFailed:
        return ExtractionFailed(
            "The file has no pages.", where=self._name, remedy="Remove it, or save it anew with pages."
        )

    def _pages(self, pdf: pdfium.PdfDocument, pages: int) -> Iterator[PageText]:
        use_ocr = self._options.ocr and ocr.missing() is None
        for i in range(pages):
            try:
                page = pdf[i]
                try:
                    yield page_text(page, i + 1, use_ocr=use_ocr)
                finally:
                    page.close()
            except pdfium.PdfiumError as error:
                yield PageText(i + 1, doubt=(DAMAGED, f"Page {i + 1} is damaged and could not be read ({error})."))

    def _take(self, batch: Sequence[PageText], pages: int) -> None:
        for page in batch:
            self._edges.look(page.rows, page.height, page.number)
        for page in batch:
            self._note(page)
            page.rows = self._edges.body(page.rows, page.height, page.number, pages=pages)
            parts, end = _parts(page, self._end, self._parts)
            self._parts += parts
            self._end = end

    def _note(self, page: PageText) -> None:
        if page.doubt:
            self._doubts.append(page.doubt)
        if page.problem:
            self._problems.setdefault(page.problem, []).append(page.number)
        if page.recognised:
            self._recognised.append(page.number)
        if page.backwards:
            self._turned.append(page.number)

    def _judge(self) -> None:
        """Refuse what has no text."""
        missing = ocr.missing() if self._options.ocr else "recognition is switched off (MAFTEACH_OCR)"
        if self._doubts and not self._parts:
            raise DoubtfulDocument(
                " ".join(["No page has text that can be trusted.", *(what for _, what in self._doubts[:NAMED_MAX])]),
                issues=tuple(self._doubts),
                where=self._name,
                remedy="Ingest a better copy" + (f", or have the pages recognised: {missing}." if missing else "."),
            )
        if self._parts or not self._problems:
            return
        raise ExtractionFailed(
            "No page has text: they are pictures" + (f", and {missing}." if missing else " in which none was found."),
            where=self._name,
            remedy=f"Install Tesseract (Debian packages: {ocr.PACKAGES}) and the extra `ocr`, and ingest it again."
            if missing
            else "Scan it anew, upright and at 300 dots an inch.",
        )

    def _report(self, writer: Writer) -> Iterator[str]:
        missing = ocr.missing() if self._options.ocr else "recognition is switched off (MAFTEACH_OCR)"
        for problem, numbers in self._problems.items():
            why = f"; {missing}" if missing else ""
            yield f"No text was read from {_named(numbers)}: {problem}{why}."
        if self._recognised:
            low = [
                part.page for part in self._parts if part.confidence is not None and part.confidence < LOW_CONFIDENCE
            ]
            yield f"Recognised by Tesseract: {_named(self._recognised)}."
            if low:
                yield f"Recognised with low confidence: parts of {_named(sorted(set(low)))}."
        if self._turned:
            yield f"The letters of {_named(self._turned)} stood backwards and were turned."
        if self._edges.texts or self._edges.numbers:
            named = ", ".join(f"“{one_line(text)}”" for text, _ in self._edges.texts.most_common(NAMED_MAX))
            numbers_note = f"{self._edges.numbers:,} page numbers" if self._edges.numbers else ""
            rows = f"{sum(self._edges.texts.values()):,} rows ({named})" if named else ""
            yield f"Left out as page headers and footers: {' and '.join(filter(None, (rows, numbers_note)))}."
        if writer.dropped_references:
            yield f"Left out as a list of references: {writer.dropped_references:,} paragraphs."


def _batches(pages: Iterator[PageText]) -> Iterator[list[PageText]]:
    batch: list[PageText] = []
    for page in pages:
        batch.append(page)
        if len(batch) == BATCH_PAGES:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _PageEnd:
    """What a page ends with that may go on overleaf: a table without lines, or a row that names a table's columns."""

    table: Table | None = None
    row: Row | None = None
    context: PageContext | None = None


def _parts(page: PageText, before: _PageEnd, written: list[Part]) -> tuple[list[Part], _PageEnd]:
    """A page's parts, and what it ends with.

    Args:
        page: the page.
        before: what the page before ends with.
        written: the parts of the pages before; a last row that proves to be column names becomes a table there.
    """
    direction = page.direction("L")
    laid = None if page.backwards else laid_out(page.rows)  # what was drawn backwards was drawn from the left
    context = PageContext(page.number, direction, laid, page.brackets_seen, page.over_picture)
    items: list[Row | Table] = sorted([*page.rows, *page.tables], key=lambda item: item.y)
    parts: list[Part] = []
    arranged = arrange(items, rtl=direction == "R", above=before.table)
    if arranged and isinstance(arranged[0], Table) and (names := _names(before, arranged[0])) is not None:
        written[-1] = names
    for i, part in enumerate(arranged):
        if isinstance(part, Table):
            table = table_text(part, context)
            table.starts_page, table.ends_page = i == 0, i == len(arranged) - 1
            parts.append(table)
        elif part:
            parts += paragraphs_of(part, context)
    end = _PageEnd() if page.more else _end(arranged, parts, context)
    for rows in page.more:
        if rows:
            words = [word for row in rows for word in row.words]
            parts += paragraphs_of(rows_of_words(words), context)
    return parts, end


def _names(before: _PageEnd, table: Table) -> TableText | None:
    """The last row of the page before as a table, where it has a name over each column of the first table here."""
    if before.row is None or before.context is None or not table.spans:
        return None
    named = headed(before.row, table, rtl=before.context.direction == "R")
    if named is None:
        return None
    text = table_text(named, before.context)
    text.ends_page = True
    return text


def _end(arranged: Sequence[list[Row] | Table], parts: Sequence[Part], context: PageContext) -> _PageEnd:
    last = arranged[-1] if arranged else None
    if isinstance(last, Table):
        return _PageEnd(table=last if last.spans else None)
    alone = bool(parts) and isinstance(parts[-1], Paragraph) and len(parts[-1].lines) == 1
    return _PageEnd(row=last[-1], context=context) if last and alone and stands_apart(last[-1]) else _PageEnd()


def _title(pdf: pdfium.PdfDocument) -> str:
    title = one_line(canonicalise(pdf.get_metadata_dict().get("Title", "")))
    said = title.lower()
    return "" if said.startswith(NO_TITLES) or PurePath(said).suffix else title


def _named(numbers: Sequence[int]) -> str:
    """`page 3` or `pages 3, 4, 9`, with a count where there are many."""
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    named = ", ".join(str(number) for number in numbers[:PAGES_NAMED_MAX])
    return f"pages {named}" + (
        f" and {len(numbers) - PAGES_NAMED_MAX:,} more" if len(numbers) > PAGES_NAMED_MAX else ""
    )
