"""How well a passage matches each word of a query by its tokens: synonyms and other forms count as far as they suit.

Whether the word stands there at all is told by `query.evidence`; this sees what no analysis of words can. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.base import Vectors
from query.evidence import EDGES, Word

# A word is matched where its tokens' best cosines reach this. With codes of two bits a word that stands in a passage
# reaches .45 and more, one of another subject .25; .3 to .6 do about as well (docs/tuning.md).
MATCHED: Final = 0.4
_SMALLEST: Final = 1e-6  # a token that is the common part itself has no direction


def rarity_unmatched(
    words: Sequence[Word], texts: Sequence[str], pieces: Sequence[int], tokens: Vectors, best: NDArray[np.float32]
) -> float:
    """Sum over the query's content words of their rarity, each times how far its match falls short of `MATCHED`.

    Args:
        words: content words with their rarity.
        texts: the query, cut at blanks: no token of a model reaches over one.
        pieces: tokens of each of `texts`.
        tokens: `(query tokens, dim)`, as they were compared.
        best: `(query tokens,)`, the best match of each in the passage (`models.base.MaxSims.by_token`).

    Returns:
        0 where every word is matched. Where the tokens can't be told apart by words, since the model cuts the whole
        query otherwise than its words, each word is matched as the whole query is.
    """
    rarities = {word.text: word.rarity for word in words}
    matched = np.nan_to_num(best).astype(np.float64)
    lengths = np.linalg.norm(tokens, axis=1)
    whole = _match(matched, lengths)
    apart = told_apart(pieces, tokens)
    total = 0.0
    for word, own in token_places(texts, pieces):
        rarity = rarities.get(word)
        if rarity is not None and len(lengths[own]):
            match = _match(matched[own], lengths[own]) if apart else whole
            total += rarity * max(0.0, MATCHED - match)
    return total


def token_places(texts: Sequence[str], pieces: Sequence[int]) -> list[tuple[str, slice]]:
    """Each word of a query without the marks around it, and where its tokens stand among the query's.

    Args:
        texts: the query, cut at blanks: no token of a model reaches over one.
        pieces: tokens of each of `texts`.
    """
    ends = accumulate(pieces)
    return [(text.strip(EDGES), slice(end - count, end)) for text, end, count in zip(texts, ends, pieces, strict=True)]


def told_apart(pieces: Sequence[int], tokens: Vectors) -> bool:
    """Whether a query's tokens are those of its words, one after another. A query beyond the model's window has fewer;
    those behind it are not compared."""
    return bool(pieces) and sum(pieces) >= len(tokens)


def _match(best: NDArray[np.float64], lengths: NDArray[np.floating]) -> float:
    """Mean cosine of some tokens with their best matches, each counted by its length: a distinctive one is longer."""
    return float(best.sum() / max(_SMALLEST, float(lengths.sum())))
