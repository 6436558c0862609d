"""The same text comes out of a page whatever order its file stores, and whichever way its letters were drawn."""

from __future__ import annotations

import random

import pytest

from ingest.extract.pdf.order import Order, Signs
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
    import io

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
