"""MMR and grouping, without an engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.base import Vectors
from query.candidate import Candidate, Passage, StageScores
from query.diversity import POOL, diversified, mmr, pool
from query.grouping import group_by_document
from query.request import CONTEXT_SIZE, DEFAULT_SIZE, MAX_CONTEXT_SIZE, MIN_CONTEXT_SIZE

EAST, NORTH, UP = np.eye(3, dtype=np.float32)


def unit(*values: float) -> Vectors:
    row = np.asarray(values, dtype=np.float32)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def candidate(chunk_id: str, *, document_id: str = "", fused: float = 0.0, rerank: float | None = None) -> Candidate:
    passage = Passage(
        chunk_id=chunk_id,
        document_id=document_id or f"d-{chunk_id}",
        version=1,
        content_hash="0" * 64,
        ordinal=0,
        title="",
        section="",
        content="",
        language="he",
        url=None,
        place={"from": 0, "to": 1, "label": ""},
    )
    return Candidate(passage, StageScores(fused=fused, rerank=rerank))


def ids(ranking: Sequence[Candidate]) -> list[str]:
    return [hit.chunk_id for hit in ranking]


# Directions of whole numbers: their cosines are told apart well above rounding.
DIRECTIONS = st.tuples(*[st.integers(-3, 3)] * 3).filter(any).map(lambda values: unit(*values))
LAMBDAS = st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.9, 1.0])


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[float], Vectors]:
    """Scores, best first, and as many vectors."""
    scores = sorted(draw(st.lists(st.integers(0, 20), max_size=12)), reverse=True)
    rows = draw(st.lists(DIRECTIONS, min_size=len(scores), max_size=len(scores)))
    return [float(score) for score in scores], np.asarray(rows, dtype=np.float32).reshape(len(scores), 3)


# --- mmr


def test_no_candidate_and_one() -> None:
    assert mmr([], np.zeros((0, 3), dtype=np.float32), 0.7, 10) == []
    assert mmr([3.0], EAST[None], 0.7, 10) == [0]
    assert mmr([3.0, 1.0], np.stack([EAST, NORTH]), 0.7, 0) == []


@given(pools())
def test_lambda_one_is_the_ranking(given_pool: tuple[list[float], Vectors]) -> None:
    scores, vectors = given_pool
    assert mmr(scores, vectors, 1.0, len(scores)) == list(range(len(scores)))


@given(st.lists(st.floats(-1e6, 1e6), max_size=12))
def test_lambda_one_keeps_a_ranking_that_its_scores_contradict(scores: list[float]) -> None:
    vectors = np.tile(EAST, (len(scores), 1))
    assert mmr(scores, vectors, 1.0, len(scores)) == list(range(len(scores)))


@given(pools(), LAMBDAS, st.integers(0, 14))
def test_each_at_most_once_the_first_stays_and_shorter_selections_begin_longer_ones(
    given_pool: tuple[list[float], Vectors], lam: float, size: int
) -> None:
    scores, vectors = given_pool
    whole = mmr(scores, vectors, lam, len(scores))
    assert sorted(whole) == list(range(len(scores)))
    assert whole[:1] == [0][: len(scores)]
    assert mmr(scores, vectors, lam, size) == whole[:size]


@given(pools(), LAMBDAS)
def test_every_step_takes_the_greatest_value(given_pool: tuple[list[float], Vectors], lam: float) -> None:
    """The definition again, step by step and without vectorised code."""
    scores, vectors = given_pool
    whole = mmr(scores, vectors, lam, len(scores))
    span = max(scores, default=0) - min(scores, default=0)

    def cosine(a: int, b: int) -> float:
        return round(sum(float(x) * float(y) for x, y in zip(vectors[a], vectors[b], strict=True)), 6)

    lowest = min((cosine(a, b) for a in range(len(scores)) for b in range(len(scores))), default=1.0)

    def value(place: int, taken: Sequence[int]) -> float:
        relevance = (scores[place] - min(scores)) / span if span else 1.0
        similarities = [(cosine(place, other) - lowest) / (1 - lowest) if lowest < 1 else 1.0 for other in taken]
        return lam * relevance - (1 - lam) * max(similarities, default=0.0)

    for step, place in enumerate(whole):
        values = {other: value(other, whole[:step]) for other in whole[step:]}
        assert values[place] == pytest.approx(max(values.values()), abs=1e-5)


def test_equal_vectors_keep_the_ranking() -> None:
    assert mmr([5.0, 4.0, 4.0, 1.0], np.tile(EAST, (4, 1)), 0.3, 4) == [0, 1, 2, 3]


def test_equal_scores_and_equal_similarities_stand_by_rank() -> None:
    assert mmr([2.0] * 3, np.stack([EAST, NORTH, UP]), 0.5, 3) == [0, 1, 2]


def test_it_does_not_matter_where_a_model_puts_its_cosines() -> None:
    """Vectors that all share a strong common part, as those of many models do, give the order of those without it."""
    rows = [EAST, unit(9, 1, 0), NORTH, UP]
    shifted = [unit(*(0.3 * row), 1.0) for row in rows]
    scores = [9.0, 8.0, 7.0, 0.0]
    for lam in (0.3, 0.5, 0.7):
        assert mmr(scores, np.stack(shifted), lam, 4) == mmr(scores, np.stack(rows), lam, 4)


def test_lambda_zero_looks_at_novelty_alone() -> None:
    vectors = np.stack([EAST, unit(9, 1, 0), unit(1, 1, 0), NORTH])
    assert mmr([9.0, 8.0, 7.0, 0.0], vectors, 0.0, 2) == [0, 3]


def test_versions_of_a_clause_do_not_fill_the_page() -> None:
    """Three versions of one clause, then two other passages a little less relevant."""
    clause = [unit(1, 0, 0), unit(50, 1, 0), unit(50, 0, 1)]
    vectors = np.stack([*clause, unit(1, 1, 0), unit(1, 0, 1)])
    scores = [1.0, 0.98, 0.97, 0.9, 0.0]
    assert mmr(scores, vectors, 0.7, 2) == [0, 3]
    assert mmr(scores, vectors, 1.0, 2) == [0, 1]


def test_a_passage_put_first_by_a_rule_stays_first_and_the_rest_keeps_its_spread() -> None:
    """Scores 1, 9, 8, 0: a rule put the first one there; the second is still better than the third by a ninth."""
    vectors = np.stack([EAST, NORTH, NORTH, UP])
    assert mmr([1.0, 9.0, 8.0, 0.0], vectors, 0.9, 4) == [0, 1, 2, 3]


# --- diversified


def ranking_of(count: int) -> list[Candidate]:
    return [candidate(f"c{place:03d}", fused=float(count - place)) for place in range(count)]


@given(st.data(), pools(), LAMBDAS)
def test_the_order_in_which_vectors_arrive_does_not_matter(
    data: st.DataObject, given_pool: tuple[list[float], Vectors], lam: float
) -> None:
    scores, rows = given_pool
    ranking = [candidate(f"c{place}", fused=score) for place, score in enumerate(scores)]
    arrived = [(hit.chunk_id, row) for hit, row in zip(ranking, rows, strict=True)]
    expected = ids(diversified(ranking, dict(arrived), lam))
    assert ids(diversified(ranking, dict(data.draw(st.permutations(arrived))), lam)) == expected
    assert expected == [f"c{place}" for place in mmr(scores, rows, lam, len(scores))]


def test_what_is_beyond_the_pool_keeps_its_order_behind_it() -> None:
    ranking = ranking_of(POOL + 20)
    rng = np.random.default_rng(3)
    vectors = {hit.chunk_id: unit(*rng.normal(size=3)) for hit in ranking}
    result = diversified(ranking, vectors, 0.3)
    assert set(ids(result[:POOL])) == set(ids(ranking[:POOL]))
    assert ids(result[:POOL]) != ids(ranking[:POOL])
    assert ids(result[POOL:]) == ids(ranking[POOL:])
    assert ids(pool(ranking)) == ids(ranking[:POOL])


def test_a_passage_whose_vector_did_not_come_stands_behind_the_pool() -> None:
    ranking = ranking_of(4)
    vectors = {hit.chunk_id: EAST for hit in ranking if hit.chunk_id != "c001"}
    assert ids(diversified(ranking, vectors, 0.7)) == ["c000", "c002", "c003", "c001"]
    assert ids(diversified(ranking, {}, 0.7)) == ids(ranking)
    assert diversified([], {}, 0.7) == ()


def test_the_pool_ends_where_the_reranker_stopped() -> None:
    ranking = [candidate("a", rerank=2.0), candidate("b", rerank=-1.0), candidate("c", fused=9.0)]
    assert ids(pool(ranking)) == ["a", "b"]
    vectors = {"a": EAST, "b": EAST, "c": NORTH}
    assert ids(diversified(ranking, vectors, 0.1)) == ["a", "b", "c"]


def test_scores_stay_what_they_were() -> None:
    ranking = ranking_of(3)
    vectors = {"c000": EAST, "c001": EAST, "c002": NORTH}
    result = diversified(ranking, vectors, 0.3)
    assert ids(result) == ["c000", "c002", "c001"]
    assert {hit.chunk_id: hit.scores for hit in result} == {hit.chunk_id: hit.scores for hit in ranking}


# --- grouping


ROWS = [candidate(f"c{place}", document_id=document) for place, document in enumerate(["x", "y", "x", "z", "y", "x"])]


@pytest.mark.parametrize(
    ("per_document", "expected"),
    [(1, ["c0", "c1", "c3"]), (2, ["c0", "c1", "c2", "c3", "c4"]), (9, ["c0", "c1", "c2", "c3", "c4", "c5"])],
)
def test_documents_stand_as_their_best_passages(per_document: int, expected: list[str]) -> None:
    assert ids(group_by_document(ROWS, per_document)) == expected


def test_grouping_nothing_and_again() -> None:
    assert group_by_document([]) == ()
    assert group_by_document(group_by_document(ROWS)) == group_by_document(ROWS)


@given(st.lists(st.sampled_from("xyz"), max_size=12), st.integers(1, 3))
def test_a_grouped_prefix_is_the_prefix_of_the_grouped(documents: list[str], per_document: int) -> None:
    rows = [candidate(f"c{place:02d}", document_id=document) for place, document in enumerate(documents)]
    whole = group_by_document(rows, per_document)
    for size in range(len(rows)):
        part = group_by_document(rows[:size], per_document)
        assert part == whole[: len(part)]
    assert ids(whole) == sorted(ids(whole))


def test_the_context_is_not_the_page() -> None:
    assert MIN_CONTEXT_SIZE <= CONTEXT_SIZE <= MAX_CONTEXT_SIZE
    assert CONTEXT_SIZE < DEFAULT_SIZE
