"""A document's own numbers, and the documents that it refers to, replaces or amends. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from ingest.fields.dates import DateFound
from ingest.fields.text import clause_before, lines_of, place
from search_config.document_fields import (
    REFERENCES_MAX,
    DocumentReference,
    DocumentType,
    FieldReading,
    FieldStatus,
    Relation,
)

_I: Final = re.IGNORECASE
# A document's own number stands in its head.
HEAD_LINES: Final = 10
TITLE_LINES: Final = 5
NAME_WORDS_MAX: Final = 7
# So few digits behind a noun are a count, unless a word for "number" stands between: "contract 12 months".
BARE_DIGITS: Final = 2

# Letters, digits and joints with a digit inside; no joint at the end.
_NUMERAL: Final = (
    r"(?:[A-Za-zא-ת]{1,6}[-/]?)?\d[\w]*(?:[-/.]\w+){0,5}|[A-Z]{1,6}(?:[-/][A-Z0-9]+){1,4}|[א-ת]{1,2}-\d[\d/]*"
)
_NUMBER_WORD: Final = r"(?:מס'|מספר|מס\.|no\.?|number|num\.?|nr\.?|#)"
_NOUNS_HE: Final = (
    "הסכם|חוזה|חשבונית מס/קבלה|חשבונית מס קבלה|חשבונית מס|חשבונית עסקה|חשבונית זיכוי|חשבונית|חשבון עסקה"
    "|חשבון|קבלה|דרישת תשלום|הזמנה|הזמנת רכש|הצעת מחיר|הצעה|מכרז"
    '|דוח|דו"ח|פרוטוקול|סיכום דיון|סיכום ישיבה|נוהל|נהלי|הוראה|הוראת קבע|הנחיה|תיק|ת"א|מכתב|מכתבך|מכתבכם'
    "|מכתבנו|רישיון|רשיון|רישיונכם|רישיון עסק|היתר|תוכנית|תכנית|מחירון|תעודת אחריות|פוליסה|החלטה"
    "|ועדת רכישות|ישיבת מועצה|מועצה|ישיבה|בקשה"
)
_NOUNS_EN: Final = (
    r"agreement|contract|lease|invoice|credit note|pro forma invoice|tax invoice|receipt|purchase order|order"
    r"|quotation|quote|offer|tender|request for proposals|report|minutes|action list|protocol"
    r"|procedure|policy|guidelines?|instruction|standard|file|case|letter|licen[cs]e|permit|plan|drawing"
    r"|price list|certificate|application|document|sop|project|plot|meeting minutes"
)
_OWN_LABEL: Final = re.compile(
    rf"(?:^|[|(]\s*|\s{{2,}})\W{{0,3}}(?:(?:מס' )?(?:ה?סימוכין|ה?סימוכינ?נו|מספרנו|מספרינו|אסמכת[אה])|ה?קוד"
    rf"|תיק(?: מס'| מספר)?|מס' תיק"
    rf"|{_NUMBER_WORD}(?:\s+ה?(?:{_NOUNS_HE}))?"
    rf"|our ref(?:erence)?\.?|ref(?:erence)?\.?(?: no\.?| number)?|(?:{_NOUNS_EN}|policy|serial"
    rf"|document)\s+{_NUMBER_WORD}|{_NUMBER_WORD})\s*[:.#]?\s*(?P<t>{_NUMERAL})(?![\w])",
    _I,
)
_OWN_TITLE: Final = re.compile(
    rf"^\W*(?:[א-ת\"'/]+\s+){{0,3}}?(?:{_NOUNS_HE})(?:\s+[א-ת\"'/]+){{0,4}}?\s*(?:{_NUMBER_WORD})?\s*:?\s*(?P<t>{_NUMERAL})(?=[\s,.]|$)"
    rf"|^\W*(?:[A-Za-z]+[ ,]+){{0,5}}?(?:{_NOUNS_EN})\s*(?:{_NUMBER_WORD})?\s*[:#]?\s*(?P<u>{_NUMERAL})(?=[\s,.]|$)",
    _I,
)
# The same behind the end of a sentence, where the word for "number" must stand: "… Ltd. Contract no. 2023/77."
_OWN_SENTENCE: Final = re.compile(
    rf"(?<=[.;] )(?:(?:{_NOUNS_HE})|(?:{_NOUNS_EN}))\s+{_NUMBER_WORD}\s*:?\s*(?P<t>{_NUMERAL})(?=[\s,.]|$)", _I
)
_OFFER: Final = re.compile(
    rf"^\W*(?:(?:הנדון|נושא|re|subject)\s*:\s*)?(?:הצעת מחיר|quotation"
    rf"|quote)\s*{_NUMBER_WORD}?\s*:?\s*(?P<t>{_NUMERAL})(?![\w])",
    _I,
)
# "ה-5 בחודש": a letter before a number is a preposition.
_PREFIXED: Final = re.compile(r"[הלבמכשו]-\d+")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_BUSINESS: Final = r"הזמנה|הזמנת רכש|מכרז|\border\b|\btender\b|\brequest for proposals\b"
_AGREEMENTS: Final = r"הסכם|חוזה|\bagreement\b|\bcontract\b"
_BILLS: Final = r"חשבונית|\binvoice\b"
_FOREIGN: Final = {
    DocumentType.INVOICE: re.compile(f"{_BUSINESS}|{_AGREEMENTS}", _I),
    DocumentType.CONTRACT: re.compile(f"{_BUSINESS}|{_BILLS}", _I),
    DocumentType.CORRESPONDENCE: re.compile(f"{_BUSINESS}|{_AGREEMENTS}|{_BILLS}", _I),
    DocumentType.REPORT: re.compile(f"{_AGREEMENTS}|{_BILLS}|\\border\\b", _I),
    DocumentType.PROCEDURE: re.compile(f"{_BUSINESS}|{_AGREEMENTS}|{_BILLS}", _I),
}
_SUBJECT: Final = re.compile(r"^\s*(?:הנדון|נושא|re|subject|לפי|בהתאם|מאושר)\b", _I)
# Words left of a number that make it another document's.
_OTHERS: Final = re.compile(
    r"(?:לפי|בהתאם ל|על פי|ע\"פ|מכוח|את|ראו|ראה|מפנה ל|בקשר ל|מחליף|מחליפה|מבטל|מבטלת|בא במקום|מתקנ?ת?|תיקון"
    r"|לחוזה|להסכם|בעניין|מכתב(?:ך|כם|נו)|הקודמת?|your|under|see|to (?:the )?(?:invoice|contract|agreement)"
    r"|of (?:the )?(?:contract|agreement)|amends?|supersedes?|replaces?)\b",
    _I,
)
_REFERRED: Final = re.compile(
    rf"(?<![א-תA-Za-z])(?:(?:[ולבמהשכ]{{0,3}})(?P<n>{_NOUNS_HE})|(?P<e>{_NOUNS_EN}|purchase order))(?![א-תA-Za-z])"
    rf"(?P<w>(?:[ \"'][א-תA-Za-z\"'/]{{2,20}}){{0,4}}?)(?:[ ,]{{1,2}}"
    rf"|\s?:\s)(?:{_NUMBER_WORD}\s*)?(?P<t>{_NUMERAL})(?![\w])",
    _I,
)
_SUPERSEDES: Final = re.compile(
    r"(?:(?<![א-ת])(?:ו?ה?מחליפ(?:ה|ים|ות)?|ו?ה?מחליף|ו?מבטל(?:ת|ים|ות)?|ו?יחליפ?[ףו]|ו?תחליף|ב[או](?:ה"
    r"|ים)? במקום|במקומ[וה] של|במקום|חלף)(?![א-ת])"
    r"|\b(?:supersed(?:es?|ing)|replac(?:es?|ing)|in (?:lieu|place) of|instead of|cancels?)\b)",
    _I,
)
_PASSIVE: Final = re.compile(r"הוחלף|מוחלף|יוחלף|בוטל|מבוטל|(?:superseded|replaced|cancelled) by", _I)
_AMENDS: Final = re.compile(
    r"(?:(?<![א-ת])(?:ו?מתקנ(?:ת|ים|ות)|ו?מתקן|ו?לתקן|תיקון ל?|תוספת ל|נספח [א-ת]' ל|תוספת(?: מס' \d+)? ל"
    r"|נספח ל|משנה את)|\b(?:amend(?:s|ing|ment (?:no\.? \d+ )?(?:to|of))|modif(?:y|ies)|addendum to|varies)\b)",
    _I,
)
_VERB_NUMERAL: Final = re.compile(
    r"\b(?P<v>supersedes|replaces|amends|see(?: also)?"
    r"|ref)\s+(?P<t>(?:[A-Z]{1,6}[-/])?[A-Z0-9]*\d[\w]*(?:[-/.]\w+){0,4})(?![\w])",
    _I,
)
_BY_NAME: Final = re.compile(
    r"(?P<v>מחליפ?[ףהת]+|מבטלת?|בא(?:ה)? במקום|מתקנ?[ןת]|supersedes|replaces|amends)\s+(?:את\s+)?(?:ה?(?:נוסח"
    r"|גרסה) (?:ה)?קודמת? של\s+)?(?:the\s+)?"
    rf"(?P<q>\"[^\"\n]{{3,80}}\"|(?:ה?(?:נוהל|הסכם|חוזה|מדיניות|הנחיות|הוראות)"
    rf"|(?:[A-Z][a-z]+\s+){{1,4}}(?:policy|procedure|agreement|guidelines))(?:\s+(?!מיום|מס'|מספר|of"
    rf"|dated)[א-תA-Za-z\"'-]+){{0,{NAME_WORDS_MAX}}})",
)
_VAGUE: Final = re.compile(r"כל |קודמ|הקוד|זה|זו|any |previous|prior|earlier")


def read_references(
    text: str, folded: str, dates: Sequence[DateFound], kind: DocumentType
) -> tuple[tuple[FieldReading[str], ...], tuple[DocumentReference, ...]]:
    """Its own numbers, and what it refers to; each number once, and its own never among the others."""
    days = {(one.start, one.end) for one in dates}
    own: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(islice(lines_of(folded), HEAD_LINES)):
        for match in (
            *_OWN_LABEL.finditer(line.text),
            *([_OWN_TITLE.match(line.text)] if number < TITLE_LINES else []),
            *(_OWN_SENTENCE.finditer(line.text) if number < TITLE_LINES else ()),
        ):
            if match is None or _SUBJECT.match(line.text) or _foreign(match[0], kind):
                continue
            name = "t" if match["t"] else "u"
            start, end = line.start + match.start(name), line.start + match.end(name)
            begin = line.start + (match.start() if match.re is _OWN_SENTENCE else 0)
            if _OTHERS.search(folded[begin:start]) or _is_day(start, end, days) or not _counts(folded, start, end):
                continue
            own.setdefault(folded[start:end], (start, end))
        offer = _OFFER.match(line.text)
        if offer is not None:
            own.setdefault(offer["t"], (line.start + offer.start("t"), line.start + offer.end("t")))
    refers = _referred(text, folded, days, set(own), set(own.values()))
    readings: tuple[FieldReading[str], ...] = tuple(
        FieldReading(status=FieldStatus.VALUE, value=text[start:end], place=place(text, start, end))
        for start, end in own.values()
    )
    return readings[:REFERENCES_MAX], tuple(refers)[:REFERENCES_MAX]


def _foreign(words: str, kind: DocumentType) -> bool:
    """Whether a label names a document of another type: an order's number on an invoice."""
    pattern = _FOREIGN.get(kind)
    return pattern is not None and pattern.search(words) is not None


def _is_day(start: int, end: int, days: set[tuple[int, int]]) -> bool:
    return any(start < to and begin < end for begin, to in days)


def _counts(folded: str, start: int, end: int) -> bool:
    """Not a sum, a share or a bare year behind a word."""
    behind = folded[end : end + 6].lstrip()
    word = folded[start:end]
    if re.match(r",\d{3}", folded[end : end + 4]):
        return False
    if _PREFIXED.fullmatch(word):
        return False
    if _YEAR.fullmatch(word) and not re.search(rf"{_NUMBER_WORD}\s*:?\s*$", folded[max(0, start - 12) : start], _I):
        return False
    return not behind.startswith(("₪", 'ש"ח', "%", "$", "€")) and any(letter.isdigit() for letter in word)


def _referred(
    text: str, folded: str, days: set[tuple[int, int]], own: set[str], places: set[tuple[int, int]]
) -> list[DocumentReference]:
    found: dict[str, DocumentReference] = {}
    for match in sorted((*_REFERRED.finditer(folded), *_VERB_NUMERAL.finditer(folded)), key=lambda one: one.start("t")):
        start, end = match.start("t"), match.end("t")
        word = folded[start:end]
        if word in own or (start, end) in places or _is_day(start, end, days) or not _counts(folded, start, end):
            continue
        if (
            word.isdigit()
            and not re.search(_NUMBER_WORD, match[0], _I)
            and (len(word) <= BARE_DIGITS or _spaced(match))
        ):
            continue
        left = clause_before(folded, start)
        _keep(found, text, start, end, _relation(left))
    for match in _BY_NAME.finditer(folded):
        start, end = match.span("q")
        if folded[start] == '"':
            start, end = start + 1, end - 1
        end = start + len(folded[start:end].rstrip(" .,-"))
        name = folded[start:end]
        behind = folded[end : end + 20]
        numbered = re.match(rf"\s*(?:{_NUMBER_WORD}\s*)?\S*\d", behind) is not None
        if numbered or _VAGUE.search(name) or len(name.split()) < 2:
            continue
        _keep(found, text, start, end, _relation(folded[match.start() : start]))
    return list(found.values())


def _spaced(match: re.Match[str]) -> bool:
    """Words stand between the noun and the digits: "the agreement is for 120 days"."""
    return bool((match.groupdict().get("w") or "").strip())


def _relation(left: str) -> Relation:
    """By the last verb before the number: what stands further left speaks of another document."""
    if _PASSIVE.search(left):
        return Relation.REFERS
    verbs = [(one.end(), Relation.SUPERSEDES) for one in _SUPERSEDES.finditer(left)]
    verbs += [(one.end(), Relation.AMENDS) for one in _AMENDS.finditer(left)]
    return max(verbs, default=(0, Relation.REFERS))[1]


def _keep(found: dict[str, DocumentReference], text: str, start: int, end: int, relation: Relation) -> None:
    words = text[start:end]
    known = found.get(words)
    if known is None or (known.relation is Relation.REFERS and relation is not Relation.REFERS):
        found[words] = DocumentReference(reference=words, relation=relation, place=place(text, start, end))
