"""Figures against a second implementation, written from the definitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.dataset import Needle, Question
from evaluation.metrics import NDCG_CUTOFF, Passage, figures, qrels

CHUNKS = [f"c{number:02d}" for number in range(30)]


def recall_at(k: int, ranking: list[str], right: set[str]) -> float:
    return float(any(chunk in right for chunk in ranking[:k]))


def reciprocal_rank(ranking: list[str], right: set[str]) -> float:
    return next((1 / rank for rank, chunk in enumerate(ranking, 1) if chunk in right), 0.0)


def ndcg(ranking: list[str], right: set[str]) -> float:
    gained = sum(1 / math.log2(rank + 1) for rank, chunk in enumerate(ranking[:NDCG_CUTOFF], 1) if chunk in right)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(right), NDCG_CUTOFF) + 1))
    return gained / ideal if ideal else 0.0


@given(
    st.lists(
        st.tuples(st.permutations(CHUNKS), st.integers(0, 30), st.sets(st.sampled_from(CHUNKS), max_size=4)),
        min_size=1,
        max_size=6,
    )
)
def test_figures_equal_the_second_implementation(questions: list[tuple[list[str], int, set[str]]]) -> None:
    run = {f"q{number}": order[:length] for number, (order, length, _) in enumerate(questions)}
    judged = {f"q{number}": dict.fromkeys(right, 1) for number, (_, _, right) in enumerate(questions)}
    got = figures(run, judged, (1, 5, 20))
    for number, question in enumerate(got.questions):
        ranking, right = run[question], set(judged[question])
        for k in (1, 5, 20):
            assert got.by_question[f"recall@{k}"][number] == recall_at(k, ranking, right)
        assert got.by_question["mrr"][number] == pytest.approx(reciprocal_rank(ranking, right), abs=1e-6)
        assert got.by_question["ndcg@10"][number] == pytest.approx(ndcg(ranking, right), abs=1e-6)


def test_a_question_without_results_scores_nothing_and_counts() -> None:
    got = figures({"a": ["c01"]}, {"a": {"c01": 1}, "b": {"c02": 1}, "c": {}}, (1,))
    assert got.figures["recall@1"].value == pytest.approx(1 / 3)
    assert got.figures["mrr"].value == pytest.approx(1 / 3)


def test_a_passage_is_right_only_when_it_holds_the_needle_whole_in_its_document() -> None:
    question = Question.model_validate(
        {"id": "q", "query": "x", "answerable": True, "document_id": "d", "needles": [{"text": "12345", "from": 10}]}
    )
    passages = [
        Passage(chunk_id="whole", document_id="d", from_=10, to=15),
        Passage(chunk_id="cut", document_id="d", from_=11, to=40),
        Passage(chunk_id="cut-at-end", document_id="d", from_=0, to=14),
        Passage(chunk_id="elsewhere", document_id="other", from_=0, to=99),
    ]
    assert qrels([question], passages) == {"q": {"whole": 1}}
    assert Needle.model_validate({"text": "12345", "from": 10}).to == 15
