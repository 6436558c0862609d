"""Which sentences of the passages answer best: features of each sentence, and their weights. Pure.

| feature | what it is |
|---|---|
| `rank` | ln of the passage's place, 0 for the first |
| `words_exact` | share of the question's words that the sentence holds as they are written, by rarity |
| `words_title` | share that it or the document's title holds in any inflection |
| `words_around` | the same with the sentences before and behind it |
| `words_before` | the share that the sentence before it holds |
| `words_passage` | the share that its whole passage holds |
| `cosine` | of the question's vector and the sentence's |
| `date`, `number`, `cause` | 1 where the question asks when, how many or why, and the sentence has what tells it |

Rarity is counted among the sentences to choose from: a word that all of them hold chooses none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Learnt as a softmax over the sentences of a question's five passages, on the questions of HeQ's validation part;
# docs/answers.md has what is reached on documents that were left out.
WEIGHTS: Final = {
    "rank": -1.96,
    "words_exact": 0.69,
    "words_title": 3.13,
    "words_around": 2.54,
    "words_before": 0.73,
    "words_passage": 1.50,
    "cosine": 28.14,
    "date": 2.13,
    "number": 1.05,
    "cause": 2.85,
}
FEATURES: Final = tuple(WEIGHTS)

Terms = AbstractSet[str]

_WHEN: Final = re.compile(
    r"\b(?:ו|ב|ל|מ|עד )?מתי\b|באיז[הו] (?:שנה|תאריך|יום|חודש|עשור|מאה)|באילו שנים|מה(?:ו|י)? (?:ה)?תאריך"
    r"|\bwhen\b|\bwhat (?:date|year)\b",
    re.IGNORECASE,
)
_HOW_MANY: Final = re.compile(
    r"\b[בלמ]?כמה\b|מה(?:ו|י)? (?:ה)?(?:מספר|סכום|מחיר|גובה|אורך|שיעור|אחוז|גיל)"
    r"|\bhow (?:many|much|long|old|far|often)\b",
    re.IGNORECASE,
)
_WHY: Final = re.compile(r"\b(?:מדוע|למה)\b|מה(?:ו|י|ית)?ה? (?:ה)?סיב|\bwhy\b", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_CAUSE: Final = re.compile(
    r"(?:בגלל|מפני ש|משום|כיוון ש|מכיוון|מאחר|בשל |עקב|כדי |לכן|בעקבות|סיב[הת]|\bbecause\b|\bdue to\b|\bsince\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence to choose.

    Attributes:
        number: of its passage, from 1, as it is cited.
        start, end: in the passage's content.
        terms: of its inflected analysis.
    """

    number: int
    start: int
    end: int
    text: str
    terms: Terms


@dataclass(frozen=True, slots=True)
class Asked:
    """The question: its content words, and the terms of each."""

    text: str
    words: tuple[str, ...]
    terms: tuple[Terms, ...]


def features(asked: Asked, sentences: Sequence[Sentence], titles: Sequence[Terms]) -> NDArray[np.float64]:
    """`(sentences, FEATURES)`, `cosine` 0 until it is known.

    Args:
        asked: the question.
        sentences: of all passages, in reading order within each.
        titles: terms of each passage's title.
    """
    values = np.zeros((len(sentences), len(FEATURES)))
    if not sentences:
        return values
    held = np.array([[bool(own & one.terms) for own in asked.terms] for one in sentences], dtype=float)
    held = held.reshape(len(sentences), len(asked.words))
    rarity = np.log1p(len(sentences) / (1.0 + held.sum(axis=0)))
    # A word without a term of its own (a mark, a function word) is nothing that could be held.
    rarity *= [bool(own) for own in asked.terms]
    rarity /= max(rarity.sum(), np.finfo(float).tiny)
    exact = np.array([[word in one.text for word in asked.words] for one in sentences], dtype=float)
    titled = np.array([[bool(own & title) for own in asked.terms] for title in titles], dtype=float)
    numbers = np.array([one.number for one in sentences])
    own_title = titled.reshape(len(titles), len(asked.words))[numbers - 1]
    same_before = np.concatenate([[False], numbers[1:] == numbers[:-1]])
    before = np.roll(held, 1, axis=0) * same_before[:, None]
    behind = np.roll(held * same_before[:, None], -1, axis=0)
    passage = np.array([held[numbers == number].max(axis=0) for number in numbers])
    columns = {
        "rank": np.log(numbers),
        "words_exact": exact.reshape(held.shape) @ rarity,
        "words_title": np.maximum(held, own_title) @ rarity,
        "words_around": np.maximum.reduce([held, before, behind, own_title]) @ rarity,
        "words_before": before @ rarity,
        "words_passage": passage @ rarity,
        "date": _told(_WHEN, asked.text, _DIGIT, sentences),
        "number": _told(_HOW_MANY, asked.text, _DIGIT, sentences),
        "cause": _told(_WHY, asked.text, _CAUSE, sentences),
    }
    for name, column in columns.items():
        values[:, FEATURES.index(name)] = column
    return values


def with_cosines(values: NDArray[np.float64], rows: Sequence[int], cosines: NDArray[np.float64]) -> None:
    """Write the cosines of some rows, in place; the others, whose words say less, have the lowest of them.

    Args:
        values: of `features`.
        rows: whose cosines are known, at least one.
        cosines: `(rows,)`.
    """
    column = FEATURES.index("cosine")
    values[:, column] = cosines.min()
    values[list(rows), column] = cosines


def scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`(sentences,)`, higher for a sentence that answers more probably: ln of its odds against the others, but for a
    constant."""
    return np.asarray(values @ np.array([WEIGHTS[name] for name in FEATURES]), dtype=np.float64)


def shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax of scores: the probability of each sentence that it answers, if one of them does."""
    if not len(values):
        return values
    raised = np.exp(values - values.max())
    return np.asarray(raised / raised.sum(), dtype=np.float64)


def coverage(asked: Asked, held: Terms) -> float:
    """Share of the question's content words that are held."""
    telling = [own for own in asked.terms if own]
    return sum(bool(own & held) for own in telling) / len(telling) if telling else 0.0


def _told(
    asks: re.Pattern[str], question: str, tells: re.Pattern[str], sentences: Sequence[Sentence]
) -> NDArray[np.float64]:
    if not asks.search(question):
        return np.zeros(len(sentences))
    return np.array([bool(tells.search(one.text)) for one in sentences], dtype=float)
