"""The embedded embedder: multilingual-e5-small on onnxruntime, from weights that a package carries. No network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from models.alignment import aligned
from models.base import EncodedPassages, EncodedQueries, MaxSims, ModelDescription, Terms, Vectors
from models.e5_layout import NAME
from models.e5_unpack import REVISION, unpacked
from models.late_interaction import TokenCoding, e5_coding
from models.latent_terms import PASSAGE_TERMS, QUERY_TERMS, identity, latent_terms
from models.vectors import normalised
from search_config.errors import ModelUnavailable

if TYPE_CHECKING:
    from models.e5_session import E5Session

Read = TypeVar("Read")

DIM = 384
WINDOW = 512
# Marks the identity of vectors that went through `models.alignment`; changes with its numbers.
ALIGNED = "+en.1"
_SPECIAL_TOKENS = 2  # <s> and </s>
_PASSAGE_PROMPT_TOKENS = 2  # "▁passage" ":"
_QUERY_PROMPT_TOKENS = 3  # "▁que" "ry" ":"


class E5Embedder:
    """Implements `models.base.Embedder`, `TokenCoder` and `SparseEncoder`.

    Cheap to make: the model is unpacked and loaded at the first text.

    A text beyond the window is cut at it; callers that must not lose text split it first, by `count_tokens`.
    Safe for use by several threads.
    """

    def __init__(
        self, cache_dir: Path, *, threads: int = 2, align: bool = True, token_bits: int = 0, sparse: bool = False
    ) -> None:
        """Args:
        cache_dir: the settings' cache folder; the model is unpacked into its `models`.
        threads: of the computation.
        align: move English vectors to where Hebrew ones lie (`models.alignment`); off gives the model's own.
        token_bits: of a dimension in the token codes, 1, 2 or 4; 0 writes none.
        sparse: give latent terms (`models.latent_terms`), from the pass that writes codes where there is one.
        """
        self._cache_dir = cache_dir
        self._threads = threads
        self._align = align
        self._coding: TokenCoding | None = e5_coding(token_bits) if token_bits else None
        self._sparse = sparse
        self._loaded: E5Session | None = None
        self._loading = threading.Lock()

    @property
    def description(self) -> ModelDescription:
        """Name, revision of weights and quantisation, dimension and window."""
        return ModelDescription(
            name=NAME,
            revision=f"{REVISION}{ALIGNED if self._align else ''}",
            dim=DIM,
            window=WINDOW,
            licence="MIT",
            token_codes=self._coding.identity if self._coding else None,
            sparse_terms=self.identity if self._sparse else None,
        )

    @property
    def identity(self) -> str:
        """Of the terms: what they must have in common to be comparable."""
        return identity(REVISION)

    @property
    def passage_window(self) -> int:
        """Tokens left for a passage's own text."""
        return WINDOW - _SPECIAL_TOKENS - _PASSAGE_PROMPT_TOKENS

    @property
    def query_window(self) -> int:
        """Tokens left for a query's own text."""
        return WINDOW - _SPECIAL_TOKENS - _QUERY_PROMPT_TOKENS

    def load(self) -> None:
        """Load the model now rather than at the first text.

        Raises:
            ModelUnavailable
        """
        self._session()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without prompt and special tokens, never truncated; 0 for a blank one."""
        tokenizer = self._session().tokenizer
        return [tokenizer.count(text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """`(n, 384)` unit vectors of passages, in their order."""
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """`(n, 384)` unit vectors of queries, in their order."""
        return self._embed(texts, is_query=True)

    def encode_passages(self, texts: Sequence[str]) -> EncodedPassages:
        """Vectors and token codes of passages; header and text have a part in the codes, the prompt has none."""
        coder, head = self._coder(), latent_terms() if self._sparse else None

        def read(states: Vectors) -> tuple[bytes, Terms | None]:
            return coder.encode(states), head.terms(states, PASSAGE_TERMS) if head else None

        vectors, made = self._encode(texts, read, is_query=False)
        terms = tuple(terms for _, terms in made if terms is not None)
        return EncodedPassages(vectors, tuple(code for code, _ in made), terms)

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        """Vectors and tokens of queries, without the prompt's."""
        coder, head = self._coder(), latent_terms() if self._sparse else None

        def read(states: Vectors) -> tuple[Vectors, Terms | None]:
            return coder.query(states), head.terms(states, QUERY_TERMS) if head else None

        vectors, made = self._encode(texts, read, is_query=True)
        terms = tuple(terms for _, terms in made if terms is not None)
        return EncodedQueries(vectors, tuple(tokens for tokens, _ in made), terms)

    def maxsim(self, query: Vectors, codes: Sequence[bytes | None]) -> MaxSims:
        """MaxSim of a query's tokens with each passage's code."""
        return self._coder().maxsim(query, codes)

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """Latent terms of passages, in their order; in a pass of their own."""
        head = latent_terms()
        return self._encode(texts, lambda states: head.terms(states, PASSAGE_TERMS), is_query=False)[1]

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """Latent terms of queries, in their order; in a pass of their own."""
        head = latent_terms()
        return self._encode(texts, lambda states: head.terms(states, QUERY_TERMS), is_query=True)[1]

    def _coder(self) -> TokenCoding:
        if self._coding is None:
            raise ModelUnavailable("Token codes are off.", where=NAME, remedy="Set MAFTEACH_TOKEN_BITS to 1, 2 or 4.")
        return self._coding

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        session = self._session()
        vectors = session.run([session.sequence(text, is_query=is_query) for text in texts])
        return self._finished(vectors, texts, is_query=is_query)

    def _encode(
        self, texts: Sequence[str], read: Callable[[Vectors], Read], *, is_query: bool
    ) -> tuple[Vectors, list[Read]]:
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32), []
        session = self._session()
        own = session.text_tokens(is_query=is_query)
        sequences = [session.sequence(text, is_query=is_query) for text in texts]
        vectors, made = session.read(sequences, lambda states: read(states[own]))
        return self._finished(vectors, texts, is_query=is_query), made

    def _finished(self, vectors: Vectors, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if self._align:
            vectors = aligned(vectors, texts, is_query=is_query)
        return normalised(vectors, dim=DIM, where=NAME)

    def _session(self) -> E5Session:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    # Imported here: the runtime takes longer to import than the whole command line without it.
                    from models.e5_session import E5Session

                    self._loaded = E5Session(unpacked(self._cache_dir), threads=self._threads)
        return self._loaded
