"""One suite over all rerankers: whatever they score, the pool stays what it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from query.candidate import Candidate, Passage, Place, StageScores
from query.features import COSINE, IDENTIFIER, MAXSIM, MAXSIM_NEAR, Features
from query.reranking import LateInteraction, LinearBlend, Pool, Reranker, TextReranker, rerank
from search_config.errors import InvalidProfile

NAMES = ("bm25:content", COSINE, MAXSIM, MAXSIM_NEAR, IDENTIFIER)


class Overlap:
    """A real, small scorer of pairs: shared words less the passage's length."""

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        words = set(query.split())
        return np.array([len(words & set(passage.split())) - len(passage) / 1000 for passage in passages], dtype=float)


RERANKERS: dict[str, Reranker] = {
    "blend": LinearBlend({"bm25:content": 0.2, COSINE: 20.0, MAXSIM: 0.8, MAXSIM_NEAR: 1.0, IDENTIFIER: 0.0}),
    "negative blend": LinearBlend({"bm25:content": -1.0}),
    "late interaction": LateInteraction(),
    "texts": TextReranker(Overlap()),
}


@pytest.fixture(params=RERANKERS)
def reranker(request: pytest.FixtureRequest) -> Reranker:
    return RERANKERS[request.param]


def candidate(number: int, content: str = "תוכן") -> Candidate:
    passage = Passage(
        chunk_id=f"c{number:03d}",
        document_id=f"d{number}",
        version=1,
        content_hash="0" * 64,
        ordinal=0,
        title="כותרת",
        section="",
        content=content,
        language="he",
        url=None,
        place={"from": 0, "to": len(content), "label": "1"},
    )
    return Candidate(passage, StageScores(bm25=Place(rank=number + 1, score=9.0 - number), fused=50.0 - number))


def pool(candidates: Sequence[Candidate], values: NDArray[np.float64] | None = None, query: str = "שאלה") -> Pool:
    rows = np.ones((len(candidates), len(NAMES))) if values is None else values
    return Pool(query, tuple(candidates), Features(NAMES, rows))


def ids(candidates: Sequence[Candidate]) -> list[str]:
    return [one.chunk_id for one in candidates]


class TestContract:
    def test_no_candidates(self, reranker: Reranker) -> None:
        assert rerank(reranker, pool([])) == ()

    def test_one_candidate(self, reranker: Reranker) -> None:
        (only,) = rerank(reranker, pool([candidate(0)]))
        assert only.chunk_id == "c000"
        assert only.scores.rerank is not None
        assert only.scores.fused == 50.0
        assert only.scores.bm25 == Place(rank=1, score=9.0)

    def test_equal_scores_keep_their_order(self, reranker: Reranker) -> None:
        candidates = [candidate(number) for number in (3, 1, 2, 0)]
        after = rerank(reranker, pool(candidates))
        assert ids(after) == ids(candidates)
        assert len({one.scores.rerank for one in after}) == 1

    def test_the_order_is_that_of_the_scores_shown(self, reranker: Reranker) -> None:
        rng = np.random.default_rng(5)
        candidates = [candidate(number, "תוכן " * int(rng.integers(1, 40))) for number in range(50)]
        after = rerank(reranker, pool(candidates, rng.normal(size=(50, len(NAMES)))))
        scores = [one.scores.rerank for one in after]
        assert scores == sorted(scores, key=lambda score: -(score or 0.0))
        assert ids(after) != ids(candidates)

    def test_nothing_comes_in_and_nothing_falls_out(self, reranker: Reranker) -> None:
        candidates = [candidate(number) for number in range(7)]
        after = rerank(reranker, pool(candidates, -100.0 * np.random.default_rng(1).random((7, len(NAMES)))))
        assert sorted(ids(after)) == ids(candidates)

    def test_a_candidate_of_one_leg_only(self, reranker: Reranker) -> None:
        lexical_only = candidate(0)
        dense_only = Candidate(candidate(1).passage, StageScores(knn=Place(rank=1, score=0.9), fused=1.0), cosine=0.9)
        after = rerank(reranker, pool([lexical_only, dense_only]))
        assert {one.chunk_id: (one.scores.bm25, one.scores.knn) for one in after} == {
            "c000": (lexical_only.scores.bm25, None),
            "c001": (None, dense_only.scores.knn),
        }

    def test_a_text_longer_than_any_window(self, reranker: Reranker) -> None:
        candidates = [candidate(0, "מילה " * 20_000), candidate(1)]
        assert sorted(ids(rerank(reranker, pool(candidates)))) == ["c000", "c001"]

    @pytest.mark.parametrize("unknown", [np.nan, np.inf, -np.inf])
    def test_what_is_no_number_stands_behind_what_is(self, unknown: float) -> None:
        values = np.ones((4, len(NAMES)))
        values[[0, 2], NAMES.index(MAXSIM)] = unknown
        values[3, NAMES.index(MAXSIM)] = -5.0
        for name in ("blend", "late interaction"):
            after = rerank(RERANKERS[name], pool([candidate(number) for number in range(4)], values))
            assert ids(after) == ["c001", "c003", "c000", "c002"]
            assert [one.scores.rerank is None for one in after] == [False, False, True, True]


def test_scores_of_the_wrong_number_are_a_fault() -> None:
    class Short:
        needs = frozenset[str]()

        def scores(self, pool: Pool) -> NDArray[np.float64]:
            return np.zeros(1)

    with pytest.raises(ValueError, match="shape"):
        rerank(Short(), pool([candidate(0), candidate(1)]))


def test_a_feature_that_was_not_read_is_a_fault() -> None:
    only = Pool("שאלה", (candidate(0),), Features((COSINE,), np.ones((1, 1))))
    with pytest.raises(ValueError, match="maxsim was not read"):
        rerank(LateInteraction(), only)


@pytest.mark.parametrize("name", ["proximity", "bm25:author", "content"])
def test_a_feature_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(InvalidProfile, match=name):
        LinearBlend({MAXSIM: 1.0, name: 1.0})


def test_a_weight_of_nothing_needs_nothing() -> None:
    assert LinearBlend({MAXSIM: 0.0, COSINE: 1.0}).needs == {COSINE}
