"""What the schema's codes and fields are called, and what they mean, in both languages: sheet and page say the same."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.decisions import ATTACHMENT_MEANINGS, CAUSE_MEANINGS, SUPPORT_MEANINGS

# Before the name of a field of a verdict or a diagnosis: `missing` is a verdict's code too.
FIELD: Final = "field_"


class Word(EvidenceRecord):
    """A code in one language."""

    name: str
    meaning: str = Field("", description="Empty where the name says it.")


_MEANINGS: Final[dict[str, str]] = {
    **dict(ATTACHMENT_MEANINGS.items()),
    **dict(SUPPORT_MEANINGS.items()),
    **dict(CAUSE_MEANINGS.items()),
}
# By code: its Hebrew name, its English name, and where it needs one its Hebrew meaning.
_NAMES: Final[dict[str, tuple[str, str, str]]] = {
    "attached": ("מצורף", "attached", "ליד הטענה עומד ציטוט, והוא נפתח בטקסט שהוא מצטט."),
    "missing": ("חסר ציטוט", "missing", "אין ציטוט ליד הטענה."),
    "points_nowhere": (
        "מצביע לשום מקום",
        "points nowhere",
        "ליד הטענה עומד ציטוט, אך אין מקור כזה, או שבמקומו עומד טקסט אחר.",
    ),
    "supported": ("נתמך", "supported", "הקטע המצורף אומר את כל הטענה: גם את היקפה, חריגיה, כמותה ומועדה."),
    "partially_supported": (
        "נתמך חלקית",
        "partially supported",
        "הקטע אומר חלק מהטענה, או שהושמט סייג שכתוב בו.",
    ),
    "not_supported": ("לא נתמך", "not supported", "הקטע אינו אומר את הטענה, או אומר את ההפך."),
    "cannot_be_evaluated": (
        "לא ניתן להערכה",
        "cannot be evaluated",
        "אי אפשר לדעת ממה שיש כאן; מה שחסר נאמר בשמו.",
    ),
    "not_in_corpus": ("אינו במאגר", "not in the corpus", "קטע תומך אינו במאגר."),
    "not_retrieved": ("לא נשלף", "not retrieved", "הוא במאגר ולא נשלף."),
    "retrieved_not_cited": ("נשלף ולא צוטט", "retrieved and not cited", "הוא נשלף ולא צוטט."),
    "qualification_omitted": ("סייג הושמט", "qualification omitted", "סייג נשלף והושמט."),
    "cited_contradicts": ("המצוטט סותר", "the cited passage contradicts", "הקטע המצוטט סותר את הטענה."),
    "locator_elsewhere": ("מקום אחר", "resolves to other text", "מקום הציטוט מוביל לטקסט אחר."),
    "rules": ("פיצול לפי כללים", "split by rules", ""),
    "model": ("פיצול לפי מודל", "split by a model", ""),
    "split": ("פיצול", "split", ""),
    "merge": ("איחוד עם הבאה", "merge with the next", ""),
    "immaterial": ("סימון כלא מהותית", "mark as immaterial", ""),
    "material": ("סימון כמהותית", "mark as material", ""),
    f"{FIELD}attachment": ("צירוף", "Attachment", ""),
    f"{FIELD}attachment_reason": ("נימוק לצירוף", "Reason for the attachment verdict", ""),
    f"{FIELD}support": ("תמיכה", "Support", ""),
    f"{FIELD}support_reason": ("נימוק לתמיכה", "Reason for the support verdict", ""),
    f"{FIELD}missing": ("מה חסר", "What is missing", ""),
    f"{FIELD}cause": ("סיבה אפשרית, לא מוכחת", "Possible cause, not proven", ""),
    f"{FIELD}observation": ("מה נראה", "Observation", ""),
    f"{FIELD}hypothesis": ("השערה", "Hypothesis", ""),
    f"{FIELD}next_check": ("מה לבדוק", "Next check", ""),
    f"{FIELD}note": ("הערה פתוחה", "Open note", ""),
}

WORDS: Final[dict[str, dict[str, Word]]] = {
    "he": {code: Word(name=he, meaning=meaning) for code, (he, _, meaning) in _NAMES.items()},
    "en": {code: Word(name=en, meaning=_MEANINGS.get(code, "")) for code, (_, en, _) in _NAMES.items()},
}
