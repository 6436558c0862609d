"""Documents whose text is known, for `scripts.measure_pdf`: the project's examples, and hard pages of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import CELL_SEPARATOR, LABEL_SEPARATOR, row_text
from ingest.extract.registry import extract
from search_config.language import language_of
from search_config.settings import load_settings

# Rows of a table whose names take more columns than a page holds are no table that anybody prints.
COLUMNS_MAX: Final = 7


@dataclass(frozen=True, slots=True)
class Text:
    """A heading (level 1 and up), a paragraph (level 0), or an item of a list."""

    text: str
    level: int = 0
    item: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its first row names the columns."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def lines(self) -> list[str]:
        """Its rows as extraction writes them."""
        return [row_text(list(row), list(self.names)) for row in self.rows]


Part = Text | Grid


@dataclass(frozen=True, slots=True)
class Source:
    """A document.

    Attributes:
        rtl: read from the right.
        columns: columns of running text on its pages.
    """

    name: str
    parts: tuple[Part, ...]
    rtl: bool = True
    columns: int = 1

    @property
    def text(self) -> str:
        """What should come out."""
        return "\n".join(
            line for part in self.parts for line in (part.lines if isinstance(part, Grid) else [part.text])
        )


def example_sources(folder: Path) -> Iterator[Source]:
    """Every document of a folder, as its own format's extractor reads it."""
    limit = load_settings().max_file_bytes
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            document = extract(path.read_bytes(), name=path.name, max_bytes=limit)
            yield Source(path.stem, tuple(_parts(document)), rtl=language_of(document.text) == "he")


def _parts(document: ExtractedDocument) -> Iterator[Part]:
    runs: list[list[int]] = []
    blocks = document.blocks
    for i, block in enumerate(blocks):
        together = (
            i > 0
            and block.kind is blocks[i - 1].kind is BlockKind.TABLE_ROW
            and document.text[blocks[i - 1].locator.to : block.locator.from_] == "\n"
        )
        if together:
            runs[-1].append(i)
        else:
            runs.append([i])
    for run in runs:
        lines = [document.text[blocks[i].locator.from_ : blocks[i].locator.to] for i in run]
        kind = blocks[run[0]].kind
        if kind is BlockKind.CODE:
            continue  # its blanks and line ends matter, and are not measured here
        if kind is BlockKind.TABLE_ROW:
            yield from _grid(lines)
        else:
            level = len(blocks[run[0]].section) if kind is BlockKind.HEADING else 0
            yield Text(" ".join(lines[0].split()), level, item=kind is BlockKind.LIST_ITEM)


def _grid(lines: Sequence[str]) -> Iterator[Part]:
    """Rows of `name: value` as a table again."""
    rows = [
        dict(cell.split(LABEL_SEPARATOR, 1) for cell in line.split(CELL_SEPARATOR) if LABEL_SEPARATOR in cell)
        for line in lines
    ]
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    if 1 < len(names) <= COLUMNS_MAX and len(rows) > 1:
        yield Grid(names, tuple(tuple(row.get(name, "") for name in names) for row in rows))
        return
    yield from (Text(line) for line in lines)


def hard_sources() -> Iterator[Source]:
    """Pages with what goes wrong elsewhere: mixed lines, points, columns, tables, English with Hebrew in it."""
    yield Source("mixed-lines", tuple(Text(line) for line in MIXED_LINES))
    yield Source("english-lines", tuple(Text(line) for line in ENGLISH_LINES), rtl=False)
    yield Source("two-columns", (Text("דוח מצב המבנים", 1), *(Text(text) for text in COLUMN_TEXT)), columns=2)
    yield Source("tables", tuple(_interleaved(("מחירון", "לוח תשלומים", "מצבת ציוד", "Contacts"), TABLES)))


def _interleaved(headings: Sequence[str], tables: Sequence[Grid]) -> Iterator[Part]:
    for heading, table in zip(headings, tables, strict=True):
        yield Text(heading, 2)
        yield Text("הפרטים בטבלה שלהלן, נכון ליום 1.3.2024.")
        yield table
    yield Text("סוף המסמך.")


MIXED_LINES: Final = (
    "נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8)",
    'בסך 12,500 ש"ח, כולל מע"מ בשיעור 17%.',
    "קוד התקלה הוא E-4031 ולא E-4032.",
    "טלפון 03-5551234, בתאריך 15.2.24, בשעה 10:30.",
    "הפרויקט נמשך בין 2019–2021 (כולל), ראו [א] בנספח.",
    'הטמפרטורה ירדה ל-5- מעלות, ובטווח 10–15 ק"מ נמדדו 3.5%.',
    "הגרסה iOS 17.2 (build 21C62) הותקנה ב-48 מכשירים.",
    'לדברי ח"כ ד"ר רות אור־לב: "אין לקבל זאת"; ראו ע\' 12–15.',
    "הקובץ נשמר בכתובת https://example.org/a/b?c=1 ונשלח אל dana@example.org.",
    "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ.",
    "המחיר: $1,200.50 או €1,100 (כ-4,500 ₪).",
    "התאריך 14/3/25 נקבע בסעיף 4(ב)(1) לחוזה.",
    "צ'ק מס' 00123 על סך 1,000 ש\"ח נמסר לג'ורג' בשעה 14:05.",
    'המנהל הציג את תוכנית "Smart City (גבעת הדר)" למועצה.',
)
ENGLISH_LINES: Final = (
    "The agreement with עיריית גבעת הדר was signed on March 14, 2025.",
    "Invoice no. 2024-118 (חשבונית מס) is for USD 3,000.",
    "See section 4.2 [draft], pages 10–15, at a rate of 17%.",
    "Call +972-3-555-1234 before 10:30; ask for Dana (דנה).",
)
COLUMN_TEXT: Final = (
    "בסקר שנערך באביב נמצאו ליקויים בשלושה מבנים: סדקים בקירות, רטיבות בתקרות ומערכות חשמל שאינן עומדות בתקן 1220. "
    'העבודות הוזמנו מחברת Build-It Ltd. בעלות של 340,000 ש"ח, והסתיימו לפני תחילת שנת הלימודים.',
    'בסתיו הוחלפו 48 מזגנים, שופצו שני אולמות ספורט והותקנו מערכות כיבוי אש חדשות. ההוצאה עמדה על 1,250,000 ש"ח '
    '(כולל מע"מ), כ-12% יותר מן התקציב המאושר. ההפרש מומן מקרן הפיתוח של העירייה.',
    "לקראת שנת 2025 מתוכננים איטום גגות בשישה מבנים, החלפת צנרת ושיפור הנגישות. המחלקה ממליצה להקצות לכך תקציב רב "
    "שנתי ולפרסם מכרז אחד לכל העבודות, כדי לחסוך בזמן ובכסף.",
    "הדוח הוגש למועצה ביום 3.4.2024 ונדון בישיבתה ה-17. חברי המועצה ביקשו לקבל פירוט של ההוצאות לפי מבנה, לוח זמנים "
    "מעודכן וחוות דעת של מהנדס קונסטרוקציה על שני המבנים הישנים ביותר.",
)
TABLES: Final = (
    Grid(
        ("פריט", "ספק", "מחיר"),
        (
            ("מחשב נייד", "Dell Ltd.", "4,200"),
            ("מסך 27 אינץ'", "Bug (1998)", "950"),
            ("כיסא", "אור", "300"),
            ("שולחן ישיבות", "נגריית הצפון", "2,150"),
        ),
    ),
    Grid(
        ("מס'", "מועד", "תיאור התשלום", 'סכום בש"ח'),
        (
            ("1", "1.2.2024", "מקדמה עם חתימת ההסכם", "25,000"),
            ("2", "15.4.2024", "סיום שלב א'", "40,000"),
            ("3", "30.6.2024", "מסירה סופית ואישור המזמין", "35,000"),
        ),
    ),
    Grid(
        ("יחידה", "כמות", "מצב", "הערות"),
        (
            ("אגף החינוך", "12", "תקין", ""),
            ("אגף הרווחה", "7", "דרוש תיקון", "הוזמן טכנאי ליום ראשון"),
            ("לשכת ראש העיר", "3", "תקין", "נבדק ב-2023"),
            ("ארכיון", "25", "מושבת", ""),
        ),
    ),
    Grid(
        ("Name", "Role", "Phone"),
        (
            ("Dana Levi", "Project manager", "03-555-1234"),
            ("Amir Cohen", "Site engineer", "04-555-9876"),
            ("Ruth Barak", "Finance", "02-555-4321"),
        ),
    ),
)
