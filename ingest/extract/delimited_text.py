"""CSV and TSV: the separator by what the rows look like, each value behind its column's name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import Place, TextBuilder
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode, report_of
from ingest.extract.delimited import separator_of
from ingest.extract.foreign import parsing
from ingest.extract.kinds import CSV, TSV
from ingest.extract.options import ExtractOptions
from ingest.extract.tables import Row, add_table
from ingest.extract.visual import to_logical
from search_config.errors import ExpansionTooLarge
from search_config.locators import box_cells

# Characters that the separator is told from.
SNIFFED_CHARS: Final = 20_000
# A quotation mark that is never closed makes one cell of the rest of the file; the reader's own limit is 131,072.
CELL_CHARS_MAX: Final = 1_000_000
SEPARATOR_LINE: Final = "sep="


def extract_delimited(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a table of text.

    Raises:
        BinaryDocument, UndecodableDocument, ExtractionFailed
        ExpansionTooLarge: more cells than the limit.
    """
    decoded = decode(data, name=name)
    text = canonicalise(to_logical(decoded.text) if decoded.visual else decoded.text)
    first_row = 1
    if text[: len(SEPARATOR_LINE)].lower() == SEPARATOR_LINE:  # Excel's own line
        line, _, text = text.partition("\n")
        separator, first_row = line[len(SEPARATOR_LINE) :][:1] or ",", 2
    else:
        separator = separator_of(text[:SNIFFED_CHARS])
    builder = TextBuilder()
    with parsing("CSV", name):
        csv.field_size_limit(CELL_CHARS_MAX)
        reader = csv.reader(io.StringIO(text), delimiter=separator)
        add_table(builder, _rows(reader, first_row, name, options), group=1)
    content, blocks = builder.build()
    return ExtractedDocument(
        text=content,
        title=PurePath(name).stem,
        blocks=blocks,
        media_type=TSV if separator == "\t" else CSV,
        report=report_of(decoded),
    )


def _rows(reader: Iterator[list[str]], first_row: int, name: str, options: ExtractOptions) -> Iterator[Row]:
    left = options.sheet_cells_max
    for number, cells in enumerate(reader, start=first_row):
        left -= max(1, len(cells))
        if left < 0:
            raise ExpansionTooLarge(
                f"It has more than {options.sheet_cells_max:,} cells, up to row {number:,}.",
                where=name,
                remedy="Split it, or raise MAFTEACH_SHEET_CELLS_MAX.",
            )
        if cells:
            yield Row(tuple(cells), Place(cells=box_cells((1, number, len(cells), number))))
