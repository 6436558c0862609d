"""Who is asked for by name, in texts that name him and in texts that only speak of him."""

from __future__ import annotations

import pytest

from query.answer_type import found, unsaid

GUARD = "מה שמו של השומר שנעל את השער המזרחי?"


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        (GUARD, "דוד כהן סיפר בישיבה של הוועד שהשומר לא נעל את השער המזרחי."),
        (
            "מי הוא אותו שמאי חיצוני שהעריך את המגרש?",
            "רון לוי השיב שהמגרש הוערך על ידי שמאי חיצוני, שהעריך אותו ביוני.",
        ),
        ("מי השמאי המוסמך מטעם הבנק שהעריך את המגרש?", "את המגרש העריך שמאי מוסמך מטעם הבנק ביום ראשון."),
        (
            "What is the name of the surveyor who measured the old bridge?",
            "A surveyor measured the old bridge in spring, and the results were kept by the city.",
        ),
        ("מי שיפץ את הקיר הגדול שמול תחנת הרכבת הישנה?", "הקבלן ינקה את הקיר הגדול שמול תחנת הרכבת הישנה."),
        (
            "בידי מי הוצב השלט הכחול בכניסה לחניון הצפוני?",
            "השלט הכחול שהוצב בכניסה לחניון הצפוני הפריע לשלושה עובדים.",
        ),
    ],
)
def test_a_text_that_leaves_the_name_out(query: str, passage: str) -> None:
    assert unsaid(query, passage) > 0.5


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        (GUARD, "השומר דוד כהן נעל את השער המזרחי."),
        (GUARD, "דוד כהן, השומר שנעל את השער המזרחי, קיבל שי."),
        (GUARD, "השומר שנעל את השער המזרחי בליל הסופה, אלמוג ברכוז, קיבל שי."),
        (GUARD, "השומר שנעל את השער המזרחי – אלמוג – קיבל שי בטקס של סוף השנה."),
        (
            "What is the name of the surveyor who measured the old bridge?",
            "The surveyor Ann Marsh measured the old bridge.",
        ),
        # Another word for the deed.
        ("מי שיפץ את הקיר?", "שיפוצו של הקיר הושלם בידי אמן מקומי."),
        ("בידי מי הוצב השלט הכחול בכניסה לחניון הצפוני?", "השלט הכחול הוצב בכניסה לחניון הצפוני בידי הקבלן."),
        # Things have names of any form.
        ("מה שמו של הסטארטאפ שמכר את השער המזרחי?", "הסטארטאפ מכר את השער המזרחי לחברה אחרת בסוף השנה שעברה."),
    ],
)
def test_a_text_that_may_name(query: str, passage: str) -> None:
    assert unsaid(query, passage) == 0.0


def test_a_measure_is_not_looked_for_in_other_sentences() -> None:
    query = "כמה מילימטרים מקטינה השכבה הפנימית את קוטר הצינור?"
    assert unsaid(query, "השכבה הפנימית מקטינה את קוטר הצינור. התקלות ירדו מעשר לארבע.") > 0.5
    there = found(query, "השכבה הפנימית מקטינה את קוטר הצינור בארבעה מילימטרים.")
    assert there is not None
    assert there.near == 1
