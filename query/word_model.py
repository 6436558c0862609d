"""How surely each word of a question stands in a passage that answers it, and in one that is merely the nearest. Pure.

A name that is asked about stands in the passage that answers; "which field", "happened" and "how much money" need not.
Which of both a word is shows in its tokens' vectors, which know its part in the question. Two logistic models tell from
them how likely the word stands in the first passage, if that answers and if it does not; the sum of the logarithms of
their ratios is what all words together say, as in a naive Bayes classifier.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

# Beside a word's vector: its rarity, and the logarithm of its pieces.
BESIDE: Final = 2
# No word is surer than this to stand in a passage, or to be missing: a question has few words, and one alone decides
# nothing. As a probability .98.
SUREST: Final = 3.9
# Half floats, the lowest byte first: three digits of a weight, of which only the sum of hundreds counts.
_NUMBERS: Final = np.dtype("<f2")
# Weights of the profile that is in use and of its folds.
_DECODED_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class SeenWords:
    """The content words of a question, and which of them the first passage holds.

    Attributes:
        values: `(words, dim + 2)`: mean of the word's token vectors, rarity, logarithm of its pieces.
        held: `(words,)`, in any inflection or as kin.
    """

    values: NDArray[np.float32]
    held: NDArray[np.bool_]


def _decodable(text: str) -> str:
    weights = decoded(text)
    if not len(weights) or not np.isfinite(weights).all():
        raise ValueError("not all of its numbers are finite")
    return text


Weights = Annotated[str, AfterValidator(_decodable)]


class WordModel(BaseModel):
    """Weights of both models, as base64 of half floats: of the vector, the rarity, the pieces, and the intercept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answered: Weights
    unanswered: Weights

    @model_validator(mode="after")
    def _alike(self) -> WordModel:
        if len(decoded(self.answered)) != len(decoded(self.unanswered)):
            raise ValueError("the two models of words have different numbers of weights")
        return self

    def suits(self, words: SeenWords) -> bool:
        """Whether the words' vectors are of the dimension that it was learnt with."""
        return bool(words.values.shape[1] == len(decoded(self.answered)) - 1)

    def as_expected(self, words: SeenWords) -> float:
        """Sum over the words of log P(held or not | answered) - log P(held or not | not answered).

        Args:
            words: of which `suits` holds; none give 0.
        """
        signs = np.where(words.held, 1.0, -1.0)
        one, other = (
            -np.logaddexp(0.0, -signs * np.clip(words.values @ weights[:-1] + weights[-1], -SUREST, SUREST))
            for weights in (decoded(self.answered), decoded(self.unanswered))
        )
        return float((one - other).sum())


@lru_cache(_DECODED_KEPT)
def decoded(text: str) -> NDArray[np.float64]:
    """Weights of their text.

    Raises:
        ValueError: it is no base64 of half floats.
    """
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype=_NUMBERS).astype(np.float64)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from error


def encoded(weights: NDArray[np.float64]) -> str:
    """The text of weights."""
    return base64.b64encode(weights.astype(_NUMBERS).tobytes()).decode("ascii")
