"""Documents that the page is tried with: every kind of place, one that fails, one that waits, one that attacks."""

from __future__ import annotations

import io
from typing import Final

from openpyxl import Workbook
from reportlab.pdfgen.canvas import Canvas

PARKING: Final = """# נוהל אישורי חניה

## תושבים
תושב רשאי לקבל אישור חניה אחד לכל רכב הרשום על שמו, ותוקפו שנה מיום ההנפקה.

## תקלות
בתקלה E-4031 יש לפנות למוקד העירוני לפני הגשת בקשה חוזרת.
"""
CONTRACT: Final = """---
title: "הסכם אספקה · ספק: Acme Ltd."
type: contract
date: 2025-03-01
tags: [רכש]
---
# הסכם אספקה · ספק: Acme Ltd.

הסכם זה נחתם ביום 1 במרץ 2025 בין עיריית פרדס לבין Acme Ltd. (ח.פ. 512345678).
התמורה הכוללת היא 48,500 ש"ח כולל מע"מ. ההסכם בתוקף עד 28 בפברואר 2026.
הספק יתקן כל מדפסת תקולה בתוך שלושה ימי עבודה מיום הקריאה.
"""
# Nothing of this may ever run, nor become an element.
PAYLOAD: Final = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
# As plain text, so that no reader of formats takes the tags away before the page sees them.
ATTACK: Final = f"""The zebra clause

The zebra clause says {PAYLOAD} and <em>this is emphasised by the author</em> of the zebra clause.
"""
ATTACK_TITLE: Final = f"zebra {PAYLOAD}"
ATTACK_NAME: Final = "<b onmouseover=alert(1)>zebra<b>.txt"
SUBTITLES: Final = """1
00:00:04,000 --> 00:00:09,000
ברוכים הבאים להדרכה על בטיחות במעבדה.

2
00:01:05,000 --> 00:01:12,500
את המטף הכחול מפעילים רק לאחר ניתוק החשמל מהמכשיר.

3
00:02:30,000 --> 00:02:36,000
תודה שצפיתם, ולהתראות בהדרכה הבאה.
"""
DOUBTFUL: Final = """---
type: contract
---
# חוזה שכירות מחסן

החוזה נחתם ביום 31 בפברואר 2025 בין עיריית פרדס לבין מחסני הגליל בע"מ (ח.פ. 513333333).
דמי השכירות הם 2,000 ש"ח לחודש.
"""
BROKEN: Final = b"\x00\x01\x02\x03" * 100
BROKEN_NAME: Final = "broken.md"


PAGES: Final = (
    ("House rules", "Visitors sign the book at the gate and wear their badge at all times.",
     "Whoever forgets the badge borrows a yellow one from the porter, and brings it back before six in the evening.",
     "Dogs wait outside, but for those that guide the blind."),
    ("Bicycles", "Bicycles may stand in the northern shed for fourteen days, then the porter removes them.",
     "What was removed is kept in the cellar for a year, and sold at the spring fair if nobody asks for it.",
     "Scooters are charged under the eastern roof alone, never in the corridors."),
    ("Lifts", "The freight lift carries at most eight hundred kilograms.",
     "Furniture is moved between nine and eleven in the morning, after a call to the caretaker.",
     "When the alarm sounds, everybody takes the stairs on the garden side."),
)  # fmt: skip


def pdf() -> bytes:
    """Three pages; the second one says how long bicycles may stand in the shed."""
    kept = io.BytesIO()
    canvas = Canvas(kept)
    for lines in PAGES:
        canvas.setFontSize(10)
        for place, line in enumerate(lines):
            canvas.drawString(72, 760 - 24 * place, line)
        canvas.showPage()
    canvas.save()
    return kept.getvalue()


def workbook() -> bytes:
    """Prices by item."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "מחירים"
    for row in (
        ("פריט", "מחיר", "ספק"),
        ("שולחן עץ אלון", 1450, "Acme Ltd."),
        ("כיסא משרדי מתכוונן", 620, "רהיטי הצפון"),
    ):
        sheet.append(row)
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


CORPUS: Final[dict[str, bytes]] = {
    "נוהל חניה.md": PARKING.encode(),
    "הסכם Acme.md": CONTRACT.encode(),
    ATTACK_NAME: ATTACK.encode(),
    "הדרכה.srt": SUBTITLES.encode(),
    "house-rules.pdf": pdf(),
    "מחירון.xlsx": workbook(),
    "מחסן.md": DOUBTFUL.encode(),
    BROKEN_NAME: BROKEN,
}
