"""Leaves out passages that are hardly better than chance beside the first one. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from query.candidate import Candidate


def relevant(ranking: Sequence[Candidate], least: float) -> tuple[Candidate, ...]:
    """The first passage, and those after it that are better than it with at least a probability of `least`.

    The blend's scores are log-odds: `1 / (1 + exp(first - score))` is that probability.

    Args:
        ranking: best first.
        least: 0 leaves out none; nothing is left out either where the first passage was not reranked.
    """
    if not ranking or least <= 0 or ranking[0].scores.rerank is None:
        return tuple(ranking)
    # The same in log-odds, so that nothing overflows.
    lowest = ranking[0].scores.rerank + math.log(least / (1.0 - least))
    first, *rest = ranking
    return (first, *(one for one in rest if one.scores.rerank is not None and one.scores.rerank >= lowest))
