"""Reranking in a real index: codes are written with the vectors, read by one search, and change the order of a pool."""

from __future__ import annotations

import numpy as np
import pytest

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.e5 import E5Embedder
from query.features import COSINE, IDENTIFIER, MAXSIM, MAXSIM_MEAN, MAXSIM_NEAR, POLARITY, bm25_feature, collect
from query.profile import Profile
from query.request import SearchRequest
from query.reranking import POOL
from query.search import SearchContext, StagedRanking, rank, search
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexMismatch
from search_config.install import attach
from search_config.settings import Settings
from tests.conftest import MakeIndex
from tests.engine.conftest import MakeContext
from tests.engine.rows import PROFILE, Row

TENANT = "a"
TEXTS = [
    "הספק יתקן כל תקלה בתוך 48 שעות ממועד הדיווח, ואם לא יעשה כן יחויב בפיצוי.",
    "דמי השכירות ישולמו עד החמישה בכל חודש, בהעברה בנקאית לחשבון המשכיר.",
    "מורה שנעדר יותר משלושה ימים ימציא אישור רפואי לפני חזרתו לבית הספר.",
    "שעות הקבלה במשרד הרווחה ישתנו בחודשי הקיץ בשל עבודות שיפוץ בקומה השנייה.",
    "תקלה E-4031 מעידה על חיישן מנותק; יש לפנות לטכנאי מוסמך.",
]
QUERY = "תוך כמה זמן הספק חייב לתקן תקלה?"


def blended(weights: dict[str, float]) -> Profile:
    """A profile whose blend is of these weights."""
    return Profile.model_validate({**PROFILE.model_dump(), "blend": weights})


@pytest.fixture(scope="module")
def coder(settings: Settings) -> E5Embedder:
    return E5Embedder(settings.cache_dir, token_bits=2)


@pytest.fixture
def context(engine: Engine, coder: E5Embedder, make_index: MakeIndex) -> SearchContext:
    info, own = make_index()
    documents = [
        RawDocument(tenant=TENANT, source=f"s{number}", name=f"{number}.txt", data=text.encode())
        for number, text in enumerate(TEXTS)
    ]
    assert all(outcome.code is None for outcome in Ingestor(engine, info, coder, own).ingest(documents))
    return SearchContext(engine, info, coder, blended({MAXSIM: 1.0}), own)


def with_profile(context: SearchContext, profile: Profile) -> SearchContext:
    return SearchContext(context.engine, context.info, context.embedder, profile, context.settings)


def ranked(context: SearchContext, query: str = QUERY, mode: str = "auto") -> StagedRanking:
    return rank(SearchRequest.model_validate({"tenant": TENANT, "query": query, "mode": mode}), context)


def test_codes_are_in_no_answer(context: SearchContext, engine: Engine) -> None:
    (row, *_) = engine.search(context.info.index, {"size": 10})["hits"]["hits"]
    assert fields.TOKEN_CODES not in row["_source"]
    assert len(row["_source"][fields.EMBEDDING]) == context.info.model.dim


def test_features_are_what_the_parts_say(context: SearchContext, coder: E5Embedder, engine: Engine) -> None:
    ranking = ranked(context)
    columns = [fields.CONTENT, fields.sub(fields.CONTENT, fields.EXACT)]
    candidates = [*ranking.fused]
    found = collect(engine, ranking.plan, candidates, columns, ranking.tokens)
    assert found.names == (*map(bm25_feature, columns), COSINE, MAXSIM, MAXSIM_NEAR, MAXSIM_MEAN, IDENTIFIER, POLARITY)
    texts = [(one.passage.title, one.passage.content) for one in candidates]
    headed = [f"[{title}]\n{text}" if title else text for title, text in texts]
    encoded, asked = coder.encode_passages(headed), coder.encode_queries([QUERY])
    whole = coder.maxsim(asked.tokens[0], encoded.codes).whole
    np.testing.assert_allclose(found.column(MAXSIM), whole, rtol=1e-4)
    np.testing.assert_allclose(found.column(MAXSIM_MEAN), whole / len(asked.tokens[0]), rtol=1e-4)
    np.testing.assert_allclose(found.column(COSINE), encoded.vectors @ asked.vectors[0], atol=1e-5)
    assert (found.column(MAXSIM_NEAR) <= found.column(MAXSIM) + 1e-6).all()
    for column in columns:
        alone = {"bool": {"filter": list(ranking.plan.filters), "should": [{"match": {column: QUERY}}]}}
        rows = engine.search(context.info.index, {"query": alone, "size": len(candidates)})["hits"]["hits"]
        scores = {row["_id"]: row["_score"] for row in rows}
        np.testing.assert_allclose(
            found.column(bm25_feature(column)), [scores.get(one.chunk_id, 0.0) for one in candidates], rtol=1e-5
        )


def test_cosines_that_no_leg_gave_are_asked_for(context: SearchContext, engine: Engine) -> None:
    ranking = ranked(context)
    known = collect(engine, ranking.plan, ranking.fused, [fields.CONTENT], None)
    bare = [type(one)(one.passage, one.scores) for one in ranking.fused]
    asked = collect(engine, ranking.plan, bare, [fields.CONTENT], None)
    np.testing.assert_allclose(asked.column(COSINE), known.column(COSINE), atol=1e-5)


def test_the_order_is_the_blends(context: SearchContext) -> None:
    for sign in (1.0, -1.0):
        ranking = ranked(with_profile(context, blended({MAXSIM: sign})))
        scores = [one.scores.rerank for one in ranking.reranked]
        assert None not in scores
        assert scores == sorted(scores, key=lambda score: -(score or 0.0))
        assert {one.chunk_id for one in ranking.reranked} == {one.chunk_id for one in ranking.fused}
        assert ranking.took_ms["rerank"] > 0
    assert ranked(context).reranked[0].passage.content == TEXTS[0]


def test_answers_show_the_deciding_score(context: SearchContext) -> None:
    found = search(SearchRequest(tenant=TENANT, query=QUERY), context)
    shown = [hit.scores.rerank for hit in found.hits]
    assert None not in shown
    assert shown == sorted(shown, key=lambda score: -(score or 0.0))
    assert "rerank" in found.took_ms


@pytest.mark.parametrize("mode", ["lexical", "dense"])
def test_one_legs_order_is_shown_as_it_is(context: SearchContext, mode: str) -> None:
    ranking = ranked(context, mode=mode)
    assert ranking.reranked == ranking.fused
    assert "rerank" not in ranking.took_ms


def test_an_identifiers_holder_stays_first(context: SearchContext) -> None:
    ranking = ranked(with_profile(context, blended({MAXSIM: -1.0})), "מה פירוש תקלה E-4031 במכשיר")
    assert ranking.reranked[0].passage.content == TEXTS[4]


def test_without_a_blend_nothing_moves(context: SearchContext) -> None:
    ranking = ranked(with_profile(context, PROFILE))
    assert ranking.reranked == ranking.fused
    assert ranking.features.values.shape[0] == 0


def test_a_model_without_codes_keeps_the_fused_order(make_context: MakeContext) -> None:
    context = make_context([Row("1", "חוזה שכירות"), Row("2", "חוזה מכר")], profile=blended({MAXSIM: 1.0}))
    ranking = ranked(context, "חוזה שכירות דירה")
    assert ranking.reranked == ranking.fused
    assert len(ranking.fused) == 2


def test_a_passage_without_a_code_stands_behind(context: SearchContext, engine: Engine) -> None:
    first = ranked(context).reranked[0]
    row = engine.get(context.info.index, first.chunk_id)
    assert row is not None
    engine.request(
        "PUT", f"/{context.info.index}/_doc/{first.chunk_id}", body=row["_source"], params={"refresh": "true"}
    )
    after = ranked(context).reranked
    assert after[-1].chunk_id == first.chunk_id
    assert after[-1].scores.rerank is None


def test_what_is_behind_the_pool_stays_there(engine: Engine, coder: E5Embedder, make_index: MakeIndex) -> None:
    info, own = make_index()
    documents = [
        RawDocument(tenant=TENANT, source=str(number), name="x.txt", data=f"תקלה מספר {number} אצל הספק".encode())
        for number in range(POOL + 9)
    ]
    Ingestor(engine, info, coder, own).ingest(documents)
    ranking = ranked(SearchContext(engine, info, coder, blended({MAXSIM: -1.0}), own))
    assert len(ranking.fused) > POOL
    assert ranking.reranked[POOL:] == ranking.fused[POOL:]
    assert {one.chunk_id for one in ranking.reranked[:POOL]} == {one.chunk_id for one in ranking.fused[:POOL]}


def test_an_index_of_other_codes_is_refused(engine: Engine, make_index: MakeIndex) -> None:
    _, own = make_index()
    other = E5Embedder(own.cache_dir, token_bits=4)
    with pytest.raises(IndexMismatch, match="token codes"):
        attach(engine, own, other.description)
    with pytest.raises(IndexMismatch, match="token codes"):
        attach(engine, own, E5Embedder(own.cache_dir).description)
