"""Reranking: the best candidates in another order. Every reranker only scores; the order is made here.

Whatever a reranker's scores are, negative ones too, the pool stays what it was: nothing from outside comes in, nothing
falls out, and what stood behind the pool stands behind it in the same order. Equal scores keep the order they had. A
score that is no finite number is none: such a candidate stands behind the scored ones of the pool, in its old order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from query.candidate import Candidate
from query.features import MAXSIM, Features, is_feature
from search_config.errors import InvalidProfile

# Candidates that are reranked: the first page and four more. On the development questions the right passage was among
# the first 50 of the fused order in 99.9%.
POOL: Final = 50


@dataclass(frozen=True, slots=True)
class Pool:
    """What a reranker sees.

    Attributes:
        query: as it was searched.
        candidates: in the order before.
        features: row by row those of the candidates, as far as `Reranker.needs` names them.
    """

    query: str
    candidates: tuple[Candidate, ...]
    features: Features


class Reranker(Protocol):
    """Scores candidates by what stands in them."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the features it reads; empty for one that reads texts."""

    def scores(self, pool: Pool) -> NDArray[np.float64]:
        """One score a candidate, `(candidates,)`, the higher the better; NaN for one it cannot judge.

        Raises:
            ModelUnavailable: a model fails.
        """


def rerank(reranker: Reranker, pool: Pool) -> tuple[Candidate, ...]:
    """The pool in the reranker's order, with its scores.

    Raises:
        ValueError: not one score for each candidate.
    """
    candidates = pool.candidates
    if not candidates:
        return ()
    scores = np.asarray(reranker.scores(pool), dtype=np.float64)
    if scores.shape != (len(candidates),):
        raise ValueError(f"{type(reranker).__name__} gave scores of shape {scores.shape} for {len(candidates)}")
    known = np.isfinite(scores)
    # `sorted` is stable: equals, and those without a score, keep their order.
    order = sorted(range(len(candidates)), key=lambda place: (not known[place], -scores[place] if known[place] else 0))
    return tuple(_with_score(candidates[place], float(scores[place]) if known[place] else None) for place in order)


@dataclass(frozen=True, slots=True)
class LinearBlend:
    """A weighted sum of named features, in log-odds where the weights were learnt by logistic regression.

    Raises:
        InvalidProfile: a weight of a feature that there is not.
    """

    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        unknown = sorted(name for name in self.weights if not is_feature(name))
        if unknown:
            raise InvalidProfile(
                f"There is no such feature: {', '.join(unknown)}.",
                where="blend",
                remedy="docs/reranking.md lists the features.",
            )

    @property
    def needs(self) -> frozenset[str]:
        """The features that weigh anything."""
        return frozenset(name for name, weight in self.weights.items() if weight)

    def scores(self, pool: Pool) -> NDArray[np.float64]:
        """`sum(weight * feature)`; NaN where a feature is not known.

        Raises:
            ValueError: a feature is not among those that were read.
        """
        total = np.zeros(len(pool.candidates))
        for name in sorted(self.needs):
            total += self.weights[name] * pool.features.column(name)
        return total


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """MaxSim alone."""

    @property
    def needs(self) -> frozenset[str]:
        """`maxsim`."""
        return frozenset({MAXSIM})

    def scores(self, pool: Pool) -> NDArray[np.float64]:
        """The feature as it is."""
        return pool.features.column(MAXSIM)


class PairScorer(Protocol):
    """Scores pairs of texts: `models.cross_encoder.CrossEncoderScorer`."""

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """`(len(passages),)`; a text beyond the window is cut at it."""


@dataclass(frozen=True, slots=True)
class TextReranker:
    """A cross-encoder over title, section and content of each candidate."""

    scorer: PairScorer

    @property
    def needs(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def scores(self, pool: Pool) -> NDArray[np.float64]:
        """As the model gives them."""
        return self.scorer.score(pool.query, [passage_text(candidate) for candidate in pool.candidates])


def passage_text(candidate: Candidate) -> str:
    """The passage under its header, as the embedder reads it."""
    passage = candidate.passage
    header = " > ".join(part for part in (passage.title, passage.section) if part)
    return f"[{header}]\n{passage.content}" if header else passage.content


def _with_score(candidate: Candidate, score: float | None) -> Candidate:
    return candidate._replace(scores=candidate.scores._replace(rerank=score))
