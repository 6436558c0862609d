"""From what a model wrote to an answer: what it says, what it says to be missing, or that it abstains. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.abstention import abstains, missing_part, read_lines
from query.citations import DraftSentence, Verified, draft_sentences, verified
from query.claims import open_quote
from query.parts import question_parts
from query.request import Hit

# Words of a part that a missing part must share to be it.
PART_SHARED: Final = 0.5
_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Written:
    """A checked draft.

    Attributes:
        abstained: it holds no claim; there is nothing to show.
        answered, missing: parts of the question.
    """

    verified: Verified
    abstained: bool
    answered: tuple[str, ...]
    missing: tuple[str, ...]


def written(draft: str, hits: Sequence[Hit], *, question: str, language: str) -> Written:
    """Check a whole draft.

    Args:
        draft: what the model wrote.
        hits: the sources that it was shown.
        question: as it was asked.
        language: of the messages.
    """
    text, named, said_no = read_lines(draft)
    drafted = draft_sentences(text, len(hits))
    claims = claims_of(drafted)
    missing = [*named, *(part for one in drafted if (part := missing_part(one.text, cited=bool(one.numbers))))]
    # With the fixed word, what has no source is its explanation.
    abstained = not claims or (said_no and not any(one.numbers for one in claims))
    result = verified(() if abstained else claims, hits, question=question, language=language)
    parts = question_parts(question)
    if abstained:
        return Written(result, True, (), parts)
    answered = tuple(part for part in parts if not any(_same(part, other) for other in missing))
    return Written(result, False, answered, tuple(dict.fromkeys(missing)))


def claims_of(drafted: Sequence[DraftSentence]) -> tuple[DraftSentence, ...]:
    """Sentences that say something of the subject, not of the sources."""
    return tuple(one for one in drafted if not abstains(one.text, cited=bool(one.numbers)))


def ended(draft: str, sources: int) -> tuple[DraftSentence, ...]:
    """The sentences of a growing draft that nothing to come can change: all but the last one, claims alone."""
    # A mark that has only begun must not end up behind the sentence that it belongs to.
    opened = max(draft.rfind("["), draft.rfind("【"))
    if opened > max(draft.rfind("]"), draft.rfind("】")):
        draft = draft[:opened]
    # Nor may a quote be cut in two by the full stop in it.
    draft = draft[: open_quote(draft)]
    return claims_of(draft_sentences(read_lines(draft)[0], sources)[:-1])


def _same(part: str, missing: str) -> bool:
    """Whether what is missing is this part, by the words that both have."""
    own, other = (frozenset(word.casefold() for word in _WORDS.findall(text)) for text in (part, missing))
    return bool(own and other) and len(own & other) >= PART_SHARED * min(len(own), len(other))
