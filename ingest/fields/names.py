"""Names of parties: cut clean, and what kind of body bears such a name. Pure."""

from __future__ import annotations

import re
from typing import Final

from search_config.document_fields import PartyKind

NAME_CHARS_MAX: Final = 90
PERSON_WORDS: Final = range(2, 6)

_I: Final = re.IGNORECASE
_TITLES: Final = re.compile(
    r"^(?:(?:מר|גב'|גברת|הגב'|ד\"ר|פרופ'|פרופסור|עו\"ד|רו\"ח|אינג'|אדר'|כב'|כבוד|השופטת?|הרב|הדיקנית?|מהנדסת?|יו\"ר|"
    r"Mr|Mrs|Ms|Miss|Dr|Prof|Capt|Adv|Eng|Sir|Hon)\.?,?\s+)+",
    _I,
)
_HONORARY: Final = re.compile(
    r"^(?:מר|גב'|גברת|הגב'|ד\"ר|פרופ'|עו\"ד|רו\"ח|אינג'|אדר'|כב'|השופטת?|הרב|Mr|Mrs|Ms|Miss|Dr|Prof|Capt|Adv)\b", _I
)
_KEEP_TITLE: Final = re.compile(r"^(?:הרב|Dr\.? \w+ \w+ \w+)")
AUTHORITY: Final = re.compile(
    r"^(?:ה?עיריי?ת|העירייה|משרד ה|ה?משרד לא?|רשות|הרשות|ה?מועצה (?:ה?מקומית|ה?אזורית|ה?דתית)|מועצת ה?עיר"
    r"|ה?וועד(?:ת|ה) (?:ה?ערר|ה?מקומית|ה?מחוזית|תכנון|ה?תכנון)"
    r"|ועדת (?:ה?ערר|התכנון|תכנון)|בית ה?משפט|בית ה?דין|מדינת ישראל|ממשלת|ה?משטרת|לשכת (?:ה?בריאות|ה?רישום)"
    r"|ה?מינהל|מנהל מקרקעי|הלשכה|נציבות|רשם |ביטוח לאומי|המוסד לביטוח)"
    r"|\b(?:Ministry|Municipality|City of|Borough of|Town of|County of|Authority|City Council|Town Council"
    r"|County Council"
    r"|Court|Department of|Government|State of|Commissioner of|Inland Revenue)\b",
)
_COMPANY: Final = re.compile(
    r"בע\"מ|בע''מ|חברת |חברה |קבוצת |גמ\"ח|עמותת|עמותה|אגודת|אגודה|שותפות|קרן |מפעלי|מכללת|בנק |קופת|ספריי?ת"
    r"|הספרי|מוזיאון|קניון|מרכז |תזמורת|נציגות|ועד הבית|בית |סטודיו|דפוס|מוסך|"
    r"גן |מעון|צוות|דיירי|משפחת|עובד|כל ה|חוגי|הנהלת|ביטוח|מערכות|שירותי|ניהול|הפקות|מחלקת|אגף"
    r"|\b(?:Ltd|Limited|Inc|LLC|LLP|GmbH|AG|AB|SA|SARL|Corp|Co|Company|PLC|Trust|School|Library|Hospital"
    r"|Hotels|Bureau|Board|Union|Club|Association|Cooperative"
    r"|Services|Systems|Consulting|Builders|Architects|Staff|Office|Estates|Foundation|University|College"
    r"|Bank|Group|Partners|Management|Committee|Port|Team|Department)\b"
)
# A later word with the article makes a name of a place or a trade: "אולמי הגן". Family names that begin so are few.
_NAMES_WITH_HE: Final = frozenset(
    {"הלוי", "הכהן", "הררי", "הרוש", "הראל", "הדרי", "הופמן", "הלפרין", "הירש", "הורוביץ", "הלר"}
)
_OFFICE_NAME: Final = re.compile(
    r"(?:ה?מנהלת?|ה?וועדת?|ה?ועדת?|ראש|סגני?ת?|ה?מזכירת?|ה?גזברי?ת?|ה?יועצת?|ה?ממונה|לשכת|נציגי?|the )(?![א-ת])", _I
)
_TAIL: Final = re.compile(r"[\s,;:.|\-]+$")
_LTD_DOT: Final = re.compile(r"\b(?:Ltd|Inc|Co|Corp)\.$", _I)
_WORD: Final = re.compile(r"[^\s]+")


def clean(name: str) -> tuple[int, int]:
    """Where the name itself stands in the words: without titles before it, marks and quotes around it.

    Returns:
        `(start, end)` into `name`; equal where nothing is left.
    """
    start = len(name) - len(name.lstrip(" \t\"'([-:,.|"))
    start += len("the ") if re.match(r"the [A-Z]", name[start:]) else 0
    end = len(name.rstrip())
    tail = _TAIL.search(name[:end])
    if tail is not None:
        end = tail.start() + (1 if _LTD_DOT.search(name[: tail.start() + 1]) else 0)
    titles = None if _KEEP_TITLE.match(name[start:end]) else _TITLES.match(name[start:end])
    if titles is not None and titles.end() < end - start:
        start += titles.end()
    while start < end and name[end - 1] in ")]" and name[start:end].count("(") < name[start:end].count(")"):
        end -= 1
    if (
        end - start > 1
        and name[end - 1] == '"'
        and not re.search(r'(?:^|\s)"', name[start:end])
        and name[end - 2] not in "אבגדהוזחטיכלמנסעפצקרשת"
    ):
        end -= 1
    return start, max(start, end)


def key(name: str) -> str:
    """What equal names share: no marks, no case, one space."""
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def is_authority(name: str) -> bool:
    """A public body by its name."""
    return AUTHORITY.search(name) is not None


def is_company(name: str) -> bool:
    """A company, association or office by its name."""
    return _COMPANY.search(name) is not None


def is_person(name: str, *, titled: bool = False) -> bool:
    """A person by the look of the name: two to five words without a word of organisations."""
    words = _WORD.findall(name)
    if is_authority(name) or is_company(name) or re.search(r"[\d&@]", name):
        return False
    if titled:
        return True
    if _OFFICE_NAME.match(name):
        return False
    if any(word.startswith("ה") and len(word) > 3 and word not in _NAMES_WITH_HE for word in words[1:]):
        return False
    latin = re.search(r"[A-Za-z]", name) is not None
    return len(words) in PERSON_WORDS and (
        not latin or all(word[0].isupper() or word in ("van", "de", "of", "bin") for word in words)
    )


def has_title(name: str) -> bool:
    """A person's title stands before the name."""
    return _HONORARY.match(name.strip()) is not None


def kind_of(name: str, role: PartyKind | None, *, titled: bool = False, person: bool = False) -> PartyKind:
    """What a party is. A public body stays an authority in every role, so that one filter finds all its documents; then
    the role that the document gives; then a person by the look of the name, where the place is one of persons."""
    if is_authority(name):
        return PartyKind.AUTHORITY
    if role is not None and not (role is PartyKind.PERSON and is_company(name)):
        return role
    if (person or titled) and is_person(name, titled=titled):
        return PartyKind.PERSON
    return PartyKind.OTHER
