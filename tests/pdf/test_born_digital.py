"""Pages that Chromium prints and LibreOffice exports, against the known text: character error rate at most .01."""

from __future__ import annotations

from pathlib import Path

import pytest
from docx import Document
from docx.oxml import OxmlElement

from ingest.extract.base import BlockKind, ExtractedDocument
from tests.pdf.makers import MIXED, error_rate, exported, page_words, printed, read

CER_MAX = 0.01
STYLE = "@page{size:A4;margin:25mm 20mm}body{font-family:'DejaVu Sans';font-size:11pt}"

COLUMN_TEXT = (
    "בסקר שנערך באביב נמצאו ליקויים בשלושה מבנים: סדקים בקירות, רטיבות בתקרות ומערכות חשמל שאינן עומדות בתקן 1220. "
    'העבודות הוזמנו מחברת Build-It Ltd. בעלות של 340,000 ש"ח, והסתיימו לפני תחילת שנת הלימודים.',
    'בסתיו הוחלפו 48 מזגנים, שופצו שני אולמות ספורט והותקנו מערכות כיבוי אש חדשות. ההוצאה עמדה על 1,250,000 ש"ח '
    '(כולל מע"מ), כ-12% יותר מן התקציב המאושר. ההפרש מומן מקרן הפיתוח של העירייה.',
    "לקראת שנת 2025 מתוכננים איטום גגות בשישה מבנים, החלפת צנרת ושיפור הנגישות. המחלקה ממליצה להקצות לכך תקציב רב "
    "שנתי ולפרסם מכרז אחד לכל העבודות, כדי לחסוך בזמן ובכסף.",
)
ENGLISH = (
    "The survey in spring found defects in three buildings: cracks in walls, damp ceilings, and wiring that does not "
    "meet the standard. The office of efficient affairs ordered the work from a local firm.",
    "In autumn the municipality, עיריית גבעת הדר, replaced 48 air conditioners and refurbished two gymnasiums. The "
    "cost was 12% above the approved budget, and the difference came from the reserve.",
)


def page(body: str, *, direction: str = "rtl", style: str = STYLE) -> str:
    head = f"<!doctype html><html dir={direction}><head><meta charset=utf-8><style>{style}</style></head>"
    return f"{head}<body>{body}</body></html>"


def paragraphs(texts: tuple[str, ...]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def quoted(document: ExtractedDocument, kind: BlockKind) -> list[str]:
    return [document.text[b.locator.from_ : b.locator.to] for b in document.blocks if b.kind is kind]


@pytest.mark.extra("chromium")
def test_mixed_lines(tmp_path: Path) -> None:
    more = (*MIXED, "בשנת 2023 Acme Ltd. חתמה על ההסכם, ושילמה 50% מראש.", "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם")
    document = read(printed(page(paragraphs(more)), tmp_path))
    assert quoted(document, BlockKind.PARAGRAPH) == list(more)


@pytest.mark.extra("chromium")
@pytest.mark.parametrize(("direction", "texts"), [("rtl", COLUMN_TEXT), ("ltr", ENGLISH * 2)])
def test_two_columns_are_read_one_after_the_other(direction: str, texts: tuple[str, ...], tmp_path: Path) -> None:
    columns = f"<h1>2024</h1><div style='column-count:2;column-gap:10mm'>{paragraphs(texts)}</div>"
    document = read(printed(page(columns, direction=direction), tmp_path))
    assert error_rate(document.text, " ".join(["2024", *texts])) <= CER_MAX


@pytest.mark.extra("chromium")
@pytest.mark.parametrize(
    "look",
    [
        "table{border-collapse:collapse;width:100%}td,th{border:1px solid black;padding:4px}",
        "table{border-collapse:collapse;width:100%}td,th{padding:4px}",
        "td,th{border:1px solid gray}",
        "td,th{}",
    ],
    ids=["ruled", "wide", "boxes", "plain"],
)
def test_a_table_keeps_headers_with_their_values(look: str, tmp_path: Path) -> None:
    cells = [
        ("פריט", "ספק", "מחיר"),
        ("מחשב נייד", "Dell Ltd.", "4,200"),
        ("מסך", "Bug (1998)", "950"),
        ("כיסא", "אור", "300"),
    ]
    tag = ["th", "td", "td", "td"]
    rows = "".join(f"<tr>{''.join(f'<{tag[i]}>{cell}</{tag[i]}>' for cell in row)}</tr>" for i, row in enumerate(cells))
    document = read(printed(page(f"<p>המחירון:</p><table>{rows}</table><p>סוף.</p>", style=STYLE + look), tmp_path))
    assert quoted(document, BlockKind.TABLE_ROW) == [
        "פריט: מחשב נייד | ספק: Dell Ltd. | מחיר: 4,200",
        "פריט: מסך | ספק: Bug (1998) | מחיר: 950",
        "פריט: כיסא | ספק: אור | מחיר: 300",
    ]
    assert quoted(document, BlockKind.PARAGRAPH) == ["המחירון:", "סוף."]


@pytest.mark.extra("chromium")
def test_a_long_document(tmp_path: Path) -> None:
    """Headers and footers go, headings make sections, a table goes on overleaf, and every block opens on its page."""
    style = (
        STYLE + "@page{@top-right{content:'נוהל פנימי – עיריית גבעת הדר'}"
        "@bottom-center{content:'עמוד ' counter(page) ' מתוך ' counter(pages)}}"
        "table{border-collapse:collapse}td,th{border:1px solid;padding:5px}"
    )
    clauses = [f'סעיף {i}: הזמנה שסכומה עולה על {i},000 ש"ח תובא לדיון בתיק E-{4000 + i}.' for i in range(1, 41)]
    rows = [f"<tr><td>מחלקה {i}</td><td>{i * 10},500</td></tr>" for i in range(1, 41)]
    html = (
        f"<h1>נוהל רכש</h1><h2>כללים</h2>{paragraphs(tuple(clauses))}<h2>תקציב</h2><table><thead><tr><th>יחידה</th>"
        f"<th>תקרה</th></tr></thead>{''.join(rows)}</table>"
    )
    data = printed(page(html, style=style), tmp_path)
    document = read(data)
    assert document.title == "נוהל רכש"
    assert "נוהל פנימי" not in document.text
    assert "מתוך" not in document.text
    assert any("נוהל פנימי – עיריית גבעת הדר" in note for note in document.report)
    assert quoted(document, BlockKind.PARAGRAPH) == clauses
    assert quoted(document, BlockKind.TABLE_ROW) == [f"יחידה: מחלקה {i} | תקרה: {i * 10},500" for i in range(1, 41)]
    assert {b.section for b in document.blocks if b.kind is BlockKind.TABLE_ROW} == {("נוהל רכש", "תקציב")}
    assert max(b.locator.page or 0 for b in document.blocks) > 2
    for block in document.blocks:
        assert block.locator.page is not None
        words = {
            "".join(sorted(w))
            for w in document.text[block.locator.from_ : block.locator.to].split()
            if w.isalpha() and len(w) > 2
        }
        assert words <= page_words(data, block.locator.page) | {"".join(sorted("יחידה")), "".join(sorted("תקרה"))}


@pytest.mark.extra("chromium")
def test_hyphens_at_line_ends(tmp_path: Path) -> None:
    divided = "The procurement committee considers applications quarterly; well-known suppliers are notified."
    source = (
        "The procure&shy;ment commit&shy;tee consid&shy;ers appli&shy;cations quar&shy;terly; "
        "well-known sup&shy;pliers are noti&shy;fied."
    )
    document = read(printed(page(f"<p style='width:38mm'>{source}</p>", direction="ltr"), tmp_path))
    assert " ".join(document.text.split()) == divided


@pytest.mark.extra("chromium")
def test_references_are_left_out_where_that_is_set(tmp_path: Path) -> None:
    body = (
        "<h1>מאמר</h1><p>גוף המאמר.</p><h2>מקורות</h2><p>[1] Cohen, D. (2019). Public law.</p>"
        "<h2>נספח</h2><p>לוח זמנים.</p>"
    )
    data = printed(page(body), tmp_path)
    kept, dropped = read(data), read(data, drop_references=True)
    assert "[1] Cohen, D. (2019). Public law." in kept.text
    assert "Cohen" not in dropped.text
    assert "לוח זמנים." in dropped.text
    assert any("references" in note for note in dropped.report)
    assert not any("references" in note for note in kept.report)


@pytest.mark.extra("soffice")
def test_libreoffice_export(tmp_path: Path) -> None:
    lines = (*MIXED, "בשנת 2023 Acme Ltd. חתמה על ההסכם, ושילמה 50% מראש.")
    file = Document()
    for line in lines:
        paragraph = file.add_paragraph()
        paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        run = paragraph.add_run(line)
        run._r.get_or_add_rPr().append(OxmlElement("w:rtl"))
    table = file.add_table(rows=0, cols=2)
    table.style = "Table Grid"
    table._tbl.tblPr.append(OxmlElement("w:bidiVisual"))
    for name, value in (("תשלום", "סכום"), ("ראשון", "4,800"), ("שני", "5,100")):
        cells = table.add_row().cells
        for cell, text in zip(cells, (name, value), strict=True):
            cell.paragraphs[0]._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
            cell.paragraphs[0].add_run(text)._r.get_or_add_rPr().append(OxmlElement("w:rtl"))
    source = tmp_path / "file.docx"
    file.save(str(source))
    document = read(exported(source, tmp_path))
    text = "\n".join(quoted(document, BlockKind.PARAGRAPH))
    assert error_rate(text, " ".join(lines)) <= CER_MAX
    assert quoted(document, BlockKind.TABLE_ROW) == ["תשלום: ראשון | סכום: 4,800", "תשלום: שני | סכום: 5,100"]
