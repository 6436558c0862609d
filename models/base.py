"""The protocols of all models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from search_config.model_description import ModelDescription

__all__ = ["Embedder", "ModelDescription", "TokenCounter", "Vectors"]

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
