"""Places: their words, their fragments, and what becomes of them in a passage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunking import ChunkingSpec, chunk_document
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import Place, TextBuilder
from ingest.extract.kinds import CSV, PDF, PLAIN, PPTX, SRT, XLSX
from search_config.locators import box_cells, cells_box, clock, column_letters, fragment, locator_label, spanning
from search_config.records import Locator
from tests.unit.counters import NO_LIMIT


def place(**fields: Any) -> Locator:
    return Locator.model_validate({"from": 10, "to": 25, **fields})


@pytest.mark.parametrize(
    ("locator", "media_type", "expected", "hebrew", "english"),
    [
        (place(page=7), PDF, "#page=7", "עמוד 7", "page 7"),
        (place(slide=3), PPTX, "#slide=3", "שקופית 3", "slide 3"),
        (
            place(sheet="גיליון 1", cells="B4:C9"),
            XLSX,
            "#sheet=%D7%92%D7%99%D7%9C%D7%99%D7%95%D7%9F%201&range=B4:C9",
            "גיליון גיליון 1, B4:C9",
            "sheet גיליון 1, B4:C9",
        ),
        (place(sheet="a&b=c"), XLSX, "#sheet=a%26b%3Dc", "גיליון a&b=c", "sheet a&b=c"),
        (place(cells="A4:C9"), CSV, "#cell=4,1-9,3", "שורות 4–9", "rows 4–9"),
        (place(cells="A4:C4"), CSV, "#cell=4,1-4,3", "שורה 4", "row 4"),
        (place(start_s=65.0, end_s=80.5), SRT, "#t=65,80.5", "00:01:05", "00:01:05"),
        (place(), PLAIN, "#char=10,25", "תווים 10–25", "characters 10–25"),
        (
            place(page=2, attachment="a b.pdf"),
            "message/rfc822",
            "#attachment=a%20b.pdf&page=2",
            "a b.pdf, עמוד 2",
            "a b.pdf, page 2",
        ),
        (place(attachment="a.txt"), "message/rfc822", "#attachment=a.txt&char=10,25", "a.txt", "a.txt"),
    ],
)
def test_words_and_fragments(locator: Locator, media_type: str, expected: str, hebrew: str, english: str) -> None:
    assert fragment(locator, media_type) == expected
    assert locator_label(locator, "he") == hebrew
    assert locator_label(locator, "en") == locator_label(locator, "other") == english


@given(st.integers(1, 16_384), st.integers(1, 1_048_576), st.integers(0, 50), st.integers(0, 50))
def test_cell_ranges_come_back(column: int, row: int, wide: int, high: int) -> None:
    box = (column, row, column + wide, row + high)
    assert cells_box(box_cells(box)) == box


def test_columns_and_clock() -> None:
    assert [column_letters(column) for column in (1, 26, 27, 702, 703, 16_384)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
    assert [clock(seconds) for seconds in (0.0, 59.99, 65.4, 36_061.0)] == [
        "00:00:00",
        "00:00:59",
        "00:01:05",
        "10:01:01",
    ]
    assert cells_box("not cells") is None


def test_a_passage_spans_its_parts_within_one_sheet() -> None:
    parts = [place(sheet="א", cells="B2:C2"), place(sheet="א", cells="A3:D3"), place(sheet="ב", cells="A1")]
    assert spanning(parts, 0, 90).cells == "A2:D3"
    assert spanning([place(start_s=1.5, end_s=4.0), place(start_s=4.0, end_s=9.0)], 0, 9).end_s == 9.0


def document(parts: list[tuple[BlockKind, str, Place]]) -> ExtractedDocument:
    builder = TextBuilder()
    for kind, text, where in parts:
        if kind is BlockKind.HEADING:
            builder.heading(text, 1, place=where)
        else:
            builder.add(kind, text, place=where)
    text, blocks = builder.build()
    return ExtractedDocument(text=text, title="מסמך", blocks=blocks, media_type=XLSX)


def chunks_of(strategy: Any, parts: list[tuple[BlockKind, str, Place]], target: int = 500) -> list[Locator]:
    spec = ChunkingSpec(strategy=strategy, target=target, window=10_000)
    return [chunk.locator for chunk in chunk_document(document(parts), spec, NO_LIMIT)]


ROW, TEXT, HEADING = BlockKind.TABLE_ROW, BlockKind.PARAGRAPH, BlockKind.HEADING


def test_passages_of_two_sheets_are_two_even_without_headings() -> None:
    parts = [(ROW, "שורה", Place(sheet="א", cells="A1:B1")), (ROW, "עוד", Place(sheet="ב", cells="A1:B1"))]
    assert [one.label for one in chunks_of("E", parts)] == ["גיליון א, A1:B1", "גיליון ב, A1:B1"]


def test_a_blind_window_over_two_sheets_names_both() -> None:
    parts = [
        (ROW, "שורה", Place(sheet="א", cells="A1:B1")),
        (ROW, "שורה", Place(sheet="א", cells="A2:C2")),
        (ROW, "עוד", Place(sheet="ב", cells="A5:B5")),
    ]
    (only,) = chunks_of("A", parts)
    assert only.label == "גיליון א, A1:C2 – גיליון ב, A5:B5"
    assert (only.sheet, only.cells) == ("א", "A1:C2")


def test_a_passage_is_of_one_page() -> None:
    parts = [(TEXT, "סוף העמוד", Place(page=7)), (TEXT, "ראש הבא", Place(page=8))]
    assert [(one.page, one.label) for one in chunks_of("E", parts)] == [(7, "עמוד 7"), (8, "עמוד 8")]
    (blind,) = chunks_of("A", parts)
    assert (blind.page, blind.label) == (7, "עמוד 7 – עמוד 8")


def test_a_heading_that_rides_along_does_not_move_the_place() -> None:
    (only,) = chunks_of(
        "E", [(HEADING, "שער", Place(slide=1)), (HEADING, "תוכן", Place(slide=2)), (TEXT, "גוף", Place(slide=2))]
    )
    assert (only.slide, only.label) == (2, "שקופית 2")


def test_a_fact_in_two_places_has_two_places() -> None:
    fact = "קוד הכספת הוא 7731."
    found = chunks_of(
        "E",
        [
            (HEADING, "א", Place(page=1)),
            (TEXT, fact, Place(page=1)),
            (HEADING, "ב", Place(page=9)),
            (TEXT, fact, Place(page=9)),
        ],
    )
    assert [one.page for one in found] == [1, 9]
    assert found[0].from_ != found[1].from_
