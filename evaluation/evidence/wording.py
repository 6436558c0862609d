"""Words of a claim against words of a passage: stems, negation, qualifications, duty and permission. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from evaluation.evidence.connectives import CONNECTIVE
from evaluation.evidence.numbers import NUMBER_WORDS, UNITS
from search_config.hebrew_inflection import inflections, whole_words
from search_config.hebrew_prefixes import readings
from search_config.language import has_hebrew

_WORD: Final = re.compile(r"[^\W_]+(?:[\"'״׳][^\W_]+)*")
# Endings that English words lose, longest first; what is left keeps three letters at least.
_ENDINGS: Final = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "ed",
    "es",
    "er",
    "ly",
    "s",
    "e",
    "y",
)
_LEAST_STEM: Final = 3
# Number words up to here are ordinals too, and say which thing is meant.
ORDINALS: Final = 2
# A doer, a doing and one to whom it is done; of fewer words the order says nothing.
FEWEST_IN_ORDER: Final = 3
_FUNCTION_TEXT: Final = (
    "the a an of in on at to for by from with and or but as is are was were be been being it its this that these those"
    " which who whom whose there their they he she his her we our you your i has have had do does did than then so if"
    " when where while also any each every such under over per into within until after before because since unless"
    " except must may shall will should can could would not no never without only up least most more"
    " של על אל את עם או גם כי אם אך אבל זה זו זאת הוא היא הם הן אני לו לה להם בו בה בהם אשר כל יש אין לא אינו אינה"
    " אינם אינן היה הייתה היו יהיה תהיה יהיו כדי ידי לפי בין רק עד מן זולת למעט בלי ללא כאשר כך לכן אלא ואילו יותר"
    " לפני אחרי לאחר בתוך תוך למשך מיום החל ובלבד בתנאי חייב חייבת חייבים רשאי רשאית רשאים מותר אסור ניתן שבו שבה"
    " costs cost עולה עולים עלות"
)
_FUNCTION: Final = frozenset(_FUNCTION_TEXT.split())
NEGATION: Final = re.compile(
    r"(?<![\w'])(?:not|no|never|cannot|none|neither|nor|without|forbidden|prohibited|nothing|nobody)(?!\w)|n't\b|"
    r"(?<![א-ת])[וש]{0,2}(?:לא|אין|אינו|אינה|אינם|אינן|איננו|איננה|אינני|בלי|בלא|ללא|אסור|אסורה|אסורים|אל|לעולם|שום|טרם)(?![א-ת])",
    re.IGNORECASE,
)
DUTY: Final = re.compile(
    r"\b(?:must|shall|required|obliged|has to|have to|mandatory)\b|"
    r"(?<![א-ת])[והש]{0,2}(?:חייב|חייבת|חייבים|חייבות|מחויב|מחויבת|נדרש|נדרשת|חובה|יש ל|צריך|צריכה|טעון|טעונה)",
    re.IGNORECASE,
)
LEAVE: Final = re.compile(
    r"\b(?:may|can|allowed|permitted|entitled|optional)\b|"
    r"(?<![א-ת])[והש]{0,2}(?:רשאי|רשאית|רשאים|רשאיות|מותר|מותרת|ניתן|אפשר|יכול|יכולה|זכאי|זכאית|זכאים)(?![א-ת])",
    re.IGNORECASE,
)
# Words that widen a claim; a passage that has none of them does not carry it.
ALWAYS: Final = re.compile(
    r"\b(?:always|all|every|any|everyone|anyone|anywhere|whenever|guaranteed?|entirely|completely|automatically)\b|"
    r"(?<![א-ת])[ובלמ]?(?:תמיד|כל|בכל|לכל|כולם|מלא|מלוא|בהחלט|אוטומטית|מאליו|מאליה)(?![א-ת])",
    re.IGNORECASE,
)
# Words that narrow a passage; a claim that has none of their kind leaves a qualification out.
NARROWING: Final[dict[str, re.Pattern[str]]] = {
    "only": re.compile(r"\b(?:only|solely|exclusively)\b|(?<![א-ת])(?:ו?רק|בלבד|אך ורק)(?![א-ת])", re.IGNORECASE),
    "at most": re.compile(
        r"\b(?:up to|at most|no more than|not exceed(?:ing)?|maximum|no later than|within|until|by)\b|"
        r"(?<![א-ת])[ובל]{0,2}(?:עד|לכל היותר|לא יותר מ|לא יעלה על|לא תעלה על|תוך|בתוך|לא יאוחר)(?![א-ת])",
        re.IGNORECASE,
    ),
    "at least": re.compile(
        r"\b(?:at least|no less than|minimum|or more|from)\b|(?<![א-ת])(?:לפחות|ומעלה|לא יפחת|לא פחות)(?![א-ת])",
        re.IGNORECASE,
    ),
    "about": re.compile(
        r"\b(?:about|approximately|roughly|estimated)\b|(?<![א-ת])(?:כ-?(?=\d)|בערך|לערך)", re.IGNORECASE
    ),
    "more than": re.compile(
        r"\b(?:more than|over|above|exceed(?:s|ing)?)\b|(?<![א-ת])(?:מעל|יותר מ|עולה על|העולה על)", re.IGNORECASE
    ),
    "less than": re.compile(
        r"\b(?:less than|below|under|fewer than)\b|(?<![א-ת])(?:פחות מ|מתחת ל|נמוך מ)", re.IGNORECASE
    ),
}


def _opposites(left: str, right: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    first, second = (re.compile(rf"(?<!\w)[ובלמהש]?(?:{words})(?!\w)", re.IGNORECASE) for words in (left, right))
    return first, second


# Words that turn a statement round; a passage that holds the one does not carry the other.
_OPPOSITES: Final = (
    _opposites(
        "including|includes?|inclusive|with|כולל|כוללת|כוללים|לרבות|כלול|כלולה",
        "plus|excluding|excludes?|exclusive|without|בתוספת|בלי|ללא|לא כולל|אינו כולל|אינם כוללים|לא כלול",
    ),
    _opposites("before|prior to|לפני|קודם", "after|following|אחרי|לאחר"),
    _opposites("minimum|at least|לפחות|ומעלה", "maximum|at most|up to|no more than|לכל היותר|לא יותר"),
    _opposites("above|over|exceeds?|more than|מעל|יותר", "below|under|less than|fewer than|מתחת|פחות"),
    _opposites("increases?|rises?|raised|עולה|יעלה|גדל|הגדלה", "decreases?|falls?|lowered|reduced|יורד|יירד|קטן|הקטנה"),
    _opposites(
        "customer|client|buyer|הלקוח|המזמין|העירייה", "supplier|vendor|seller|contractor|הספק|הקבלן|החברה|המוכר"
    ),
    _opposites(
        "monthly|per month|a month|לחודש|בחודש|חודשי|חודשית", "yearly|annual|per year|a year|לשנה|בשנה|שנתי|שנתית"
    ),
    _opposites("first|earliest|ראשון|ראשונה", "last|latest|second|אחרון|אחרונה|שני|שנייה"),
    _opposites("free|free of charge|חינם|ללא תשלום|ללא חיוב", "charged|paid|payable|for a fee|בתשלום|תמורת|באגרה"),
    _opposites("open|opens|opened|פתוח|פתוחה|פתוחים|נפתח|נפתחת", "closed|closes|shut|סגור|סגורה|סגורים|נסגר|נסגרת"),
    _opposites("weekends?|סופי שבוע|סוף שבוע", "weekdays?|ימי חול|ימי עבודה"),
    _opposites("day|daytime|ביום|בשעות היום", "night|nights|בלילה|בשעות הלילה"),
    _opposites("permitted|allowed|מותר|מותרת|מותרים", "forbidden|prohibited|banned|אסור|אסורה|אסורים"),
)
# A condition that changes nothing: "even if it is cheaper".
EVEN: Final = re.compile(
    r"\b(?:even (?:if|where|when|though)|whether or not|regardless)\b|"
    r"(?<![א-ת])[ו]?(?:גם אם|גם כש|אף אם|אפילו|ולו)(?![א-ת])",
    re.IGNORECASE,
)
# Words that turn against what was just said.
CONTRAST: Final = re.compile(
    r"\s*(?:but|however|although|yet)\b|\s*[ו]?(?:אולם|אך|אבל|אם כי|אף ש)(?![א-ת])", re.IGNORECASE
)
FORBIDDEN: Final = re.compile(
    r"\b(?:forbidden|prohibited|banned|not allowed|not permitted)\b|"
    r"(?<![א-ת])[ו]?(?:אסור|אסורה|אסורים|אסורות)(?![א-ת])",
    re.IGNORECASE,
)
_RATE_UNIT: Final = "|".join(sorted((word for word in UNITS if word[0].isalpha()), key=len, reverse=True))
# What a sum is counted by: "an hour", "לכל רבע שעה", a cell that holds a unit alone.
_RATE: Final = re.compile(
    rf"(?<!for )(?<!within )\b(?:an?|per|each|every)\s+(?:\w+\s+)?(?P<en>{_RATE_UNIT})\b|"
    rf"(?<![א-ת])(?:ל|ב|לכל |כל |מדי |בכל )(?:\w+ )?(?P<he>{_RATE_UNIT})(?![א-ת\"'״׳]| הבא)|"
    rf"(?:יחיד[הת]|unit|per)[^:|]*:\s*(?P<cell>{_RATE_UNIT})\s*(?:\||$)",
    re.IGNORECASE,
)
# Words that take back a part of a statement: what should be, or is expected, is not yet so.
HEDGE: Final = re.compile(
    r"\b(?:should|expected|planned|intended|might|could|where possible|if possible|usually|generally|in principle)\b|"
    r"(?<![א-ת])(?:צפוי|צפויה|אמור|אמורה|מתוכנן|מתוכננת|ככל האפשר|במידת האפשר|ייתכן|עשוי|עשויה|"
    r"בדרך כלל|לרוב|בעיקרון)(?![א-ת])",
    re.IGNORECASE,
)
# Days of the week: one for another is another statement, and the rest of the words may be the same.
DAY_NAME: Final = re.compile(
    r"\b(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)days?\b|(?<=ימי )[א-ת]+|"
    r"(?<=יום )(?:ראשון|שני|שלישי|רביעי|חמישי|שישי|שבת)",
    re.IGNORECASE,
)
# In the company of these a condition is said, not a bare fact.
CONDITION: Final = re.compile(
    r"\b(?:if|provided|unless|except|subject to|excluding|where|when)\b|"
    r"(?<![א-ת])[ו]?(?:אם|בתנאי|ובלבד|למעט|אלא|בכפוף|פרט|מלבד|זולת|כאשר|כש[א-ת]+|להוציא|חוץ)(?![א-ת])",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _lists() -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    return frozenset(whole_words()), inflections()


@lru_cache(maxsize=20_000)
def stems(word: str) -> frozenset[str]:
    """Forms by which a word is compared: two words are one where these meet."""
    lowered = word.casefold().replace("״", '"').replace("׳", "'")
    if not has_hebrew(lowered):
        return frozenset({_english(lowered)})
    whole, inflected = _lists()
    forms = readings(lowered, whole)
    return frozenset({*forms, *(stem for form in forms for stem in inflected.get(form, ()))})


def _english(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


def content_words(text: str) -> tuple[str, ...]:
    """Words that say something: no function words, numbers or units; in order, each once."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group()
        lowered = word.casefold().replace("״", '"')
        bare = lowered[1:] if lowered[:1] in "ובלכמשה" else lowered
        # "Second" in Hebrew is written as "two": תו שני.
        acronym = word.isupper() and word.isascii() and len(word) > 1
        skipped = not acronym and any(
            one in _FUNCTION or NUMBER_WORDS.get(one, 0) > ORDINALS or one in UNITS for one in (lowered, bare)
        )
        if not skipped and len(word) > 1 and not any(letter.isdigit() for letter in word):
            found.append(word)
    return tuple(dict.fromkeys(found))


def missing_words(wanted: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Those of the words that the text holds in no form."""
    held: set[str] = set()
    for match in _WORD.finditer(text):
        held |= stems(match.group())
    return tuple(word for word in wanted if stems(word).isdisjoint(held))


def reversed_order(wanted: tuple[str, ...], text: str) -> bool:
    """Whether the first and the last of the words stand the other way round, each once: who does it to whom."""
    if len(wanted) < FEWEST_IN_ORDER:
        return False
    places = [
        [match.start() for match in _WORD.finditer(text) if not stems(match.group()).isdisjoint(stems(word))]
        for word in (wanted[0], wanted[-1])
    ]
    first, last = places
    return len(first) == len(last) == 1 and first[0] > last[0]


def denied(text: str) -> frozenset[str]:
    """Stems of the words that a negation stands before: "shall not leave" denies leaving."""
    found: set[str] = set()
    for cue in NEGATION.finditer(text):
        following = content_words(text[cue.end() :])
        if following:
            found |= stems(following[0])
    return frozenset(found)


def opposed(claim: str, passage: str) -> tuple[str, str] | None:
    """A word of the claim whose opposite stands in the passage, where it does not stand itself."""
    for pair in _OPPOSITES:
        for ours, theirs in (pair, pair[::-1]):
            claimed = ours.search(claim)
            if claimed and not theirs.search(claim) and theirs.search(passage) and not ours.search(passage):
                stated = theirs.search(passage)
                return claimed.group().strip(), stated.group().strip() if stated else ""
    return None


def rates(text: str) -> frozenset[str]:
    """Units that something in a text is counted by, in one form: "NIS 310 an hour" is counted by the hour."""
    found = (match["en"] or match["he"] or match["cell"] for match in _RATE.finditer(text))
    return frozenset(UNITS[unit.casefold()] for unit in found)


def negated(text: str) -> bool:
    """Whether a text says that something is not so."""
    return NEGATION.search(text) is not None


def names(text: str) -> tuple[str, ...]:
    """Words in capitals inside a sentence, and texts between quotation marks: names, in order, each once."""
    capitals = re.findall(r"(?<=[a-z,;] )(?:[A-Z][\w&.-]*\w)(?:\s[A-Z][\w&.-]*\w)*", text)
    quoted = re.findall(r"(?<![^\s(])[\"“„]([^\"”“]{2,60})[\"”“](?!\w)", text)
    return tuple(dict.fromkeys([*capitals, *quoted]))


def has_cause(text: str) -> bool:
    """Whether a text says why."""
    return any(match.lastgroup == "cause" for match in CONNECTIVE.finditer(f" {text}")) or bool(
        re.search(r"(?<![א-ת])(?:מפאת|עקב|בשל|בעקבות|מחמת|הודות)(?![א-ת])|\b(?:because|due to|caused)\b", text)
    )
