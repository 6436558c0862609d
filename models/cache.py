"""Embeddings that are not computed twice: on disk for evaluations, in memory for repeated queries."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from models.base import (
    Embedder,
    EncodedPassages,
    EncodedQueries,
    MaxSims,
    ModelDescription,
    SparseEncoder,
    Terms,
    TokenCoder,
    Vectors,
    sparse_encoder,
    token_coder,
)
from models.text import encodable
from models.vectors import checked
from search_config.errors import ModelUnavailable

_BUSY_S = 30.0  # another process's write of a batch takes milliseconds
_ASKED_AT_ONCE = 500  # keys in one statement; the engine's oldest limit is 999
_COMPUTED_AT_ONCE = 256  # texts between two commits: what a killed run loses at most


class _Wrapped:
    """What stays as it is in both caches."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.hits = 0
        self.misses = 0

    @property
    def description(self) -> ModelDescription:
        """The inner model's."""
        return self._inner.description

    @property
    def passage_window(self) -> int:
        """The inner model's."""
        return self._inner.passage_window

    @property
    def query_window(self) -> int:
        """The inner model's."""
        return self._inner.query_window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """By the inner model's tokenizer."""
        return self._inner.count_tokens(texts)

    def maxsim(self, query: Vectors, codes: Sequence[bytes | None]) -> MaxSims:
        """The inner model's."""
        return self._coder.maxsim(query, codes)

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The inner model's; not kept."""
        return self._terms.passage_terms(texts)

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The inner model's; not kept."""
        return self._terms.query_terms(texts)

    @property
    def _terms(self) -> SparseEncoder:
        encoder = sparse_encoder(self._inner)
        if encoder is None:
            raise ModelUnavailable("This model gives no sparse terms.", where=self.description.identity)
        return encoder

    @property
    def _coder(self) -> TokenCoder:
        coder = token_coder(self._inner)
        if coder is None:
            raise ModelUnavailable("This model writes no token codes.", where=self.description.identity)
        return coder


class CachedEmbedder(_Wrapped):
    """Keeps every vector in one SQLite file, keyed by the model's identity, query or passage, and text.

    A run that is killed loses at most what was not committed; several processes may share the file. A file that is no
    longer readable is begun anew: all of it can be computed again. `hits` and `misses` count texts, a text that comes
    twice in one call once as a miss. Safe for use by several threads.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        """Args:
            inner: computes what is not there yet.
            path: the file; made with its folders where it is missing.

        Raises:
            ModelUnavailable: the file can't be written.
        """
        super().__init__(inner)
        self._path = path
        self._using = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._store = _open(path)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:  # not a database, or a damaged one
                path.unlink()
                self._store = _open(path)
        except (OSError, sqlite3.Error) as error:
            raise ModelUnavailable(
                f"The cache of embeddings can't be used: {error}.",
                where=str(path),
                remedy="Name another file, or remove this one.",
            ) from error

    def __enter__(self) -> CachedEmbedder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As the inner model's, from the file where it can."""
        return self._embed("passage", texts, self._inner.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the inner model's, from the file where it can."""
        return self._embed("query", texts, self._inner.embed_queries)

    def encode_passages(self, texts: Sequence[str]) -> EncodedPassages:
        """As the inner model's, from the file where it can."""

        def compute(missing: Sequence[str]) -> list[bytes]:
            made = self._coder.encode_passages(missing)
            return [_vector_bytes(vector) + code for vector, code in zip(made.vectors, made.codes, strict=True)]

        rows = self._rows(f"passage {self.description.token_codes}", texts, compute)
        return EncodedPassages(self._vectors(rows), tuple(row[self._vector_size :] for row in rows))

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        """As the inner model's, from the file where it can."""

        def compute(missing: Sequence[str]) -> list[bytes]:
            made = self._coder.encode_queries(missing)
            pairs = zip(made.vectors, made.tokens, strict=True)
            return [_vector_bytes(vector) + _vector_bytes(tokens) for vector, tokens in pairs]

        rows = self._rows(f"query {self.description.token_codes}", texts, compute)
        tokens = [np.frombuffer(row, dtype="<f4", offset=self._vector_size) for row in rows]
        return EncodedQueries(
            self._vectors(rows), tuple(values.reshape(-1, self.description.dim).astype(np.float32) for values in tokens)
        )

    def _embed(self, kind: str, texts: Sequence[str], compute: Callable[[Sequence[str]], Vectors]) -> Vectors:
        return self._vectors(self._rows(kind, texts, lambda missing: [_vector_bytes(row) for row in compute(missing)]))

    def _rows(
        self, kind: str, texts: Sequence[str], compute: Callable[[Sequence[str]], Sequence[bytes]]
    ) -> list[bytes]:
        """What is kept of each text: its vector, and behind that what else belongs to the kind."""
        keys = [self._key(kind, text) for text in texts]
        with self._using:
            found = self._read(set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        self.misses += len(missing)
        self.hits += len(keys) - len(missing)
        waiting = list(missing.items())
        for start in range(0, len(waiting), _COMPUTED_AT_ONCE):
            part = waiting[start : start + _COMPUTED_AT_ONCE]
            computed = compute([text for _, text in part])
            rows = {key: row for (key, _), row in zip(part, computed, strict=True)}
            with self._using, self._store:
                self._store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(rows.items()))
            found.update(rows)
        return [found[key] for key in keys]

    @property
    def _vector_size(self) -> int:
        return 4 * self.description.dim

    def _vectors(self, rows: Sequence[bytes]) -> Vectors:
        dim = self.description.dim
        vectors = [np.frombuffer(row, dtype="<f4", count=dim) for row in rows]
        return checked(np.array(vectors, dtype=np.float32).reshape(len(rows), dim), dim=dim, where=str(self._path))

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.description.identity}\0{kind}\0{encodable(text)}".encode()).digest()

    def _read(self, keys: set[bytes]) -> dict[bytes, bytes]:
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        for start in range(0, len(wanted), _ASKED_AT_ONCE):
            part = wanted[start : start + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(part))
            rows = self._store.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)  # noqa: S608
            found.update((key, blob) for key, blob in rows if len(blob) >= self._vector_size)
        return found


class _Query(NamedTuple):
    """What is kept of a query: its tokens and terms where one pass gave them too."""

    vector: Vectors
    tokens: Vectors | None = None
    terms: Terms | None = None


class RecentQueries(_Wrapped):
    """Keeps the vectors of the last queries in memory: the same question asked again, or with another filter."""

    def __init__(self, inner: Embedder, size: int = 256) -> None:
        """Args:
        inner: computes what is not there yet.
        size: queries kept; 256 vectors of 384 values are 0.4 MB.
        """
        super().__init__(inner)
        self._size = size
        self._kept: OrderedDict[tuple[str, bool], _Query] = OrderedDict()
        self._using = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """The inner model's; not kept."""
        return self._inner.embed_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> EncodedPassages:
        """The inner model's; not kept."""
        return self._coder.encode_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the inner model's, from memory where it can."""

        def compute(missing: Sequence[str]) -> list[_Query]:
            return [_Query(vector) for vector in self._inner.embed_queries(missing)]

        return self._stacked(self._rows(texts, compute, with_tokens=False))

    def encode_queries(self, texts: Sequence[str]) -> EncodedQueries:
        """As the inner model's, from memory where it can."""

        def compute(missing: Sequence[str]) -> list[_Query]:
            made = self._coder.encode_queries(missing)
            terms = made.terms or [None] * len(missing)
            return [_Query(*parts) for parts in zip(made.vectors, made.tokens, terms, strict=True)]

        rows = self._rows(texts, compute, with_tokens=True)
        tokens = tuple(row.tokens for row in rows if row.tokens is not None)
        return EncodedQueries(self._stacked(rows), tokens, tuple(row.terms for row in rows if row.terms is not None))

    def _rows(
        self,
        texts: Sequence[str],
        compute: Callable[[Sequence[str]], list[_Query]],
        *,
        with_tokens: bool,
    ) -> list[_Query]:
        with self._using:
            found = {text: self._kept[text, with_tokens] for text in texts if (text, with_tokens) in self._kept}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        self.misses += len(missing)
        self.hits += len(texts) - len(missing)
        found.update(zip(missing, compute(missing), strict=True) if missing else ())
        with self._using:
            for text in texts:
                self._kept[text, with_tokens] = found[text]
                self._kept.move_to_end((text, with_tokens))
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return [found[text] for text in texts]

    def _stacked(self, rows: Sequence[_Query]) -> Vectors:
        return np.array([row.vector for row in rows], dtype=np.float32).reshape(len(rows), self.description.dim)


def _vector_bytes(values: Vectors) -> bytes:
    return values.astype("<f4").tobytes()


def _open(path: Path) -> sqlite3.Connection:
    store = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False)
    try:
        store.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer
        store.execute("PRAGMA synchronous = NORMAL")  # a power cut may lose the last batches, never the file
        store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        store.commit()
    except sqlite3.Error:
        store.close()
        raise
    return store
