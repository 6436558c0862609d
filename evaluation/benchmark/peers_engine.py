"""Ours, and what the engine can do by itself over our index: its hybrid query with RRF, and exact `script_score`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from evaluation.benchmark.peers_base import CANDIDATES, SIZE, Described, Row
from models.base import Embedder
from query import build
from query.candidate import passage_of
from query.filters import tenant_filter
from query.published import published_in, published_search
from query.request import SearchRequest, Weights
from query.retrieve import answers_of
from query.search import SearchContext, rank, search
from search_config import fields
from search_config.client import Engine

# Weighted RRF of both legs, as the class of Hebrew queries has it.
RRF: Final = "rrf-hebrew"


class Mafteach:
    """Implements `Peer`. `write` is the benchmark's affair: rows of ours hold more than a peer's."""

    def __init__(self, context: SearchContext, *, rerank: bool, page: bool = True) -> None:
        """Args:
        rerank: as shipped; else the legs' fused order, by the profile's weights.
        page: the whole search, with refusal, highlights and replaced versions, which no peer has; else the passages
            alone, which is what the peers give.
        """
        self._context = context
        self._rerank = rerank
        self._page = page
        what = "as shipped (late-interaction rerank)" if rerank else "no rerank"
        self.described = Described(
            name=f"Mafteach, {what}" if page else "Mafteach, no rerank, passages alone",
            settings=f"profile {context.profile.label}, {CANDIDATES} candidates a leg, versions"
            f"{', refusal, highlights' if page else ''}",
            versions={"mafteach": version("mafteach")},
        )

    def write(self, rows: Sequence[Row]) -> None:
        """Nothing: see the class."""

    def search(self, query: str, tenant: str) -> list[str]:
        """The whole search that users get."""
        # Weights of a request are those of the fused order, which is then not reranked.
        own = None if self._rerank else self._context.profile.weights["he"]
        weights = None if own is None else Weights(bm25=own["bm25"], knn=own["knn"])
        request = SearchRequest(tenant=tenant, query=query, size=SIZE, weights=weights)
        if not self._page:
            return self._passages(request)
        return [hit.chunk_id for hit in search(request, self._context).hits]

    def _passages(self, request: SearchRequest) -> list[str]:
        """Texts of the best, and the versions that are shown of their documents, in one request as for a page."""
        plan, best = (ranking := rank(request, self._context, whole=False, alone=True)).plan, ranking.diversified[:SIZE]
        texts = (plan.header(), build.texts_body([one.chunk_id for one in best], plan.filters))
        versions = published_search(plan.registry or "", plan.filters[0], {one.document_id for one in best})
        registry, read = answers_of(self._context.engine, [versions, texts])
        shown = published_in(registry)
        found = {row["_id"]: passage_of(row["_source"]) for row in read["hits"]["hits"]}
        return [one.chunk_id for one in best if shown.shows(found[one.chunk_id])]

    def nearest(self, query: str, tenant: str) -> list[str]:
        """The dense mode, before a page is cut where hits fall off."""
        request = SearchRequest(tenant=tenant, query=query, size=SIZE, mode="dense")
        return [candidate.chunk_id for candidate in rank(request, self._context, whole=False).fused[:SIZE]]

    def close(self) -> None:
        """The context is the caller's."""


class _OnOurIndex:
    """What both queries of the engine share."""

    def __init__(self, engine: Engine, context: SearchContext, described: Described) -> None:
        self._engine = engine
        self._context = context
        self._info = context.info
        self._embedder: Embedder = context.embedder
        self.described = described

    def write(self, rows: Sequence[Row]) -> None:
        """Nothing: the index is ours."""

    def nearest(self, query: str, tenant: str) -> list[str]:
        """The k-NN clause alone."""
        body = build.dense_body(self._vector(query), tenant_filter(tenant), candidates=SIZE)
        return self._found({**body, "size": SIZE})

    def close(self) -> None:
        """The engine is the caller's."""

    def _vector(self, query: str) -> list[float]:
        vector: list[float] = self._embedder.embed_queries([query])[0].tolist()
        return vector

    def _found(self, body: build.Body, pipeline: str | None = None) -> list[str]:
        params = {} if pipeline is None else {"search_pipeline": pipeline}
        answer = self._engine.request("POST", f"/{self._info.index}/_search", body=body, params=params)
        return [hit["_source"][fields.CHUNK_ID] for hit in answer["hits"]["hits"]]


class EngineHybrid(_OnOurIndex):
    """Implements `Peer`."""

    def __init__(self, engine: Engine, context: SearchContext) -> None:
        settings = f"`hybrid` query over our fields and analyzers, pipeline {RRF}, depth {CANDIDATES}, one request"
        described = Described("Engine's own hybrid, RRF", settings, {"opensearch": context.info.engine_version})
        super().__init__(engine, context, described)

    def search(self, query: str, tenant: str) -> list[str]:
        """Both legs and their fusion in one request."""
        filters = tenant_filter(tenant)
        text, _ = build.lexical_text(query, self._context.profile)
        lexical = build.lexical_query(text, filters, self._context.profile)
        dense = build.dense_body(self._vector(query), filters, candidates=CANDIDATES)
        body = {
            **dense,
            "size": SIZE,
            "query": {"hybrid": {"queries": [lexical, dense["query"]], "pagination_depth": CANDIDATES}},
        }
        return self._found(body, self._info.names.search_pipeline(RRF))


class ExactScript(_OnOurIndex):
    """Implements `Peer`."""

    def __init__(self, engine: Engine, context: SearchContext) -> None:
        settings = "`script_score` with knn_score over every vector of the tenant, no words"
        described = Described("Exact script_score", settings, {"opensearch": context.info.engine_version})
        super().__init__(engine, context, described)

    def search(self, query: str, tenant: str) -> list[str]:
        """Every vector of the tenant is compared."""
        return self._found(build.exact_knn_body(self._vector(query), tenant_filter(tenant), candidates=SIZE))

    def nearest(self, query: str, tenant: str) -> list[str]:
        """The same."""
        return self.search(query, tenant)
