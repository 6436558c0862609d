"""What a sentence of an answer names that its sources must hold: quotes, links, names of files, numbers. Pure.

A claim is looked for in the sources that the sentence cites, and in no others: a document number that stands in some
other document is as wrong as an invented one. Sources are compared with typographic marks folded and white space
joined, for neither changes what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from query.language import IDENTIFIER_PATTERNS, bare
from query.sentences import Span
from search_config.hebrew import DOUBLE_QUOTES, SINGLE_QUOTES

# Dates are written in many ways ("10.2.2023" is "10 בפברואר 2023"); their numbers are checked one by one.
_NAMES: Final = tuple(pattern for kind, pattern in IDENTIFIER_PATTERNS.items() if kind != "date")
# A scheme, or an address that browsers and mail programs complete. A Hebrew letter may stand right before one.
_LINK: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|(?<![a-z0-9])(?:www\.|(?:javascript|data|mailto|file|tel):))[^\s<>]+"
    r"|(?<![a-z0-9@._-])(?:[a-z0-9-]+\.)+(?:com|org|net|info|biz|io|dev|app|gov|edu|il|uk|eu)(?![a-z0-9-])(?:[/?#:][^\s<>]*)?",
    re.IGNORECASE,
)
_MARKDOWN_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\(\s*<?([^()\s<>]*)>?[^()\n]*\)")
_LINK_ENDS: Final = ".,;:!?\"'()[]{}״׳”’»"
_LIST_MARK: Final = re.compile(r"^\s*\(?\d{1,3}(?:\.\d{1,3})*[.)]\s")
_DATE: Final = re.compile(rf"(?<!\d)(?:{IDENTIFIER_PATTERNS['date'].pattern})(?!\d)")
_YEAR: Final = re.compile(r"\d{4}")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
# A full quote: it opens behind a blank, a bracket or a Hebrew prefix and closes before what is no letter. Gershayim
# stand between two letters and so neither open nor close one.
_OPENS: Final = r"(?<![^\W\d_])(?:[ושהכלבמ]{1,3}[-־]?)?"
_QUOTE: Final = re.compile(rf'{_OPENS}(?<![\d])"(?=[^\s"])([^"\n]+(?:(?<=\w)"(?=\w)[^"\n]+)*)(?<=\S)"(?!\w)')
_OPENING: Final = re.compile(rf'{_OPENS}(?<![\d])"(?=[^\s"])')
_ELLIPSIS: Final = re.compile(r"\s*(?:\[?…\]?|\[?\.{3}\]?)\s*")
_QUOTE_ENDS: Final = " .,;:!?"
# Characters of a quote or a link that a message repeats.
SHOWN: Final = 60

# Character by character, so that places stay.
_QUOTES_FOLDED: Final = dict.fromkeys(map(ord, f"{DOUBLE_QUOTES}«»"), '"')
_FOLDED: Final = {
    **_QUOTES_FOLDED,
    **dict.fromkeys(map(ord, SINGLE_QUOTES), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—−־"), "-"),
    # Marks of direction and of no width, which neither side sees.
    **dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF, 0xAD]),
}
_MESSAGES: Final = {
    "he": {
        "mark": "הסימון [{}] אינו של מקור",
        "no mark": "למשפט אין מקור",
        "quote": "הציטוט אינו מופיע מילה במילה במקור: {}",
        "link": "קישור שאינו באף מקור של המשפט הוסר: {}",
        "name": "השם או המספר אינו באף מקור של המשפט: {}",
        "number": "המספר אינו באף מקור של המשפט: {}",
        "removed": "(קישור הוסר)",
    },
    "en": {
        "mark": "The mark [{}] is no source's",
        "no mark": "The sentence has no source",
        "quote": "The quote does not stand in the source word for word: {}",
        "link": "A link that is in no source of the sentence was removed: {}",
        "name": "The name or number is in no source of the sentence: {}",
        "number": "The number is in no source of the sentence: {}",
        "removed": "(link removed)",
    },
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence after the check.

    Attributes:
        text: without links that no source holds.
        problems: what did not hold, for people.
    """

    text: str
    problems: tuple[str, ...]


def message(kind: str, language: str, value: str = "") -> str:
    """A problem for people: Hebrew for `he`, English otherwise; the value on one line and not as a mark."""
    shown = " ".join(value.split())
    texts = _MESSAGES["he" if language == "he" else "en"]
    return texts[kind].format(shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…")


def plain_links(text: str) -> str:
    """Markdown's links and images as label and address, so that no address hides behind a label."""
    return _MARKDOWN_LINK.sub(_plain_link, text)


def _plain_link(found: re.Match[str]) -> str:
    label, target = found[1], found[2]
    # [1](address) is a mark first.
    shown = f"[{label}]" if label.strip().isdigit() else label
    return f"{shown} {target}" if target else shown


def checked(sentence: str, sources: Sequence[str], *, also: str, language: str) -> Checked:
    """Check one sentence.

    Args:
        sentence: without marks.
        sources: all that each cited source says: content, title, address.
        also: the question, whose numbers and names an answer may repeat.
        language: of the messages.
    """
    problems: list[str] = []
    held = [folded(source) for source in sources]
    text = _without_foreign_links(sentence, held, problems, language)
    problems += [message("quote", language, quote) for quote in quotes(text) if not _quoted(quote, held)]
    allowed = [*held, folded(also)]
    names = _names(text)
    foreign = [name for name in names if not any(_holds(source, folded(name)) for source in allowed)]
    problems += [message("name", language, name) for name in foreign]
    named = {digits for name in names for digits in _NUMBER.findall(name)}
    known = {_value(digits) for source in allowed for digits in _NUMBER.findall(source)}
    for digits in dict.fromkeys(_NUMBER.findall(_counted(text))):
        if digits not in named and _value(digits) not in known:
            problems.append(message("number", language, digits))
    return Checked(text, tuple(problems))


def folded(text: str) -> str:
    """Text as it is compared: one form of quotes and dashes, no marks of direction, blanks joined, lower case."""
    return " ".join(text.translate(_FOLDED).split()).casefold()


def quotes(text: str) -> Iterator[str]:
    """What stands in quotation marks, without them; gershayim inside a word are none."""
    for start, end in quote_spans(text):
        yield text[start:end]


def quote_spans(text: str) -> tuple[Span, ...]:
    """Where the quotes of a text stand, without their marks; each within one line."""
    return tuple(found.span(1) for found in _QUOTE.finditer(text.translate(_QUOTES_FOLDED)))


def open_quote(text: str) -> int | None:
    """Where a quote opens that the end of the text leaves open; None where there is none."""
    closed = max((end + 1 for _, end in quote_spans(text)), default=0)
    found = _OPENING.search(text.translate(_QUOTES_FOLDED), max(closed, text.rfind("\n") + 1))
    return None if found is None else found.start()


def _quoted(quote: str, sources: Sequence[str]) -> bool:
    """Whether one source holds every part of the quote, between its ellipses, in this order."""
    parts = [part for piece in _ELLIPSIS.split(folded(quote)) if (part := piece.strip(_QUOTE_ENDS))]
    return any(_in_order(parts, source) for source in sources)


def _in_order(parts: Sequence[str], source: str) -> bool:
    position = 0
    for part in parts:
        place = source.find(part, position)
        if place < 0:
            return False
        position = place + len(part)
    return True


def _without_foreign_links(text: str, sources: Sequence[str], problems: list[str], language: str) -> str:
    def replace(found: re.Match[str]) -> str:
        link = found[0].rstrip(_LINK_ENDS)
        if any(_holds(source, folded(link)) for source in sources):
            return found[0]
        problems.append(message("link", language, link))
        return f"{message('removed', language)}{found[0][len(link) :]}"

    return _LINK.sub(replace, text)


def _counted(text: str) -> str:
    """The text whose numbers are claims: without links and the number of a list's point, and of each date the year
    alone, since a month may be a word in the source."""
    body = _LIST_MARK.sub("", _LINK.sub(" ", text))
    return _DATE.sub(lambda found: " ".join(_YEAR.findall(found[0])), body)


def _names(text: str) -> list[str]:
    tokens = (bare(token) for token in _LINK.sub(" ", text).split())
    names = (token for token in tokens if any(pattern.fullmatch(token) for pattern in _NAMES))
    # 10.2.2023 has the form of a version, too.
    return list(dict.fromkeys(name for name in names if not _DATE.fullmatch(name)))


def _holds(source: str, wanted: str) -> bool:
    """Whether the source holds this and not only as a part of a longer name or number."""
    start = source.find(wanted)
    while start >= 0:
        before, after = source[max(0, start - 1) : start], source[start + len(wanted) : start + len(wanted) + 1]
        # A Hebrew prefix may stand right before a name; a Latin letter or a digit makes it another one.
        if not (_joins(before) or _joins(after)):
            return True
        start = source.find(wanted, start + 1)
    return False


def _joins(character: str) -> bool:
    return character.isdigit() or (character.isascii() and character.isalpha())


def _value(digits: str) -> str:
    """`12,500` and `12500` are one number, `007` is 7; 2.50 is 2.5."""
    whole = digits.replace(",", "")
    stripped = whole.lstrip("0") or "0"
    return stripped.rstrip("0").rstrip(".") if stripped.count(".") == 1 else stripped
