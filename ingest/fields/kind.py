"""The type of a document, by its title first, by its form where no title says it. Pure."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from ingest.fields.text import Line, lines_of, place
from search_config.document_fields import DocumentType, FieldReading, FieldStatus

# A title stands within the first lines: below a letterhead, a date and a reference number.
TITLE_LINES: Final = 8
TITLE_CHARS: Final = 110
# The word that names the type stands among the first words of a Hebrew title: "הסכם למתן שירותים".
_LEAD_HE: Final = r"^\W*(?:[א-ת\"']+\s+){0,2}?"

_HEBREW: Final = {
    DocumentType.INVOICE: "חשבונית|חשבון עסקה|חשבון מס|קבלה|דרישת תשלום|חשבון",
    DocumentType.PROTOCOL: "פרוטוקול|פרטיכל|סיכום (?:ישיבה|ישיבת|דיון|פגישה|פגישת)|זכרון דברים מישיבה",
    DocumentType.REPORT: 'דו"?ח|דין וחשבון|סקר|חוות[ -]דעת|תסקיר|ממצאי ביקורת',
    DocumentType.PROCEDURE: 'נוהל|נהלי|נוהלי|הוראת|הוראות|הנחיות|הנחיית|מדיניות|תקנון|חוזר מנכ"ל',
    DocumentType.CONTRACT: "הסכם|חוזה|כתב התקשרות|תוספת|נספח|מזכר הבנות|זיכרון דברים|זכרון דברים|תיקון להסכם|שטר",
}
_ENGLISH: Final = {
    DocumentType.INVOICE: r"invoice|receipt|credit note|statement of account|payment demand",
    DocumentType.PROTOCOL: r"minutes|record of (?:\w+ ){0,2}meeting|protocol of",
    DocumentType.PROCEDURE: r"procedures?|polic(?:y|ies)|guidelines?|work instruction|operating instructions?"
    r"|standing order|code of conduct",
    DocumentType.REPORT: r"report|survey|assessment|audit findings|expert opinion|appraisal",
    DocumentType.CONTRACT: r"agreement|contract|lease|amendment|addendum|letter of engagement|loan note|deed"
    r"|memorandum of understanding|terms of engagement",
}
# Lines that speak of another document: what a letter is about, whom it is to.
_NOT_A_TITLE: Final = re.compile(
    r"^\W*(?:הנדון|נושא|בנושא|לכבוד|אל|מאת|תאריך|סימוכין|מספרנו|עבור|re|subject|to|from|date|ref|our ref|dear"
    r"|project)\b",
    re.IGNORECASE,
)
_OTHER_TITLE: Final = re.compile(
    r"^\W*(?:רישיון|רשיון|היתר|תעודת|תעודה|הזמנה\s*$|רשימת|מודעת|כרטיס|קורות חיים"
    r"|certificate|licen[cs]e|warranty|curriculum|notes on|product sheet)",
    re.IGNORECASE,
)
_MEMO: Final = re.compile(
    r"^\W*(?:מזכר|תזכורת|מכתב|memo(?:randum)?\b(?! of)|notice\b|quotation\b|הצעת מחיר|letter\b)", re.IGNORECASE
)
_LETTER_SIGNS: Final = (
    re.compile(r"^[ \t]*לכבוד|^[ \t]*אל\s*:|^[ \t]*לידיעת", re.MULTILINE),
    re.compile(r"^[ \t]*(?:הנדון|נושא)\b", re.MULTILINE),
    re.compile(r"(?:שלום רב|א\.נ\.|^[ \t]*שלום\b|^[א-ת]+ שלום,)", re.MULTILINE),
    re.compile(r"^[ \t]*(?:בברכה|בכבוד רב|תודה|בתודה|בידידות)", re.MULTILINE),
    re.compile(r"^[ \t]*Dear\b", re.MULTILINE),
    re.compile(r"^[ \t]*(?:Yours|Sincerely|Kind regards|Best regards|Regards)\b", re.MULTILINE | re.IGNORECASE),
    re.compile(r"^[ \t]*To\s*:", re.MULTILINE),
    re.compile(r"^[ \t]*From\s*:", re.MULTILINE),
    re.compile(r"^[ \t]*(?:Re|Subject)\s*:", re.MULTILINE),
    re.compile(r"^[ \t]*מאת\s*:", re.MULTILINE),
)
# One sign is a phrase; two make a letter's form.
LETTER_SIGNS_MIN: Final = 2
_CONTRACT_BODY: Final = re.compile(
    r"(?:נערך ו?נחתם|שנערך|שנחתם|נחתם)[^\n]{0,80}\n?[^\n]{0,40}\bבין\b|\bby and between\b|"
    r"\bthis agreement\b|\bthe parties agree\b",
    re.IGNORECASE,
)
_MEETING_BODY: Final = re.compile(
    r"^[ \t]*(?:נוכחים|נכחו|נוכחו|משתתפים|השתתפו|present|attendees|in attendance)\s*:", re.MULTILINE | re.IGNORECASE
)

_TITLES_HE: Final = {kind: re.compile(rf"{_LEAD_HE}(?:{words})(?![א-ת])") for kind, words in _HEBREW.items()}
_TITLES_EN: Final = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _ENGLISH.items()}


def read_type(text: str, folded: str) -> FieldReading[DocumentType]:
    """The type, with the line that says it; `other` with the first line where none does; not found in a blank text."""
    heads = list(islice(lines_of(folded), TITLE_LINES))
    if not heads:
        return FieldReading()
    letter = sum(sign.search(folded) is not None for sign in _LETTER_SIGNS) >= LETTER_SIGNS_MIN
    for number, line in enumerate(heads):
        kind = _titled(line, first=number == 0, letter=letter)
        if kind is not None:
            return _reading(text, kind, line)
    if letter:
        return _reading(text, DocumentType.CORRESPONDENCE, heads[0])
    if _CONTRACT_BODY.search(folded):
        return _reading(text, DocumentType.CONTRACT, heads[0])
    if _MEETING_BODY.search(folded):
        return _reading(text, DocumentType.PROTOCOL, heads[0])
    if any(sign.search(folded) for sign in _LETTER_SIGNS[3:6]) or _LETTER_SIGNS[0].search(folded):
        return _reading(text, DocumentType.CORRESPONDENCE, heads[0])
    return _reading(text, DocumentType.OTHER, heads[0])


def _titled(line: Line, *, first: bool, letter: bool) -> DocumentType | None:
    words = line.text.strip()
    if len(words) > TITLE_CHARS or _NOT_A_TITLE.match(words):
        return None
    if _MEMO.match(words):
        return DocumentType.CORRESPONDENCE
    if first and _OTHER_TITLE.match(words):
        return DocumentType.OTHER
    sentence = words.endswith((".", ",")) or len(words.split()) > 12
    if sentence and not first:
        return None
    for kind, pattern in _TITLES_HE.items():
        # A letter's lines name the things that it is about.
        if any(pattern.match(part) for part in words.split(" - ")) and not (
            letter and kind is not DocumentType.INVOICE and not first
        ):
            return kind
    matches = [(found.end(), kind) for kind, pattern in _TITLES_EN.items() for found in pattern.finditer(words)]
    if matches and not (letter and not first):
        # The head of an English title stands last: "purchase agreement report" is a report; but not behind "of".
        head = re.split(r"[:,(]|\b(?:of|for|on|no)\b", words, maxsplit=1, flags=re.IGNORECASE)[0]
        inside = [match for match in matches if match[0] <= len(head)]
        return max(inside or matches[:1])[1]
    return None


def _reading(text: str, kind: DocumentType, line: Line) -> FieldReading[DocumentType]:
    start = line.start + len(line.text) - len(line.text.lstrip())
    end = line.start + len(line.text.rstrip())
    return FieldReading(status=FieldStatus.VALUE, value=kind, place=place(text, start, end))
