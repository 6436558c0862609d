"""What a search and an answer say of themselves, in the language of the question. Pure.

A catalogue, so that no text lacks its other language: `told` knows no code that stands in one language alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from search_config.language import has_hebrew

Tongue = Literal["he", "en"]

NO_PROFILE_THRESHOLD: Final = "no threshold"
UNTUNED: Final = "untuned"
OTHER_SCORES: Final = "other scores"
OTHER_CLASS: Final = "other class"
ONE_LEG: Final = "one leg"
FEATURES_MISSING: Final = "features missing"
IMPROBABLE: Final = "improbable"
KIND_MISSING: Final = "kind missing"
HOLDERS_FIRST: Final = "holders first"
NO_WORD: Final = "no word"
LONG: Final = "long"
NOT_HELD: Final = "not held"
NOT_NARROWED: Final = "not narrowed"
CUT_FOR_BOTH: Final = "cut for both"
CUT_FOR_ONE: Final = "cut for one"
LEG_FAILED: Final = "leg failed"
EXTRACTIVE: Final = "extractive"
CUT: Final = "cut"
MODEL_FAILED: Final = "model failed"
WINDOW_TOO_SMALL: Final = "window too small"
WINDOW: Final = "window"
ABSTAINED: Final = "abstained"
NO_PASSAGES: Final = "no passages"
FIELDS_ALONE: Final = "fields alone"
FROM_FIELDS: Final = "from fields"
SIDE_ADDED: Final = "side added"
SIDE_SILENT: Final = "side silent"
PARTS_APART: Final = "parts apart"

# `uncalibrated` stays as it is in both: programs look for it.
TEXTS: Final[dict[str, dict[Tongue, str]]] = {
    NO_PROFILE_THRESHOLD: {
        "en": "uncalibrated: the profile {profile} has no threshold of refusal.",
        "he": "uncalibrated: לפרופיל {profile} אין סף סירוב.",
    },
    UNTUNED: {
        "en": (
            "uncalibrated: no profile was tuned for the model {model}: both legs count alike, by their ranks, and "
            "nothing is refused. Tune one: mafteach tune DIR --out PROFILE."
        ),
        "he": (
            "uncalibrated: שום פרופיל לא כוונן למודל {model}: המילים והמשמעות שקולות, לפי מקומן, ושום שאלה אינה "
            "מסורבת. לכוונון: mafteach tune DIR --out PROFILE."
        ),
    },
    OTHER_SCORES: {
        "en": "uncalibrated: the threshold of the profile {profile} is not for a cross-encoder's scores.",
        "he": "uncalibrated: הסף של הפרופיל {profile} לא נקבע לציונים של cross-encoder.",
    },
    OTHER_CLASS: {
        "en": "uncalibrated: the threshold of the profile {profile} is not for queries of class {kind}.",
        "he": "uncalibrated: הסף של הפרופיל {profile} לא נקבע לשאילתות מסוג {kind}.",
    },
    ONE_LEG: {
        "en": "uncalibrated: the threshold of refusal is for searches with both legs.",
        "he": "uncalibrated: סף הסירוב נקבע לחיפוש במילים ובמשמעות יחד.",
    },
    FEATURES_MISSING: {
        "en": "uncalibrated: the index lacks what {names} needs.",
        "he": "uncalibrated: באינדקס חסר מה שנדרש לחישוב {names}.",
    },
    IMPROBABLE: {
        "en": (
            "The probability that the nearest passages answer is {probability:.3f}, below the threshold "
            "{threshold:.3f} of the profile {profile}."
        ),
        "he": (
            "ההסתברות שהקטעים הקרובים ביותר עונים על השאלה היא {probability:.3f}, מתחת לסף {threshold:.3f} "
            "של הפרופיל {profile}."
        ),
    },
    KIND_MISSING: {
        "en": " Where its words stand, nothing stands that is of the kind it asks for.",
        "he": " במקום שבו מופיעות מילותיה אין דבר מן הסוג שעליו היא שואלת.",
    },
    HOLDERS_FIRST: {
        "en": "Passages that hold {words} as it is written stand first.",
        "he": "קטעים שבהם מופיע {words} ככתבו עומדים ראשונים.",
    },
    NO_WORD: {
        "en": "The lexical leg found no word of the query in a passage.",
        "he": "אף מילה מן השאילתה לא נמצאה בקטע כלשהו.",
    },
    LONG: {
        "en": "The query is long: the lexical leg read its first {count} different words.",
        "he": "השאילתה ארוכה: בחיפוש המילים נקראו {count} המילים השונות הראשונות.",
    },
    NOT_HELD: {
        "en": "No passage holds {words} as it is written; these are the nearest.",
        "he": "אין קטע שבו מופיע {words} ככתבו; אלה הקטעים הקרובים ביותר.",
    },
    NOT_NARROWED: {
        "en": "Nothing was found within the filters that the question names; these are found without them.",
        "he": "לא נמצא דבר בתוך הסינון שהשאלה עצמה קובעת; אלה נמצאו בלעדיו.",
    },
    CUT_FOR_BOTH: {
        "en": "The query has {count} tokens, the model reads {window}: the rest was used by the lexical leg only.",
        "he": "בשאילתה {count} אסימונים, והמודל קורא {window}: השאר שימש רק לחיפוש המילים.",
    },
    CUT_FOR_ONE: {
        "en": "The query has {count} tokens, the model reads {window}: the rest was not used.",
        "he": "בשאילתה {count} אסימונים, והמודל קורא {window}: השאר לא שימש כלל.",
    },
    LEG_FAILED: {
        "en": "The {leg} leg of the search failed: the answer rests on the other one.",
        "he": "חלק מן החיפוש ({leg}) נכשל: התשובה נשענת על החלק האחר.",
    },
    EXTRACTIVE: {
        "en": "Extractive: the passages' own sentences, chosen by their words and vectors; no model wrote any.",
        "he": "מצוטט: משפטים של הקטעים עצמם, שנבחרו לפי מילים ומשמעות; שום מודל לא כתב אותם.",
    },
    CUT: {
        "en": "The model stopped before its end: at its limit of {limit} tokens, or broken off.",
        "he": "המודל נעצר לפני הסוף: במגבלה של {limit} אסימונים, או באמצע.",
    },
    MODEL_FAILED: {
        "en": "The language model did not answer ({code}); these sentences were chosen without it.",
        "he": "מודל השפה לא ענה ({code}); המשפטים נבחרו בלעדיו.",
    },
    WINDOW_TOO_SMALL: {
        "en": "No passage fits into the language model's window; these sentences were chosen without it.",
        "he": "אין קטע שנכנס לחלון של מודל השפה; המשפטים נבחרו בלעדיו.",
    },
    WINDOW: {
        "en": "The model's window of {window} tokens: {cut} passage(s) were shortened, {dropped} left out.",
        "he": "חלון של {window} אסימונים למודל: קטעים שקוצרו: {cut}, קטעים שהושמטו: {dropped}.",
    },
    ABSTAINED: {
        "en": "The language model found no answer in the {count} passages that it was shown.",
        "he": "מודל השפה לא מצא תשובה ב־{count} הקטעים שהוצגו לו.",
    },
    NO_PASSAGES: {
        "en": "The search found no passage.",
        "he": "החיפוש לא מצא שום קטע.",
    },
    FIELDS_ALONE: {
        "en": "No passage answers the rest of the question.",
        "he": "אין קטע שעונה על שאר השאלה.",
    },
    FROM_FIELDS: {
        "en": "Counted from the documents' fields; no model wrote any.",
        "he": "חושב מתוך השדות של המסמכים; שום מודל לא כתב זאת.",
    },
    SIDE_ADDED: {
        "en": "The model cites nothing of {name}: a sentence of it was added.",
        "he": "המודל לא ציטט דבר מתוך {name}: נוסף משפט ממנו.",
    },
    PARTS_APART: {
        "en": "No passage answers the whole question; its parts were searched one by one.",
        "he": "אין קטע שעונה על השאלה כולה; כל חלק שלה חופש בפני עצמו.",
    },
    SIDE_SILENT: {
        "en": "No passage of {name} was found.",
        "he": "לא נמצא קטע מתוך {name}.",
    },
}
_OR: Final[dict[Tongue, str]] = {"he": " או ", "en": " or "}


def tongue(question: str) -> Tongue:
    """The language that a question is spoken to in."""
    return "he" if has_hebrew(question) else "en"


def told(code: str, language: Tongue, /, **values: object) -> str:
    """A text of the catalogue.

    Raises:
        KeyError: no such text, or a value of it is missing.
    """
    return TEXTS[code][language].format(**values)


def tells(note: str, *codes: str) -> bool:
    """Whether a note is one of these texts, in either language: it begins as they do, up to their first value."""
    return any(note.startswith(text.partition("{")[0]) for code in codes for text in TEXTS[code].values())


def either(words: Sequence[str], language: Tongue) -> str:
    """Words with "or" between them."""
    return _OR[language].join(words)
