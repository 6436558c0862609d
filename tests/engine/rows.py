"""Rows and vectors for tests of retrieval: written straight into a real index, with an embedder whose geometry is
known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.base import ModelDescription, Vectors
from query.profile import Profile
from search_config.client import Engine

DIM = 64
MODEL = ModelDescription(name="words", revision="1", dim=DIM, window=64, licence="MIT")
# Numbers that tests of the machinery count on, whatever the shipped profile is tuned to.
PROFILE = Profile.model_validate(
    {
        "name": "test",
        "version": 1,
        "fusion": {"rule": "rrf", "rrf_k": 60},
        "weights": {
            "he": {"bm25": 0.3, "knn": 0.7},
            "en": {"bm25": 0.5, "knn": 0.5},
            "identifier": {"bm25": 0.9, "knn": 0.1},
            "other": {"bm25": 0.5, "knn": 0.5},
        },
        "bm25": {
            "content": 1.0,
            "content.exact": 0.5,
            "content.english": 0.3,
            "title": 0.5,
            "title.exact": 0.2,
            "title.english": 0.1,
            "section": 0.5,
            "section.exact": 0.2,
            "section.english": 0.1,
        },
        "identifier_boost": 3.0,
    }
)
# Rows of one bulk request.
BATCH = 1000


def word_vector(word: str, dim: int = DIM) -> Vectors:
    """A random direction for each word, the same in every run."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    direction: Vectors = np.random.default_rng(seed).normal(size=dim).astype(np.float32)
    return direction


class WordEmbedder:
    """An embedder in the sense of the protocol: a text is the sum of its words' directions. It knows nothing of
    meaning, so that tests know what to expect."""

    def __init__(self, description: ModelDescription = MODEL) -> None:
        self.description = description

    @property
    def passage_window(self) -> int:
        return self.description.window

    @property
    def query_window(self) -> int:
        return self.description.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        dim = self.description.dim
        rows = np.zeros((len(texts), dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split()[: self.description.window]:
                row += word_vector(word, dim)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)


@dataclass(frozen=True)
class Row:
    """One chunk with the fields that matter to a test."""

    chunk_id: str
    content: str
    tenant: str | None = "a"
    document_id: str = ""
    title: str = "מסמך"
    section: str = ""
    version: int = 1
    extra: dict[str, Any] = field(default_factory=dict)
    vector: Vectors | None = None

    def source(self, vector: Vectors) -> dict[str, Any]:
        body: dict[str, Any] = {
            "chunk_id": self.chunk_id,
            "document_id": self.document_id or f"doc-{self.chunk_id}",
            "version": self.version,
            "content_hash": "0" * 64,
            "ordinal": 0,
            "title": self.title,
            "section": self.section,
            "content": self.content,
            "language": "he",
            "media_type": "text/plain",
            "locator": {"from": 10, "to": 10 + len(self.content), "label": "עמוד 3", "page": 3},
            "embedding": vector.tolist(),
            "model": MODEL.identity,
            "pipeline": "1/E/512",
            "indexed_at": "2024-01-01T00:00:00Z",
            **self.extra,
        }
        return body if self.tenant is None else {**body, "tenant": self.tenant}


def write(engine: Engine, index: str, rows: Iterable[Row], embedder: WordEmbedder | None = None) -> None:
    """Write rows and make them visible."""
    embedder = embedder or WordEmbedder()
    everything = list(rows)
    for start in range(0, len(everything), BATCH):
        batch = everything[start : start + BATCH]
        lines = []
        for row in batch:
            vector = row.vector if row.vector is not None else embedder.embed_passages([row.content])[0]
            lines.append(json.dumps({"index": {"_index": index, "_id": row.chunk_id}}))
            lines.append(json.dumps(row.source(vector), ensure_ascii=False))
        failed = [item for item in engine.bulk(lines) if not item.ok]
        assert not failed, failed[:1]
    engine.request("POST", f"/{index}/_refresh")
