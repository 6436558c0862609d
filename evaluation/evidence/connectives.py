"""Words at which a sentence is cut into claims, for Hebrew and English: data, and the patterns made of it. Pure.

A cut stands before the connective, so that both halves stay verbatim: "חניה חינם, | למעט ביום שישי".
"""

from __future__ import annotations

import re
from typing import Final, Literal

Cut = Literal[
    "sentence", "row", "item", "conjunction", "quantity", "exception", "date", "cause", "step", "person", "model"
]

# A number, with separators and decimals.
NUMBER: Final = r"\d+(?:[.,:/]\d+)*"
_MONTHS_EN: Final = "January|February|March|April|May|June|July|August|September|October|November|December"
_MONTHS_HE: Final = "בינואר|בפברואר|במרס|במרץ|באפריל|במאי|ביוני|ביולי|באוגוסט|בספטמבר|באוקטובר|בנובמבר|בדצמבר"
_PERIOD_EN: Final = r"(?:minutes?|hours?|(?:working |business |calendar )?days?|weeks?|months?|years?|quarters?)"
_COUNT_EN: Final = rf"(?:{NUMBER}|an?|one|two|three|four|five|six|seven|eight|nine|ten|thirty|sixty|ninety)"
_DATE_EN: Final = rf"(?:\d{{1,2}} (?:{_MONTHS_EN})|(?:{_MONTHS_EN}) \d|\d{{4}}-\d|\d{{4}}\b|\d{{1,2}}[./]\d)"
_DATE_HE: Final = rf"(?:\d{{1,2}} (?:{_MONTHS_HE})|\d{{4}}-\d|\d{{1,2}}[./]\d|שנת \d)"
_PERIOD_HE: Final = (
    "(?:דקות|דקה|שעות|שעה|שעתיים|ימים|ימי|יום|יומיים|שבועות|שבוע|שבועיים|חודשים|חודש|חודשיים|שנים|שנה|שנתיים|רבעון)"
)

# Alternatives of each kind, tried in this order at every blank; the first that matches names the cut.
_PATTERNS: Final[tuple[tuple[Cut, str], ...]] = (
    (
        "exception",
        r"unless\b|except\b|excluding\b|other than\b|provided that\b|only if\b|but not\b|subject to\b|without\b|"
        r"אלא אם\b|למעט\b|פרט ל|חוץ מ|מלבד\b|זולת\b|ובלבד ש|ורק אם\b|בתנאי ש|בכפוף ל|להוציא\b|אך לא\b|אבל לא\b|בלי ש?",
    ),
    (
        "step",
        r"(?:and )?then\b|after that\b|afterwards\b|and finally\b|finally\b|followed by\b|next,|"
        r"ואז\b|ולאחר מכן\b|לאחר מכן\b|ואחר כך\b|אחר כך\b|ולבסוף\b|לבסוף\b|ורק אחרי|ורק לאחר",
    ),
    (
        "cause",
        r"because\b|since (?!\d)|due to\b|owing to\b|as a result\b|therefore\b|(?:and )?so that\b|in order to\b|"
        r"מפני ש|משום ש|מכיוון ש|כיוון ש|מאחר ש|בגלל\b|עקב\b|בשל\b|לכן\b|ולכן\b|כתוצאה מ|כי\b|כדי ש?|על מנת\b|הואיל ו",
    ),
    (
        "date",
        rf"(?:from|as of|effective|starting|until|by|before|after|on|since) (?:the )?{_DATE_EN}|"
        rf"(?:within|for|no later than|at least|up to) {_COUNT_EN} {_PERIOD_EN}\b|"
        rf"(?:החל מ|מיום |עד ליום |עד יום |עד ל?-?|ביום |מ-|ב-|לפני |אחרי |בשנת |משנת ){_DATE_HE}|"
        rf"(?:ב?תוך|למשך|לתקופה של|לא יאוחר מ-?|עד) (?:{NUMBER} |[א-ת]+ ){{0,2}}?{_PERIOD_HE}\b",
    ),
    (
        "conjunction",
        r"(?:and|but|or) (?:must|may|is|are|was|were|has|have|shall|will|can|cannot|should|does|do|it|they|he|she|this|"
        r"that|there|not)\b|but\b|while\b|whereas\b|as well as\b|however\b|although\b|"
        r"ואילו\b|אולם\b|ואולם\b|אך\b|אבל\b|לעומת זאת\b|אף ש|אם כי\b|וכן\b|וגם\b|כמו כן\b|"
        r"ו(?:אין|אינו|אינה|אינם|לא|יש|חייב|חייבת|רשאי|רשאית|זכאי|זכאית|ניתן|אפשר|צריך|הוא|היא|הם|הן|כל)\b",
    ),
)
CONNECTIVE: Final = re.compile(
    r"(?<=\s)(?:" + "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS) + ")", re.IGNORECASE
)
# After a comma or semicolon an "and" joins clauses; without one it may join two nouns. Behind a citation's mark a comma
# or an "and" begins what the next mark is for.
AFTER_COMMA: Final = re.compile(
    r"(?<=[,;–—]\s)(?:and|or|nor|so|yet)\b|(?<=[,;]\s)ו(?=[א-ת\-־\d])|(?<=[;]\s)\S|"
    r"(?<=\]\s)(?:(?:and|or|but)\b|ו(?=[א-ת\-־\d]))|(?<=\],\s)\S",
    re.IGNORECASE,
)
# A relative clause whose verb may be the last word: a date behind it says when that happened, not a claim of its own.
RELATIVE: Final = re.compile(r"(?:^|\s)(?:שלא|שאינ\w*|אשר|that|which|who|whose)\s+\S+(?:\s+\S+)?\s*$", re.IGNORECASE)
# An "and" between two parts that hold a quantity each.
AND: Final = re.compile(r"(?<=\s)(?:and\s|ו(?=[א-ת\-־\d]))|(?<=\d,\s)(?=\S)|(?<=[^\d\s]{2},\s)(?=\S)", re.IGNORECASE)
QUANTITY: Final = re.compile(
    rf"(?<![\w\[]){NUMBER}(?!\])|(?<![א-ת])(?:ב|ל|מ|ה|ו|כ|ש)?(?:שנתיים|שבועיים|יומיים|חודשיים|שעתיים)(?![א-ת])"
)
# "between 3 and 5", "בין 8:30 ל-13:00": one quantity.
BETWEEN: Final = re.compile(
    rf"(?:between|from)\s+\S*{NUMBER}\S*(?:\s\S+)?\s+$|בין\s+(?:ה-?)?{NUMBER}(?:\s\S+)?\s+$", re.IGNORECASE
)
# A date's comma: "March 4, 2024".
DATE_COMMA: Final = re.compile(rf"(?:{_MONTHS_EN})\s+\d{{1,2}},\s+$", re.IGNORECASE)
