"""The protocols of all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from search_config.model_description import ModelDescription

__all__ = [
    "Embedder",
    "EncodedPassages",
    "EncodedQueries",
    "MaxSims",
    "ModelDescription",
    "TokenCoder",
    "TokenCounter",
    "Vectors",
    "token_coder",
]

Vectors = NDArray[np.float32]


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens as the model will read them."""

    @property
    def passage_window(self) -> int:
        """Tokens left for a passage's own text: the window without special tokens and prompt."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's own tokenizer, without prompt and special tokens, never truncated."""


@runtime_checkable
class Embedder(TokenCounter, Protocol):
    """Turns text into unit vectors. Query and passage are different calls: the prompts are the embedder's affair."""

    @property
    def description(self) -> ModelDescription:
        """Frozen identity of the model."""

    @property
    def query_window(self) -> int:
        """Tokens left for a query's own text."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages.

        Args:
            texts: any number, in any order; empty gives shape `(0, dim)`.

        Returns:
            `(n, dim)` float32, each row of length 1 (checked by `models.vectors.checked`).

        Raises:
            ModelUnavailable: the model or its endpoint fails.
            InvalidVector: the model gave something that is not a vector of its dimension.
        """

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; shapes and errors as `embed_passages`."""


@dataclass(frozen=True, slots=True)
class EncodedPassages:
    """Unit vectors `(n, dim)`, and one token code a passage."""

    vectors: Vectors
    codes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class EncodedQueries:
    """Unit vectors `(n, dim)`, and each query's tokens `(tokens, dim)` as `maxsim` takes them."""

    vectors: Vectors
    tokens: tuple[Vectors, ...]


@dataclass(frozen=True, slots=True)
class MaxSims:
    """MaxSim of one query with passages.

    Attributes:
        whole: `(passages,)`, over all tokens of a passage.
        near: `(passages,)`, of its best window of neighbouring tokens: high where one place of the passage, rather than
            all of it together, has what the query asks. NaN in both for a passage without a code.
    """

    whole: NDArray[np.float64]
    near: NDArray[np.float64]


@runtime_checkable
class TokenCoder(Protocol):
    """An embedder that also keeps a code of every token (`models.late_interaction`), made in the same pass.

    Ask `token_coder` whether one does: a wrapper has these methods whatever it wraps.
    """

    @property
    def description(self) -> ModelDescription:
        """With `token_codes`: codes of another form cannot be compared."""

    def encode_passages(self, texts: Sequence[str]) -> EncodedPassages:
        """Vectors as `Embedder.embed_passages`, and codes; errors as there."""

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        """Vectors as `Embedder.embed_queries`, and tokens; errors as there."""

    def maxsim(self, query: Vectors, codes: Sequence[bytes | None]) -> MaxSims:
        """MaxSim of one query's tokens with each passage; NaN for a passage without a code.

        Raises:
            IndexMismatch: a code of another form.
        """


def token_coder(embedder: Embedder) -> TokenCoder | None:
    """The embedder, where it writes token codes."""
    writes = embedder.description.token_codes is not None
    return embedder if writes and isinstance(embedder, TokenCoder) else None
