"""Pages whose passages are read after they were ranked by their keys: as if they had been read at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from query.beside import Crowd
from query.request import SearchRequest
from query.reranking import POOL
from query.search import SearchContext, rank, search
from query.word_counts import FRESH_S, STEADY_S, WordCounts
from search_config.client import Engine
from search_config.connection import EngineAccess
from tests.engine.conftest import MakeContext
from tests.engine.rows import PROFILE, Row, write

QUERY = "אגרת תו חניה לתושב"
BLENDED = PROFILE.model_copy(update={"blends": {"he": {"bm25:content": 1.0, "cosine": 2.0}}})
ROWS = [Row(f"c{number:03}", f"אגרת תו חניה לתושב בשכונה {number}" + " מילה" * (number % 17)) for number in range(160)]


@pytest.fixture(scope="module")
def context(make_context: MakeContext) -> SearchContext:
    return make_context(ROWS, profile=BLENDED)


def _page(context: SearchContext, **request: object) -> list[tuple[str, str, tuple[str, ...]]]:
    found = search(SearchRequest.model_validate({"tenant": "a", "query": QUERY, **request}), context)
    return [(hit.chunk_id, hit.content, hit.highlights) for hit in found.hits]


@pytest.mark.parametrize(("start", "size"), [(0, 10), (POOL - 5, 10), (POOL + 10, 10), (0, 100)])
def test_a_page_is_the_ranking_s(context: SearchContext, start: int, size: int) -> None:
    whole = rank(SearchRequest(tenant="a", query=QUERY, size=size), context).diversified
    page = _page(context, from_=start, size=size)
    assert [(chunk, content) for chunk, content, _ in page] == [
        (one.chunk_id, one.passage.content) for one in whole[start : start + size]
    ]
    assert all("<em>" in marked for _, _, marks in page for marked in marks)
    assert all(marks for _, _, marks in page)


def test_the_texts_of_a_ranking_are_read_on_demand(context: SearchContext) -> None:
    ranking = rank(SearchRequest(tenant="a", query=QUERY), context, whole=False)
    with pytest.raises(LookupError, match=ranking.reranked[0].chunk_id):
        _ = ranking.reranked[0].passage


@pytest.mark.parametrize("query", [QUERY, f"{QUERY} אינה נדרשת", f"{QUERY} משנת 2024", "שכונה 12-34/א"])
def test_a_search_that_is_alone_finds_the_same(context: SearchContext, query: str) -> None:
    request = SearchRequest(tenant="a", query=query)
    whole, ahead, later = (
        rank(request, context, whole=whole, alone=alone)
        for whole, alone in [(True, False), (False, True), (False, False)]
    )
    for other in (ahead, later):
        assert [one.chunk_id for one in other.reranked] == [one.chunk_id for one in whole.reranked]
        assert other.features.names == whole.features.names
        np.testing.assert_array_equal(other.features.values, whole.features.values)


def test_the_others_are_counted_until_they_are_done() -> None:
    crowd = Crowd()
    with crowd.joined() as first:
        with crowd.joined() as second, pytest.raises(LookupError), crowd.joined():
            raise LookupError
        with crowd.joined() as third:
            pass
    with crowd.joined() as fourth:
        pass
    assert (first, second, third, fourth) == (True, False, False, True)


class _Replacing(Engine):
    """Loses a chunk right after the legs found it."""

    def __init__(self, engine: Engine, index: str, chunk: str) -> None:
        super().__init__(engine.url, timeout_s=30.0, access=EngineAccess())
        self._path, self.lost = f"/{index}/_doc/{chunk}", False

    def search(self, index: str, body: Any, *, compressed: bool = True, **params: Any) -> Any:
        answer = super().search(index, body, compressed=compressed, **params)
        if not self.lost:
            self.lost = True
            self.request("DELETE", self._path, params={"refresh": "true"})
        return answer


def test_what_is_gone_before_it_was_read_leaves_no_hole(context: SearchContext) -> None:
    before = [chunk for chunk, _, _ in _page(context)]
    gone = before[-1]
    engine = _Replacing(context.engine, context.info.index, gone)
    try:
        after = [chunk for chunk, _, _ in _page(replace(context, engine=engine))]
    finally:
        engine.close()
        write(context.engine, context.info.index, [row for row in ROWS if row.chunk_id == gone])
    assert engine.lost
    assert gone not in after
    assert len(after) == len(before)
    assert after[: len(before) - 1] == before[:-1]


def test_counts_are_kept_for_as_long_as_passages_are_as_many_and_for_one_tenant(make_context: MakeContext) -> None:
    now = 0.0
    counts = WordCounts(lambda: now)
    rows = [Row(f"c{number}", f"תו {'חניה' if number < 10 else 'גן'}") for number in range(11)]
    made = make_context([*rows, Row("b0", "גן", tenant="b")])
    header = {"index": made.info.index}
    own, other = [[{"term": {"tenant": {"value": tenant}}}] for tenant in "ab"]
    assert counts.known(header, own, ["חניה"]) is None
    first = counts.counted(made.engine, header, own, ["חניה", "גן"])
    assert (first.passages, first.holding) == (11, (10, 1))
    write(made.engine, made.info.index, [Row("c11", "תו בגן")])
    assert counts.known(header, own, ["גן", "חניה"]) == type(first)(11, (1, 10))
    assert counts.known(header, other, ["גן"]) is None
    assert counts.counted(made.engine, header, other, ["גן"]).holding == (1,)
    asked = _Asked(made.engine)
    assert counts.counted(asked, header, own, ["תו"]).holding == (12,)
    assert asked.searches == [1]
    # After some seconds the passages are counted again, and what does not stand among so many.
    now += FRESH_S
    assert counts.known(header, own, ["חניה"]) is None
    assert counts.counted(asked, header, own, ["חניה", "גן", "תו"]) == type(first)(12, (10, 2, 12))
    assert asked.searches == [1, 1, 1]
    assert counts.known(header, own, ["חניה", "תו"]) == type(first)(12, (10, 12))
    write(made.engine, made.info.index, [Row("c12", "גן"), Row("c13", "גן")])
    now += FRESH_S
    assert counts.counted(asked, header, own, ["גן", "חדש"]).holding == (4, 0)
    assert asked.searches == [1, 1, 1, 2, 1]
    now += STEADY_S
    assert counts.counted(asked, header, own, ["תו"]).holding == (12,)
    assert asked.searches == [1, 1, 1, 2, 1, 2]
    asked.close()


class _Asked(Engine):
    """Notes how many searches each request has."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.url, timeout_s=30.0, access=EngineAccess())
        self.searches: list[int] = []

    def msearch(self, searches: Any) -> list[Any]:
        self.searches.append(len(searches))
        return super().msearch(searches)
