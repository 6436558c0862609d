"""Query bodies: the filter inside every one of them, text that is never parsed, vectors that stay in the engine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from query import build
from query.filters import tenant_filter
from query.profile import Profile, load_profile

FILTERS = tenant_filter("a")
TENANT = {"term": {"tenant": {"value": "a"}}}
VECTOR = [0.6, 0.8]


@pytest.fixture
def profile() -> Profile:
    return load_profile()


def _filters_of(body: dict[str, Any]) -> list[Any]:
    query = body["query"]
    if "knn" in query:
        query = query["knn"]["embedding"]["filter"]
    if "script_score" in query:
        query = query["script_score"]["query"]
    filters = query["bool"]["filter"]
    assert isinstance(filters, list)
    return filters


def test_the_tenant_stands_inside_every_body(profile: Profile) -> None:
    query = build.lexical_query("שלום", FILTERS, profile)
    bodies = [
        build.lexical_body(query, candidates=100),
        build.lexical_body(query, candidates=100, sorted_by_id=True),
        build.dense_body(VECTOR, FILTERS, candidates=100),
        build.exact_knn_body(VECTOR, FILTERS, candidates=100),
        build.lexical_body(query, candidates=100, texts=False),
        build.dense_body(VECTOR, FILTERS, candidates=100, texts=False),
        build.texts_body(["c1"], FILTERS),
        build.details_body(["c1"], FILTERS, query, VECTOR, profile),
        build.details_body(["c1"], FILTERS, query, None, profile),
    ]
    for body in bodies:
        assert TENANT in _filters_of(body)
        assert "post_filter" not in body
        assert "embedding" not in json.dumps(body["_source"] if "_source" in body else body["docvalue_fields"])


def test_the_dense_filter_is_inside_the_knn_clause() -> None:
    body = build.dense_body(VECTOR, FILTERS, candidates=100)
    assert list(body["query"]) == ["knn"]
    clause = body["query"]["knn"]["embedding"]
    assert clause["k"] == body["size"] == 100 + build.TIE_MARGIN
    assert clause["vector"] == VECTOR


def test_bm25_searches_the_fields_of_the_profile(profile: Profile) -> None:
    query = build.lexical_query("בית ספר", FILTERS, profile)["bool"]
    matches = {field: spec for clause in query["should"] for field, spec in clause["match"].items()}
    assert {field: spec["boost"] for field, spec in matches.items()} == profile.boosts()
    assert {spec["query"] for spec in matches.values()} == {"בית ספר"}
    assert query["minimum_should_match"] == 1


@pytest.mark.parametrize("text", ["*:*", 'a" OR "b', "tenant:b", "(", "צה״ל", "a AND b", "/x/", "\\", "x~2^9"])
def test_text_is_matched_and_never_parsed(profile: Profile, text: str) -> None:
    body = json.dumps(build.lexical_query(text, FILTERS, profile), ensure_ascii=False)
    for parser in ("query_string", "simple_query_string", "regexp", "wildcard", "prefix"):
        assert f'"{parser}"' not in body
    matched = [spec["query"] for clause in json.loads(body)["bool"]["should"] for spec in clause["match"].values()]
    assert set(matched) == {text}


def test_identifiers_count_again_as_a_whole(profile: Profile) -> None:
    plain = build.lexical_query("תקלה E-4031", FILTERS, profile)["bool"]["should"]
    more = build.lexical_query("תקלה E-4031", FILTERS, profile, ["E-4031"])["bool"]["should"]
    assert [clause for clause in more if clause not in plain] == [
        {"match_phrase": {field: {"query": "E-4031", "boost": profile.identifier_boost}}}
        for field in build.EXACT_FIELDS
    ]


def test_without_a_boost_identifiers_add_no_clause(profile: Profile) -> None:
    none = profile.model_copy(update={"identifier_boost": 0.0})
    assert build.lexical_query("E-1", FILTERS, none, ["E-1"]) == build.lexical_query("E-1", FILTERS, none)


def test_further_filters_leave_the_scoring_alone(profile: Profile) -> None:
    query = build.lexical_query("x", FILTERS, profile)
    narrowed = build.with_filters(query, [build.holds_any(["E-1"])])
    assert narrowed["bool"]["filter"][: len(FILTERS)] == FILTERS
    assert narrowed["bool"]["should"] == query["bool"]["should"]
    assert query == build.lexical_query("x", FILTERS, profile), "the first query is not changed"


def test_a_short_query_is_read_whole(profile: Profile) -> None:
    assert build.lexical_text("מה  שעות הפתיחה", profile) == ("מה  שעות הפתיחה", True)


@pytest.mark.parametrize("text", [" ".join(f"מילה{n}" for n in range(400)), "字" * 2000, "a-b." * 500])
def test_a_long_query_stays_within_the_limit_of_clauses(profile: Profile, text: str) -> None:
    kept, whole = build.lexical_text(text, profile)
    assert not whole
    assert kept
    assert len(build._TOKEN.findall(kept)) * len(profile.boosts()) <= build.MAX_CLAUSES


def test_a_word_that_comes_again_costs_nothing(profile: Profile) -> None:
    assert build.lexical_text("אחת שתיים " * 300 + "שלוש", profile) == ("אחת שתיים שלוש", False)


def test_the_preference_is_of_the_tenant_and_the_query() -> None:
    first = build.header("i", tenant="a", query="q")
    assert first == build.header("i", tenant="a", query="q")
    others = [build.header("i", tenant="b", query="q"), build.header("i", tenant="a", query="r")]
    assert len({header["preference"] for header in [first, *others]}) == 3
    assert not first["preference"].startswith("_")
    assert first["allow_partial_search_results"] is False


def test_only_bm25_counts_words_over_all_shards() -> None:
    assert "search_type" not in build.header("i", tenant="a", query="q")
    assert build.header("i", tenant="a", query="q", global_statistics=True)["search_type"] == "dfs_query_then_fetch"


@pytest.mark.parametrize(("score", "cosine"), [(1.0, 1.0), (0.5, 0.0), (0.0, -1.0), (0.9, 0.8)])
def test_the_cosine_behind_a_score(score: float, cosine: float) -> None:
    assert build.cosine_of(score) == pytest.approx(cosine)
