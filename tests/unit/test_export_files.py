"""Results as files, read back with other libraries: what a spreadsheet would show."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from api.export.csv_file import csv_file
from api.export.safety import MAX_CELL, cell_text, inert, is_formula
from api.export.tables import Tables, link, tables_of
from api.export.words import WORDS
from api.export.xlsx_file import xlsx_file
from query.request import SearchResult
from search_config.records import DocumentRecord

FORMULA = '=HYPERLINK("http://evil.example","לחצו כאן")'
DAY = date(2025, 3, 1)


def hit(**other: Any) -> dict[str, Any]:
    content = other.get("content", "תושב מקבל אישור חניה אחד.")
    plain = {
        "rank": 1,
        "document_id": "d1",
        "version": 2,
        "content_hash": "abc",
        "chunk_id": "c1",
        "title": "נוהל חניה",
        "section": "תושבים",
        "content": content,
        "language": "he",
        "url": "https://docs.example/parking.pdf",
        "locator": {"from": 10, "to": 10 + len(content), "page": 7, "label": "עמוד 7"},
        "cosine_distance": 0.25,
        "scores": {"fused": 0.5},
    }
    return {**plain, **other}


def result(*hits: dict[str, Any], **other: Any) -> SearchResult:
    plain = {
        "query": "כמה אישורי חניה",
        "language": "he",
        "filters": {},
        "profile": "default/1",
        "index": {"name": "i", "model": "m", "pipeline": "p"},
        "weights": {"bm25": 1.0},
        "total": len(hits),
        "took_ms": {},
        "hits": hits,
    }
    return SearchResult.model_validate({**plain, **other})


def metadata(**other: Any) -> dict[str, Any]:
    plain = {
        "kind": "sum",
        "field": "amount",
        "value": Decimal("1250.50"),
        "currency": "ILS",
        "values": [{"name": "Acme Ltd.", "part": "vendor", "documents": 1, "total": Decimal("1250.50")}],
        "documents": [
            {"id": "d1", "name": "-הסכם", "value": Decimal("1250.50"), "currency": "ILS", "parties": ["Acme Ltd."]},
            {"id": "d2", "name": "אחר", "value": DAY},
        ],
        "counted": 2,
        "exact": True,
        "filters": {},
        "as_of": DAY,
        "text": "סך הכול 1,250.50 ש״ח",
    }
    return {**plain, **other}


def record() -> DocumentRecord:
    reading = {
        "status": "value",
        "value": "1250.50",
        "place": {"from": 4, "to": 12, "as_read": "1,250.50 ש״ח", "label": "עמוד 2"},
    }
    return DocumentRecord.model_validate(
        {
            "document_id": "d1",
            "tenant": "t",
            "name": "-הסכם",
            "source": "s",
            "state": "ready",
            "version": 3,
            "content_hash": "abc",
            "url": "https://docs.example/a",
            "extracted": {"amount": reading},
            "created_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-01-01T00:00:00Z",
        }
    )


def opened(tables: Tables) -> Any:
    return openpyxl.load_workbook(io.BytesIO(xlsx_file(tables)))


def rows_of(sheet: Any) -> list[dict[str, Any]]:
    headings, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    return [dict(zip(headings, row, strict=True)) for row in rows]


def test_a_passage_has_its_citation() -> None:
    book = opened(tables_of(result(hit()), {}))
    assert book.sheetnames == ["סיכום", "קטעים"]
    (row,) = rows_of(book["קטעים"])
    assert row["ציטוט"] == "תושב מקבל אישור חניה אחד."
    assert row["מסמך"] == "נוהל חניה"
    assert row["מיקום במקור"] == "עמוד 7"
    assert row["קישור"] == "https://docs.example/parking.pdf#page=7"
    assert (row["מזהה מסמך"], row["גרסה"], row["טביעת תוכן"]) == ("d1", 2, "abc")
    assert row["עד תו"] - row["מתו"] == len(row["ציטוט"])
    assert row["מרחק קוסינוס"] == 0.25
    assert book["קטעים"]["F2"].hyperlink.target.startswith("https://docs.example/parking.pdf")
    summary = dict(book["סיכום"].iter_rows(values_only=True))
    assert summary["שאלה"] == "כמה אישורי חניה"
    assert summary["מהות"] == "מצוטט מתוך המקורות, לא נבדקה נכונותו"


def test_hebrew_runs_from_right_to_left_and_english_from_left_to_right() -> None:
    for language, wanted in (("he", True), ("en", False), ("identifier", True)):
        book = opened(tables_of(result(hit(), language=language), {}))
        assert [bool(sheet.sheet_view.rightToLeft) for sheet in book] == [wanted, wanted]
    english = hit(content="One permit for each car.", language="en")
    assert opened(tables_of(result(english, language="identifier"), {})).sheetnames == ["Summary", "Passages"]
    other = hit(content="Одно разрешение на машину.", language="other")
    assert opened(tables_of(result(other, language="other"), {})).sheetnames == ["Summary", "Passages"]
    assert opened(tables_of(result(language="other"), {})).sheetnames == ["Summary", "Passages"]


def test_numbers_are_numbers_and_days_are_days() -> None:
    tables = tables_of(result(metadata=metadata()), {"d1": record()})
    book = opened(tables)
    assert book.sheetnames == ["סיכום", "מסמכים", "ערכים"]
    first, second = rows_of(book["מסמכים"])
    assert first["ערך"] == 1250.5
    assert second["ערך"].date() == DAY
    assert (first["ציטוט"], first["מיקום במקור"], first["גרסה"]) == ("1,250.50 ש״ח", "עמוד 2", 3)
    assert first["קישור"] == "https://docs.example/a#char=4,12"
    assert second["גרסה"] is None
    (value,) = rows_of(book["ערכים"])
    assert (value["שם"], value["סכום"], value["מספר מסמכים"]) == ("Acme Ltd.", 1250.5, 1)
    summary = dict(book["סיכום"].iter_rows(values_only=True))
    assert (summary["ערך"], summary["מסמכים שנספרו"], summary["מדויק"]) == (1250.5, 2, "כן")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "|", "＝", "\t=", " =", "\u200f=", "\n+"])
def test_formulas_are_text_in_both_formats(start: str) -> None:
    evil = f"{start}1+1"
    tables = tables_of(result(hit(title=evil, section=FORMULA, content=FORMULA), query=evil), {})
    book = opened(tables)
    for sheet in book:
        assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n", "d"}
    cell = book["קטעים"]["D2"]
    assert (cell.value, cell.quotePrefix) == (FORMULA, True)
    _, row = csv.reader(io.StringIO(csv_file(tables.chosen("auto")).decode("utf-8-sig")))
    assert row[1].startswith("'")
    assert row[1].endswith("1+1")
    assert (row[2], row[3]) == (f"'{FORMULA}", f"'{FORMULA}")


def test_what_is_no_formula_stays_to_the_letter() -> None:
    for text in ("תושב", "2-1", "a=b", "(+5)", "", "'x", "״שלום״"):
        assert inert(text) == text
        assert not is_formula(text)


def test_csv_is_read_by_excel_and_negative_numbers_stay_numbers() -> None:
    low = metadata(documents=[{"id": "d1", "name": "זיכוי", "value": Decimal("-1E+3"), "currency": "ILS"}])
    data = csv_file(tables_of(result(metadata=low), {}).chosen("auto"))
    assert data.startswith(b"\xef\xbb\xbf")
    assert b"\r\n" in data
    headings, row = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert dict(zip(headings, row, strict=True))["ערך"] == "-1000"


def test_tables_of_a_csv_are_chosen_by_name() -> None:
    tables = tables_of(result(hit(), metadata=metadata()), {})
    assert list(tables.tables) == ["passages", "documents", "values"]
    assert tables.chosen("auto").name == "קטעים"
    assert tables.chosen("values").rows[0][0] == "Acme Ltd."
    assert tables_of(result(hit()), {}).chosen("documents").rows == ()


def test_a_refusal_says_so_in_every_row() -> None:
    tables = tables_of(result(hit(), refused=True, reason="score .1 under .3"), {})
    (row,) = rows_of(opened(tables)["קטעים"])
    assert row["הערה"] == WORDS["he"]["nearest"]
    assert ("סירוב", "כן") in tables.summary
    assert WORDS["he"]["nearest"] in csv_file(tables.chosen("auto")).decode("utf-8-sig")


def test_no_result_is_a_table_without_rows() -> None:
    tables = tables_of(result(), {})
    assert rows_of(opened(tables)["קטעים"]) == []
    assert len(csv_file(tables.chosen("auto")).decode("utf-8-sig").splitlines()) == 1


def test_strange_text_makes_a_sound_file() -> None:
    strange = "א\x00ב\x0bג\r\nד\ufffe <script>&amp; _x0041_ 🚗"
    tables = tables_of(result(hit(content=strange, section=strange * 5000)), {})
    data = xlsx_file(tables)
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    (row,) = rows_of(openpyxl.load_workbook(io.BytesIO(data))["קטעים"])
    assert row["ציטוט"].startswith("א\ufffdב\ufffdג\nד\ufffd <script>&amp; ")
    assert row["ציטוט"].endswith("🚗")
    assert row["סעיף"].endswith(" …")
    assert len(cell_text("🚗" * MAX_CELL).encode("utf-16-le")) <= 2 * MAX_CELL


def test_links_are_of_the_web() -> None:
    assert link("https://a.example/x", "#page=1") == "https://a.example/x#page=1"
    for url in (None, "file:///etc/passwd", "javascript:alert(1)", "internal:Sheet1!A1", "https://a.example/x#y"):
        assert link(url, "#page=1") == ""


def test_every_heading_is_in_both_languages() -> None:
    assert set(WORDS["he"]) == set(WORDS["en"])
    assert all(text for words in WORDS.values() for text in words.values())
