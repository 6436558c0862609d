"""The embedded embedder: multilingual-e5-small on onnxruntime, from weights that a package carries. No network."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.alignment import aligned
from models.base import ModelDescription, Vectors
from models.e5_layout import NAME
from models.e5_unpack import REVISION, unpacked
from models.vectors import normalised

if TYPE_CHECKING:
    from models.e5_session import E5Session

DIM = 384
WINDOW = 512
# Marks the identity of vectors that went through `models.alignment`; changes with its numbers.
ALIGNED = "+en.1"
_SPECIAL_TOKENS = 2  # <s> and </s>
_PASSAGE_PROMPT_TOKENS = 2  # "▁passage" ":"
_QUERY_PROMPT_TOKENS = 3  # "▁que" "ry" ":"


class E5Embedder:
    """Implements `models.base.Embedder`. Cheap to make: the model is unpacked and loaded at the first text.

    A text beyond the window is cut at it; callers that must not lose text split it first, by `count_tokens`.
    Safe for use by several threads.
    """

    def __init__(self, cache_dir: Path, *, threads: int = 2, align: bool = True) -> None:
        """Args:
        cache_dir: the settings' cache folder; the model is unpacked into its `models`.
        threads: of the computation.
        align: move English vectors to where Hebrew ones lie (`models.alignment`); off gives the model's own.
        """
        self._cache_dir = cache_dir
        self._threads = threads
        self._align = align
        self._loaded: E5Session | None = None
        self._loading = threading.Lock()

    @property
    def description(self) -> ModelDescription:
        """Name, revision of weights and quantisation, dimension and window."""
        return ModelDescription(
            name=NAME, revision=f"{REVISION}{ALIGNED if self._align else ''}", dim=DIM, window=WINDOW, licence="MIT"
        )

    @property
    def passage_window(self) -> int:
        """Tokens left for a passage's own text."""
        return WINDOW - _SPECIAL_TOKENS - _PASSAGE_PROMPT_TOKENS

    @property
    def query_window(self) -> int:
        """Tokens left for a query's own text."""
        return WINDOW - _SPECIAL_TOKENS - _QUERY_PROMPT_TOKENS

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

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        session = self._session()
        vectors = session.run([session.sequence(text, is_query=is_query) for text in texts])
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
