"""What a sheet or pack does not prove; stands first in both, in Hebrew and English."""

from __future__ import annotations

from typing import Final

LIMITS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "he": (
        "מה הגיליון הזה אינו מוכיח",
        (
            "הוא אינו מוכיח שהמקור נכון, שלם או מעודכן; הוא בודק רק אם המקור אומר את מה שהתשובה אומרת.",
            "ציטוט מצורף אינו תמיכה: שתי הקביעות נפרדות, ולכל אחת נימוק משלה.",
            "האבחנה היא השערה מתוך מה שנראה כאן, ולא סיבה מוכחת.",
            "הצעה של כללים או של מודל איננה קביעה ואינה נספרת.",
            "אין כאן ציון כולל, ואין להשוות לפי הגיליון בין מערכות או לדרג אותן.",
            "הגיבובים מגלים שינוי; הם אינם חתימה ואינם מעידים מי הכין את החבילה.",
        ),
    ),
    "en": (
        "What this sheet does not prove",
        (
            "It does not prove that a source is right, complete or current; it asks only whether the source says what "
            "the answer says.",
            "An attached citation is not support: the two verdicts are apart, each with a reason of its own.",
            "A diagnosis is a hypothesis from what is visible here, not a proven cause.",
            "A proposal by rules or by a model is no verdict and is never counted.",
            "There is no aggregate score, and no ranking of systems may be read from it.",
            "Hashes show that something was changed; they are no signature and do not say who made the pack.",
        ),
    ),
}


def limits_text() -> str:
    """Both languages as plain text."""
    blocks = (f"{title}\n" + "\n".join(f"- {line}" for line in lines) for title, lines in LIMITS.values())
    return "\n\n".join(blocks) + "\n"
