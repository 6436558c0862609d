"""The same text comes out of a page whatever order its file stores, and whichever way its letters were drawn."""

from __future__ import annotations

import io
import random

import pytest

from ingest.extract.pdf.order import AGREEMENT_RECOGNISED, Order, Signs
from search_config.errors import DoubtfulDocument
from tests.pdf.makers import MIXED, drawn, error_rate, joined, read

TEXT = " ".join(MIXED)


def test_a_visual_text_layer() -> None:
    document = read(drawn([MIXED]))
    assert error_rate(document.text, TEXT) == 0
    assert document.doubts == ()
    assert not any("backwards" in note for note in document.report)


def test_a_page_that_stands_backwards_is_turned_and_reported() -> None:
    document = read(drawn([MIXED], backwards=True))
    assert error_rate(document.text, TEXT) == 0
    assert "The letters of page 1 stood backwards and were turned." in document.report


def test_words_that_stand_backwards_in_their_places() -> None:
    lines = ("הסכם זה נחתם בין הצדדים ביום ראשון.", "הספקים מתחייבים לספק את כל המוצרים בזמן.", "שלום לכולם, זה הסוף.")
    assert error_rate(read(drawn([lines], by_words=True)).text, " ".join(lines)) == 0


def test_each_page_for_itself() -> None:
    document = read(joined([drawn([MIXED]), drawn([MIXED], backwards=True), drawn([MIXED])]))
    pages = {page: [b for b in document.blocks if b.locator.page == page] for page in (1, 2, 3)}
    for blocks in pages.values():
        text = document.text[blocks[0].locator.from_ : blocks[-1].locator.to]
        assert error_rate(text, TEXT) == 0
    assert "The letters of page 2 stood backwards and were turned." in document.report


def test_a_page_of_both_orders_is_in_doubt() -> None:
    seen, backwards = drawn([MIXED[:3]]), [line[::-1] for line in MIXED]
    assert read(seen).doubts == ()
    mixed = drawn([[*MIXED, *backwards]])
    document = read(mixed)
    assert [code for code, _ in document.doubts] == ["order_in_doubt"]
    assert "page 1 " in document.doubts[0][1]


@pytest.mark.parametrize(
    ("seen", "backwards", "order"),
    [
        (0, 0, Order.UNKNOWN),
        (2, 0, Order.UNKNOWN),
        (0, 1, Order.DOUBTFUL),
        (2, 1, Order.UNKNOWN),
        (9, 0, Order.SEEN),
        (20, 1, Order.SEEN),
        (0, 9, Order.BACKWARDS),
        (5, 5, Order.DOUBTFUL),
    ],
)
def test_what_signs_say(seen: int, backwards: int, order: Order) -> None:
    assert Signs(seen, backwards).order is order


def test_letters_stored_in_any_order_come_out_alike() -> None:
    """Each letter is drawn by itself, in a random order; boxes alone tell what is read."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfgen import canvas

    from tests.pdf.makers import FONT, PAGE_TOP, PITCH, shown

    drawn([["רישום הגופן"]])
    out = io.BytesIO()
    sheet = canvas.Canvas(out)
    sheet.setFont(FONT, 12)
    letters = []
    for i, line in enumerate(MIXED):
        x = 60.0
        for char in shown(line):
            if char != " ":
                letters.append((x, PAGE_TOP - i * PITCH, char))
            x += pdfmetrics.stringWidth(char, FONT, 12)
    random.Random(7).shuffle(letters)
    for x, y, char in letters:
        sheet.drawString(x, y, char)
    sheet.save()
    assert error_rate(read(out.getvalue()).text, TEXT) <= 0.01


def test_no_letters_at_all_is_quarantined_with_the_pages() -> None:
    whole = drawn([MIXED])
    with pytest.raises(DoubtfulDocument) as caught:
        read(whole.replace(b"/ToUnicode", b"/ToUnicodX"), ocr=False)
    assert "Page 1" in caught.value.what
    assert caught.value.issues[0][0] == "no_letters"


def test_a_word_that_is_another_one_backwards_is_no_sign() -> None:
    """אל is לא from behind; a page of few signs is not in doubt for it."""
    document = read(drawn([["המכתב נשלח אל ועד הבית.", "הבקשות של הדיירים נידונו אתמול.", "התשובות יישלחו אל הוועד."]]))
    assert document.doubts == ()
    assert document.text.startswith("המכתב נשלח אל ועד הבית.")


def test_marks_of_a_recognised_page_are_fewer_to_agree() -> None:
    assert Signs(9, 2).order is Order.DOUBTFUL
    assert Signs(9, 2).judged(AGREEMENT_RECOGNISED) is Order.SEEN


WORDS = ["תקציב", "ישיבה", "מועצה", "חשבון", "תשלום", "ספק", "חוזה", "עבודה", "בניין", "גינון", "החלטה", "הצעה"]


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        ("נוהל רכש של העירייה", "עמוד {n} מתוך 6"),
        ("דוח שנתי | {n}", "- {n} -"),
        ("נספח סודי {n}", "קובץ {n} של הנספח, עמוד {n}"),
        ("ספר הנהלים", "{roman}"),
    ],
)
def test_headers_and_footers_with_changing_numbers(head: str, foot: str) -> None:
    chance = random.Random(5)
    pages = []
    for n, roman in enumerate(("i", "ii", "iii", "iv", "v", "vi"), 1):
        body = [f"{' '.join(chance.sample(WORDS, 6))}." for _ in range(38)]
        pages.append([head.format(n=n), *body, foot.format(n=n, roman=roman)])
    document = read(drawn(pages))
    first = head.split(" ")[0]
    assert not any(line.startswith((first, "עמוד", "קובץ", "iii", "-")) for line in document.text.splitlines())
    assert any("headers and footers" in note for note in document.report)


def test_a_date_that_is_divided_at_a_line_s_end_is_whole() -> None:
    """`2024-09-` ends the line on the left; its hyphen is shown on its right, where a minus sign stands."""
    line = "2024-09- " + "םוימ ןקותמה חסונב ,הייריעה לש הז ךמסמל חפסנה םוסרפל ןורחאה דעומה"
    from reportlab.pdfgen import canvas

    from tests.pdf.makers import FONT, PAGE_TOP, PITCH, RIGHT

    drawn([["רישום הגופן"]])
    out = io.BytesIO()
    sheet = canvas.Canvas(out)
    sheet.setFont(FONT, 12)
    for i, text in enumerate((line, ".01")):
        sheet.drawRightString(RIGHT, PAGE_TOP - i * PITCH, text)
    sheet.save()
    assert read(out.getvalue()).text.endswith("בנוסח המתוקן מיום 2024-09-01.")


def test_hebrew_that_is_laid_out_from_the_left_is_read_so() -> None:
    """Typed without a direction, a Hebrew paragraph begins at the left margin, its full stop on the right."""
    from bidi.algorithm import get_display
    from reportlab.pdfgen import canvas

    from tests.pdf.makers import FONT, LEFT, PAGE_TOP, PITCH

    lines = ("נחתם ביום 10 בפברואר 2023 עם Acme Ltd. (ח.פ. 51-234567-8).", "הספק יגזום את העצים.", "הוא יפנה את הגזם.")
    drawn([["רישום הגופן"]])
    out = io.BytesIO()
    sheet = canvas.Canvas(out)
    sheet.setFont(FONT, 12)
    for i, line in enumerate(lines):
        sheet.drawString(LEFT, PAGE_TOP - 2 * i * PITCH, str(get_display(line, base_dir="L")))
    sheet.save()
    document = read(out.getvalue())
    assert document.text.split("\n\n")[1:] == list(lines[1:])
    assert document.text.startswith("נחתם ביום 10 בפברואר 2023 עם Acme Ltd.")
