"""The parties of a document: between whom, from whom, to whom, who was there. Pure.

Four forms are read: `between X and Y`, labelled lines (`ספק: X`), the heads and ends of letters, and names beside a
company's or a person's number. The same name is one party; its kind and its number may stand in different places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from ingest.fields.labels import LABELS, Label
from ingest.fields.names import NAME_CHARS_MAX, is_authority, is_company, is_person, key
from ingest.fields.party import IDENTIFIER, STOP, Found, make
from ingest.fields.party_letters import LEAD_WORDS, QUOTATION, QUOTED, letter_parties
from ingest.fields.text import lines_of, place
from search_config.document_fields import (
    PARTIES_MAX,
    DocumentType,
    FieldReading,
    FieldStatus,
    Party,
    PartyKind,
    QuarantineIssue,
    Trouble,
)

_I: Final = re.IGNORECASE
# What follows a party's name up to the next one: its number, its address, its role in brackets.
TAIL_CHARS: Final = 200
# The second party of a contract stands within a page's head of the first.
BETWEEN_CHARS: Final = 600
HEAD_LINES: Final = 7
# Ten pages: whoever is named first behind them is a party of an annex.
PARTY_CHARS_MAX: Final = 25_000
# Openings that are tried for "between X and Y"; prose has a few, hostile text has thousands.
OPENINGS_MAX: Final = 40
LIST_NAMES_MAX: Final = 30

_BETWEEN: Final = re.compile(
    r"(?<![א-ת])(?:ש?בין|ב י ן)(?=[\s:\-])[\s:\-]*(?![\d])"
    r"|\b(?:by and )?(?i:between)\b[\s:]*(?:\(?1\)\s*)?(?=(?:the )?[A-Z(])",
)
_NEXT: Final = re.compile(
    r"(?<![א-ת])(?:לבין|ובין|ל ב י ן)(?=[\s:\-])[\s:\-]*|\band\b[\s:]*(?:\(?\d\)\s*)?(?=(?:the )?[A-Z(])"
)
_ROLE: Final = re.compile(
    r"[(\s,-](?:ו?להלן|hereinafter(?: called| referred to as)?|the"
    r"|ה)?[\s:\-,]*[\"']\s*(?:the )?(?P<role>[א-ת ]{2,25}|[A-Za-z ]{2,25})[\"']",
    _I,
)
_VENDOR: Final = re.compile(
    r"ספק|קבלן|נות(?:ן|נת|ני) ה?שירות|מוכר|משכיר|יועצ|יועץ|מזכה|מבצע|מבטח|משווק|\b(?:supplier|vendor|contractor"
    r"|seller|landlord|lessor|consultant|provider|licensor|insurer|franchisor)\b",
    _I,
)
_CLIENT: Final = re.compile(
    r"מזמינ|מזמין|לקוח|קונה|רוכש|שוכר|זכיינ|זכיין|מבוטח|\b(?:client|customer|buyer|purchaser|tenant|lessee"
    r"|licensee|insured|franchisee|employer)\b",
    _I,
)
_PERSON_ROLE: Final = re.compile(r"עובד|לווה|נותנת?$|מקבלת?$|\b(?:employee|borrower|lender)\b", _I)
BODY_WORDS_MAX: Final = 5
# Where the name of a body begins in the middle of a sentence.
_BODY_WORD: Final = re.compile(r"(?<![א-ת])[לבמ]?(?P<n>(?:חברת|עמותת|אגודת|קבוצת|עיריית)\s)")
# Offices before a name in a list of those present; a title in the middle begins the name.
_OFFICE: Final = re.compile(
    r"(?:^|\s)(?:and|חבר(?:י|ת|ה|ות)? (?:ה?מועצה|ה?וועדה|ה?ועדה|ה?צוות|ה?דירקטוריון|ה?כנסת)|ראש ה[א-ת]+"
    r"|מנכ\"לי?ת?|גזברי?ת?(?: ה[א-ת]+)?|מהנדסת? ה[א-ת]+"
    r"|ה?יועצת? ה?משפטית?|היועץ המשפטי|מזכירת? ה[א-ת]+|יו\"ר(?: ה[א-ת]+)?|מר|גב'|ד\"ר|פרופ'|עו\"ד|רו\"ח|אינג'"
    r"|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Prof\.?)\s+",
    _I,
)
_BRACKETED: Final = re.compile(r"\(\s*(?:ו?להלן|hereinafter|the|\")[^()\n]{0,40}\)", _I)
_ITEM: Final = re.compile(r"^\W*(?:\(?\d{1,2}[).]|[א-ת]\.|בין|לבין|ובין|and|between)?[\s:\-]*", _I)
_BY_BODY: Final = re.compile(
    r"(?:(?:אושר|אושרה|ניתן|ניתנה|פורסם|פורסמה|הוצא|הופק) (?:בידי|על ידי|ע\"י|מטעם)|(?:מ?וגש|הוגש) ל|מטעם|מאת"
    r"|\bby the|\bfor(?: the)?|,(?=[^,\n]*$))\s*(?=\S)",
    re.MULTILINE,
)
_OFFER: Final = re.compile(
    r"(?<![א-ת])(?:הצעת |ב?הצעתה של |(?:רכש|רכישה|רכישת|התקשרות|הזמנה"
    r"|הזמנת)[^.\n]{0,40}? מ)(?P<n>[א-ת][א-ת \"'-]{2,50}?בע\"מ)"
    r"|\bfrom (?P<e>[A-Z][\w&'-]*(?: [A-Z&][\w&'-]*){0,5} (?:Ltd|Inc|GmbH|LLC|Limited)\b\.?)"
)


def read_parties(
    text: str, folded: str, kind: DocumentType
) -> tuple[tuple[FieldReading[Party], ...], tuple[QuarantineIssue, ...]]:
    """Parties in reading order; more than the schema takes is an issue, and the first ones are kept."""
    folded = folded[:PARTY_CHARS_MAX]
    found: list[Found] = []
    if kind not in (DocumentType.REPORT, DocumentType.PROCEDURE):
        found += _between(folded)
    found += _bracketed(folded) if kind is DocumentType.CONTRACT else ()
    found += _labelled(folded, kind)
    found += letter_parties(folded, kind)
    found += _numbered(folded, PartyKind.VENDOR if kind is DocumentType.INVOICE else None)
    found += _heads(folded, kind)
    found += _named(folded)
    parties = _one_each(sorted(found, key=lambda one: (one.start, -one.end)))
    parties = _beside_an_authority(parties) if kind is DocumentType.CONTRACT else parties
    readings: tuple[FieldReading[Party], ...] = tuple(
        FieldReading(
            status=FieldStatus.VALUE,
            value=Party(name=text[one.start : one.end], kind=one.kind, identifier=one.identifier),
            place=place(text, one.start, one.end),
        )
        for one in parties
    )
    if len(readings) <= PARTIES_MAX:
        return readings, ()
    issue = QuarantineIssue(
        field="parties",
        trouble=Trouble.TOO_MANY_PARTIES,
        what=f"{len(readings)} parties were read; a document has {PARTIES_MAX} at most.",
        as_read=parties[PARTIES_MAX].name,
        place=readings[PARTIES_MAX].place,
    )
    return readings[:PARTIES_MAX], (issue,)


def _between(folded: str) -> Iterator[Found]:
    """`בין … לבין …`, `between … and …`, and every further `לבין`."""
    for begin in islice(_BETWEEN.finditer(folded), OPENINGS_MAX):
        window = folded[begin.end() : begin.end() + BETWEEN_CHARS]
        starts = [0, *(one.end() for one in _NEXT.finditer(window))]
        if len(starts) == 1:
            continue
        hebrew = begin[0].strip(" :-\n")[:1] in ("ב", "ש")
        made = []
        for number, start in enumerate(starts):
            limit = starts[number + 1] if number + 1 < len(starts) else len(window)
            stop = STOP.search(window, start)
            following = _NEXT.search(window, start)
            end = min(
                stop.start() if stop else limit, following.start() if following else limit, start + NAME_CHARS_MAX
            )
            tail_end = following.start() if following else min(len(window), start + TAIL_CHARS)
            tail = window[end : min(tail_end, end + TAIL_CHARS)].split("\n\n")[0]
            party = make(folded, begin.end() + start, begin.end() + end, _role(tail), person=True, tail=tail)
            if party is None or (not hebrew and number > 1 and "(" not in window[start:limit]):
                break
            made.append(party)
            if not re.search(r"לבין|ובין|ל ב י ן|\band\b", tail + window[tail_end : tail_end + 12]):
                break
        if len(made) > 1:
            yield from made
            return


def _bracketed(folded: str) -> Iterator[Found]:
    """A line that names a party and gives its role in brackets: `(1) Alpha Limited ("the Seller")`."""
    for match in _BRACKETED.finditer(folded):
        role = _role(f" {match[0]}")
        begins = folded.rfind("\n", 0, match.start()) + 1
        if role is None or match.start() - begins > TAIL_CHARS:
            continue
        line = folded[begins : match.start()]
        if re.search(r"\w[\s,:]+(?:ל?בין|between)\b", line, _I):
            continue
        lead = _ITEM.match(line)
        first = lead.end() if lead else 0
        stop = STOP.search(line, first)
        until = stop.start() if stop else len(line)
        party = make(folded, begins + first, begins + until, role, person=True, tail=line[until:])
        if party is not None and len(party.name.split()) <= 8:
            yield party


def _role(tail: str) -> PartyKind | None:
    role = _ROLE.search(tail)
    return None if role is None else _role_of(role["role"])


def _role_of(word: str) -> PartyKind | None:
    if _VENDOR.search(word):
        return PartyKind.VENDOR
    if _CLIENT.search(word):
        return PartyKind.CLIENT
    return PartyKind.PERSON if _PERSON_ROLE.search(word) else None


def _labelled(folded: str, kind: DocumentType) -> Iterator[Found]:
    """`ספק: X`, `Bill to: X`, `נוכחים: X, Y`; several on a line apart by bars."""
    lines = list(lines_of(folded))
    quotation = QUOTATION.search(folded) is not None
    for number, line in enumerate(lines):
        if QUOTED.match(line.text):
            continue
        for label in LABELS:
            for match in label.pattern.finditer(line.text):
                if label.person_only and match.start() > 0 and match[0].lstrip().startswith("|"):
                    continue
                start = line.start + match.end()
                below = lines[number + 1] if number + 1 < len(lines) else None
                if not line.text[match.end() :].strip(" :\t"):
                    if not label.below or below is None:
                        continue
                    start, line_end = below.start, below.end
                else:
                    line_end = line.end
                yield from _values(folded, start, line_end, label, kind, quotation=quotation)


def _values(folded: str, start: int, end: int, label: Label, kind: DocumentType, *, quotation: bool) -> Iterator[Found]:
    role = label.role(kind, quotation=quotation)
    if label.many:
        for part in list(re.finditer(r"[^,;|]+", folded[start:end]))[:LIST_NAMES_MAX]:
            bare = re.split(r"[(\[]| - ", part[0])[0].rstrip(". ")
            first = max((lead.end() for lead in _OFFICE.finditer(bare)), default=0)
            party = make(folded, start + part.start() + first, start + part.start() + len(bare), None, person=True)
            if party is not None and (is_person(party.name) or party.kind is PartyKind.PERSON):
                yield replace(party, kind=PartyKind.PERSON)
        return
    stop = STOP.search(folded, start, end)
    # "הדיקנית, פרופ' חוה רז": an office stands before the name.
    office = re.match(
        r"\s*(?:ה[א-ת]+|The [A-Z]\w+),\s*(?=(?:פרופ'|ד\"ר|מר|גב'|עו\"ד|Mr|Ms|Dr|Prof))", folded[start:end]
    )
    if office is not None:
        stop = STOP.search(folded, start + office.end(), end)
    until = stop.start() if stop else end
    # "Facilities, Gwen Marsh": a department, then a name.
    tail = folded[until : min(end, until + TAIL_CHARS)]
    first = start + (office.end() if office else 0)
    party = make(folded, first, until, role, person=label.person, tail=tail)
    if party is not None and label.person_only and not (is_person(party.name) or party.kind is PartyKind.PERSON):
        party = party if is_company(party.name) or is_authority(party.name) else None
    if party is not None:
        yield party


def _numbered(folded: str, role: PartyKind | None) -> Iterator[Found]:
    """A name that stands on a line right before its number: `X בע"מ, ח.פ. N`."""
    for match in IDENTIFIER.finditer(folded):
        begins = folded.rfind("\n", 0, match.start()) + 1
        left = folded[max(begins, match.start() - NAME_CHARS_MAX - 40) : match.start()].rstrip(" ,(|;-")
        start = match.start() - len(folded[max(begins, match.start() - NAME_CHARS_MAX - 40) : match.start()])
        if not left.strip():
            above = folded.rfind("\n", 0, max(0, begins - 1)) + 1
            left, start = folded[above : max(above, begins - 1)], above
        cut = 0
        for stop in re.finditer(r"[:,|;(]|\b(?:לבין|ובין|בין|מאת|לכבוד|בברכה|על ידי|בידי|עבור)\b", left):
            cut = stop.end()
        body = _BODY_WORD.search(left, cut)
        cut = body.start("n") if body is not None else cut
        party = make(folded, start + cut, start + len(left), role, tail=match[0])
        if party is not None and (is_company(party.name) or party.kind is PartyKind.PERSON or is_authority(party.name)):
            yield party


def _heads(folded: str, kind: DocumentType) -> Iterator[Found]:
    """A line of its own among the first that is the name of a company or a public body."""
    for line in list(lines_of(folded))[:HEAD_LINES]:
        bare = re.split(r"\s*[(|]|, (?=ח\.פ|ע\.ר|[A-Z][a-z]+ (?:Office|Branch)$)", line.text)[0]
        words = bare.strip(" .,")
        committee = re.search(r"(?:Committee[^,]*|Published [^\n]* by the), *", words)
        if ":" in words or LEAD_WORDS.match(words) or re.search(r"\d", words) or len(words.split()) > 7 or committee:
            continue
        public = is_authority(words) and re.match(r"ה?[א-ת]|[A-Z]", words) is not None
        company = re.search(
            r"(?:בע\"מ|\b(?:Ltd|Limited|Inc|LLC|GmbH|SARL|LLP|Trust|Association|Architects|Bureau))\.?$"
            r"|^(?:עמותת|אגודת|תאגיד) ",
            words,
        )
        if not public and not company:
            continue
        role = PartyKind.VENDOR if kind is DocumentType.INVOICE else None
        body = _BODY_WORD.search(bare)
        begins = line.start + (body.start("n") if body is not None else 0)
        party = make(folded, begins, line.start + len(bare), role, tail=line.text[len(bare) :])
        if party is not None and not re.match(
            r"(?:הסכם|חוזה|פרוטוקול|דו\"?ח|נוהל|minutes|report|procedure)", words, _I
        ):
            yield party


def _named(folded: str) -> Iterator[Found]:
    """Public bodies behind `by`, `for`, `בידי`, and companies whose offers are named."""
    for match in _BY_BODY.finditer(folded):
        rest = folded[match.end() : match.end() + NAME_CHARS_MAX].split("\n")[0]
        stop = STOP.search(rest)
        until = stop.start() if stop else len(rest)
        cut = re.search(r"\s(?:ביום|בתאריך|מיום|on \d)", rest[:until])
        until = cut.start() if cut else until
        body = rest[:until].strip(" .")
        if is_authority(body) and len(body.split()) <= BODY_WORDS_MAX and re.match(r"[א-ת]|[A-Z]", body):
            party = make(folded, match.end(), match.end() + until, None)
            if party is not None:
                yield party
    for match in _OFFER.finditer(folded):
        name = "n" if match["n"] else "e"
        party = make(folded, match.start(name), match.end(name), PartyKind.VENDOR)
        if party is not None:
            yield party


def _one_each(found: list[Found]) -> list[Found]:
    """One party a name: the first place, the kind that says most, the number from wherever it stands."""
    parties: dict[str, Found] = {}
    for one in found:
        same = next((name for name in parties if name == key(one.name) or _inside(one, parties[name])), None)
        if same is None:
            parties[key(one.name)] = one
            continue
        known = parties[same]
        kind = known.kind if known.kind is not PartyKind.OTHER else one.kind
        if known.kind is PartyKind.PERSON and one.kind in (PartyKind.VENDOR, PartyKind.CLIENT):
            kind = one.kind
        parties[same] = replace(known, kind=kind, identifier=known.identifier or one.identifier)
    return _without_parts(list(parties.values()))


def _inside(one: Found, other: Found) -> bool:
    return other.start <= one.start and one.end <= other.end


def _without_parts(parties: list[Found]) -> list[Found]:
    """Without names that are the last or first words of a longer one: "המועצה" beside its full name."""
    keys = [key(one.name) for one in parties]
    kept = []
    for one, own in zip(parties, keys, strict=True):
        longer = any(own != other and (other.startswith(f"{own} ") or other.endswith(f" {own}")) for other in keys)
        if not longer:
            kept.append(one)
    return kept


def _beside_an_authority(parties: list[Found]) -> list[Found]:
    """A company that contracts with a public body, with no role given, sells to it."""
    if not any(one.kind is PartyKind.AUTHORITY for one in parties):
        return parties
    company = re.compile(r"בע\"מ|\b(?:Ltd|Limited|Inc|LLC|GmbH|LLP)\b")
    return [
        replace(one, kind=PartyKind.VENDOR) if one.kind is PartyKind.OTHER and company.search(one.name) else one
        for one in parties
    ]
