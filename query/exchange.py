"""Whether a section is of the side of an exchange that a question asks for: what was answered, or what was asked; and
whether it is of the one whose words the question asks for. Pure.

Letters, appeals and minutes have both under one heading and one number. What the office answered in file 12 and what it
was asked there differ in hardly a word of the subject, and the heading says which is which.
"""

from __future__ import annotations

import re
from typing import Final

from query.polarity import rough_stem
from search_config.hebrew import QUERY_FUNCTION_WORDS

# A noun with a number behind it names the file: "in complaint 77".
_ANSWERED: Final = re.compile(
    r"(?<![א-ת])(?:ו?ש?(?:ענה|ענתה|ענו|השיב|השיבה|השיבו|הגיב|הגיבה|הגיבו|החליט|החליטה|החליטו|הוחלט|פסק|פסקה|פסקו|הכריע|הכריעה)"
    r"|[ושבלמ]?ה?(?:תשובה|תשובת|תשובתו|תשובתה|תשובתם|תגובה|תגובת|תגובתו|מענה|החלטה|החלטת|הכרעה|הכרעת))(?![א-ת]| \d)"
    r"|\b(?:answer|answers|answered|reply|replies|replied|respond|responds|responded|response|decide|decides|decided|decision"
    r"|ruled|ruling)\b"
)
_ASKED: Final = re.compile(
    r"(?<![א-ת])(?:ו?ש?(?:התלונן|התלוננה|התלוננו|טען|טענה|טענו|ביקש|ביקשה|ביקשו|פנה|פנתה|פנו|דרש|דרשה|דרשו|נטען|נטענו|התבקש)"
    r"|[ושבלמ]?ה?(?:תלונה|תלונת|תלונתו|תלונתה|תלונתם|פנייה|פניית|פנייתו|פנייתה|פנייתם|טענות|טענת|טענותיו|טענותיה|בקשה|בקשת"
    r"|בקשתו|בקשתה|דרישה|דרישת))(?![א-ת]| \d)"
    r"|\b(?:complain|complains|complained|complaint|claim|claims|claimed|argued|argument|arguments|requested|request)\b"
)
# Somebody said something, whichever side he is of: who it was, a heading says.
_SAID: Final = re.compile(
    r"(?<![א-ת])ו?ש?(?:כתב|כתבה|כתבו|אמר|אמרה|אמרו|ציין|ציינה|ציינו|הסביר|הסבירה|הסבירו|הודיע|הודיעה|הודיעו|הבהיר|הבהירה"
    r"|הבהירו|מסר|מסרה|מסרו)(?![א-ת])"
    r"|\b(?:write|writes|wrote|written|say|says|said|explain|explains|explained)\b"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[\"'״׳][^\W\d_]+)*")
_FUNCTION_WORDS: Final = frozenset(QUERY_FUNCTION_WORDS)
# Shorter stems are particles, or one letter of a word.
_LEAST_STEM: Final = 2
# Between the headings of a section, outer ones first.
_PARTS: Final = ">"


def exchange(query: str, section: str) -> int:
    """Whether a section's innermost heading is of the side that the question asks for.

    Returns:
        1 where it is, or where it names the one whose words are asked for ("what did the prosecutor write": "reply of
        the prosecutor"); -1 where it is of the other side; 0 where the question or the heading has no side.
    """
    heading = section.rsplit(_PARTS, 1)[-1]
    asked = _side(query)
    if asked:
        return asked * _side(heading)
    return int(_SAID.search(query.lower()) is not None and bool(_stems(query) & _stems(heading)))


def _stems(text: str) -> set[str]:
    """Rough stems of the words that no digit is part of, without the verb of saying."""
    words = [word for word in _WORD.findall(_SAID.sub(" ", text.lower())) if word not in _FUNCTION_WORDS]
    return {stem for stem in map(rough_stem, words) if len(stem) >= _LEAST_STEM}


def _side(text: str) -> int:
    """1 for what somebody answered, -1 for what was asked of him, 0 for neither or both."""
    folded = text.lower()
    return (_ANSWERED.search(folded) is not None) - (_ASKED.search(folded) is not None)
