"""LlamaIndex over its OpenSearch vector store, in its hybrid mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from evaluation.benchmark.peers_base import SIZE, Described, Row, installed
from models.base import Embedder
from search_config.client import Engine

# The pipeline of its documentation: scores of both legs between 0 and 1, three tenths of words, seven of meaning.
PIPELINE: Final[dict[str, Any]] = {
    "description": "Post processor for hybrid search",
    "phase_results_processors": [
        {
            "normalization-processor": {
                "normalization": {"technique": "min_max"},
                "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [0.3, 0.7]}},
            }
        }
    ],
}
ENGINE: Final = "lucene"


class LlamaIndex:
    """Implements `Peer`."""

    def __init__(self, engine: Engine, index: str, embedder: Embedder) -> None:
        """Connect, and put the search pipeline that its hybrid mode needs.

        Raises:
            MissingExtra, EngineError
        """
        versions = installed("llama-index-core", "llama-index-vector-stores-opensearch")
        from llama_index.core import StorageContext, VectorStoreIndex
        from llama_index.vector_stores.opensearch import OpensearchVectorClient, OpensearchVectorStore

        engine.request("PUT", f"/_search/pipeline/{index}", body=PIPELINE)
        self._model = _embedding(embedder)
        client = OpensearchVectorClient(
            engine.url,
            index,
            embedder.description.dim,
            engine=ENGINE,
            search_pipeline=index,
            # Else each hit brings its vector along.
            excluded_source_fields=["embedding"],
        )
        self._store = OpensearchVectorStore(client)
        context = StorageContext.from_defaults(vector_store=self._store)
        self._index = VectorStoreIndex.from_vector_store(self._store, embed_model=self._model, storage_context=context)
        self._retrievers: dict[tuple[str, str], Any] = {}
        self.described = Described(
            name="LlamaIndex, hybrid",
            settings=f"OpensearchVectorStore, hybrid mode, similarity_top_k {SIZE}, min_max and arithmetic_mean of "
            f"0.3 and 0.7, engine {ENGINE}, hits without vectors, else its defaults (m 48, ef_construction 256)",
            versions=versions,
        )

    def write(self, rows: Sequence[Row]) -> None:
        """Nodes with their vectors, in one call; the store cuts it into requests."""
        from llama_index.core.schema import TextNode

        self._store.add(
            [
                TextNode(id_=row.id, text=row.text, metadata={"tenant": row.tenant}, embedding=row.vector.tolist())
                for row in rows
            ]
        )

    def search(self, query: str, tenant: str) -> list[str]:
        """Its retriever, in the hybrid mode."""
        return self._retrieved(query, tenant, "hybrid")

    def nearest(self, query: str, tenant: str) -> list[str]:
        """Its retriever, in the default mode."""
        return self._retrieved(query, tenant, "default")

    def _retrieved(self, query: str, tenant: str, mode: str) -> list[str]:
        if (retriever := self._retrievers.get((tenant, mode))) is None:
            from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters

            retriever = self._index.as_retriever(
                similarity_top_k=SIZE,
                vector_store_query_mode=mode,
                filters=MetadataFilters(filters=[ExactMatchFilter(key="tenant", value=tenant)]),
            )
            self._retrievers[tenant, mode] = retriever
        return [found.node.node_id for found in retriever.retrieve(query)]

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def _embedding(embedder: Embedder) -> Any:
    """Our model as an embedding of theirs."""
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class OwnEmbedding(BaseEmbedding):  # type: ignore[misc]  # its classes are Any to the checker
        """Embeds questions and passages."""

        def _get_query_embedding(self, query: str) -> list[float]:
            vector: list[float] = embedder.embed_queries([query])[0].tolist()
            return vector

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            vector: list[float] = embedder.embed_passages([text])[0].tolist()
            return vector

    return OwnEmbedding(model_name=embedder.description.name)
