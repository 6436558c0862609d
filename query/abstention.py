"""Whether a model says that the sources do not answer: a fixed word, or the phrases that models use. Pure."""

from __future__ import annotations

import re
from typing import Final

# What the prompt asks for where the sources say nothing of the question, and before a part that they say nothing of.
NO_ANSWER: Final = "NO_ANSWER"
NOT_IN_SOURCES: Final = "NOT_IN_SOURCES:"
# A phrase that begins later than this stands behind a claim in the same sentence.
CLAIM_CHARS: Final = 25

# Sentences about the sources themselves. Plural or "the text": "the contract does not provide for …" is a claim.
_ABOUT_SOURCES: Final = re.compile(
    r"ה?(?:מקורות|מסמכים|קטעים|טקסטים)(?:\s\S+){0,3}?\s(?:אינם|לא)\s(?:\S+\s){0,2}?"
    r"(?:מצי[ינ]|אומר|כולל|מכיל|מפרט|מזכיר|עונ|משיב|מתייחס|מספק|נותנ|מלמד|עוסק)"
    r"|(?:אין|לא)\s(?:\S+\s){0,6}?[בל](?:תוך\s)?ה?(?:מקורות|מסמכים|קטעים|טקסטים)(?:\s|[.,;]|$)"
    r"|ב(?:מקורות|מסמכים|קטעים|טקסטים)(?:\s\S+){0,3}?\s(?:אין|לא)\s"
    r"|\b(?:sources|documents|passages|excerpts|context|provided\s\w+)(?:\s\w+){0,3}?\s"
    r"(?:do(?:es)?\snot|do(?:es)?n['’]t|did\snot|never)\s"
    r"(?:\w+\s){0,2}?(?:say|state|mention|contain|include|specify|provide|address|answer|give|indicate|cover|describe)"
    r"|\bnot\s(?:\w+\s){0,3}?(?:in|by)\s(?:any\sof\s)?(?:the|these|any)\s(?:\w+\s)?"
    r"(?:sources|documents|passages|excerpts|context)\b"
    r"|\b(?:sources|documents|passages|excerpts|context)\s(?:\w+\s){0,3}?no\s",
    re.IGNORECASE,
)
# Sentences of a model about itself, or about information: claims may have the same words, so they count only without
# a source.
_ABOUT_ITSELF: Final = re.compile(
    r"אין\s(?:לי\s|בידי\s)?(?:מספיק\s|די\s)?(?:מידע|תשובה|נתונים|פרטים)"
    r"|אינ(?:נ)?י\s(?:יודע|יכול)|לא\s(?:מצאתי|נמצאה?\s(?:תשובה|מידע)|ידוע\sלי)|אין\sבאפשרותי"
    r"|לא\s(?:ניתן|אוכל|אפשר)\s(?:לענות|להשיב|לדעת|לקבוע)"
    r"|\b(?:no|not\senough|insufficient)\s(?:relevant\s)?(?:information|answer|data|details?)\b"
    r"|\bI\s(?:do\snot|don['’]t|cannot|can['’]t)\s(?:know|answer|find|determine)\b"
    r"|\b(?:unable|not\spossible)\sto\s(?:answer|find|determine|say)\b",
    re.IGNORECASE,
)


def abstains(sentence: str, *, cited: bool) -> bool:
    """Whether a sentence says that the sources do not answer, and nothing else."""
    found = _phrase(sentence, cited=cited)
    return found is not None and (not cited or found.start() <= CLAIM_CHARS)


def missing_part(sentence: str, *, cited: bool) -> str | None:
    """What a sentence says to be in no source; None where it says no such thing."""
    found = _phrase(sentence, cited=cited)
    if found is None:
        return None
    return sentence if found.start() <= CLAIM_CHARS or not cited else sentence[found.start() :]


def read_lines(draft: str) -> tuple[str, tuple[str, ...], bool]:
    """A draft without its fixed words, the parts that it names as missing, and whether it has `NO_ANSWER`."""
    kept: list[str] = []
    missing: list[str] = []
    for line in draft.splitlines():
        bare = line.strip(" \t*`>-")
        if bare.upper().startswith(NOT_IN_SOURCES):
            missing.append(bare[len(NOT_IN_SOURCES) :].strip(" \t*`"))
        else:
            kept.append(line)
    text = "\n".join(kept)
    return text.replace(NO_ANSWER, " "), tuple(part for part in missing if part), NO_ANSWER in text


def _phrase(sentence: str, *, cited: bool) -> re.Match[str] | None:
    return _ABOUT_SOURCES.search(sentence) or (None if cited else _ABOUT_ITSELF.search(sentence))
