"""One party as rules find it: a name cut clean, its kind and its number. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ingest.fields.names import NAME_CHARS_MAX, clean, has_title, is_company, kind_of
from search_config.document_fields import PartyKind

_I: Final = re.IGNORECASE

_ID_LABEL: Final = (
    r"(?:ח\"?\.?פ\.?|ח\.צ\.?|ע\"?\.?ר\.?|ת\"?\.?ז\.?|ע\"?\.?מ\.?|עוסק (?:מורשה|פטור)(?: מס')?"
    r"|מס' (?:חברה|עמותה|זהות)|שותפות(?: רשומה)?(?: מס')?|company (?:no\.?|number)"
    r"|reg(?:istration)?\.? (?:no\.?|number)|ID(?: no\.?)?)"
)
IDENTIFIER: Final = re.compile(rf"(?<![א-תA-Za-z\"]){_ID_LABEL}\s*:?\s*(?P<id>\d[\d-]{{5,13}}\d)(?![\d-])", _I)
_PERSONAL: Final = re.compile(r"^ת\"?\.?ז")
STOP: Final = re.compile(
    r"\((?!\d{4}\))|[\n;|]|,(?!\s*(?:Ltd|Inc|LLC|Northern|Southern|Eastern|Western)\b)|\s-\s"
    r"|(?<!Ltd)(?<!Inc)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!Prof)(?<!Capt)(?<!\bCo)(?<!\b[A-Z])(?<!\.[א-ת])(?<!\s[א-ת])\.(?=\s|$)|:(?=\s|$)|\s(?:ו?להלן|כדלקמן|ח\.?\"?פ|ת\.?\"?ז|ע\.ר|VAT|בקשר|באמצעות|לגבי|עבור|"
    r"was|were|agree[sd]?|hereinafter|whereby|for the|for a|for(?= [A-Z])|lends|in respect|regarding)(?![א-תa-z])"
)
# A company's name ends with its form.
_SUFFIX: Final = re.compile(r"בע(?:\"|\'\')מ|\b(?:Ltd|Inc)\b\.?|\b(?:Limited|LLC|LLP|GmbH|SARL)\b")
# Behind these words stands another party, and its number.
_NEXT_PARTY: Final = re.compile(r"(?<![א-ת])ו?לבין(?![א-ת])|(?<![א-ת])ובין(?![א-ת])|\band (?=[A-Z])")
_NO_NAME: Final = re.compile(r"^\d|\d:\d\d|(?:19|20)\d\d$|\"[^\"]*\)|[<>{}=@]")


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    name: str
    kind: PartyKind
    identifier: str | None = None


def make(
    folded: str, start: int, end: int, role: PartyKind | None, *, person: bool = False, tail: str = ""
) -> Found | None:
    suffix = _SUFFIX.search(folded, start, end)
    end = suffix.end() if suffix is not None else end
    words = folded[start:end]
    first, last = clean(words)
    name = words[first:last]
    if not (1 < len(name) <= NAME_CHARS_MAX) or not re.search(r"[^\W\d_]{2}", name) or _NO_NAME.search(name):
        return None
    number = IDENTIFIER.search(_NEXT_PARTY.split(tail, maxsplit=1)[0])
    personal = number is not None and _PERSONAL.match(number[0]) is not None
    titled = has_title(words.strip(" \"'(-:,")) or (personal and not is_company(name))
    return Found(
        start + first,
        start + last,
        name,
        kind_of(name, role, titled=titled, person=person),
        number["id"] if number is not None else None,
    )
