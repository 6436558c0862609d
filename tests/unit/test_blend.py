"""The blend: weights come back, ties and one-sided questions do no harm, held-out means held out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.blend import ablate_features, cross_validate_blend, fit_blend, pooled, ranks_under
from evaluation.dataset import Question
from evaluation.features import Candidates, FeatureTable
from evaluation.tuning import FOLDS, fold_of

TRUE = {"bm25": 2.0, "cosine": 40.0, "noise": 0.0}
NAMES = tuple(TRUE)
# Units of the features differ, as those of BM25 and cosine do.
SCALES = np.array([3.0, 0.05, 100.0])


def _question(number: int, values: np.ndarray, right: np.ndarray) -> Candidates:
    return Candidates(
        question=Question(id=f"q{number}", query="?", answerable=True, document_id=f"d{number % 40}"),
        language="he",
        chunk_ids=tuple(f"c{place:03d}" for place in range(len(values))),
        values=values,
        right=right,
    )


def _fold(question: Candidates) -> int:
    return fold_of(question.question.document_id or "")


def _synthetic(count: int = 800, candidates: int = 12, seed: int = 7) -> FeatureTable:
    """Right is the candidate that a score with Gumbel noise puts first: a pairwise logistic model holds exactly."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        values = rng.normal(size=(candidates, len(NAMES))) * SCALES
        chances = values @ np.array(list(TRUE.values())) + rng.gumbel(size=candidates)
        rows.append(_question(number, values, chances == chances.max()))
    return FeatureTable(names=NAMES, questions=tuple(rows))


def test_known_weights_come_back() -> None:
    table = _synthetic()
    found = fit_blend(table, table.questions, NAMES)
    assert found["cosine"] / found["bm25"] == pytest.approx(20.0, rel=0.15)
    assert abs(found["noise"]) * SCALES[2] < 0.1 * found["bm25"] * SCALES[0]


def test_a_feature_that_never_differs_within_a_question_gets_no_weight() -> None:
    table = _synthetic(60)
    for number, question in enumerate(table.questions):
        question.values[:, 2] = number
    found = fit_blend(table, table.questions, NAMES)
    assert found["noise"] == 0.0
    assert found["bm25"] > 0


@pytest.mark.parametrize("right", [np.zeros(3, dtype=bool), np.ones(3, dtype=bool)])
def test_questions_of_one_class_say_nothing(right: np.ndarray) -> None:
    question = _question(0, np.arange(9.0).reshape(3, 3), right)
    table = FeatureTable(names=NAMES, questions=(question,))
    assert fit_blend(table, table.questions, NAMES) == dict.fromkeys(NAMES, 0.0)


def test_no_questions_and_no_features() -> None:
    table = _synthetic(5)
    assert fit_blend(table, (), NAMES) == dict.fromkeys(NAMES, 0.0)
    assert fit_blend(table, table.questions, ()) == {}
    assert ranks_under(table, (), TRUE) == {}


def test_equal_scores_stand_by_chunk_id() -> None:
    values = np.ones((3, 3))
    table = FeatureTable(names=NAMES, questions=(_question(0, values, np.array([False, True, False])),))
    assert ranks_under(table, table.questions, TRUE) == {"q0": 2.0}


def test_a_question_without_a_right_candidate_has_no_rank() -> None:
    table = FeatureTable(names=NAMES, questions=(_question(0, np.ones((3, 3)), np.zeros(3, dtype=bool)),))
    assert ranks_under(table, table.questions, TRUE) == {"q0": math.inf}


def test_the_pool_keeps_the_best_in_their_order() -> None:
    values = np.array([[1.0, 0, 0], [5, 0, 0], [3, 0, 0], [5, 0, 0]])
    table = FeatureTable(names=NAMES, questions=(_question(0, values, np.array([True, False, False, False])),))
    (left,) = pooled(table, table.questions, {"bm25": 1.0}, 3)
    assert left.chunk_ids == ("c001", "c002", "c003")
    assert not left.right.any()


def test_each_question_is_ranked_by_weights_that_never_saw_its_document() -> None:
    table = _synthetic(200)
    found = cross_validate_blend(table, NAMES, _fold)
    assert set(found.ranks) == {question.question.id for question in table.questions}
    assert len(found.fold_weights) == FOLDS
    for fold, weights in enumerate(found.fold_weights):
        inside = [question for question in table.questions if _fold(question) == fold]
        outside = [question for question in table.questions if _fold(question) != fold]
        assert weights == fit_blend(table, outside, NAMES)
        for question, rank in ranks_under(table, inside, weights).items():
            assert found.ranks[question] == rank


def test_leaving_out_what_matters_is_significant_and_leaving_out_noise_is_not() -> None:
    table = _synthetic(400)
    whole = cross_validate_blend(table, NAMES, _fold).ranks
    rows = {row.feature: row for row in ablate_features(table, NAMES, _fold, whole)}
    assert all(test.distinguishable and test.wins > test.losses for test in rows["bm25"].tests)
    assert not any(test.distinguishable for test in rows["noise"].tests)
