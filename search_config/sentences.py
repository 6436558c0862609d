"""Where sentences begin in Hebrew and English text. Pure; offsets only, the text is never copied or changed.

A missed boundary makes a chunk a little longer; a false one may cut an answer in two. So every doubt is no boundary.
"""

from __future__ import annotations

import re
from typing import Final

# Abbreviations that end in a full stop and are followed by their object. Hebrew ones (ד"ר, ע"י, בע"מ) have gershayim
# inside and no stop, and those with stops (ח.פ., ת.ז., e.g.) are seen by their form.
_ABBREVIATIONS: Final = (
    "approx art assn ave bros cf co corp dept dr ed eds est etc ext fig figs gen gov inc jr lt ltd messrs mr mrs ms no"
    " nos op para pp prof rev sec sr st tel univ viz vol vs טל עמ מס אינג גב רח שד פרופ"
)
ABBREVIATIONS: Final = frozenset(_ABBREVIATIONS.split())
# Longest token that is looked at before a full stop; abbreviations are shorter.
TOKEN_CHARS_MAX: Final = 12

# The end of a sentence: its mark, what closes behind it, white space. Sof pasuq ends a verse.
_END: Final = re.compile(r"(?<![.!?…׃])[.!?…׃]+[\"'”’»)\]}״׳]*\s+")
_LINE_END: Final = re.compile(r"\n\s*")
_LIST_MARK: Final = re.compile(r"(?:[-•*‣◦–—]|\(?(?:\d{1,3}|[א-ת]{1,2}|[a-z])[.)])\s+\S")
_LISTED: Final = re.compile(r"(?:^|\n)[ \t]*\(?\d{1,3}(?:\.\d{1,3})*$")
_WITH_STOPS: Final = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}$")
_LETTERS: Final = re.compile(r"[^\W\d_]+['׳]?$")


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in `text` where a sentence begins, after the first one.

    Args:
        text: the whole text.
        start: where the passage begins.
        end: where it ends, exclusive.

    Returns:
        Rising offsets strictly between `start` and `end`, each at a character that is not white space. A line that
        begins with a list mark begins a sentence too.
    """
    found = {
        match.end()
        for match in _END.finditer(text, start, end)
        if match.end() < end and not _goes_on(text, start, match.start(), match.end())
    }
    found.update(
        match.end()
        for match in _LINE_END.finditer(text, start, end)
        if start < match.end() < end and _LIST_MARK.match(text, match.end(), end)
    )
    return sorted(found)


def _goes_on(text: str, start: int, stop: int, following: int) -> bool:
    """Whether the mark at `stop` ends no sentence, though white space and then `following` come behind it."""
    if text[following].islower():
        return True
    if text[stop] != "." or text.startswith("..", stop):
        return False
    before = text[max(start, stop - TOKEN_CHARS_MAX) : stop]
    if _LISTED.search(before) and (len(before) == stop - start or "\n" in before):
        return True
    if _WITH_STOPS.search(before):
        return True
    word = _LETTERS.search(before)
    if word is None:
        return False
    token = word[0].rstrip("'׳").lower()
    whole = word.start() == 0 or not before[word.start() - 1].isalnum()
    initial = len(word[0]) == 1 and (word.start() == 0 or before[word.start() - 1] not in "\"'״׳-־./")
    return whole and (token in ABBREVIATIONS or initial)
