"""The linear blend: weights of named features by pairwise logistic regression, measured on held-out folds. Pure.

For a right candidate r and a wrong one w of the same question, the model is

    P(r above w) = 1 / (1 + exp(-(s(r) - s(w)))),  s = sum over features of weight x value

(Bradley and Terry 1952; as a ranking loss Burges et al., "Learning to Rank using Gradient Descent", ICML 2005, with a
linear score). The likelihood is maximised with a ridge on the standardised weights; each question counts the same,
however many candidates it has. Weights are given back in the features' own units: scores are log-odds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evaluation.features import Candidates, FeatureTable
from evaluation.significance import PairedTest, sign_test
from evaluation.tuning import FOLDS, CrossValidated, FoldOf, Weights, first_right_ranks, padded
from query.profile_parts import Blend

# Candidates of a question that are reranked, and so compared: the pool of `query.search`.
POOL: Final = 50
# Ridge on the standardised weights, against the summed loss of all questions: the fewer questions, the closer to 0 the
# weights stay. It keeps correlated fields (content, its inflected form) from pulling against each other; a tenth and
# ten times of it were no better on the development questions.
RIDGE: Final = 0.1
# Steps of L-BFGS: it converges in about 50.
MAX_STEPS: Final = 500


@dataclass(frozen=True, slots=True)
class _Pairs:
    """`(p, f)` differences right - wrong, `(p,)` weights that sum to 1, and of how many questions they are."""

    differences: NDArray[np.float64]
    weights: NDArray[np.float64]
    questions: int


@dataclass(frozen=True, slots=True)
class Ablated:
    """The blend without one feature, against all of them, on held-out folds."""

    feature: str
    ranks: Mapping[str, float]
    tests: tuple[PairedTest, ...]


def pooled(
    table: FeatureTable, questions: Sequence[Candidates], weights: Mapping[str, float], size: int = POOL
) -> list[Candidates]:
    """Each question with its best `size` candidates by a weighted sum: what a reranker sees.

    Args:
        table: names of the columns.
        questions: with all their candidates.
        weights: of the order before, by feature; others weigh nothing.
        size: of the pool.
    """
    vector = _vector(table, weights)
    return [_best(question, vector, size) for question in questions]


def _best(question: Candidates, vector: NDArray[np.float64], size: int) -> Candidates:
    best = np.sort(np.argsort(-(question.values @ vector), kind="stable")[:size])
    return replace(
        question,
        chunk_ids=tuple(question.chunk_ids[place] for place in best),
        values=question.values[best],
        right=question.right[best],
    )


def fit_blend(table: FeatureTable, questions: Sequence[Candidates], features: Sequence[str]) -> Blend:
    """Weights of `features` in their own units; a feature that never differs within a question gets none.

    Questions without a right or without a wrong candidate say nothing; without any other, all weights are 0.
    """
    columns = [table.column(name) for name in features]
    pairs = _pairs(questions, columns)
    if not len(pairs.weights) or not columns:
        return dict.fromkeys(features, 0.0)
    scale = np.sqrt(np.average(pairs.differences**2, axis=0, weights=pairs.weights))
    differs = scale > 0
    ridge = RIDGE / pairs.questions
    scaled = pairs.differences[:, differs] / scale[differs]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = scaled @ weights
        # log(1 + exp(-m)) and its slope, without overflow.
        value = pairs.weights @ np.logaddexp(0.0, -margins) + ridge * weights @ weights
        slope = -scaled.T @ (pairs.weights * _logistic(-margins)) + 2 * ridge * weights
        return float(value), slope

    found = minimize(loss, np.zeros(int(differs.sum())), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    raw = np.zeros(len(columns))
    raw[differs] = found.x / scale[differs]
    return {name: float(weight) for name, weight in zip(features, raw, strict=True)}


def cross_validate_blend(table: FeatureTable, features: Sequence[str], fold_of: FoldOf) -> CrossValidated:
    """Learn on all folds but one, rank that one; the weights that ship are learnt on everything.

    Args:
        table: the pool of each question (`pooled`).
        features: names of the columns that take part.
        fold_of: the fold of a question; questions of one document must share it.
    """
    fold_weights: list[Weights] = []
    ranks: dict[str, float] = {}
    for fold in range(FOLDS):
        training = [question for question in table.questions if fold_of(question) != fold]
        held_out = [question for question in table.questions if fold_of(question) == fold]
        weights = fit_blend(table, training, features)
        fold_weights.append(weights)
        ranks |= ranks_under(table, held_out, weights)
    return CrossValidated(
        weights=fit_blend(table, table.questions, features), fold_weights=tuple(fold_weights), ranks=ranks
    )


def ranks_under(table: FeatureTable, questions: Sequence[Candidates], weights: Mapping[str, float]) -> dict[str, float]:
    """Rank of the first right candidate, by question id; infinity where the pool has none."""
    if not questions:
        return {}
    ranks = first_right_ranks(padded(questions), _vector(table, weights))
    return {question.question.id: float(rank) for question, rank in zip(questions, ranks, strict=True)}


def ablate_features(
    table: FeatureTable, features: Sequence[str], fold_of: FoldOf, whole: Mapping[str, float]
) -> list[Ablated]:
    """Leave each feature out in turn, learn again, and compare with `whole` (the ranks with all of them)."""
    rows = []
    for name in features:
        ranks = cross_validate_blend(table, [other for other in features if other != name], fold_of).ranks
        rows.append(Ablated(name, ranks, tuple(rank_tests(whole, ranks, ("all", f"without {name}")))))
    return rows


def rank_tests(a: Mapping[str, float], b: Mapping[str, float], names: tuple[str, str]) -> list[PairedTest]:
    """Paired sign tests on R@1 and on the reciprocal rank, over the questions of both."""
    common = sorted(a.keys() & b.keys())
    return [
        sign_test(
            [float(a[question] <= 1) for question in common],
            [float(b[question] <= 1) for question in common],
            names=names,
            metric="recall@1",
        ),
        sign_test(
            [1.0 / a[question] for question in common],
            [1.0 / b[question] for question in common],
            names=names,
            metric="mrr",
        ),
    ]


def _pairs(questions: Sequence[Candidates], columns: Sequence[int]) -> _Pairs:
    differences, weights = [], []
    for question in questions:
        right, wrong = question.values[question.right][:, columns], question.values[~question.right][:, columns]
        if not len(right) or not len(wrong):
            continue
        pairs = (right[:, None, :] - wrong[None, :, :]).reshape(len(right) * len(wrong), len(columns))
        differences.append(pairs)
        weights.append(np.full(len(pairs), 1.0 / len(pairs)))
    if not differences:
        return _Pairs(np.zeros((0, len(columns))), np.zeros(0), 0)
    return _Pairs(np.concatenate(differences), np.concatenate(weights) / len(weights), len(weights))


def _vector(table: FeatureTable, weights: Mapping[str, float]) -> NDArray[np.float64]:
    return np.array([weights.get(name, 0.0) for name in table.names])


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -x))
