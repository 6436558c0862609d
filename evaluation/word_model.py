"""Learns how surely each word of a question stands in a passage that answers (`query.word_model`). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluation.logistic import logistic
from query.word_model import SeenWords, WordModel, encoded

# Of questions that are answered and of others, each: a vector has 384 dimensions, and from fewer words their model
# would learn the questions by heart. HeQ's half has 3,100 and 3,900.
LEAST_WORDS: Final = 2_000
# Ridge on the weights, against the mean loss of a word. A third and three times as much do about as well.
RIDGE: Final = 1.4e-4


def enough_words(answered: Sequence[SeenWords], others: Sequence[SeenWords]) -> bool:
    """Whether a model can be learnt from them."""
    return all(sum(len(one.held) for one in kind) >= LEAST_WORDS for kind in (answered, others))


def fit_words(answered: Sequence[SeenWords], others: Sequence[SeenWords]) -> WordModel:
    """One logistic model for the words of each kind of questions.

    Args:
        answered: words of questions that the first passages answer.
        others: of questions that nothing answers, with what the nearest passages hold of them.
    """
    return WordModel(answered=_weights(answered), unanswered=_weights(others))


def _weights(seen: Sequence[SeenWords]) -> str:
    held = np.concatenate([one.held for one in seen])
    values = np.vstack([one.values for one in seen]).astype(np.float64)
    return encoded(logistic(values, held, np.full(len(held), 1 / len(held)), RIDGE))
