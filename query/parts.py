"""The parts of a question that asks several things. Pure."""

from __future__ import annotations

import re
from typing import Final

# More parts than this are a list, which one answer does not serve.
MAX_PARTS: Final = 4
# A part has a word that asks and something that is asked about.
MIN_WORDS: Final = 2
_ASKING_HE: Final = (
    "(?:[בלמכ]?(?:מתי|כמה|מי|מיהו|מיהי|מה|מהו|מהי|מהם|איפה|היכן|איך|כיצד|מדוע|למה|האם|לאן|מאין|איזה|איזו|אילו))"
)
_ASKING_EN: Final = "(?:when|who|whom|whose|what|where|why|which|how)"
_BETWEEN: Final = re.compile(
    rf"\?+\s+|[,;]?\s+(?=ו{_ASKING_HE}\s)|[,;]\s+(?={_ASKING_HE}\s)|[,;]?\s+and\s+(?={_ASKING_EN}\s)"
    rf"|[,;]\s+(?={_ASKING_EN}\s)",
    re.IGNORECASE,
)
_ENDS: Final = " \t\n?,;."


def question_parts(question: str) -> tuple[str, ...]:
    """What a question asks, part by part, in its own words; the whole question where it asks one thing."""
    found = [part for piece in _BETWEEN.split(question) if (part := piece.strip(_ENDS))]
    asking = re.compile(rf"^(?:ו?{_ASKING_HE}|{_ASKING_EN})\s|\s{_ASKING_HE}\s", re.IGNORECASE)
    parts = [part for part in found if len(part.split()) >= MIN_WORDS and asking.search(part)]
    whole = " ".join(question.split())
    return tuple(parts[:MAX_PARTS]) if len(parts) > 1 else (whole,)
