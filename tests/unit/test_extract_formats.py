"""Plain text, Markdown and HTML: canonical text, blocks, sections, metadata; what is dropped and what must not be."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest

from ingest.extract.base import Block, BlockKind, ExtractedDocument
from ingest.extract.registry import extract
from search_config.errors import DocumentError, ExtractionFailed

LIMIT = 50_000_000
HEADING, PARAGRAPH, LIST_ITEM = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM
TABLE_ROW, CODE = BlockKind.TABLE_ROW, BlockKind.CODE


def read(source: str, name: str) -> ExtractedDocument:
    document = extract(source.encode(), name=name, max_bytes=LIMIT)
    covered = [False] * len(document.text)
    for block in document.blocks:
        covered[block.locator.from_ : block.locator.to] = [True] * (block.locator.to - block.locator.from_)
    assert all(done or char.isspace() for done, char in zip(covered, document.text, strict=True))
    return document


def shown(document: ExtractedDocument) -> list[tuple[BlockKind, str]]:
    return [(block.kind, of(document, block)) for block in document.blocks]


def of(document: ExtractedDocument, block: Block) -> str:
    return document.text[block.locator.from_ : block.locator.to]


# --- plain text


def test_plain_text_is_kept_to_the_letter() -> None:
    text = "  פסקה ראשונה. \n\n\n\nשנייה\tעם טאב\nושורה נוספת\n   \nשלישית\n"
    document = read(text, "note.txt")
    assert document.text == text
    assert [of(document, block).strip() for block in document.blocks] == [
        "פסקה ראשונה.",
        "שנייה\tעם טאב\nושורה נוספת",
        "שלישית",
    ]
    assert document.title == "note"


def test_plain_title_and_numbered_headings() -> None:
    document = read(
        "פרוטוקול ישיבה 3/2024\n\n1. פתיחה\nהישיבה נפתחה בשעה 18:12, ונכחו בה 13 חברים.\n\n"
        "1.1 נוכחות\n\nנעדרו שניים מן החברים.\n\n2. סיום\nהישיבה ננעלה בשעה 21:05 בדיוק.\n",
        "a.txt",
    )
    assert document.title == "פרוטוקול ישיבה 3/2024"
    assert [(block.kind, block.section) for block in document.blocks] == [
        (HEADING, ("פרוטוקול ישיבה 3/2024",)),
        (HEADING, ("1. פתיחה",)),
        (PARAGRAPH, ("1. פתיחה",)),
        (HEADING, ("1. פתיחה", "1.1 נוכחות")),
        (PARAGRAPH, ("1. פתיחה", "1.1 נוכחות")),
        (HEADING, ("2. סיום",)),
        (PARAGRAPH, ("2. סיום",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. תפוח\n2. אגס\n3. שזיף",  # a list
        "1. תפוח\n\n2. אגס\n\n3. שזיף",  # a list with blank lines
        "19.3.24 ישיבה\n\nגוף הטקסט כאן.",  # a date
        "3 ילדים ושני מבוגרים\n\nהגיעו אתמול.",  # a number that counts
        "1. החוזה נחתם ביום שני.\n\nוהוא בתוקף.",  # a sentence
        "2024. שנה\n\nגוף הטקסט.",
        "גוף הטקסט כאן.\n\n5. סוף",  # heads nothing
    ],
)
def test_no_false_heading(text: str) -> None:
    headings = [
        block for block in read(text, "a.txt").blocks if block.kind is HEADING and block.section[0][0].isdigit()
    ]
    titles = [block for block in headings if block.section == (read(text, "a.txt").title,)]
    assert headings == titles


def test_dataset_texts_come_back_to_the_letter() -> None:
    rows = ["פסקה\u00a0אחת\u200b של טקסט.\n\nפסקה שנייה, ארוכה יותר.", "יחידה"]
    for text in rows:
        assert extract(json.loads(json.dumps(text)).encode(), name="id", max_bytes=LIMIT).text == text


def test_long_lines_are_paragraphs_of_their_own() -> None:
    line = "משפט ארוך למדי שחוזר על עצמו. " * 10
    document = read(f"{line}\n{line}\nשורה קצרה.\n", "a.txt")
    assert len(document.blocks) == 3


# --- Markdown

MARKDOWN = """---
title: "חוזה 2024/318"
type: contract
date: 2024-03-19
tags: [גינון, שפ"ע]
---
# חוזה לתחזוקה

פסקה עם **הדגשה**, `קוד` ו[קישור](https://x.example/a_b) \\*כך\\*.
המשך אותה פסקה.

## 1. מחירים

| מק"ט | מחיר |
|---|---:|
| SKU-77/4 | 120 **ש"ח** |
| SKU-77/5 |  |

```sh
## לא כותרת
echo "x"   # y
```

- פריט ראשון
- פריט שני
  1. תת-פריט

  פסקה בתוך הפריט

> ציטוט

### 1.1 סוף

<div>בתוך <b>HTML</b></div>
"""


def test_markdown() -> None:
    document = read(MARKDOWN, "a.md")
    assert document.title == "חוזה 2024/318"
    assert document.metadata == {
        "title": "חוזה 2024/318",
        "type": "contract",
        "date": "2024-03-19",
        "tags": ["גינון", 'שפ"ע'],
    }
    assert shown(document) == [
        (HEADING, "חוזה לתחזוקה"),
        (PARAGRAPH, "פסקה עם הדגשה, קוד וקישור *כך*. המשך אותה פסקה."),
        (HEADING, "1. מחירים"),
        (TABLE_ROW, 'מק"ט: SKU-77/4 | מחיר: 120 ש"ח'),
        (TABLE_ROW, 'מק"ט: SKU-77/5'),
        (CODE, '## לא כותרת\necho "x"   # y'),
        (LIST_ITEM, "- פריט ראשון"),
        (LIST_ITEM, "- פריט שני"),
        (LIST_ITEM, "1. תת-פריט"),
        (LIST_ITEM, "פסקה בתוך הפריט"),
        (PARAGRAPH, "ציטוט"),
        (HEADING, "1.1 סוף"),
        (PARAGRAPH, "בתוך HTML"),
    ]
    assert document.blocks[3].section == ("חוזה לתחזוקה", "1. מחירים")
    assert document.blocks[-1].section == ("חוזה לתחזוקה", "1. מחירים", "1.1 סוף")
    assert "title" not in document.text


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("---\ntitle: [לא סגור\n---\n", "not valid YAML"),
        ("---\na: &x [1]\nb: *x\n---\n", "aliases"),
        ("---\n" + "[" * 3_000 + "\n---\n", "not valid YAML"),
        ("---\ndate: 2024-02-31\n---\n", ""),
        ("---\n---\n", ""),
    ],
)
def test_front_matter_is_never_content(front: str, says: str) -> None:
    document = read(front + "גוף הטקסט", "a.md")
    assert document.text == "גוף הטקסט"
    assert any(says in line for line in document.report) if says else document.report == ()


def test_rules_around_text_are_no_front_matter() -> None:
    document = read("---\nטקסט בין שני קווים\n\n---\n\nסוף", "a.md")
    assert "טקסט בין שני קווים" in document.text


def test_a_table_of_names_alone_is_kept() -> None:
    assert read("| א | ב |\n|---|---|\n", "a.md").text == "א | ב"


def test_deep_quotations_do_not_crash() -> None:
    assert read("> " * 5_000 + "x\n\nסוף", "a.md").text.endswith("סוף")


# --- HTML


def page(body: str) -> ExtractedDocument:
    return read(f"<!doctype html><html lang=he><head><title>כותרת</title></head><body>{body}</body></html>", "a.html")


def test_html_blocks() -> None:
    document = page(
        "<nav>תפריט</nav><h1>ראשי</h1><p>פסקה &amp; <b>הדגשה</b>&nbsp;ועוד\n שורה<br>שנייה</p>"
        "<ul><li>אחד<li>שניים<ol start=3><li>פנימי</ol></ul>"
        "<table><caption>מחירון</caption><thead><tr><th>קוד<th>מחיר</thead>"
        "<tr><td>E-4031<td><p>120</p>ש&quot;ח</tr><tr><td colspan=2>הערה</table>"
        "<pre>a\n  b</pre><script>bad()</script><p hidden>סמוי</p>"
        "<div style='display: none'>סמוי</div>זנב<h2>תת</h2>סוף"
    )
    assert shown(document) == [
        (HEADING, "ראשי"),
        (PARAGRAPH, "פסקה & הדגשה ועוד שורה\nשנייה"),
        (LIST_ITEM, "- אחד"),
        (LIST_ITEM, "- שניים"),
        (LIST_ITEM, "3. פנימי"),
        (PARAGRAPH, "מחירון"),
        (TABLE_ROW, 'קוד: E-4031 | מחיר: 120 ש"ח'),
        (TABLE_ROW, "הערה"),
        (CODE, "a\n  b"),
        (PARAGRAPH, "זנב"),
        (HEADING, "תת"),
        (PARAGRAPH, "סוף"),
    ]
    assert document.title == "כותרת"
    assert document.metadata == {"language": "he"}
    assert document.blocks[-1].section == ("ראשי", "תת")


def test_merged_cells_of_a_page_keep_names_with_their_values() -> None:
    rows = (
        "<tr><th>שם</th><th>שנה</th><th>סכום</th></tr>"
        "<tr><td rowspan=2>דנה</td><td>2023</td><td>5</td></tr><tr><td>2024</td><td>6</td></tr>"
        '<tr><td colspan=3>סה"כ 11</td></tr><tr><td colspan="9999999">הערה</td></tr>'
        f"<tr><td rowspan=9>{'מילה ' * 60}</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>"
    )
    document = extract(f"<html><body><table>{rows}</table></body></html>".encode(), name="a.html", max_bytes=LIMIT)
    lines = document.text.split("\n")
    assert lines[:3] == ["שם: דנה | שנה: 2023 | סכום: 5", "שם: דנה | שנה: 2024 | סכום: 6", 'סה"כ 11']
    assert lines[3] == "הערה"
    assert lines[-1] == "שנה: 3 | סכום: 4", "a text is not repeated in the rows that its cell reaches"


def test_a_layout_table_is_read_as_blocks() -> None:
    document = page("<table><tr><td><h1>ראשי</h1><p>א</p><p>ב</p></td><td><table><tr><td>1<td>2</table></td></table>")
    assert shown(document) == [(HEADING, "ראשי"), (PARAGRAPH, "א"), (PARAGRAPH, "ב"), (TABLE_ROW, "1 | 2")]


@pytest.mark.parametrize("element", ["div", "b", "ul", "table", "blockquote"])
def test_ten_thousand_nested_elements_lose_nothing(element: str) -> None:
    document = page(f"<{element}>" * 10_000 + "<p>עמוק</p>" + f"</{element}>" * 10_000 + "<p>סוף</p>")
    assert "עמוק" in document.text
    assert "סוף" in document.text


def test_what_would_lose_text_even_flat_is_refused() -> None:
    with pytest.raises(ExtractionFailed, match="nested too deeply"):
        page("<h1>" * 10_000 + "<p>סוף</p>")


def test_the_charset_of_meta_is_believed() -> None:
    source = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-8-i"><p>שלום לכולם'
    assert extract(source.encode("iso-8859-8"), name="a.html", max_bytes=LIMIT).text == "שלום לכולם"


def test_soft_hyphens_and_direction_marks_go() -> None:
    assert page("<p>ארו&shy;כה&rlm; &#x202b;מאוד&#x202c;").text == "ארוכה מאוד"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("." * 300_000, "a.txt"),
        (" " * 300_000 + "x", "a.txt"),
        ("\u00a0" * 300_000, "a.html"),
        ("<b " * 100_000, "a.html"),
        ("<div>" * 3_000 + "<b " * 100_000, "a.html"),
        ("[" * 20_000, "a.md"),
        ("`" * 100_000 + "x", "a.md"),
        ("---\n" + "a: b\n" * 60_000, "a.md"),
        ("1. x\n\n" * 50_000, "a.txt"),
    ],
)
def test_hostile_input_takes_no_quadratic_time(source: str, name: str) -> None:
    started = time.perf_counter()
    with contextlib.suppress(DocumentError):
        extract(source.encode(), name=name, max_bytes=LIMIT)
    # Linear time is far below a second; quadratic time of these sizes is minutes.
    assert time.perf_counter() - started < 15


def test_every_example_is_extracted(examples: Path) -> None:
    files = [path for path in sorted((examples / "documents").rglob("*")) if path.is_file()]
    assert len(files) >= 10
    for path in files:
        document = read(path.read_text(encoding="utf-8"), path.name)
        assert not document.report, path
        assert any(block.kind is HEADING for block in document.blocks), path
        assert "---\n" not in document.text, path
