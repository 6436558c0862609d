"""English vectors moved to where Hebrew ones lie, so that language alone makes no passage near or far.

multilingual-e5-small puts each language's texts around a mean of their own, and the means differ: without this an
English question is nearer to any English passage than to the Hebrew one that answers it. Means by language are the
language's, not the text's (Libovický, Rosa, Fraser: "On the Language Neutrality of Pre-trained Multilingual
Representations", Findings of EMNLP 2020); moving the English ones most of the way to the Hebrew ones leaves Hebrew
vectors as the model gave them. `scripts/build_language_shift.py` makes the numbers and says what they were made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from models.base import Vectors
from search_config.language import language_of

FILE: Final = "e5_language_shift.npy"
# Rows of the file.
PASSAGE, QUERY = 0, 1
# How far English vectors are moved along the difference of the means. At 1, English questions find a little more in
# Hebrew passages and less in English ones; .8 was best over both.
STRENGTH: Final = 0.8


@cache
def shifts() -> Vectors:
    """`(2, dim)`: what is added to English passages and queries at full strength: Hebrew mean less English mean."""
    loaded: Vectors = np.load(BytesIO(files(__package__).joinpath(FILE).read_bytes()))
    return loaded


def aligned(vectors: Vectors, texts: Sequence[str], *, is_query: bool) -> Vectors:
    """`(n, dim)` unit vectors with those of English texts moved; normalise again afterwards."""
    english = np.array([language_of(text) == "en" for text in texts], dtype=np.bool_)
    if not english.any():
        return vectors
    moved = vectors.copy()
    moved[english] += STRENGTH * shifts()[QUERY if is_query else PASSAGE]
    return moved
