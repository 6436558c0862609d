"""Parties of a letter: who signs it, whom it greets, who stands on its first and last lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ingest.fields.names import has_title, is_authority, is_company
from ingest.fields.party import IDENTIFIER, STOP, Found, make
from ingest.fields.text import Line, lines_of
from search_config.document_fields import DocumentType, PartyKind

_I: Final = re.IGNORECASE

SIGNATURE_LINES: Final = 4
_CLOSING: Final = re.compile(
    r"^\W*(?:בברכה|בכבוד רב|ב?תודה(?: ו?ב?ברכה)?|בידידות|בהוקרה|yours (?:sincerely|faithfully|truly)"
    r"|sincerely(?: yours)?|kind regards|best regards|regards|respectfully)\b\s*(?:,\s*|$)",
    _I,
)
LEAD_WORDS: Final = re.compile(
    r"^\W*(?:לבין|ובין|בין|מאת|לכבוד|אל|הוכן|בברכה|בכבוד|תודה|from|to|sold|by|and|between|issued|prepared|for"
    r"|dear|published)\b",
    _I,
)
_DEAR: Final = re.compile(
    r"^[ \t]*Dear\s+(?P<n>(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)", re.MULTILINE
)
_LETTER: Final = re.compile(
    r"^[ \t]*(?:הנדון|נושא|בברכה|בכבוד רב|א\.נ\.|dear\b|re:|sincerely|yours )", re.MULTILINE | _I
)
QUOTATION: Final = re.compile(r"הצעת מחיר|\bquot(?:e|ation)\b", _I)
QUOTED: Final = re.compile(r"^\s*>")


def letter_parties(folded: str, kind: DocumentType) -> Iterator[Found]:
    """Who signs a letter, whom it greets, and the body on its letterhead."""
    lines = list(lines_of(folded))
    letterlike = kind is DocumentType.CORRESPONDENCE or (
        kind in (DocumentType.INVOICE, DocumentType.OTHER) and _LETTER.search(folded) is not None
    )
    role = PartyKind.VENDOR if kind is DocumentType.INVOICE or QUOTATION.search(folded) else None
    closed = any(_CLOSING.match(line.text) for line in lines)
    yield from _closings(folded, lines, role)
    for match in _DEAR.finditer(folded):
        party = make(folded, match.start("n"), match.end("n"), None, person=True)
        if party is not None:
            yield party
    if letterlike and lines:
        titled = [head for head in lines[1:4] if has_title(head.text.strip())]
        for line in (*(lines[-2:] if not closed else ()), *titled):
            yield from _person_line(folded, line)


def _closings(folded: str, lines: list[Line], role: PartyKind | None) -> Iterator[Found]:
    """Who signs below each closing."""
    for number, line in enumerate(lines):
        closing = _CLOSING.match(line.text)
        if closing is None or QUOTED.match(line.text):
            continue
        rest = line.text[closing.end() :]
        signed = False
        if rest.strip():
            yield from _signed(folded, Line(line.start + closing.end(), line.end, rest), role)
        for below in lines[number + 1 : number + SIGNATURE_LINES]:
            for signer in _signed(folded, below, role):
                # Below a person's name stands an office, not another person.
                if signer.kind is not PartyKind.PERSON or not signed or has_title(below.text):
                    yield signer
                signed = signed or signer.kind is PartyKind.PERSON


def _signed(folded: str, line: Line, role: PartyKind | None) -> Iterator[Found]:
    if QUOTED.match(line.text) or (re.search(r"\d{4}", line.text) and not IDENTIFIER.search(line.text)):
        return
    stop = STOP.search(line.text)
    name_end = stop.start() if stop else len(line.text)
    # "Tax Authority, Eastmere Office": a body and its office are one name.
    words = line.text.strip(" .")
    if is_authority(words) and not IDENTIFIER.search(words):
        name_end = len(line.text.rstrip(" ."))
    party = make(folded, line.start, line.start + name_end, role, person=True, tail=line.text[name_end:])
    if party is None or len(party.name.split()) > 7:
        return
    if party.kind is not PartyKind.OTHER or is_company(party.name):
        yield party


def _person_line(folded: str, line: Line) -> Iterator[Found]:
    """A line that is a person's name, with an office behind a comma at most."""
    bare = re.split(r"[,(]", line.text)[0]
    if _CLOSING.match(line.text) or LEAD_WORDS.match(line.text):
        return
    if re.search(r"[:\d.!?]", bare.replace("Mr.", "").replace("Mrs.", "").replace("Ms.", "").replace("Dr.", "")):
        return
    party = make(folded, line.start, line.start + len(bare), None, person=True)
    if party is not None and party.kind is PartyKind.PERSON and 1 < len(party.name.split()) <= 3:
        yield party
