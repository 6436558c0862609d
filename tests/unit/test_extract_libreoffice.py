"""Documents that LibreOffice wrote: they say what the ones that it read say. A start of it takes a second."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Sequence
from pathlib import Path

import docx
import openpyxl
import pytest
from docx.oxml import OxmlElement

from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.registry import extract
from tests.unit.office_files import MIXED, fill_table, saved, word_contract

pytestmark = pytest.mark.extra("soffice")

LIMIT = 10_000_000
OFFICE_SECONDS_MAX = 180


def converted(files: Sequence[Path], target: str, folder: Path) -> list[Path]:
    """One start of LibreOffice for all the files."""
    out = folder / target
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    subprocess.run(
        ["soffice", "--headless", profile, "--convert-to", target, "--outdir", str(out), *map(str, files)],
        check=True,
        capture_output=True,
        timeout=OFFICE_SECONDS_MAX,
    )
    return [out / f"{file.stem}.{target}" for file in files]


def read(file: Path) -> ExtractedDocument:
    return extract(file.read_bytes(), name=file.name, max_bytes=LIMIT)


def price_book() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "מחירים"
    for row in (["פריט", "מחיר", "תאריך"], ["כיסא", 300.5, datetime.date(2024, 2, 15)], ["שולחן", 1200, None]):
        sheet.append(row)
    sheet["B2"].number_format = '#,##0.00 "₪"'
    sheet["A5"], sheet["B5"] = "סך הכול", "=SUM(B2:B3)"
    sheet.merge_cells("A7:C7")
    sheet["A7"] = "הערה ממוזגת"
    hidden = book.create_sheet("נסתר")
    hidden.append(["סוד", 1])
    hidden.sheet_state = "hidden"
    return saved(book)


def letter() -> bytes:
    """Set from the right, as Hebrew letters are."""
    document = docx.Document()
    for text in (MIXED, 'הטווח הוא 10–15 ק"מ, כ-5% מן הדרך.'):
        paragraph = document.add_paragraph()
        paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        paragraph.add_run(text)._r.get_or_add_rPr().append(OxmlElement("w:rtl"))
    fill_table(document, [["פריט", "כמות"], ["עציץ", "3"]])
    return saved(document)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every file, by what made it of what."""
    folder = tmp_path_factory.mktemp("office")
    sources = {"contract.docx": word_contract(), "prices.xlsx": price_book(), "letter.docx": letter()}
    for name, data in sources.items():
        (folder / name).write_bytes(data)
    (odt,) = converted([folder / "contract.docx"], "odt", folder)
    (again,) = converted([odt], "docx", folder)
    (book,) = converted([folder / "prices.xlsx"], "xlsx", folder)
    *_, page = converted([folder / "contract.docx", folder / "letter.docx"], "pdf", folder)
    return {"docx": folder / "contract.docx", "odt": odt, "docx of odt": again, "xlsx": book, "pdf": page}


@pytest.mark.parametrize("kind", ["odt", "docx of odt"])
def test_a_text_comes_back(kind: str, written: dict[str, Path]) -> None:
    """Headings, tracked changes, numbered items and tables, all of them."""
    first, other = read(written["docx"]), read(written[kind])
    assert other.text == first.text
    assert [(block.kind, block.section) for block in other.blocks] == [
        (block.kind, block.section) for block in first.blocks
    ]


def test_a_book_comes_back_with_what_its_formulas_give(written: dict[str, Path]) -> None:
    document = read(written["xlsx"])
    assert "פריט: כיסא | מחיר: 300.50 ₪ | תאריך: 2024-02-15" in document.text
    assert "סך הכול | 1500.5" in document.text
    assert "הערה ממוזגת" in document.text
    assert "סוד" not in document.text
    assert any("נסתר" in note for note in document.report)
    places = {block.locator.cells for block in document.blocks if block.locator.sheet == "מחירים"}
    assert "A2:C2" in places


def test_a_page_says_what_its_source_says(written: dict[str, Path]) -> None:
    document = read(written["pdf"])
    texts = [document.text[b.locator.from_ : b.locator.to] for b in document.blocks if b.kind is BlockKind.PARAGRAPH]
    assert MIXED in texts
    assert 'הטווח הוא 10–15 ק"מ, כ-5% מן הדרך.' in texts
