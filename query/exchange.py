"""Whether a section is of the side of an exchange that a question asks for: what was answered, or what was asked. Pure.

Letters, appeals and minutes have both under one heading and one number. What the office answered in file 12 and what it
was asked there differ in hardly a word of the subject, and the heading says which is which.
"""

from __future__ import annotations

import re
from typing import Final

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
# Between the headings of a section, outer ones first.
_PARTS: Final = ">"


def exchange(query: str, section: str) -> int:
    """Whether a section's innermost heading is of the side that the question asks for.

    Returns:
        1 where it is, -1 where it is of the other, 0 where the question or the heading has no side.
    """
    asked = _side(query)
    return asked * _side(section.rsplit(_PARTS, 1)[-1]) if asked else 0


def _side(text: str) -> int:
    """1 for what somebody answered, -1 for what was asked of him, 0 for neither or both."""
    folded = text.lower()
    return (_ANSWERED.search(folded) is not None) - (_ASKED.search(folded) is not None)
