"""A tenant never sees another tenant's row, and loses none of its own to the others' number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

import query.superseded
from models.base import ModelDescription, Vectors
from query import build
from query.filters import tenant_filter
from query.request import SearchRequest
from query.search import SearchContext, rank, search
from query.tenants import known_tenants, tenant_is_known
from search_config.client import Engine
from search_config.errors import TenantError
from search_config.records import tenant_id
from tests.engine.conftest import MakeContext
from tests.engine.rows import Row, WordEmbedder, write

QUERIES: Final = 2_000
VOCABULARY: Final = (
    [f"מילה{index}" for index in range(60)] + [f"word{index}" for index in range(60)] + ["E-4031", "E-4032"]
)
DIM: Final = 64
CHUNKS: Final = 20_000
SMALL_TENANT_SHARE: Final = 100  # one chunk in a hundred is the small tenant's


def _text(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(VOCABULARY, size=words))


@pytest.fixture(scope="module")
def shared(make_context: MakeContext) -> SearchContext:
    """Tenants a, b and a look-alike with the same words, and rows that no tenant owns."""
    rng = np.random.default_rng(11)
    owners = ["a", "b", "b", "b", "aa", "a-b", None]
    return make_context(
        Row(f"c-{index:03d}", _text(rng, 12), tenant=owners[index % len(owners)]) for index in range(420)
    )


def _tenants_of(context: SearchContext) -> dict[str, str | None]:
    answer = context.engine.search(context.info.index, {"size": 1000, "_source": ["tenant"]})
    return {row["_id"]: row["_source"].get("tenant") for row in answer["hits"]["hits"]}


def _foreign_rows(context: SearchContext, queries: int) -> tuple[int, int]:
    """How many candidates of tenant a's random queries are its own, and how many are not."""
    owner = _tenants_of(context)
    rng = np.random.default_rng(12)
    own = foreign = 0
    for _ in range(queries):
        request = SearchRequest(tenant="a", query=_text(rng, int(rng.integers(1, 6))))
        staged = rank(request, context)
        for candidate in (*staged.lexical, *staged.dense, *staged.fused):
            if owner[candidate.chunk_id] == "a":
                own += 1
            else:
                foreign += 1
    return own, foreign


@pytest.mark.slow
def test_a_tenant_never_sees_a_row_of_another(shared: SearchContext) -> None:
    own, foreign = _foreign_rows(shared, QUERIES)
    assert foreign == 0
    assert own > QUERIES


def test_without_the_filter_it_would(shared: SearchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data of the test above can show a leak: it does as soon as the filter is gone."""
    monkeypatch.setattr(query.superseded, "tenant_filter", lambda *_, **__: [{"match_all": {}}])
    _, foreign = _foreign_rows(shared, 5)
    assert foreign > 0


def test_a_hit_of_an_answer_is_the_tenants(shared: SearchContext) -> None:
    owner = _tenants_of(shared)
    for tenant in ("a", "b", "aa", "a-b"):
        hits = search(SearchRequest(tenant=tenant, query="מילה1 word2", size=100), shared).hits
        assert hits
        assert {owner[hit.chunk_id] for hit in hits} == {tenant}


def test_a_tenant_without_rows_finds_nothing(shared: SearchContext) -> None:
    result = search(SearchRequest(tenant="nobody", query="מילה1 word2"), shared)
    assert (result.total, result.hits) == (0, ())


@pytest.mark.parametrize("tenant", [None, "", " ", "*", "a*", "a,b", "_all", ["a", "b"]])
def test_a_malformed_tenant_reaches_no_engine(shared: SearchContext, tenant: Any) -> None:
    """Even a request that was never validated is refused, before anything is sent."""
    request = SearchRequest.model_construct(
        tenant=tenant, query="מילה1", size=10, mode="auto", filters=SearchRequest(tenant="a", query="x").filters
    )
    unreachable = replace(shared, engine=Engine("http://127.0.0.1:9", timeout_s=1))
    with pytest.raises(TenantError):
        search(request, unreachable)


def test_the_number_of_results_does_not_tell_of_others(make_context: MakeContext) -> None:
    rng = np.random.default_rng(13)
    context = make_context([Row(f"a-{index}", _text(rng, 8), tenant="a") for index in range(30)])
    request = SearchRequest(tenant="a", query="מילה1 word2", size=50)
    before = search(request, context)
    write(context.engine, context.info.index, [Row(f"b-{index}", _text(rng, 8), tenant="b") for index in range(1000)])
    after = search(request, context)
    assert after.total == before.total == 30
    assert {hit.chunk_id for hit in after.hits} == {hit.chunk_id for hit in before.hits}


def test_which_tenants_are_known(shared: SearchContext) -> None:
    names = shared.info.names
    assert known_tenants(shared.engine, names) == []
    assert not tenant_is_known(shared.engine, names, "acme")
    time = "2024-01-01T00:00:00Z"
    document = {"document_id": "d", "tenant": "acme", "name": "n", "source": "s", "state": "failed", "created_at": time}
    shared.engine.request("PUT", f"/{names.documents}/_doc/d", body=document, params={"refresh": "true"})
    key = {"key_id": "k", "key_hash": "h", "tenant": "zoo", "created_at": time}
    shared.engine.request("PUT", f"/{names.keys}/_doc/k", body=key, params={"refresh": "true"})
    assert known_tenants(shared.engine, names) == ["acme", "zoo"]
    assert tenant_is_known(shared.engine, names, "acme")
    assert tenant_is_known(shared.engine, names, "zoo")
    assert not tenant_is_known(shared.engine, names, "ac")
    with pytest.raises(TenantError):
        tenant_is_known(shared.engine, names, "*")


def _clustered(rng: np.random.Generator, centres: Vectors, rows: int) -> Vectors:
    """Vectors around centres, as passages about common subjects lie."""
    points = centres[rng.integers(len(centres), size=rows)] + rng.normal(scale=0.7, size=(rows, centres.shape[1]))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 4])
def test_a_tenant_of_one_percent_loses_no_neighbours(make_context: MakeContext, shards: int) -> None:
    """Recall@20 against exact search, for queries near the tenant's own rows and for queries far from all of them."""
    rng = np.random.default_rng(14)
    model = ModelDescription(name="clusters", revision="1", dim=DIM, window=64, licence="MIT")
    centres = rng.normal(size=(40, DIM)).astype(np.float32)
    # The small tenant's subjects are few, and many of the queries ask about others': the hard case of a filter.
    small = _clustered(rng, centres[:4], CHUNKS // SMALL_TENANT_SHARE)
    large = _clustered(rng, centres, CHUNKS - len(small))
    rows = [
        Row(f"s-{index:05d}", "טקסט", tenant=tenant_id("small"), vector=vector) for index, vector in enumerate(small)
    ]
    rows += [
        Row(f"l-{index:05d}", "טקסט", tenant=tenant_id("large"), vector=vector) for index, vector in enumerate(large)
    ]
    order = rng.permutation(len(rows))
    context = make_context([rows[index] for index in order], embedder=WordEmbedder(model), shards=shards)
    filters = tenant_filter("small")
    found = wanted = 0
    for vector in _clustered(rng, centres, 100):
        exact = build.exact_knn_body(vector.tolist(), filters, candidates=20)
        dense = build.dense_body(vector.tolist(), filters, candidates=100)
        header = build.header(context.info.index, tenant="small", query="q")
        answers = context.engine.msearch([(header, exact), (header, dense)])
        truth, approximate = ([row["_id"] for row in answer["hits"]["hits"]][:20] for answer in answers)
        assert len(truth) == 20
        assert all(name.startswith("s-") for name in approximate)
        found += len(set(truth) & set(approximate))
        wanted += len(truth)
    assert found / wanted >= 0.99
