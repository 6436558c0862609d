"""An embedder with a sparse encoder beside it: one object for all who embed, with one identity for the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from models.base import (
    Embedder,
    EncodedPassages,
    EncodedQueries,
    MaxSims,
    ModelDescription,
    Terms,
    TokenCoder,
    Vectors,
    token_coder,
)
from search_config.errors import ModelUnavailable


class TermSource(Protocol):
    """Gives terms: `models.sparse_encoder`, or the embedded model's latent terms for another embedder."""

    @property
    def identity(self) -> str:
        """What terms must have in common to be comparable."""

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """As `SparseEncoder.passage_terms`."""

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """As `SparseEncoder.query_terms`."""


class WithTerms:
    """Implements `models.base.Embedder`, `SparseEncoder`, and `TokenCoder` where the embedder is one."""

    def __init__(self, inner: Embedder, source: TermSource) -> None:
        """Args:
        inner: embeds.
        source: gives terms, in a pass of its own.
        """
        self._inner = inner
        self._source = source

    @property
    def description(self) -> ModelDescription:
        """The embedder's, with the form of the terms."""
        return self._inner.description.model_copy(update={"sparse_terms": self._source.identity})

    @property
    def passage_window(self) -> int:
        """The embedder's."""
        return self._inner.passage_window

    @property
    def query_window(self) -> int:
        """The embedder's."""
        return self._inner.query_window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """By the embedder's tokenizer."""
        return self._inner.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """The embedder's."""
        return self._inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The embedder's."""
        return self._inner.embed_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> EncodedPassages:
        """The embedder's; terms are asked for apart."""
        return self._coder.encode_passages(texts)

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        """The embedder's; terms are asked for apart."""
        return self._coder.encode_queries(texts)

    def maxsim(self, query: Vectors, codes: Sequence[bytes | None]) -> MaxSims:
        """The embedder's."""
        return self._coder.maxsim(query, codes)

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The source's."""
        return self._source.passage_terms(texts)

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The source's."""
        return self._source.query_terms(texts)

    @property
    def _coder(self) -> TokenCoder:
        coder = token_coder(self._inner)
        if coder is None:
            raise ModelUnavailable("This model writes no token codes.", where=self.description.identity)
        return coder
