"""Weights found by cross-validation over documents: boosts of the lexical fields, and a cosine's worth beside them.

Questions of one document always share a fold: otherwise what is learnt of a document would be reported as skill. What
is reported is of held-out folds only; what ships is then refitted on everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaluation.features import Candidates, FeatureTable

FOLDS: Final = 5
# Passes over all weights; a third one changed nothing on the data sets at hand.
PASSES: Final = 3
# Tried for a lexical field beside `content`, whose boost is 1.
BOOSTS: Final = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)
# Tried for c of BM25 + c x cosine: from "words decide" to "meaning decides".
COSINE_FACTORS: Final = (0.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 130.0, 170.0, 220.0, 300.0)
# Tried for s of BM25 + c x cosine + s x sparse score; the score's spread is about BM25's.
SPARSE_FACTORS: Final = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0, 5.0)
# A weight is moved only by what improves the objective by this much: smaller gains are noise of single questions.
LEAST_GAIN: Final = 2e-4

Weights = dict[str, float]
FoldOf = Callable[[Candidates], int]


@dataclass(frozen=True, slots=True)
class Padded:
    """All questions as one array: `(n, most, f)` values, `(n, most)` right and present."""

    values: NDArray[np.float64]
    right: NDArray[np.bool_]
    present: NDArray[np.bool_]


def fold_of(document_id: str, folds: int = FOLDS) -> int:
    """The fold of a document, by its id alone: the same in every run and whatever the folder is called."""
    return int(hashlib.sha256(document_id.encode()).hexdigest(), 16) % folds


def padded(questions: Sequence[Candidates]) -> Padded:
    """Questions of different numbers of candidates in one array."""
    most = max((len(question.chunk_ids) for question in questions), default=0)
    width = questions[0].values.shape[1] if questions else 0
    values = np.zeros((len(questions), most, width))
    right = np.zeros((len(questions), most), dtype=np.bool_)
    present = np.zeros((len(questions), most), dtype=np.bool_)
    for number, question in enumerate(questions):
        count = len(question.chunk_ids)
        values[number, :count] = question.values
        right[number, :count] = question.right
        present[number, :count] = True
    return Padded(values, right, present)


def first_right_ranks(data: Padded, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank of the first right candidate of each question under a weighted sum; infinity where there is none.

    Ties are broken by chunk id, as everywhere: candidates stand in that order.
    """
    scores = np.where(data.present, data.values @ weights, -np.inf)
    best = np.where(data.right, scores, -np.inf).max(axis=1, initial=-np.inf)
    at = np.where(data.right & (scores == best[:, None]), 1, 0).argmax(axis=1)
    before = np.arange(scores.shape[1])[None, :] < at[:, None]
    ahead = (scores > best[:, None]) | ((scores == best[:, None]) & before & data.present)
    return np.where(np.isfinite(best), 1.0 + ahead.sum(axis=1), np.inf)


def objective(ranks: NDArray[np.float64]) -> float:
    """Mean of R@1, R@5 and MRR: the first place counts most, and what an answer's context holds counts too."""
    if not len(ranks):
        return 0.0
    return float(np.mean([(ranks <= 1).mean(), (ranks <= 5).mean(), (1.0 / ranks).mean()]))


def objective_of(ranks: Mapping[str, float]) -> float:
    """`objective` of ranks by question."""
    return objective(np.array(list(ranks.values())))


def fit(
    table: FeatureTable,
    questions: Sequence[Candidates],
    start: Mapping[str, float],
    tried: Mapping[str, Sequence[float]],
) -> Weights:
    """Coordinate ascent on `objective`.

    Args:
        table: names of the columns.
        questions: what is learnt from.
        start: weights to begin with, by feature; a feature that is not in it weighs nothing.
        tried: values to try, for each feature that may move.
    """
    data = padded(questions)
    weights = np.array([start.get(name, 0.0) for name in table.names])
    best = objective(first_right_ranks(data, weights))
    for _ in range(PASSES):
        before = best
        for name, values in tried.items():
            column = table.column(name)
            for value in values:
                candidate = weights.copy()
                candidate[column] = value
                reached = objective(first_right_ranks(data, candidate))
                if reached > best + LEAST_GAIN:
                    weights, best = candidate, reached
        if best == before:
            break
    return {name: float(weight) for name, weight in zip(table.names, weights, strict=True) if weight}


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """What a search for weights gave.

    Attributes:
        weights: fitted on everything: what ships.
        fold_weights: fitted without each fold.
        ranks: of each question, by the weights of the folds that it is not in.
    """

    weights: Weights
    fold_weights: tuple[Weights, ...]
    ranks: dict[str, float]


def cross_validate(
    table: FeatureTable,
    start: Mapping[str, float],
    tried: Mapping[str, Sequence[float]],
    fold_of_question: FoldOf | None = None,
) -> CrossValidated:
    """Fit on four fifths of the documents, rank the rest; five times.

    Args:
        table: features of all candidates.
        start: weights to begin with.
        tried: values to try, by feature.
        fold_of_question: the fold of a question; by its document's id, where it is not given.
    """
    of = fold_of_question or _fold
    fold_weights, ranks = [], {}
    for fold in range(FOLDS):
        training = [question for question in table.questions if of(question) != fold]
        held_out = [question for question in table.questions if of(question) == fold]
        weights = fit(table, training, start, tried)
        fold_weights.append(weights)
        vector = np.array([weights.get(name, 0.0) for name in table.names])
        for question, rank in zip(
            held_out, first_right_ranks(padded(held_out), vector) if held_out else (), strict=True
        ):
            ranks[question.question.id] = float(rank)
    return CrossValidated(
        weights=fit(table, table.questions, start, tried), fold_weights=tuple(fold_weights), ranks=ranks
    )


def _fold(question: Candidates) -> int:
    return fold_of(question.question.document_id or question.question.id)
