"""The protocols of all models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from search_config.model_description import ModelDescription

__all__ = [
    "Completion",
    "CompletionStream",
    "Embedder",
    "EncodedPassages",
    "EncodedQueries",
    "LanguageModel",
    "LanguageModelDescription",
    "MaxSims",
    "Message",
    "ModelDescription",
    "SparseEncoder",
    "Terms",
    "TokenCoder",
    "TokenCounter",
    "Vectors",
    "sparse_encoder",
    "token_coder",
]

Vectors = NDArray[np.float32]
# Weights above 0 by term; a term's name has no dot, which the engine's field could not keep.
Terms = Mapping[str, float]


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
    """Unit vectors `(n, dim)`, one token code a passage, and its terms where the same pass made them."""

    vectors: Vectors
    codes: tuple[bytes, ...]
    terms: tuple[Terms, ...] = ()


@dataclass(frozen=True, slots=True)
class EncodedQueries:
    """Unit vectors `(n, dim)`, each query's tokens `(tokens, dim)` as `maxsim` takes them, and its terms where the same
    pass made them."""

    vectors: Vectors
    tokens: tuple[Vectors, ...]
    terms: tuple[Terms, ...] = ()


@dataclass(frozen=True, slots=True)
class MaxSims:
    """MaxSim of one query with passages.

    Attributes:
        whole: `(passages,)`, over all tokens of a passage.
        near: `(passages,)`, of its best window of neighbouring tokens: high where one place of the passage, rather than
            all of it together, has what the query asks.
        by_token: `(passages, query tokens)`, the best match of each token; `whole` is their sum.

    NaN in all of them for a passage without a code.
    """

    whole: NDArray[np.float64]
    near: NDArray[np.float64]
    by_token: NDArray[np.float32]


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


@runtime_checkable
class SparseEncoder(Protocol):
    """Turns text into weighted terms; a passage answers a query by the sum of both weights over the terms they share.

    Ask `sparse_encoder` whether an embedder is one: a wrapper has these methods whatever it wraps.
    """

    @property
    def description(self) -> ModelDescription:
        """With `sparse_terms`: terms of another form cannot be compared."""

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """Terms of passages, in their order; a text without any has none.

        Raises:
            ModelUnavailable: the model fails.
        """

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """Terms of queries, few enough for one search; errors as `passage_terms`."""


def sparse_encoder(embedder: Embedder) -> SparseEncoder | None:
    """The embedder, where it gives terms."""
    gives = embedder.description.sparse_terms is not None
    return embedder if gives and isinstance(embedder, SparseEncoder) else None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model wrote.

    Attributes:
        whole: False where it was cut at `max_tokens`.
    """

    text: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class LanguageModelDescription:
    """Which model writes, and the tokens that it reads and writes together."""

    name: str
    window: int


class CompletionStream(Protocol):
    """An answer while it is written; to be iterated once. `whole` is known behind the last piece."""

    whole: bool

    def __iter__(self) -> Iterator[str]:
        """Pieces of the text, none empty; errors as `LanguageModel`."""

    def close(self) -> None:
        """Stop the model; what was not read is lost."""


@runtime_checkable
class LanguageModel(Protocol):
    """Turns a chat into text. What it writes is a claim, never trusted: whoever asks checks it.

    Every call raises
        ModelTimeout: no answer in time.
        ModelOverloaded: 429 and the like, after all attempts.
        ModelUnavailable: the endpoint is gone, refuses, or gives no answer.
    """

    @property
    def description(self) -> LanguageModelDescription:
        """Name and window."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model reads them, or an upper bound; never truncated."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        json_schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
    ) -> Completion:
        """The whole answer at once.

        Args:
            messages: the chat, oldest first.
            max_tokens: of the answer.
            json_schema: constrains the answer to JSON of this schema, where the endpoint can; the caller validates.
            temperature: 0 for the most probable answer.
        """

    def stream(self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0.0) -> CompletionStream:
        """The answer as it is written."""
