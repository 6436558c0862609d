"""Haystack over opensearch-haystack: its hybrid retriever (BM25, embedding retriever, joiner by rank)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

from evaluation.benchmark.peers_base import SIZE, Described, Row, installed
from models.base import Embedder

# The k-NN method: with Lucene, the engine that filters while it searches and that every distribution has.
METHOD: Final = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
# Documents of one call: the whole call is held in memory by the store.
_WRITTEN_AT_ONCE: Final = 500


class Haystack:
    """Implements `Peer`."""

    def __init__(
        self, url: str, index: str, embedder: Embedder, *, efficient: bool, candidates: int, written: bool = False
    ) -> None:
        """Connect.

        Args:
            efficient: whether the filter is applied while the vectors are searched; else after it.
            candidates: of each retriever.
            written: the index was filled by another one of these.

        Raises:
            MissingExtra
        """
        versions = installed("haystack-ai", "opensearch-haystack")
        # Read when the package is imported. Nothing is sent home from a benchmark.
        os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
        from haystack_integrations.components.retrievers.opensearch import (
            OpenSearchEmbeddingRetriever,
            OpenSearchHybridRetriever,
        )
        from haystack_integrations.document_stores.opensearch import OpenSearchDocumentStore

        self._embedder = embedder
        self._written = written
        self._store = OpenSearchDocumentStore(
            hosts=url, index=index, embedding_dim=embedder.description.dim, method=METHOD
        )
        self._dense = OpenSearchEmbeddingRetriever(
            document_store=self._store, top_k=SIZE, efficient_filtering=efficient
        )
        self._hybrid = OpenSearchHybridRetriever(
            document_store=self._store,
            embedder=_text_embedder(embedder),
            top_k_bm25=candidates,
            top_k_embedding=candidates,
            top_k=SIZE,
            join_mode="reciprocal_rank_fusion",
            embedding_retriever={"efficient_filtering": efficient, "top_k": candidates},
            bm25_retriever={"top_k": candidates},
        )
        filtering = "efficient filtering" if efficient else "filter after the vector search"
        self.described = Described(
            name=f"Haystack, {filtering}, {candidates} a leg",
            settings=f"OpenSearchHybridRetriever, reciprocal_rank_fusion, top_k {candidates} each and {SIZE} joined, "
            f"efficient_filtering={efficient}, method {METHOD}, default mapping",
            versions=versions,
        )

    def write(self, rows: Sequence[Row]) -> None:
        """With `refresh=False`, its advice for many documents, and one refresh at the end."""
        from haystack import Document
        from haystack.document_stores.types import DuplicatePolicy

        if self._written:
            return
        for start in range(0, len(rows), _WRITTEN_AT_ONCE):
            documents = [
                Document(id=row.id, content=row.text, embedding=row.vector.tolist(), meta={"tenant": row.tenant})
                for row in rows[start : start + _WRITTEN_AT_ONCE]
            ]
            last = start + _WRITTEN_AT_ONCE >= len(rows)
            self._store.write_documents(documents, policy=DuplicatePolicy.OVERWRITE, refresh=last)

    def search(self, query: str, tenant: str) -> list[str]:
        """The whole pipeline."""
        wanted = _filter(tenant)
        found = self._hybrid.run(query=query, filters_bm25=wanted, filters_embedding=wanted)
        return [document.id for document in found["documents"]][:SIZE]

    def nearest(self, query: str, tenant: str) -> list[str]:
        """Its embedding retriever alone."""
        vector = self._embedder.embed_queries([query])[0].tolist()
        found = self._dense.run(query_embedding=vector, filters=_filter(tenant), top_k=SIZE)
        return [document.id for document in found["documents"]]

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def _filter(tenant: str) -> dict[str, Any]:
    return {"field": "meta.tenant", "operator": "==", "value": tenant}


def _text_embedder(embedder: Embedder) -> Any:
    """Our model as a component of theirs."""
    from haystack import component, default_to_dict

    class QueryEmbedder:
        """Embeds a question."""

        def run(self, text: str) -> dict[str, list[float]]:
            return {"embedding": embedder.embed_queries([text])[0].tolist()}

        def to_dict(self) -> dict[str, Any]:
            made: dict[str, Any] = default_to_dict(self)
            return made

    QueryEmbedder.run = component.output_types(embedding=list[float])(QueryEmbedder.run)  # type: ignore[method-assign]
    return component(QueryEmbedder)()
