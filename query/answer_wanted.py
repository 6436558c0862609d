"""What kind of thing a question asks for, told from its interrogative and the noun behind it. Pure.

A kind is one that is seen in a text by its form: a date, a sum, a telephone number, a name. "Why" and "how" have none,
nor has "what" with a noun that is not listed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from query import answer_forms as forms
from query.answer_forms import WORD, classes
from query.polarity import rough_stem


class Kind(StrEnum):
    """Kinds of things that are seen by their form."""

    PERSON = "person"
    NAME = "name"
    INSTITUTION = "institution"
    WHEN = "when"
    DATE = "date"
    YEAR = "year"
    HOUR = "hour"
    COUNT = "count"
    MEASURE = "measure"
    DURATION = "duration"
    MONEY = "money"
    PERCENT = "percent"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    PHONE = "phone"
    EMAIL = "email"
    IP = "ip"
    STREET = "street"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks for.

    Attributes:
        noun: stem of what is counted, or the kind of the institution; empty for other kinds, and where what is counted
            can't be told.
    """

    kind: Kind
    noun: str = ""


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_MAIL: Final = _set("דוא״ל דואל אימייל מייל מיילים email mail e")
_PHONES: Final = _set("טלפון נייד פקס phone telephone mobile fax")
_SUMS: Final = _set(
    "מחיר מחירו מחירה מחירם מחירי עלות עלותו עלותה עלותם עלויות שכר שכרו שכרה שכרם משכורת משכורתו משכורתה סכום סכומו",
    "סכומה אגרה אגרת קנס קנסות תעריף תשלום שווי שוויו תקציב תקציבו תקציבה אומדן תמורה פיצוי מענק הכנסות רווח מחזור",
    "price prices cost costs fee fees salary wage fine amount budget fare charge rent revenue",
)
_HEADS: Final[dict[Kind, frozenset[str]]] = {
    Kind.NAME: _set("שם שמו שמה שמם שמן שמות שמותיהם שמותיהן שמותם כינויו כינויה name names nickname"),
    Kind.PHONE: _PHONES,
    Kind.EMAIL: _MAIL,
    Kind.MONEY: _SUMS,
    Kind.PERCENT: _set("אחוז אחוזי שיעור שיעורו שיעורה ריבית percent percentage rate turnout"),
    Kind.YEAR: _set("שנה שנת year"),
    Kind.DATE: _set("תאריך date"),
    Kind.HOUR: _set("שעה שעות שעת שעתו time hour hours"),
    Kind.WHEN: _set("יום ימים מועד מועדו חודש עונה day days month"),
    Kind.NUMBER: _set(
        "מספר מספרו מספרה מספרם קוטר קוטרו אורך אורכו אורכה רוחב רוחבו גובה גובהו גובהה משקל משקלו משקלה שטח שטחו שטחה",
        "עומק מרחק נפח גיל גילו טמפרטורה טמפרטורת מהירות כמות ריכוז אוכלוסיית number height length width weight area",
        "depth distance volume age temperature speed population size diameter quantity score concentration",
    ),
    Kind.IDENTIFIER: _set("קוד סיסמה סיסמת מק״ט code password"),
    Kind.DURATION: _set("משך משכו משכה duration"),
    Kind.PERSON: _set(
        "אדם איש אישה אשה זמר זמרת שחקן שחקנית סופר סופרת במאי במאית אדריכל שר מלך נשיא מדען חוקר מלחין צייר עורך מנהל",
        "person man woman actor actress singer author director architect composer scientist",
    ),
    Kind.STREET: _set("רחוב כתובת כתובתו כתובתה street address"),
}
_HEAD_KIND: Final = {word: kind for kind, words in _HEADS.items() for word in words}
# Kinds that "which" asks for, and "what" does not.
_OF_WHICH: Final = frozenset({Kind.PERSON, Kind.STREET})
_ADDRESSES: Final = _set("כתובת כתובתו כתובתה כתובות address addresses")
# What has a number of its own, rather than being so many: "the number of the file".
_NUMBERED: Final = _set(
    "רכב תיק חשבון רישיון רשיון זהות דרכון הזמנה חשבונית פוליסה לוחית לוח עוסק כרטיס account file license licence",
    "passport invoice order identity registration",
)
_COPULAS: Final = _set(
    "היה היתה הייתה היו הוא היא הם הן יהיה תהיה יהיו is are was were be the a an its his her their full total exact",
    "direct current monthly annual yearly first last overall",
)
_WHAT: Final = _set("מה מהו מהי מהם מהן what what's")
_WHICH: Final = _set("איזה איזו אילו אלו which")
_WHO: Final = _set("מי מיהו מיהי מיהם who whom whose")
_WITH_LETTER: Final = _set("למי ממי")
_BEFORE_WHO: Final = _set("של על בידי ידי את עם אצל אל to by with from for of")
_PAID: Final = _set(
    "עולה עולים עולות עלה עלתה עלו תעלה יעלה יעלו משלם משלמת משלמים שילם שילמה שילמו שולם שולמו ישלם תשלם ישולם כסף",
    "שקל שקלים ש״ח דולר דולרים יורו אירו מרוויח מרוויחה הרוויח הרוויחה נמכר נמכרה נקנה הושקע הושקעו גובה גובים נקנס",
    "נקנסה cost costs pay pays paid earn earns charge charges charged spend spent money worth price salary fee fine",
    "owe nis",
)
_TIMES: Final = _set(
    "זמן שעות שעה ימים יום שבועות חודשים שנים דקות שניות days day hours weeks months years minutes time"
)
_CALLED: Final = _set("קוראים קראו נקרא נקראת נקראים נקראו מכונה")
_HOW_MUCH: Final = _set("many much long old tall far high deep wide fast heavy")
_TO_WHAT_EXTENT: Final = _set("עד כל")
_IN_ALL: Final = _set("סך הכל הכול בסך")
_PREFIXED: Final = ("מתי", "כמה", "איזה", "איזו", "אילו", "מה")
# What is no plural is a verb, or what is counted of: "how many of the users".
_OF_THE: Final = "מה"
_PLURAL: Final = ("ים", "ות", "s", "people", "men", "children")
# Verbs in the past that begin with the letter of the article: "who wrote", not "who is the writer".
_PAST: Final = re.compile(
    r"ה[א-ת]{1,2}י[א-ת]{1,3}$|הת[א-ת]{3,}$|הו[א-ת]{2,3}$|הי[א-ת]{1,2}$|ה[א-ת]{2}ה$|ה[שסצז][תטד][א-ת]{2,}$"
)
_LONGEST_HEAD: Final = 6
_SHORTEST_NOUN: Final = 4
# Words of a question that no passage is expected to hold: those that only ask, and the noun that names what is asked
# for, since the price of a thing is often told without the word "price".
UNWANTED: Final = (
    _WHAT
    | _WHICH
    | _WHO
    | _WITH_LETTER
    | _BEFORE_WHO
    | _COPULAS
    | _HEAD_KIND.keys()
    | _PAID
    | _TIMES
    | forms.INSTITUTIONS.keys()
    | _set(
        "כמה מתי איפה היכן איך כיצד למה מדוע האם או לא כי אם יש אין זה זו אשר הזה הזאת how when where why many much",
        "long did does do in on at or and that this",
    )
)
# Questions whose kind is remembered: all passages of a pool are looked at for the same one.
_QUESTIONS_KEPT: Final = 1_000


@lru_cache(_QUESTIONS_KEPT)
def wanted(query: str) -> Wanted | None:
    """What a question asks for; None where its answer has no form of its own."""
    words = [forms.plain(word) for word in WORD.findall(query.lower())]
    for place, word in enumerate(words):
        before, rest = words[place - 1] if place else "", words[place + 1 :]
        asks, found = _asked(_unprefixed(word), before, rest, first=not place)
        if asks:
            return found
    return None


def _asked(word: str, before: str, rest: Sequence[str], *, first: bool) -> tuple[bool, Wanted | None]:
    """Whether a word asks, and for what."""
    if (word in _WHO and (first or before in _BEFORE_WHO)) or (word in _WITH_LETTER and first):
        return True, Wanted(Kind.NAME if _identity(word, rest) else Kind.PERSON)
    if word == "מתי" or (word == "when" and (first or before in _BEFORE_WHO)):
        return True, Wanted(Kind.WHEN)
    if word == "כמה":
        return True, None if before in _TO_WHAT_EXTENT else _counted(rest)
    if word == "how":
        return True, _how(rest)
    if word in ("איך", "כיצד"):
        return True, Wanted(Kind.NAME) if rest and rest[0] in _CALLED else None
    if word in _WHAT or word in _WHICH:
        return True, _headed(rest, which=word in _WHICH)
    return False, None


def past(word: str) -> bool:
    """Whether a word that begins with the article's letter is a verb: "who wrote", not "who is the writer"."""
    return _PAST.match(word) is not None


def _identity(word: str, rest: Sequence[str]) -> bool:
    """Whether "who" asks for the name of one whose part is told: "who is the inspector"."""
    if word == "who":
        return len(rest) > 1 and rest[0] in _COPULAS and rest[1] == "the"
    after = next((one for one in rest if one not in _COPULAS), "")
    return word in _WHO and len(after) >= _SHORTEST_NOUN and after[0] == "ה" and not past(after)


def _unprefixed(word: str) -> str:
    """An interrogative without a letter that Hebrew writes before it: "באיזה"."""
    prefixed = word not in _PREFIXED and word[1:] in _PREFIXED and word[0] in forms.PREFIXES
    return word[1:] if prefixed else word


def _counted(rest: Sequence[str]) -> Wanted | None:
    noun = next((word for word in rest if word not in _IN_ALL), "")
    if not noun:
        return None
    if noun in _PAID:
        return Wanted(Kind.MONEY)
    if noun in _TIMES:
        return Wanted(Kind.DURATION)
    of = classes(noun)
    if of & forms.PERCENT:
        return Wanted(Kind.PERCENT)
    if of & forms.UNIT:
        return Wanted(Kind.MEASURE)
    things = noun.endswith(_PLURAL) and not noun.startswith(_OF_THE)
    return Wanted(Kind.COUNT, rough_stem(noun) if things else "")


def _how(rest: Sequence[str]) -> Wanted | None:
    if not rest or rest[0] not in _HOW_MUCH:
        return None
    first, more = rest[0], rest[1:]
    if first == "many":
        return _counted(more)
    if first == "much":
        return Wanted(Kind.NUMBER if _PAID.isdisjoint(more) else Kind.MONEY)
    return Wanted(Kind.DURATION if first == "long" else Kind.NUMBER)


def _headed(rest: Sequence[str], *, which: bool) -> Wanted | None:
    """By the noun behind "what" or "which"."""
    nouns = [_bare(word) for word in rest[:_LONGEST_HEAD] if word not in _COPULAS]
    if not nouns:
        return None
    head, second = nouns[0], nouns[1] if len(nouns) > 1 else ""
    if of_two := _of_two(head, second):
        return Wanted(of_two)
    if which and head in forms.INSTITUTIONS:
        return Wanted(Kind.INSTITUTION, head)
    kind = _HEAD_KIND.get(head)
    if kind is None or (kind in _OF_WHICH and not which and head not in _ADDRESSES):
        return None
    return Wanted(kind)


def _of_two(head: str, second: str) -> Kind | None:
    """The kind that two nouns name together: "e-mail address", "number of the file", "height of the fine"."""
    pair = {head, second}
    if head == "גובה" and second in _SUMS:
        return Kind.MONEY
    if not pair & _ADDRESSES and head not in ("מספר", "ip") and second != "number":
        return None
    for kind, words in ((Kind.IP, {"ip"}), (Kind.EMAIL, _MAIL), (Kind.PHONE, _PHONES), (Kind.IDENTIFIER, _NUMBERED)):
        if pair & words:
            return kind
    return None


def _bare(noun: str) -> str:
    """Without the article."""
    return noun if noun in _HEAD_KIND or noun in forms.INSTITUTIONS else noun.removeprefix("ה")
