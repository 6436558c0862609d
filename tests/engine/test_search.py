"""Retrieval and fusion on a real node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from models.base import ModelDescription, Vectors
from query import build, wording
from query.candidate import Candidate
from query.filters import tenant_filter
from query.profile import FusionSpec, Profile, RuleName
from query.request import Filters, Language, Mode, SearchRequest, SearchResult
from query.search import SearchContext, rank, search
from query.wording import told, tongue
from search_config.client import Engine
from search_config.errors import (
    EmptyQuery,
    EngineUnreachable,
    IndexMismatch,
    IndexMissing,
    InvalidProfile,
    InvalidRequest,
    ModelUnavailable,
    QueryTooLong,
)
from tests.engine.conftest import MakeContext
from tests.engine.rows import MODEL, PROFILE, Row, WordEmbedder, write

SCHOOL = Row(
    "c-school", "ההרשמה בבית הספר נפתחת בחודש ינואר לכל תושבי העיר", document_id="d-school", title="נוהל רישום"
)
PARKING = Row("c-parking", "תו חניה לתושב ניתן במשרדי הרשות עד סוף השנה", document_id="d-parking", title="נוהל חניה")
ENGLISH = Row(
    "c-english",
    "The running costs of the elevators are paid by the supplier",
    document_id="d-english",
    title="Contract",
)
FIRST = Row("c-4031", "תקלה E-4031 נגרמת מחיבור רופף", document_id="d-4031", title="תקלות")
SECOND = Row("c-4032", "תקלה E-4032 תקלה E-4032 E 4031 E-4032 נגרמת מחיבור רופף", document_id="d-4032", title="תקלות E")
BASIC = [SCHOOL, PARKING, ENGLISH, FIRST, SECOND]
RULES: list[RuleName] = ["rrf", "minmax", "zscore", "dbsf", "raw"]


def ask(context: SearchContext, query: str, **fields: Any) -> SearchResult:
    return search(SearchRequest(tenant=fields.pop("tenant", "a"), query=query, **fields), context)


def ids(result: SearchResult) -> list[str]:
    return [hit.chunk_id for hit in result.hits]


def with_rule(context: SearchContext, rule: RuleName) -> SearchContext:
    return replace(context, profile=context.profile.model_copy(update={"fusion": FusionSpec(rule=rule)}))


@pytest.fixture(scope="module")
def basic(make_context: MakeContext) -> SearchContext:
    return make_context(BASIC)


# --- an answer's shape


def test_a_whole_answer(basic: SearchContext) -> None:
    result = ask(basic, "מתי נפתחת ההרשמה בבית הספר")
    hit = result.hits[0]
    assert hit.chunk_id == "c-school"
    assert (hit.rank, hit.document_id, hit.version, hit.title) == (1, "d-school", 1, "נוהל רישום")
    assert hit.content == SCHOOL.content
    assert (hit.locator.from_, hit.locator.to, hit.locator.page) == (10, 10 + len(SCHOOL.content), 3)
    assert result.language == "he"
    assert result.weights == {"bm25": 0.3, "knn": 0.7}
    assert result.profile == "test/1"
    assert result.index.model == MODEL.identity
    assert result.total == len(BASIC)
    assert {"embed", "engine", "fuse", "total"} <= set(result.took_ms)
    assert result.took_ms["total"] >= max(result.took_ms[stage] for stage in ("embed", "engine", "fuse"))
    assert [row.rank for row in result.hits] == list(range(1, len(result.hits) + 1))
    fused = [row.scores.fused for row in result.hits]
    assert None not in fused
    assert fused == sorted(fused, reverse=True)  # type: ignore[type-var]
    assert not result.degraded
    assert not result.refused


@pytest.mark.parametrize(
    ("query", "language"),
    [("מתי נפתחת ההרשמה", "he"), ("costs of the elevators", "en"), ("E-4031", "identifier"), ("学校", "other")],
)
def test_weights_follow_the_class_of_the_query(basic: SearchContext, query: str, language: Language) -> None:
    result = ask(basic, query)
    assert result.language == language
    assert result.weights == PROFILE.weights[language]


@pytest.mark.parametrize(("size", "candidates"), [(1, 100), (50, 100), (80, 160), (100, 200)])
def test_candidates_of_each_leg(sharded: dict[int, SearchContext], size: int, candidates: int) -> None:
    staged = rank(SearchRequest(tenant="a", query="מילה0 מילה1", size=size), sharded[1])
    assert (len(staged.lexical), len(staged.dense)) == (candidates, candidates)


def test_every_hit_shows_the_exact_cosine_distance(basic: SearchContext) -> None:
    query = "תו חניה"
    vector = basic.embedder.embed_queries([query])[0]
    contents = {row.chunk_id: row.content for row in BASIC}
    result = ask(basic, query)
    for hit in result.hits:
        expected = 1 - float(vector @ basic.embedder.embed_passages([contents[hit.chunk_id]])[0])
        assert hit.cosine_distance == pytest.approx(expected, abs=1e-5)
        if hit.scores.knn:
            assert hit.scores.knn.score == pytest.approx(1 - expected, abs=1e-5)


@pytest.mark.parametrize("query", ["בית ספר", "לבית הספר", "ושבבית הספר"])
def test_a_prefix_changes_nothing(basic: SearchContext, query: str) -> None:
    assert ids(ask(basic, query, mode="lexical"))[0] == "c-school"


@pytest.mark.parametrize(
    ("query", "chunk", "marked"),
    [
        ("בית", "c-school", "<em>בבית</em> הספר"),
        ("runs", "c-english", "The <em>running</em> costs"),
        ("E-4031", "c-4031", "תקלה <em>E-4031</em> נגרמת"),
    ],
)
def test_highlights_mark_whole_original_words(basic: SearchContext, query: str, chunk: str, marked: str) -> None:
    hits = {hit.chunk_id: hit for hit in ask(basic, query).hits}
    (highlight,) = hits[chunk].highlights
    assert marked in highlight
    assert highlight.replace("<em>", "").replace("</em>", "") == hits[chunk].content


def test_filters_narrow_both_legs(make_context: MakeContext) -> None:
    rows = [
        replace(SCHOOL, extra={"type": "procedure", "tags": ["x", "y"], "date": "2024-03-01", "reference": "R-1"}),
        replace(PARKING, extra={"type": "letter", "tags": ["y"], "date": "2023-03-01"}),
        ENGLISH,
    ]
    context = make_context(rows)
    for filters, found in [
        ({"type": ["procedure"]}, {"c-school"}),
        ({"tags": ["y"]}, {"c-school", "c-parking"}),
        ({"tags": ["y"], "type": ["letter"]}, {"c-parking"}),
        ({"date_from": "2024-01-01"}, {"c-school"}),
        ({"date_to": "2023-12-31"}, {"c-parking"}),
        ({"document_id": ["d-english"]}, {"c-english"}),
        ({"reference": ["R-1", "R-2"]}, {"c-school"}),
        ({"type": ["none"]}, set()),
    ]:
        result = ask(context, "תושבי העיר", filters=Filters.model_validate(filters))
        assert set(ids(result)) == found, filters
        assert result.total == len(found)


# --- identifiers


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ["auto", "hybrid", "lexical"])
@pytest.mark.parametrize("query", ["E-4031", "e-4031", "(E-4031)?"])
def test_an_identifier_never_ranks_its_neighbour_first(
    basic: SearchContext, rule: RuleName, mode: Mode, query: str
) -> None:
    result = ask(with_rule(basic, rule), query, mode=mode)
    assert result.language == "identifier"
    assert ids(result)[0] == "c-4031"


@pytest.fixture(scope="module")
def crowded(make_context: MakeContext) -> SearchContext:
    """One long passage with E-4031 once, few short ones that repeat its parts, and many others."""
    holder = Row("z-holder", "דוח על תקלה E-4031 " + " ".join(f"מילה{number}" for number in range(300)))
    neighbours = [
        Row(f"n-{number}", f"E 4031 E-4032 E 4031 4031 E {number}", title="4031 E 4031", section="4031 E 4031")
        for number in range(4)
    ]
    others = [Row(f"o-{number:03d}", f"פסקה על דבר אחר{number}") for number in range(150)]
    return make_context([holder, *neighbours, *others])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ["auto", "hybrid", "lexical"])
def test_a_crowd_of_neighbours_does_not_hide_it(crowded: SearchContext, rule: RuleName, mode: Mode) -> None:
    assert ids(ask(with_rule(crowded, rule), "E-4031", mode=mode))[0] == "z-holder"


@pytest.mark.parametrize("query", ["תקלה E-4031", "מהי תקלה בE-4031", "what is E-4031"])
def test_an_identifier_in_a_question_is_found_exactly(basic: SearchContext, query: str) -> None:
    assert ids(ask(basic, query, mode="lexical"))[0] == "c-4031"


def test_an_identifier_that_nobody_holds_says_so(basic: SearchContext) -> None:
    result = ask(basic, "E-4033")
    assert any("E-4033" in note for note in result.notes)
    assert result.total > 0


def test_an_identifier_in_a_title_is_found(make_context: MakeContext) -> None:
    context = make_context([replace(SCHOOL, title="חוזה 123-45-67"), replace(PARKING, title="חוזה 123-45-68")])
    assert ids(ask(context, "123-45-67")) == ["c-school"]


# --- bad input


@pytest.mark.parametrize("query", ['"', "(", "*:*", "״", "?", "\u200f", "", " \n", "👍", "\0"])
def test_nothing_to_search_for(basic: SearchContext, query: str) -> None:
    with pytest.raises(EmptyQuery):
        ask(basic, query)


@pytest.mark.parametrize(
    "query",
    [
        '"בית',
        "(בית",
        "בית*:*",
        "tenant:b",
        "בית\\",
        "בית AND (OR",
        "בית~2^9",
        "/בית/",
        "{בית}",
        "[בית TO",
        'צה"ל',
        "בית\0ספר",
        "<בית>",
    ],
)
def test_query_syntax_is_plain_text(basic: SearchContext, query: str) -> None:
    result = ask(basic, query)
    assert not result.degraded
    assert {hit.document_id for hit in result.hits} == {row.document_id for row in BASIC}


def test_100_000_characters_are_refused(basic: SearchContext) -> None:
    with pytest.raises(QueryTooLong):
        ask(basic, "מילה " * 20_000)


def test_a_lone_surrogate_is_refused(basic: SearchContext) -> None:
    with pytest.raises(InvalidRequest, match="surrogate"):
        ask(basic, "בית \udc00")


@pytest.mark.parametrize("query", ["the of and", "של את על", "the"])
def test_only_stop_words_is_no_error(basic: SearchContext, query: str) -> None:
    result = ask(basic, query)
    assert result.total == len(BASIC)
    lexical = ask(basic, query, mode="lexical")
    assert (told(wording.NO_WORD, tongue(query)) in lexical.notes) == (lexical.total == 0)


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"מילה{number}" for number in range(222))[:2000],
        " ".join(f"A{number}" for number in range(400))[:2000],
        " ".join(f"a{number}-{number}.{number}" for number in range(150))[:2000],
        "字" * 2000,
        "א" * 2000,
        "ab " * 666,
    ],
    ids=["words", "identifiers", "marks", "ideographs", "one word", "repeated"],
)
def test_the_longest_query_is_answered_by_both_legs(basic: SearchContext, query: str) -> None:
    result = ask(basic, query)
    assert not result.degraded
    assert result.total == len(BASIC)


def test_a_query_over_the_window_says_so(basic: SearchContext) -> None:
    result = ask(basic, "בית " * (MODEL.window + 1))
    assert told(wording.CUT_FOR_BOTH, "he", count=MODEL.window + 1, window=MODEL.window) in result.notes


# --- modes, degradation, errors


def test_a_mode_of_one_leg_keeps_that_legs_order(basic: SearchContext) -> None:
    query = "תושבי העיר ותו חניה"
    staged = rank(SearchRequest(tenant="a", query=query), basic)
    lexical, dense = ask(basic, query, mode="lexical"), ask(basic, query, mode="dense")
    assert ids(lexical) == [candidate.chunk_id for candidate in staged.lexical]
    assert ids(dense) == [candidate.chunk_id for candidate in staged.dense]
    assert lexical.weights == {"bm25": 1.0, "knn": 0.0}
    assert dense.weights == {"bm25": 0.0, "knn": 1.0}
    assert all(hit.scores.knn is None and hit.cosine_distance is None for hit in lexical.hits)
    assert all(hit.scores.bm25 is None for hit in dense.hits)
    assert ask(basic, query, mode="lexical").took_ms["embed"] < dense.took_ms["total"]


class Gone(WordEmbedder):
    """An endpoint that does not answer."""

    def embed_queries(self, texts: Any) -> Vectors:
        raise ModelUnavailable("The endpoint does not answer.", where="http://127.0.0.1:1")


def test_without_its_model_the_lexical_leg_answers(basic: SearchContext) -> None:
    broken = replace(basic, embedder=Gone())
    result = ask(broken, "תו חניה")
    assert ids(result)[0] == "c-parking"
    assert [entry.leg for entry in result.degraded] == ["knn"]
    assert "endpoint" in result.degraded[0].reason
    assert result.weights == {"bm25": 1.0, "knn": 0.0}
    with pytest.raises(ModelUnavailable):
        ask(broken, "תו חניה", mode="dense")
    assert not ask(broken, "תו חניה", mode="lexical").degraded


def test_a_dense_leg_that_the_engine_refuses_is_named(basic: SearchContext) -> None:
    three = ModelDescription(name="words", revision="1", dim=3, window=64, licence="MIT")
    wrong = SearchContext(
        basic.engine,
        basic.info.model_copy(update={"model": three}),
        WordEmbedder(three),
        basic.profile,
        basic.settings,
    )
    with pytest.raises(Exception, match="dimension"):
        ask(wrong, "תו חניה", mode="dense")
    staged = rank(SearchRequest(tenant="a", query="תו חניה"), wrong)
    assert [entry.leg for entry in staged.degraded] == ["knn"]
    assert staged.fused[0].chunk_id == "c-parking"


def test_a_lexical_leg_that_the_engine_refuses_is_named(basic: SearchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_CLAUSES", 1_000_000)
    staged = rank(SearchRequest(tenant="a", query=" ".join(f"מ{number}" for number in range(350))), basic)
    assert [entry.leg for entry in staged.degraded] == ["bm25"]
    assert staged.weights == {"bm25": 0.0, "knn": 1.0}
    assert len(staged.fused) == len(BASIC)


def test_both_legs_failing_is_an_error(basic: SearchContext) -> None:
    gone = replace(basic, info=basic.info.model_copy(update={"index": "no-such-index"}))
    with pytest.raises(IndexMissing):
        ask(gone, "תו חניה")


def test_a_node_that_is_gone(basic: SearchContext) -> None:
    with pytest.raises(EngineUnreachable):
        ask(replace(basic, engine=Engine("http://127.0.0.1:9", timeout_s=2)), "תו חניה")


def test_another_model_or_profile_is_refused(basic: SearchContext) -> None:
    other = MODEL.model_copy(update={"revision": "2"})
    with pytest.raises(IndexMismatch, match=other.identity):
        replace(basic, embedder=WordEmbedder(other))
    with pytest.raises(InvalidProfile, match=other.identity):
        replace(basic, profile=basic.profile.model_copy(update={"model": other.identity}))


# --- order, ties, layout


def _order(candidates: tuple[Candidate, ...]) -> list[tuple[str, float | None]]:
    return [(candidate.chunk_id, candidate.scores.fused) for candidate in candidates]


def test_equal_passages_stand_by_their_ids_at_any_layout(make_context: MakeContext, engine: Engine) -> None:
    """150 equal passages: more than a leg's candidates and its margin, written in falling order into many segments."""
    twins = [Row(f"c-{number:03d}", "אותה פסקה בדיוק") for number in range(150)]
    context = make_context(reversed(twins[100:]))
    write(engine, context.info.index, reversed(twins[:50]))
    write(engine, context.info.index, reversed(twins[50:100]))
    request = SearchRequest(tenant="a", query="פסקה", mode="lexical")
    before = rank(request, context)
    assert [candidate.chunk_id for candidate in before.lexical] == [row.chunk_id for row in twins[:100]]
    hybrid = SearchRequest(tenant="a", query="אותה פסקה בדיוק")
    lexical = [c.chunk_id for c in rank(hybrid, context).lexical]
    engine.request("POST", f"/{context.info.index}/_forcemerge", params={"max_num_segments": 1})
    assert _order(rank(request, context).fused) == _order(before.fused)
    assert [c.chunk_id for c in rank(hybrid, context).lexical] == lexical


def test_the_same_query_gives_the_same_answer(basic: SearchContext) -> None:
    first = ask(basic, "תו חניה לתושב")
    for _ in range(20):
        again = ask(basic, "תו חניה לתושב")
        assert again.model_dump(exclude={"took_ms"}) == first.model_dump(exclude={"took_ms"})


@pytest.mark.parametrize("rule", RULES)
def test_the_size_of_a_page_changes_no_score(basic: SearchContext, rule: RuleName) -> None:
    context = with_rule(basic, rule)
    whole, page = ask(context, "תו חניה לתושב", size=50), ask(context, "תו חניה לתושב", size=2)
    assert page.hits == whole.hits[:2]
    assert page.total == whole.total


def test_of_two_versions_only_the_newer_is_shown(make_context: MakeContext) -> None:
    rows = [
        Row("v1-0", "תו חניה ישן", document_id="d", version=1),
        Row("v1-1", "תו חניה ישן מאוד", document_id="d", version=1),
        Row("v2-0", "תו חניה חדש", document_id="d", version=2),
        Row("x-0", "תו חניה אחר", document_id="x", version=1),
    ]
    context = make_context(rows)
    result = ask(context, "תו חניה ישן")
    assert set(ids(result)) == {"v2-0", "x-0"}
    assert result.total == 2
    staged = rank(SearchRequest(tenant="a", query="תו חניה ישן"), context)
    assert [c.scores.bm25.rank for c in staged.lexical if c.scores.bm25] == [1, 2]


def _many(number: int) -> list[Row]:
    rng = np.random.default_rng(7)
    words = [f"מילה{index}" for index in range(200)]
    weights = 1 / np.arange(1, 201)
    return [
        Row(f"c-{index:04d}", " ".join(rng.choice(words, size=int(rng.integers(5, 40)), p=weights / weights.sum())))
        for index in range(number)
    ]


QUERIES = ["מילה3 מילה17", "מילה60 מילה61 מילה2", "מילה0", "מילה150 מילה151 מילה152", "מילה9 מילה99"]


@pytest.fixture(scope="module")
def sharded(make_context: MakeContext) -> dict[int, SearchContext]:
    rows = _many(1200)
    return {shards: make_context(rows, shards=shards) for shards in (1, 4)}


@pytest.mark.parametrize("query", QUERIES)
def test_the_lexical_leg_does_not_depend_on_shards(sharded: dict[int, SearchContext], query: str) -> None:
    request = SearchRequest(tenant="a", query=query, mode="lexical")
    one, four = (rank(request, sharded[shards]).lexical for shards in (1, 4))
    assert len(one) == 100
    assert [candidate.scores for candidate in one] == [candidate.scores for candidate in four]
    assert [candidate.chunk_id for candidate in one] == [candidate.chunk_id for candidate in four]


def _exact(context: SearchContext, vector: Vectors, size: int) -> list[str]:
    body = build.exact_knn_body(vector.tolist(), tenant_filter("a"), candidates=size)
    rows = context.engine.search(context.info.index, body)["hits"]["hits"]
    return [row["_id"] for row in sorted(rows, key=lambda row: (-row["_score"], row["_id"]))]


@pytest.mark.parametrize("query", QUERIES)
def test_exact_knn_does_not_depend_on_shards_and_hnsw_agrees(sharded: dict[int, SearchContext], query: str) -> None:
    vector = WordEmbedder().embed_queries([query])[0]
    one, four = (_exact(sharded[shards], vector, 20) for shards in (1, 4))
    assert one == four
    request = SearchRequest(tenant="a", query=query, mode="dense")
    for shards in (1, 4):
        approximate = [candidate.chunk_id for candidate in rank(request, sharded[shards]).dense[:20]]
        assert len(set(approximate) & set(one)) >= 19.8


# --- fusion with hits that a leg did not return


def test_raw_fusion_counts_what_a_leg_did_not_return_as_its_last_hit(sharded: dict[int, SearchContext]) -> None:
    context = with_rule(sharded[4], "raw")
    staged = rank(SearchRequest(tenant="a", query=QUERIES[1]), context)
    bm25 = {one.chunk_id: one.scores.bm25.score for one in staged.lexical if one.scores.bm25 is not None}
    cosines = {one.chunk_id: one.cosine for one in staged.dense if one.cosine is not None}
    assert bm25.keys() - cosines.keys()
    assert cosines.keys() - bm25.keys()
    weights = staged.weights
    for candidate in staged.fused:
        words = bm25.get(candidate.chunk_id, min(bm25.values()))
        meaning = cosines.get(candidate.chunk_id, min(cosines.values()))
        expected = weights["bm25"] * words + weights["knn"] * 80 * max(0.0, meaning)
        assert candidate.scores.fused == pytest.approx(expected, rel=1e-6)
        # Only what is known is told.
        assert candidate.cosine == cosines.get(candidate.chunk_id)


def _tied(candidates: Sequence[Candidate], leg: Literal["bm25", "knn"]) -> set[str]:
    """Chunks whose score of a leg another one has too."""
    scores = {one.chunk_id: score.score for one in candidates if (score := getattr(one.scores, leg)) is not None}
    often = Counter(round(score, 5) for score in scores.values())
    return {name for name, score in scores.items() if often[round(score, 5)] > 1}


def test_our_rrf_is_the_engines_rrf(sharded: dict[int, SearchContext]) -> None:
    """The engine's hybrid query with its RRF processor, and ours, over the same two legs."""
    context = sharded[1]
    query = QUERIES[0]
    vector = WordEmbedder().embed_queries([query])[0].tolist()
    staged = rank(SearchRequest(tenant="a", query=query), context)
    lexical = build.lexical_query(query, tenant_filter("a"), context.profile)
    dense = build.dense_body(vector, tenant_filter("a"), candidates=100)["query"]
    combination = {"technique": "rrf", "rank_constant": 60, "parameters": {"weights": [0.3, 0.7]}}
    answer = context.engine.search(
        context.info.index,
        {
            "query": {"hybrid": {"queries": [lexical, dense], "pagination_depth": 100}},
            "size": 20,
            "search_pipeline": {"phase_results_processors": [{"score-ranker-processor": {"combination": combination}}]},
        },
    )
    theirs = {row["_id"]: row["_score"] for row in answer["hits"]["hits"]}
    # Equal scores of a leg have no order of their own: the engine takes that of its segments, ours is by id.
    tied = _tied(staged.lexical, "bm25") | _tied(staged.dense, "knn")
    ours = {one.chunk_id: one.scores.fused for one in staged.fused if one.chunk_id not in tied}
    compared = theirs.keys() & ours.keys()
    assert len(compared) >= len(theirs) // 2
    assert {name: theirs[name] for name in compared} == {name: pytest.approx(ours[name], rel=1e-4) for name in compared}
    assert len(theirs) == 20


def test_bm25_boosts_come_from_the_profile(basic: SearchContext) -> None:
    title_only = Profile.model_validate(PROFILE.model_dump(mode="json") | {"bm25": {"title": 1}})
    result = ask(replace(basic, profile=title_only), "חניה", mode="lexical")
    assert ids(result) == ["c-parking"]
    assert ask(replace(basic, profile=title_only), "תושב", mode="lexical").total == 0
