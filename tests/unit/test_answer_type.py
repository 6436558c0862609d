"""What kind of thing a question asks for, and whether a passage says one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.answer_type import Found, found, unsaid
from query.answer_wanted import Kind, Wanted, wanted


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("מי צילם את הכריכה של החוברת?", Kind.PERSON),
        ("בידי מי נמסר המפתח?", Kind.PERSON),
        ("Who opened the gate?", Kind.PERSON),
        ("מי הצלם של החוברת?", Kind.NAME),
        ("מי היה הצלם?", Kind.NAME),
        ("מי הוביל את הסיור?", Kind.PERSON),
        ("Who is the photographer of the booklet?", Kind.NAME),
        ("מה שמה של הרכזת?", Kind.NAME),
        ("איך קוראים לרכזת?", Kind.NAME),
        ("What is the name of the coordinator?", Kind.NAME),
        ("מתי נפתח המוזיאון?", Kind.WHEN),
        ("When does the museum open?", Kind.WHEN),
        ("באיזו שנה נוסד המוזיאון?", Kind.YEAR),
        ("באיזה תאריך נפתחת התערוכה?", Kind.DATE),
        ("באיזו שעה מתחיל הסיור?", Kind.HOUR),
        ("כמה עולה כרטיס?", Kind.MONEY),
        ("מה מחירו של כרטיס?", Kind.MONEY),
        ("מה גובה הקנס על איחור?", Kind.MONEY),
        ("How much does a ticket cost?", Kind.MONEY),
        ("What is the price of a ticket?", Kind.MONEY),
        ("כמה אחוזים מן המבקרים הם ילדים?", Kind.PERCENT),
        ("כמה זמן נמשך הסיור?", Kind.DURATION),
        ("How long is the tour?", Kind.DURATION),
        ("כמה סנטימטרים רוחב התמונה?", Kind.MEASURE),
        ("מה הטלפון של הקופה?", Kind.PHONE),
        ("מה מספר הטלפון של הקופה?", Kind.PHONE),
        ('מה כתובת הדוא"ל של הקופה?', Kind.EMAIL),
        ("What is the e-mail address of the box office?", Kind.EMAIL),
        ("לאיזו כתובת IP מתחברים?", Kind.IP),
        ("מה מספר הרישיון של הקופאית?", Kind.IDENTIFIER),
        ("מה גובה המגדל?", Kind.NUMBER),
        ("באיזה רחוב נמצא המוזיאון?", Kind.STREET),
        ("מהי כתובת המוזיאון?", Kind.STREET),
    ],
)
def test_kind(query: str, kind: Kind) -> None:
    asked = wanted(query)
    assert asked is not None
    assert asked.kind is kind


@pytest.mark.parametrize(
    "query",
    [
        "מדוע נסגר המוזיאון?",
        "איך מגיעים אל המוזיאון?",
        "Why was it closed?",
        "מה נאמר על המוזיאון?",
        "עד כמה זה חשוב?",
        "מוזיאון פתוח",
        # The water of a spring, not "who".
        "בריכת מי המעיין",
        "",
    ],
)
def test_no_kind(query: str) -> None:
    assert wanted(query) is None
    assert found(query, "ביום 3.4.2021 שילם מר דניאל כץ 30 שקלים.") is None


def test_what_is_counted_and_which_institution() -> None:
    assert wanted("כמה ספסלים הוצבו בחצר?") == Wanted(Kind.COUNT, "ספסל")
    assert wanted("How many benches were set up?") == Wanted(Kind.COUNT, "bench")
    assert wanted("כמה מהמבקרים הם ילדים?") == Wanted(Kind.COUNT)
    assert wanted("באיזה בנק נפתח החשבון?") == Wanted(Kind.INSTITUTION, "בנק")


SAID = 1
LIKE = 0
MISSING = -1


@pytest.mark.parametrize(
    ("query", "passage", "near"),
    [
        ("כמה עולה כרטיס למוזיאון?", 'כרטיס למוזיאון נמכר בקופה תמורת 42 ש"ח.', SAID),
        ("כמה עולה כרטיס למוזיאון?", "כרטיס למוזיאון נמכר בקופה בלבד, בימי חול.", MISSING),
        ("כמה עולה כרטיס למוזיאון?", "הכניסה למוזיאון ללא תשלום, וכרטיס אינו נדרש.", LIKE),
        ("מה מחירו של מנוי שמחירו 90 שקלים?", "מנוי שמחירו 90 שקלים ניתן לחדש.", MISSING),
        ("כמה ספסלים הוצבו בחצר?", "בחצר הוצבו שישה ספסלים.", SAID),
        ("כמה ספסלים הוצבו בחצר?", "בחצר הוצב ספסל אחד.", SAID),
        ("כמה אישורים מקבל תושב לרכב?", "תושב רשאי לקבל אישור חניה אחד לכל רכב.", SAID),
        ("כמה ספסלים הוצבו בחצר?", "בחצר הוצבו ספסלים חדשים ב-3.5.2020.", MISSING),
        ("כמה ספסלים הוצבו בחצר?", "בחצר הוצבו ספסלים חדשים, ושש מנורות.", LIKE),
        ("כמה סנטימטרים רוחב המסגרת?", 'רוחב המסגרת 45 ס"מ.', SAID),
        ("כמה סנטימטרים רוחב המסגרת?", "רוחב המסגרת הוגדל לפני שלוש שנים.", MISSING),
        ("כמה אחוזים מן המבקרים הם ילדים?", "כשליש, 34%, מן המבקרים הם ילדים.", SAID),
        ("כמה אחוזים מן המבקרים הם ילדים?", "רבע מן המבקרים הם ילדים.", LIKE),
        ("כמה אחוזים מן המבקרים הם ילדים?", "בין המבקרים ילדים רבים.", MISSING),
        ("באיזה תאריך נפתחת התערוכה?", "התערוכה נפתחת ב-14 במאי.", SAID),
        ("באיזה תאריך נפתחת התערוכה?", "התערוכה נפתחת אחרי השיפוץ.", MISSING),
        ("מתי נפתחת התערוכה?", "התערוכה נפתחת אחרי השיפוץ.", LIKE),
        ("באיזו שנה נוסד המוזיאון?", 'המוזיאון נוסד בתשי"ד.', SAID),
        ("באיזו שעה מתחיל הסיור?", "הסיור מתחיל ב-09:30 ליד הבאר.", SAID),
        ("באיזו שעה מתחיל הסיור?", "הסיור מתחיל ליד הבאר.", MISSING),
        ("כמה זמן נמשך הסיור?", "הסיור נמשך שעתיים.", SAID),
        ("כמה זמן נמשך הסיור?", "הסיור נמשך עד הבאר.", MISSING),
        ("מה הטלפון של הקופה?", "הקופה משיבה בטלפון 03-555-0134.", SAID),
        ("מה הטלפון של הקופה?", "הקופה משיבה בטלפון בימי חול.", MISSING),
        ('מה הדוא"ל של הקופה?', "אל הקופה כותבים: kupa@museum.example", SAID),
        ("לאיזו כתובת IP מתחברים מן הקופה?", "מן הקופה מתחברים אל 10.4.0.17.", SAID),
        ("לאיזו כתובת IP מתחברים מן הקופה?", "מן הקופה מתחברים דרך נתב.", MISSING),
        ("מה מספר הרישיון של הקופאית?", "רישיון הקופאית הוא 5520318.", SAID),
        ("מה מספר הרישיון של הקופאית?", "רישיון הקופאית חודש ל-2 שנים.", MISSING),
        ("באיזה בנק נפתח חשבון המוזיאון?", "חשבון המוזיאון נפתח בבנק הדרום.", SAID),
        ("באיזה בנק נפתח חשבון המוזיאון?", "חשבון המוזיאון נפתח באותו בנק, בלי עמלה.", MISSING),
        ("מי צילם את הכריכה?", "את הכריכה צילמה דבורה אלון.", SAID),
        ("מי צילם את הכריכה?", 'את הכריכה צילם ד"ר פלמון.', SAID),
        ("מי צילם את הכריכה?", "את הכריכה צילם המנהל.", LIKE),
        ("Who took the cover picture?", "The cover picture was taken by Mona Reeves.", SAID),
        ("Who is the owner of the cover picture?", "the cover picture was returned to its owner in spring.", MISSING),
        ("How many benches stand in the yard?", "Four benches stand in the yard.", SAID),
        ("What is the price of a ticket?", "A ticket is sold for NIS 42.", SAID),
    ],
)
def test_what_stands_there(query: str, passage: str, near: int) -> None:
    there = found(query, passage)
    assert there is not None
    assert there.near == near


def test_another_sentence_of_the_passage_does_not_answer() -> None:
    far = "הכרטיס לתערוכה נמכר בקופה. הקופה סגורה בשבת. הספסלים נצבעו. קנס על איחור הוא 30 שקלים."
    assert unsaid("כמה עולה הכרטיס לתערוכה שנמכר בקופה?", far) == 1.0
    assert (
        unsaid("כמה עולה הכרטיס לתערוכה שנמכר בקופה?", "הכרטיס לתערוכה נמכר בקופה. מחירו 30 שקלים. הספסלים נצבעו.")
        == 0.0
    )


def test_less_is_unsaid_where_fewer_words_stand_there() -> None:
    whole = unsaid("כמה עולה כרטיס לתערוכה בפסטיבל?", "כרטיס לתערוכה בפסטיבל נמכר בקופה.")
    part = unsaid("כמה עולה כרטיס לתערוכה בפסטיבל הקיץ?", "כרטיס לתערוכה בפסטיבל נמכר בקופה.")
    assert 0 < part < whole == 1.0
    assert unsaid("כמה עולה כרטיס לתערוכה בפסטיבל?", "כרטיס נמכר בקופה של התערוכה.", "התערוכה > בפסטיבל") == 1.0


def test_a_name_is_missed_only_where_there_is_no_room_for_one() -> None:
    assert unsaid("מה שמו של השומר שנעל את השער המזרחי?", "השומר נעל את השער המזרחי.") > 0.5
    # Nobody can tell that "אלמוג ברכוז" is somebody.
    assert unsaid("מה שמו של השומר שנעל את השער?", "השומר שנעל את השער בליל הסופה, אלמוג ברכוז, קיבל שי.") == 0.0


def test_nothing_to_look_in() -> None:
    assert found("כמה עולה כרטיס?", "") is None
    assert found("כמה?", "שלושה שקלים") is None
    assert Found(near=-1, shared=0.7, told=False).unsaid == 0.0


@given(st.text(), st.text(), st.text())
def test_any_text(query: str, passage: str, headings: str) -> None:
    assert 0.0 <= unsaid(query, passage, headings) <= 1.0


@pytest.mark.parametrize("part", ["א", "1", "1.", "בנק ", 'א"', "A", "a@", "1-", "12:", "\n", "ה-", "0:"])
def test_a_long_passage_takes_linear_time(part: str) -> None:
    started = time.perf_counter()
    for query in (
        "באיזה בנק נפתח החשבון?",
        "מה הטלפון?",
        'מה כתובת הדוא"ל של הקופה?',
        "מה שמו של השומר?",
        "לאיזו כתובת IP?",
    ):
        found(query + " חשבון", part * 20_000)
    assert time.perf_counter() - started < 5
