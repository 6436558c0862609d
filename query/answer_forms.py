"""The forms of things that questions ask for, word by word, in Hebrew and English: numbers, dates, sums, names.

Words are classed one by one, and remembered: a passage costs a look-up for each of its words. What is no single word
(an address, a name in Latin letters) has a pattern; none has a repeat within a repeat, so each reads a text once.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from query.given_names import GIVEN_NAMES

# Classes of words, as bits: a word may be of several.
NUMBER: Final = 1 << 0
BIG: Final = 1 << 1
FRACTION: Final = 1 << 2
PERCENT: Final = 1 << 3
CURRENCY: Final = 1 << 4
FREE: Final = 1 << 5
TIME_UNIT: Final = 1 << 6
SPAN: Final = 1 << 7
DATE: Final = 1 << 8
YEAR: Final = 1 << 9
HOUR: Final = 1 << 10
OCCASION: Final = 1 << 11
UNIT: Final = 1 << 12
GIVEN_NAME: Final = 1 << 13
TITLE: Final = 1 << 14
ROLE: Final = 1 << 15
CALLED: Final = 1 << 16
COMPANY: Final = 1 << 17
ONE: Final = 1 << 18

# Words, signs and numbers; a number keeps the marks that hold it together: 12:30, 2024-09-18, 3.65, 08-555-0119.
WORD: Final = re.compile(r"[א-ת][א-ת״׳\"']*|[a-z]+(?:'[a-z]+)?|[₪$€£%]|\d[\d.,:/-]*")
# Words whose classes are remembered: some megabytes, and the passages of a corpus have mostly the same ones.
WORDS_KEPT: Final = 50_000
# Letters that Hebrew writes before a word, two at most here: "ושלושה", "ובבנק".
PREFIXES: Final = "ושהבכלמ"
_MOST_PREFIXES: Final = 2
_SHORTEST: Final = 2

_LISTED: Final[dict[int, tuple[str, ...]]] = {
    NUMBER: (
        "אחד אחת שניים שתיים שני שתי שלושה שלוש שלושת ארבעה ארבע ארבעת חמישה חמש חמשת שישה שש ששת שבעה שבע שבעת",
        "שמונה שמונת תשעה תשע תשעת עשרה עשר עשרת עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים מאה מאתיים",
        "מאות אלף אלפיים אלפי אלפים מיליון מיליוני מיליארד עשרות פעמיים יחיד one two three four five six seven",
        "eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty",
        "forty fifty sixty seventy eighty ninety hundred thousand million billion dozen once twice single",
    ),
    FRACTION: ("חצי מחצית שליש שלישים רבע רבעים חמישית עשירית רוב רובם מיעוט half quarter third thirds majority most",),
    PERCENT: ("% אחוז אחוזים אחוזי percent",),
    CURRENCY: (
        "₪ $ € £ שקל שקלים שקלי ש״ח שח אגורות אגורה דולר דולרים דולרי אירו יורו ליש״ט פאונד פרנק לירות לירה רובל",
        "נז״מ nis ils usd eur shekel shekels dollar dollars euro euros pound pounds cents",
    ),
    FREE: ("חינם פטור פטורה פטורים פטורות free",),
    TIME_UNIT: (
        "שנייה שניה שניות שנה שנים שנות חודש חודשים חודשי שבוע שבועות יום ימים ימי יממה יממות שעה שעות דקה דקות",
        "רבעון עשור עשורים second seconds minute minutes hour hours day days week weeks month months year years",
        "decade decades",
    ),
    SPAN: ("שעתיים יומיים שבועיים חודשיים שנתיים יממה",),
    DATE: (
        "ינואר פברואר מרץ מרס אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר תשרי חשוון כסלו טבת שבט אדר",
        "ניסן אייר סיוון תמוז אלול שבת שבתות שישי פסח סוכות חנוכה פורים שבועות january february march april june",
        "july august september october november december sunday monday tuesday wednesday thursday friday saturday",
        "sundays fridays saturdays",
    ),
    HOUR: ("חצות בוקר ערב צהריים לילה שחר noon midnight dawn evening morning night",),
    OCCASION: (
        "לפני אחרי לאחר בתום בסוף בתחילת בזמן בעת במהלך מאז עד כאשר בשנת מדי בכל בתקופת מאה אם חג מועד ערב כעבור",
        "תמיד מיד when whenever after before during until since while if within upon once soon always immediately",
    ),
    UNIT: (
        "מילימטר מילימטרים מ״מ סנטימטר סנטימטרים ס״מ מטר מטרים מטרי קילומטר קילומטרים ק״מ מייל מיילים רגל אינץ",
        "אינץ׳ גרם גרמים קילוגרם קילוגרמים ק״ג קילו טון טונות ליטר ליטרים דונם דונמים דונמי הקטר קמ״ר מ״ר מ״ק קוב",
        "מעלה מעלות ואט וואט קילוואט mm millimetre millimetres millimeter millimeters cm centimetre centimetres",
        "centimeter centimeters m metre metres meter meters km kilometre kilometres kilometer kilometers mile",
        "miles foot feet inch inches gram grams kg kilogram kilograms tonne tonnes ton tons litre litres liter",
        "liters hectare hectares acre acres degree degrees watt watts kw mw gb mb tb kb",
    ),
    TITLE: ("מר גב׳ גברת ד״ר עו״ד פרופ׳ פרופ פרופסור הרב רבי הרבנית אדון אינג׳ רו״ח סא״ל אל״מ mr mrs ms dr prof adv",),
    CALLED: ("בשם נקרא נקראת נקראים קרוי קרויה מכונה מכונים כונה כונתה שמו שמה named called known",),
    COMPANY: ("בע״מ חברת ltd inc llc corp gmbh plc",),
    ONE: ("אחד אחת a an one",),
    ROLE: (
        "מנהל מנהלת מנהלי מנהלים מנכ״ל מנכ״לית סמנכ״ל סמנכ״לית יו״ר נשיא נשיאת נשיאה שר שרת שרים שרי מלך מלכת",
        "מלכה קיסר נסיך נסיכה ראש ראשי ממשלה ממשלת גזבר גזברית מפקד מפקח מפקחת מהנדס מהנדסת יועץ יועצת עוזר עוזרת",
        "מזכיר מזכירה מזכירות מזכירת שופט שופטים משרד משרדי ועדה ועדת ועד מועצה מועצת דירקטוריון עירייה עיריית",
        "חברה תאגיד ארגון צבא צבאות משטרה משטרת כוחות ספק ספקים קבלן לקוח לקוחות תושב תושבים עובד עובדים עובדת",
        "מבקר תובע נציג נציגי נציגת פקיד פקח רופא רופאה אחות מורה מורים הורה הורים תלמיד תלמידים חוקר חוקרים מדען",
        "מדענים היסטוריון אדריכל אדריכלית צייר סופר סופרת משורר זמר זמרת שחקן שחקנית במאי מלחין בורר טכנאי נאמן",
        "אבי בן בת בנו בתו אח אחיו אחותו אשה אשתו בעלה סב דוד אביו אמו איש אנשי אנשים אישה נשים ילד ילדים בעל",
        "בעלי בעלת יהודים ערבים רומאים בריטים גרמנים קבוצה קבוצת נבחרת להקה להקת מוסד אגף מחלקת מחלקה לשכת לשכה",
        "חברי חבר חברים מחבר יוצר מייסד מייסדי יזם manager director head chief treasurer mayor officer engineer",
        "administrator adviser advisor accountant auditor supplier customer vendor contractor employee employees",
        "president minister king queen company committee council court board agent department municipality author",
        "founder inspector technician user users observer staff residents teacher parent",
    ),
}
_TIME_FORM: Final = re.compile(r"\d{1,2}:\d\d$")
_DATE_FORM: Final = re.compile(r"\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?$|\d{4}-\d\d-\d\d$")
_YEAR_FORM: Final = re.compile(r"(?:1\d{3}|20\d\d)$|(?:1\d{3}|20\d\d)[-/]\d\d")
_HEBREW_YEAR: Final = re.compile(r"[בלמו]?ה?תש[א-ת]{0,2}״[א-ת]$")
_SUBORDINATE: Final = re.compile(r"[וש]?(?:כש|לכש|מש)[א-ת]{3}")
# A number with two marks inside, or a long one with one, is the name of a thing.
_CODE_FORM: Final = re.compile(r"\d+[-/]\d+[-/]\d|\d{1,2}[-/]\d{5}|\d{5,}[-/]\d")
_BIG_FORM: Final = re.compile(r"\D*(?:\d\D?){3}")


def _classes() -> dict[str, int]:
    found: dict[str, int] = {}
    for bit, lines in _LISTED.items():
        for word in " ".join(lines).split():
            found[word] = found.get(word, 0) | bit
    for name in GIVEN_NAMES:
        found[name] = found.get(name, 0) | GIVEN_NAME
    return found


_CLASSES: Final = _classes()
# A name is a name with one letter before it, and titles have the article at most.
_OF_WHOLE_WORDS: Final = ~(GIVEN_NAME | TITLE)


@lru_cache(WORDS_KEPT)
def classes(word: str) -> int:
    """The classes of one lower-cased word of `WORD`, as bits; 0 for most words."""
    if word[0].isdigit():
        return _number_classes(word.rstrip(".,:/-"))
    word = plain(word)
    found = _CLASSES.get(word, 0)
    for cut in range(1, _MOST_PREFIXES + 1):
        if (found and cut > 1) or len(word) - cut < _SHORTEST or word[cut - 1] not in PREFIXES:
            break
        # Both readings count: the same letters are a director and "in May".
        found |= _CLASSES.get(word[cut:], 0) & (_OF_WHOLE_WORDS if cut > 1 else ~0)
    if _HEBREW_YEAR.match(word):
        found |= YEAR
    if not found and _SUBORDINATE.match(word):
        found = OCCASION
    return found


def plain(word: str) -> str:
    """Marks of abbreviations in their Hebrew form, as the lists have them, and quotes at the end left out."""
    return word.rstrip('"״').replace('"', "״").replace("'", "׳")


def _number_classes(number: str) -> int:
    if _TIME_FORM.match(number):
        return HOUR
    if _DATE_FORM.match(number):
        return DATE | NUMBER
    if _CODE_FORM.match(number):
        return BIG
    found = NUMBER
    if _YEAR_FORM.match(number):
        found |= YEAR
    if _BIG_FORM.match(number):
        found |= BIG
    return found


PHONE: Final = re.compile(
    r"(?<![\d-])(?:\+?\d{1,3}[- ])?\(?\d{2,3}\)?[- ]?\d{3}[- ]?\d{3,4}(?![\d-])|\*\d{3,5}\b|\b1-?[78]00-?\d"
)
SHORT_PHONE: Final = re.compile(r"(?:טלפון|מוקד|שלוחה|extension|ext\.?|phone|dial)[: ]+(?:מספר )?\d{3,6}\b")
EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.\w")
IP: Final = re.compile(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,7}\b")
STREET: Final = re.compile(
    r"(?<![א-ת])[ושהבכלמ]{0,2}(?:רחוב|רח['׳]|שדרות|שד['׳]|כיכר|שכונת|דרך) [א-ת]"
    r"|\b[a-z]+ (?:street|st\.|road|avenue|square|lane)\b"
)
QUOTED: Final = re.compile(r"(?:^|[\s(])[הבלמכוש]{0,2}-?[\"״“”„][^\"״“”„\n]{2,40}[\"״”“](?![א-ת])")
# Latin letters with a capital, not at the beginning of a sentence.
CAPITALISED: Final = re.compile(r"(?<=[^.!?\n] )[A-Z][A-Za-z]+|(?<=[א-ת-])[A-Z][a-z]+")
FULL_NAME: Final = re.compile(r"\b[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][a-z-]+\b")
WITHOUT_PAY: Final = re.compile(r"(?:ללא|בלא|בלי|אין) (?:תשלום|חיוב|עלות|תמורה|אגרה)|without charge|no charge|no cost")
# Institutions that are asked for by their kind, "which bank": the form that stands before a name.
INSTITUTIONS: Final[dict[str, str]] = {
    "בנק": "בנק",
    "חברה": "חברת",
    "חברת": "חברת",
    "אוניברסיטה": "אוניברסיטת",
    "מכללה": "מכללת",
    "עיתון": "עיתון",
    "מפלגה": "מפלגת",
    "יצרן": "חברת",
    "ספק": "חברת",
    "קופה": "קופת",
    "bank": "bank",
    "company": "company",
    "vendor": "vendor",
    "firm": "firm",
    "airline": "airline",
    "manufacturer": "manufacturer",
    "brand": "brand",
    "university": "university",
    "newspaper": "newspaper",
}
# Those that are hardly ever named without their kind.
ALWAYS_NAMED: Final = frozenset({"בנק", "אוניברסיטה", "מכללה", "קופה", "bank", "university"})


@cache
def named(institution: str) -> re.Pattern[str]:
    """A pattern of an institution's Hebrew noun without an article, with a name behind it."""
    goes_on = r"(?!ה[א-ת]{1,2}י[א-ת]{1,2} |ש|של |את |על |לא |או |לפי |זה |אחד |אחר |יחיד )"
    return re.compile(rf"(?<![א-ת])[ובלמש]{{0,2}}{institution} {goes_on}[א-תa-z\"״]{{2}}")
