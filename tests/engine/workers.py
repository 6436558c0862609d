"""Workers over a small index: what tests of states and queues share."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import ModelDescription, Vectors
from search_config import fields
from search_config.client import Engine
from search_config.install import IndexInfo
from tests.engine.rows import WordEmbedder

WORDS = ModelDescription(name="words", revision="1", dim=16, window=100_000, licence="MIT")
TARGET = 512
# A worker of this process cannot be seen to end: it is given up when it has been silent for so long.
LEASE_S = 0.4
# What one search gives; no test of ingest writes as many.
MOST_ROWS = 10_000
# Nothing here takes so long, on however slow a machine.
PATIENCE_S = 60.0

Start = Callable[..., Ingestor]


def raw(text: str, source: str = "s", *, tenant: str = "a", **more: Any) -> RawDocument:
    return RawDocument(tenant=tenant, source=source, name=f"{source}.txt", data=text.encode(), **more)


def paragraphs(count: int, word: str) -> str:
    return "\n\n".join(f"פסקה מספר {i}. " + f"{word} " * 80 for i in range(count))


def chunks(engine: Engine, info: IndexInfo) -> list[str]:
    engine.request("POST", f"/{info.index}/_refresh")
    hits = engine.search(info.index, {"size": 1_000, "sort": ["chunk_id"]})["hits"]["hits"]
    return [hit["_source"]["content"] for hit in hits]


def empty(engine: Engine, index: str) -> None:
    """Delete all rows: an index that is deleted and made again costs many times as much."""
    engine.request("POST", f"/{index}/_refresh")
    hits = engine.search(index, {"size": MOST_ROWS, "_source": False})["hits"]["hits"]
    if hits:
        lines = (json.dumps({"delete": {"_index": index, "_id": hit["_id"]}}) for hit in hits)
        assert all(item.ok for item in engine.bulk(lines, refresh="true"))


def write(engine: Engine, info: IndexInfo, id_: str, part: Mapping[str, Any]) -> None:
    """What a worker leaves that dies: a part of a row, written from outside."""
    path = f"/{info.names.documents}/_update/{id_}"
    engine.request("POST", path, body={"doc": dict(part)}, params={"refresh": "true"})


def abandon(engine: Engine, info: IndexInfo, id_: str, *, attempts: int = 1) -> None:
    """As if a worker that nobody knows had died in the middle."""
    lease = {"owner": "gone", "taken_at": "2024-01-01T00:00:00Z"}
    write(engine, info, id_, {fields.STATE: "embedding", fields.LEASE: lease, fields.ATTEMPTS: attempts})


class Gate(WordEmbedder):
    """Stops in the middle until it is let on."""

    def __init__(self) -> None:
        super().__init__(WORDS)
        self.reached, self.open = threading.Event(), threading.Event()

    def embed_passages(self, texts: Any) -> Vectors:
        self.reached.set()
        assert self.open.wait(PATIENCE_S)
        return super().embed_passages(texts)


class Background:
    """An ingest on a thread of its work_settings, with its outcomes."""

    def __init__(self, ingestor: Ingestor, batch: list[RawDocument]) -> None:
        self._thread = threading.Thread(target=self._run, args=(ingestor, batch), daemon=True)
        self.outcomes: list[Any] = []
        self._thread.start()

    def _run(self, ingestor: Ingestor, batch: list[RawDocument]) -> None:
        self.outcomes = ingestor.ingest(batch)

    def result(self) -> list[Any]:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.outcomes
