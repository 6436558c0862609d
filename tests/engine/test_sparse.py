"""The sparse leg in a real index: terms are written with the passages, found by `rank_feature`, fused, and reranked."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import EncodedQueries, Terms
from models.e5 import E5Embedder
from query.features import collect
from query.profile import SPARSE, Profile
from query.request import SearchRequest, Weights
from query.retrieve import retrieve
from query.search import SearchContext, StagedRanking, rank, search
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexMismatch, InvalidProfile, InvalidRequest, ModelUnavailable
from search_config.install import attach, install, uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.engine.rows import PROFILE

TENANT, OTHER = "a", "b"
TEXTS = [
    "הספק יתקן כל תקלה בתוך 48 שעות ממועד הדיווח, ואם לא יעשה כן יחויב בפיצוי.",
    "דמי השכירות ישולמו עד החמישה בכל חודש, בהעברה בנקאית לחשבון המשכיר.",
    "מורה שנעדר יותר משלושה ימים ימציא אישור רפואי לפני חזרתו לבית הספר.",
    "שעות הקבלה במשרד הרווחה ישתנו בחודשי הקיץ בשל עבודות שיפוץ בקומה השנייה.",
]
QUERY = "How soon must the supplier repair a fault?"
# The engine keeps nine significant bits of a weight.
ENGINES_ROUNDING = 2**-8


def weighing(sparse: float, **changes: object) -> Profile:
    """A profile in which every class of queries gives the sparse leg this share."""
    legs = {"bm25": (1 - sparse) / 2, "knn": (1 - sparse) / 2, "sparse": sparse}
    weights = dict.fromkeys(PROFILE.weights, legs)
    return Profile.model_validate({**PROFILE.model_dump(), "weights": weights, **changes})


class Silent(E5Embedder):
    """Its terms cannot be had; its vectors can."""

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        raise ModelUnavailable("Out of order.", where="test")

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        made = super().encode_queries(texts)
        return EncodedQueries(made.vectors, made.tokens)


@pytest.fixture(scope="module")
def sparse(settings: Settings) -> E5Embedder:
    return E5Embedder(settings.cache_dir, token_bits=2, sparse=True)


@pytest.fixture(scope="module")
def context(engine: Engine, settings: Settings, sparse: E5Embedder) -> Iterator[SearchContext]:
    modules = engine.request("GET", "/_nodes/_local", params={"filter_path": "nodes.*.modules.name"})["nodes"]
    if not any(module["name"] == "mapper-extras" for node in modules.values() for module in node["modules"]):
        pytest.skip("the node of --node-url has no module mapper-extras")
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    info = install(engine, own, sparse.description)
    documents = [
        RawDocument(tenant=tenant, source=f"{tenant}{number}", name=f"{number}.txt", data=text.encode())
        for tenant in (TENANT, OTHER)
        for number, text in enumerate(TEXTS)
    ]
    outcomes = Ingestor(engine, info, sparse, own).ingest(documents)
    assert all(outcome.code is None for outcome in outcomes)
    yield SearchContext(engine, info, sparse, weighing(0.4), own)
    uninstall(engine, Names(prefix=own.index_prefix))


def asked(context: SearchContext, profile: Profile | None = None, **request: object) -> StagedRanking:
    own = SearchContext(context.engine, context.info, context.embedder, profile or context.profile, context.settings)
    return rank(SearchRequest.model_validate({"tenant": TENANT, "query": QUERY, **request}), own)


def product(a: Terms, b: Terms) -> float:
    return sum(weight * b.get(term, 0.0) for term, weight in a.items())


def headed(ranking: StagedRanking) -> list[str]:
    """The texts that were embedded, in the order of the leg."""
    return [f"[{one.passage.title}]\n{one.passage.content}" for one in ranking.sparse]


def test_the_legs_scores_are_sums_of_products(context: SearchContext, sparse: E5Embedder) -> None:
    ranking = asked(context)
    assert ranking.sparse[0].passage.content == TEXTS[0]
    (query,) = sparse.query_terms([QUERY])
    expected = [product(query, terms) for terms in sparse.passage_terms(headed(ranking))]
    scores = [one.scores.sparse.score for one in ranking.sparse if one.scores.sparse is not None]
    np.testing.assert_allclose(scores, expected, rtol=ENGINES_ROUNDING)
    assert scores == sorted(scores, reverse=True)


def test_terms_stay_in_the_engine(context: SearchContext) -> None:
    rows = context.engine.search(context.info.index, {"size": 10})["hits"]["hits"]
    assert rows
    assert all(fields.SPARSE not in row["_source"] for row in rows)


def test_another_tenants_passages_are_no_candidates(context: SearchContext) -> None:
    for tenant in (TENANT, OTHER):
        ranking = asked(context, tenant=tenant)
        assert len(ranking.sparse) == len(TEXTS)
        assert {one.chunk_id for one in ranking.sparse} == {one.chunk_id for one in ranking.dense}
    assert not {one.chunk_id for one in asked(context).sparse} & {one.chunk_id for one in ranking.sparse}
    assert asked(context, tenant="nobody").sparse == ()


@pytest.mark.parametrize("rule", ["rrf", "minmax", "zscore", "dbsf", "raw"])
def test_every_rule_joins_three_legs(context: SearchContext, rule: str) -> None:
    ranking = asked(context, weighing(0.4, fusion={"rule": rule}))
    assert ranking.weights == pytest.approx({"bm25": 0.3, "knn": 0.3, "sparse": 0.4})
    assert ranking.fused[0].passage.content == TEXTS[0]
    assert all(one.scores.fused is not None for one in ranking.fused)


def test_an_answer_shows_the_legs_score_and_says_why(context: SearchContext) -> None:
    found = search(SearchRequest(tenant=TENANT, query=QUERY, explain=True), context)
    first = found.hits[0]
    assert first.scores.sparse is not None
    assert first.scores.sparse.rank == 1
    assert any(step.stage == "sparse" and "Place 1" in step.text for step in first.explanation)
    assert found.weights["sparse"] == pytest.approx(0.4)


def test_without_a_weight_it_is_not_asked(context: SearchContext) -> None:
    ranking = asked(context, PROFILE)
    assert ranking.sparse == ()
    assert all(one.scores.sparse is None for one in ranking.fused)
    assert asked(context, mode="dense").sparse == ()


def test_a_request_may_ask_it_alone(context: SearchContext) -> None:
    ranking = asked(context, PROFILE, weights=Weights(bm25=0, knn=0, sparse=1))
    assert ranking.lexical == ranking.dense == ()
    assert [one.chunk_id for one in ranking.fused] == [one.chunk_id for one in ranking.sparse]


def test_a_query_without_terms_finds_nothing_by_them(context: SearchContext) -> None:
    plan = asked(context, PROFILE, weights=Weights(bm25=0, knn=0, sparse=1)).plan
    legs = retrieve(
        context.engine, type(plan)(**{name: getattr(plan, name) for name in plan.__slots__} | {"terms": {}})
    )
    assert legs.by_leg() == {"bm25": (), "knn": (), "sparse": ()}


def test_it_is_a_feature_of_reranking(context: SearchContext) -> None:
    ranking = asked(context)
    found = collect(context.engine, ranking.plan, ranking.fused, [fields.CONTENT], None)
    by_leg = {one.chunk_id: one.scores.sparse.score for one in ranking.sparse if one.scores.sparse is not None}
    expected = [by_leg.get(one.chunk_id, 0.0) for one in ranking.fused]
    np.testing.assert_allclose(found.column(SPARSE), expected, rtol=1e-5)
    # Though the leg itself has no weight.
    blended = asked(context, Profile.model_validate({**PROFILE.model_dump(), "blend": {SPARSE: 1.0}}))
    assert blended.sparse == ()
    assert [one.scores.rerank for one in blended.reranked] == pytest.approx(sorted(by_leg.values(), reverse=True))


def test_a_leg_that_fails_is_named(context: SearchContext, settings: Settings) -> None:
    silent = Silent(settings.cache_dir, token_bits=2, sparse=True)
    own = SearchContext(context.engine, context.info, silent, context.profile, context.settings)
    found = search(SearchRequest(tenant=TENANT, query=QUERY), own)
    assert [entry.leg for entry in found.degraded] == ["sparse"]
    assert "Out of order" in found.degraded[0].reason
    assert found.weights == pytest.approx({"bm25": 0.5, "knn": 0.5, "sparse": 0.0})
    assert found.hits[0].content == TEXTS[0]
    with pytest.raises(ModelUnavailable, match="Out of order"):
        search(SearchRequest(tenant=TENANT, query=QUERY, weights=Weights(bm25=0, knn=0, sparse=1)), own)


def test_an_index_of_other_terms_is_refused(context: SearchContext, sparse: E5Embedder) -> None:
    plain = E5Embedder(context.settings.cache_dir, token_bits=2)
    for description in (plain.description, sparse.description.model_copy(update={"sparse_terms": "others"})):
        with pytest.raises(IndexMismatch, match="sparse terms"):
            attach(context.engine, context.settings, description)


def test_an_index_without_terms_refuses_what_needs_them(
    engine: Engine, settings: Settings, embedder: E5Embedder
) -> None:
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    info = install(engine, own, embedder.description)
    try:
        with pytest.raises(InvalidProfile, match="sparse terms"):
            SearchContext(engine, info, embedder, weighing(0.4), own)
        plain = SearchContext(engine, info, embedder, PROFILE, own)
        with pytest.raises(InvalidRequest, match="no sparse terms"):
            asked(plain, weights=Weights(bm25=0.5, knn=0.5, sparse=0.5))
    finally:
        uninstall(engine, info.names)


def test_a_profile_of_other_terms_is_refused(context: SearchContext) -> None:
    with pytest.raises(InvalidProfile, match=r"weighs sparse terms \(others\)"):
        asked(context, weighing(0.4, sparse_terms="others"))
    assert asked(context, weighing(0.4, sparse_terms=context.info.model.sparse_terms)).sparse
