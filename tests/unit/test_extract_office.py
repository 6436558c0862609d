"""DOCX, PPTX, XLSX and ODT: reading order, sections, tables, places, and what is left out."""

from __future__ import annotations

import datetime
from typing import Any

import docx
import openpyxl.styles
import pptx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given
from hypothesis import strategies as st

from ingest.extract.base import ExtractedDocument
from ingest.extract.cell_values import shown
from ingest.extract.numerals import numeral
from ingest.extract.options import ExtractOptions
from ingest.extract.registry import extract
from search_config.errors import ExpansionTooLarge
from tests.unit.office_files import (
    MIXED,
    add_run,
    fill_table,
    open_document,
    part_of,
    presentation,
    repacked,
    saved,
    word_contract,
    workbook,
)

LIMIT = 50_000_000


def read(data: bytes, **limits: int) -> ExtractedDocument:
    """Extract; the name says nothing, so that the content has to."""
    return extract(data, name="file", max_bytes=LIMIT, options=ExtractOptions(**limits))


def lines(document: ExtractedDocument) -> list[str]:
    return [document.text[block.locator.from_ : block.locator.to] for block in document.blocks]


def word(fill: Any) -> ExtractedDocument:
    document = docx.Document()
    fill(document)
    return read(saved(document))


# --- DOCX


def test_a_word_document_in_reading_order() -> None:
    document = read(word_contract())
    assert lines(document) == [
        "הסכם שירותי גינון",
        "הצדדים",
        MIXED,
        "התשלום ישולם בתוך שלושים יום",
        "1. הספק יגזום את העצים.",
        "2. הספק יפנה את הגזם.",
        "מחירים",
        'פריט: עציץ | כמות: 3 | מחיר: 12 ש"ח',
        "פריט: דשא | כמות: 100 | מחיר: 1,200 ₪",
    ]
    assert document.title == "הסכם שירותי גינון"
    assert document.blocks[-1].section == ("הסכם שירותי גינון", "הצדדים", "מחירים")
    assert document.metadata["author"] == "דנה כהן"


@pytest.mark.parametrize("name", ["כותרת 2", "heading 2", "Heading 2"])
def test_headings_of_localised_styles(name: str) -> None:
    def fill(document: Any) -> None:
        style = document.styles.add_style("a22", 1)
        style.element.find(qn("w:name")).set(qn("w:val"), name)
        based = document.styles.add_style("based", 1)
        based.base_style = style
        document.add_paragraph("סעיף", style=based)
        document.add_paragraph("גוף הסעיף.")

    assert word(fill).blocks[1].section == ("סעיף",)


def test_outline_levels_make_headings_and_body_text_does_not() -> None:
    def fill(document: Any) -> None:
        for text, level in (("פרק", "0"), ("גוף", "9")):
            outline = OxmlElement("w:outlineLvl")
            outline.set(qn("w:val"), level)
            document.add_paragraph(text)._p.get_or_add_pPr().append(outline)

    document = word(fill)
    assert [block.kind for block in document.blocks] == ["heading", "paragraph"]


def test_hebrew_list_numbers_go_on_over_paragraphs() -> None:
    def fill(document: Any) -> None:
        numbering = document.part.numbering_part.element
        numbering.insert(
            0,
            parse_xml(
                f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">'
                '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="hebrew1"/><w:lvlText w:val="%1."/></w:lvl>'
                '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>'
                "</w:abstractNum>"
            ),
        )
        numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
        for text, level in (("אחד", 0), ("תת", 1), ("תת שני", 1), (None, 0), ("שניים", 0), ("תת שוב", 1)):
            paragraph = document.add_paragraph(text or "פסקה באמצע")
            if text:
                paragraph._p.get_or_add_pPr().append(
                    parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>')
                )

    assert lines(word(fill)) == ["א. אחד", "א.1 תת", "א.2 תת שני", "פסקה באמצע", "ב. שניים", "ב.1 תת שוב"]


def test_hidden_text_fields_and_boxes() -> None:
    def fill(document: Any) -> None:
        paragraph = document.add_paragraph("גלוי ")
        paragraph.add_run("נסתר").font.hidden = True
        add_run(paragraph, "w:hyperlink", "קישור")
        add_run(paragraph, "w:smartTag", " PAGE \\* MERGEFORMAT", "w:instrText")
        box = parse_xml(
            f'<w:r {nsdecls("w")} xmlns:v="urn:schemas-microsoft-com:vml"><w:pict><v:shape><v:textbox>'
            "<w:txbxContent><w:p><w:r><w:t>בתיבה</w:t></w:r></w:p></w:txbxContent>"
            "</v:textbox></v:shape></w:pict></w:r>"
        )
        paragraph._p.append(box)

    assert lines(word(fill)) == ["גלוי קישור", "בתיבה"]


def test_labels_and_values_stay_pairs() -> None:
    def fill(document: Any) -> None:
        fill_table(document, [("שם הספק:", 'אלון בע"מ'), ("ח.פ.:", "514")])

    assert lines(word(fill)) == ['שם הספק: אלון בע"מ', "ח.פ.: 514"]


def test_merged_cells_are_repeated_down_and_not_across() -> None:
    def fill(document: Any) -> None:
        table = fill_table(
            document, [("אזור", "סניף", "סכום"), ("צפון", "חיפה", "5"), ("", "עכו", "7"), ('סה"כ', "", "12")]
        )
        table.cell(1, 0).merge(table.cell(2, 0))
        table.cell(3, 0).merge(table.cell(3, 1))

    assert lines(word(fill)) == [
        "אזור: צפון | סניף: חיפה | סכום: 5",
        "אזור: צפון | סניף: עכו | סכום: 7",
        'אזור: סה"כ | סכום: 12',
    ]


def test_a_table_that_lays_out_a_letter_is_read_as_blocks() -> None:
    def fill(document: Any) -> None:
        table = fill_table(document, [("", "")])
        table.cell(0, 0).paragraphs[0].text = "צד אחד"
        inner = table.cell(0, 1).add_table(rows=1, cols=2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "א", "ב"

    assert lines(word(fill)) == ["צד אחד", "א | ב"]


def test_footnotes_stand_behind_their_paragraph() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("הטענה")
    run = OxmlElement("w:r")
    mark = OxmlElement("w:footnoteReference")
    mark.set(qn("w:id"), "2")
    run.append(mark)
    paragraph._p.append(run)
    document.add_paragraph("ההמשך")
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>המקור</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    data = saved(document)
    relations = part_of(data, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="rId99" Target="footnotes.xml" Type="http://schemas.openxmlformats.org/officeDocument/'
        b'2006/relationships/footnotes"/></Relationships>',
    )
    types = part_of(data, "[Content_Types].xml").replace(
        b"</Types>",
        b'<Override PartName="/word/footnotes.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        b'wordprocessingml.footnotes+xml"/></Types>',
    )
    changed = {
        "word/footnotes.xml": notes.encode(),
        "word/_rels/document.xml.rels": relations,
        "[Content_Types].xml": types,
    }
    assert lines(read(repacked(data, changed))) == ["הטענה", "[1] המקור", "ההמשך"]


def test_documents_with_macros_are_read_and_the_macros_reported() -> None:
    data = word_contract()
    types = part_of(data, "[Content_Types].xml").replace(
        b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        b"application/vnd.ms-word.document.macroEnabled.main+xml",
    )
    document = read(repacked(data, {"[Content_Types].xml": types, "word/vbaProject.bin": b"macro"}))
    assert document.text == read(data).text
    assert "It holds macros; they were not run." in document.report


# --- PPTX


def test_slides_from_the_right_with_groups_tables_and_notes() -> None:
    document = read(presentation())
    assert [(block.locator.slide, line) for block, line in zip(document.blocks, lines(document), strict=True)] == [
        (1, "תכנית העבודה לשנת 2024"),
        (2, "שלבים"),
        (2, "- שלב א: תכנון"),
        (2, "- שלב ב: ביצוע"),
        (2, "להדגיש את לוח הזמנים"),
        (3, "ראשון"),
        (3, "שני"),
        (3, "שלישי"),
        (3, "בתוך קבוצה"),
        (3, "רכיב: צמחים | סכום: 500"),
        (3, "רכיב: עבודה | סכום: 700"),
    ]
    assert document.title == "תכנית העבודה לשנת 2024"
    # The last slide has no title, and stands under nobody else's.
    assert document.blocks[-1].section == ()


def test_an_english_slide_is_read_from_the_left() -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    for text, left in (("second", 9), ("first", 1)):
        slide.shapes.add_textbox(pptx.util.Cm(left), pptx.util.Cm(3), pptx.util.Cm(5), pptx.util.Cm(2)).text = text
    hidden = show.slides.add_slide(show.slide_layouts[5])
    hidden.shapes.title.text = "third"
    hidden._element.set("show", "0")
    document = read(saved(show))
    assert lines(document) == ["first", "second", "third"]
    assert "Hidden slides, read all the same: 2." in document.report


# --- XLSX


def test_a_sheet_with_a_title_formats_and_merged_cells() -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        sheet.sheet_view.rightToLeft = True
        for row in (
            ["מחירון 2024"],
            [],
            ["פריט", "מחיר", "תאריך", "הנחה"],
            ["עט", 12.5, datetime.date(2024, 2, 15), 0.1],
            ["מחברת", 1200, datetime.datetime(2024, 3, 1, 10, 30), 0.055],
        ):
            sheet.append(row)
        sheet.merge_cells("A1:D1")
        for number in (4, 5):
            sheet.cell(number, 2).number_format = '#,##0.00 "₪"'
            sheet.cell(number, 4).number_format = "0.0%"
        sheet["B7"] = "=SUM(B4:B5)"
        hidden = book.create_sheet("סודי")
        hidden["A1"] = "לא נראה"
        hidden.sheet_state = "hidden"
        book.create_sheet("ריק")

    document = read(workbook(fill))
    assert [(block.locator.cells, line) for block, line in zip(document.blocks, lines(document), strict=True)] == [
        (None, "מחירים"),
        ("A1", "מחירון 2024"),
        ("A4:D4", "פריט: עט | מחיר: 12.50 ₪ | תאריך: 2024-02-15 | הנחה: 10.0%"),
        ("A5:D5", "פריט: מחברת | מחיר: 1,200.00 ₪ | תאריך: 2024-03-01 10:30 | הנחה: 5.5%"),
    ]
    assert {block.locator.sheet for block in document.blocks} == {"מחירים"}
    assert "Hidden sheets, not read: סודי." in document.report
    assert "Sheet 'ריק' is empty." in document.report
    assert any("1 formula(s) have no stored value" in line for line in document.report)


def test_a_formula_gives_its_stored_value() -> None:
    data = workbook(lambda book: book.active.append(["=1+1"]))
    name = "xl/worksheets/sheet1.xml"
    stored = part_of(data, name).replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>")
    document = read(repacked(data, {name: stored}))
    assert lines(document) == ["מחירים", "2"]
    assert document.report == ()


def test_a_list_with_a_blank_line_keeps_its_names_and_another_table_has_its_own() -> None:
    def fill(book: Any) -> None:
        for row in (
            ["שם", "עיר", "סכום"],
            ["דנה", "חיפה", 5],
            [],
            ["יוסי", "לוד", 7],
            [],
            ["קוד", "תיאור", "ימים"],
            ["א", "ארוך", 3],
        ):
            book.active.append(row)

    assert lines(read(workbook(fill)))[1:] == [
        "שם: דנה | עיר: חיפה | סכום: 5",
        "שם: יוסי | עיר: לוד | סכום: 7",
        "קוד: א | תיאור: ארוך | ימים: 3",
    ]


def test_bold_names_of_two_columns_of_words() -> None:
    def fill(book: Any) -> None:
        for row in (["Name", "Place"], ["Dana", "Haifa"], ["Yossi", "Lod"]):
            book.active.append(row)
        for cell in book.active[1]:
            cell.font = openpyxl.styles.Font(bold=True)

    assert lines(read(workbook(fill)))[1:] == ["Name: Dana | Place: Haifa", "Name: Yossi | Place: Lod"]


def test_cells_merged_down_are_repeated() -> None:
    def fill(book: Any) -> None:
        for row in (["אזור", "סניף", "סכום"], ["צפון", "חיפה", 5], [None, "עכו", 7]):
            book.active.append(row)
        book.active.merge_cells("A2:A3")

    assert lines(read(workbook(fill)))[1:] == [
        "אזור: צפון | סניף: חיפה | סכום: 5",
        "אזור: צפון | סניף: עכו | סכום: 7",
    ]


def empty_rows(data: bytes, first: int, last: int, *, ending: bytes = b"") -> bytes:
    name = "xl/worksheets/sheet1.xml"
    rows = b"".join(b'<row r="%d"><c r="A%d" s="0"/></row>' % (i, i) for i in range(first, last))
    return repacked(data, {name: part_of(data, name).replace(b"</sheetData>", rows + ending + b"</sheetData>")})


def test_a_million_empty_rows_are_not_looked_at() -> None:
    data = workbook(lambda book: book.active.append(["שם", "עט"]))
    document = read(empty_rows(data, 2, 1_000_000))
    assert lines(document) == ["מחירים", "שם | עט"]
    assert document.report == ("Sheet 'מחירים': the empty rows from row 2 on were not looked at.",)


def test_a_value_below_empty_rows_is_found_within_the_limit_and_refused_beyond() -> None:
    data = workbook(lambda book: book.active.append(["התחלה"]))
    ending = b'<row r="5000"><c r="A5000" t="inlineStr"><is><t>end</t></is></c></row>'
    long = empty_rows(data, 2, 5_000, ending=ending)
    assert lines(read(long))[-1] == "end"
    document = read(long, sheet_cells_max=1_000)
    assert "the empty rows from row 2 on were not looked at" in document.report[0]
    full = workbook(lambda book: [book.active.append([i, i]) for i in range(600)])
    with pytest.raises(ExpansionTooLarge, match="more than 1,000 cells"):
        read(full, sheet_cells_max=1_000)


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (1200.5, "#,##0.00", "1,200.50"),
        (1200.5, "[$₪-40D] #,##0.00", "₪ 1,200.50"),
        (1200.5, '"₪"#,##0.00', "₪1,200.50"),
        (-1200, "#,##0_);(#,##0)", "-1,200"),
        (-1200.5, '_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * "-"??_ ;_ @_ ', "-1,200.50"),
        (0.125, "0.0%", "12.5%"),
        (7, "000", "007"),
        (501234567, "0000000000", "0501234567"),
        (12, "0.##", "12"),
        (1234567, "#,##0,", "1,235"),
        (0.1 + 0.2, "General", "0.3"),
        (5.0, None, "5"),
        (True, None, "TRUE"),
        (datetime.time(9, 5), "h:mm", "09:05"),
        (datetime.timedelta(hours=30), "[h]:mm", "30:00:00"),
        (None, "0", ""),
    ],
)
def test_values_are_shown_as_their_format_shows_them(value: object, number_format: str | None, expected: str) -> None:
    assert shown(value, number_format) == expected


@given(st.floats(allow_nan=True), st.text(alphabet='0#,.%;"₪$ _*()[]-\\dmyhs/@E+General', max_size=14))
def test_no_format_is_too_odd(value: float, number_format: str) -> None:
    assert shown(value, number_format)


@pytest.mark.parametrize(
    ("number", "style", "written"),
    [
        (15, "hebrew1", "טו"),
        (116, "hebrew1", "קטז"),
        (23, "hebrew2", "אא"),
        (9, "lowerRoman", "ix"),
        (27, "upperLetter", "AA"),
    ],
)
def test_numerals(number: int, style: str, written: str) -> None:
    assert numeral(number, style) == written


# --- ODT


def test_an_open_document() -> None:
    document = read(open_document())
    assert lines(document) == [
        "נוהל השאלה",
        "הספר יוחזר בתוך שבועיים, אלא אם הוזמן.",
        "[1] למעט ספרי עיון",
        "- קורא רשום",
        "- קורא אורח",
        "סוג: ספר | ימים: 14 | קנס: 2 ₪",
        "סוג: כתב עת | ימים: 3 | קנס: 5 ₪",
    ]
    assert document.title == "נוהל השאלה"
    assert document.blocks[-1].section == ("נוהל השאלה",)


def test_deleted_text_and_comments_of_an_open_document_are_left_out() -> None:
    data = open_document()
    content = part_of(data, "content.xml").decode()
    opening = content.index(">", content.index("<office:text")) + 1
    extra = (
        '<text:tracked-changes xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><text:changed-region>'
        "<text:deletion><text:p>נמחק</text:p></text:deletion></text:changed-region></text:tracked-changes>"
        '<text:p xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">לפני<text:s text:c="3"/>'
        "<office:annotation><text:p>הערת עורך</text:p></office:annotation>אחרי</text:p>"
    )
    changed = (content[:opening] + extra + content[opening:]).encode()
    assert lines(read(repacked(data, {"content.xml": changed})))[0] == "לפני אחרי"
