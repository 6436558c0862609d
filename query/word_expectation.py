"""The words of a question with their tokens' vectors, as `query.word_model` tells from them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.base import Vectors
from query.evidence import Word
from query.word_matches import token_places, told_apart
from query.word_model import BESIDE, SeenWords


def seen_words(
    words: Sequence[Word], held: frozenset[int], texts: Sequence[str], pieces: Sequence[int], tokens: Vectors
) -> SeenWords:
    """What a `WordModel` tells from.

    Args:
        words: content words with their rarity.
        held: places of those that the first passage holds.
        texts: the query, cut at blanks: no token of a model reaches over one.
        pieces: tokens of each of `texts`.
        tokens: `(query tokens, dim)`, as they were compared.

    Returns:
        A word beyond the model's window, or one that can't be told apart by its tokens, has a vector of zeros.
    """
    apart, places = told_apart(pieces, tokens), dict[str, slice]()
    for text, place in token_places(texts, pieces):
        places.setdefault(text, place)
    values = np.zeros((len(words), tokens.shape[1] + BESIDE), dtype=np.float32)
    for number, word in enumerate(words):
        own = tokens[places.get(word.text, slice(0))] if apart else tokens[:0]
        if len(own):
            values[number, :-BESIDE] = own.mean(axis=0)
        values[number, -BESIDE:] = word.rarity, np.log(word.pieces)
    return SeenWords(values, np.array([place in held for place in range(len(words))], dtype=np.bool_))
