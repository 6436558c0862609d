"""Indices of a scale run: made by the project's own template with one thing changed, filled from a corpus, grown."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from evaluation.benchmark.corpus import PAGE, Corpus
from ingest.bulk import ITEM_WAIT, BulkRow, send_retrying, to_json
from ingest.chunk_store import ChunkRow, row_json
from search_config import fields
from search_config.client import BulkItem, Engine
from search_config.errors import EngineRejected
from search_config.install import IndexInfo

Json = dict[str, Any]
# Called with chunks that are written, and chunks that there will be.
Written = Callable[[int, int], None]

# Two senders keep a node of two cores busy; a third only waits (measured by `bench ingest` as well).
SENDERS: Final = 2
# Rows of one request: 200 of 20 KB are 4 MB.
BATCH: Final = 200
# How long merges of what was written may take before a size is measured as it is.
SETTLE_S: Final = 300.0
_POLL_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to set an index up.

    Attributes:
        name: short, for tables and index names.
        vector: replaces keys of the vector field's mapping.
        index: settings beside those of the template.
        routed: rows are put on the shard of their tenant, and searches ask that shard alone.
        codes: with token codes.
        merged: merged to one segment a shard before it is measured.
    """

    name: str
    vector: Mapping[str, Any] = field(default_factory=dict)
    index: Mapping[str, Any] = field(default_factory=dict)
    routed: bool = False
    codes: bool = True
    merged: bool = False

    def routing(self, tenant: str) -> str | None:
        """The routing value of a tenant's rows and searches."""
        return tenant if self.routed else None


def create(engine: Engine, info: IndexInfo, variant: Variant) -> str:
    """An empty index beside the live one, of the same template. Gives its name; one that is there is kept.

    Raises:
        EngineRejected: this engine can't do that.
    """
    name = f"{info.names.chunks}-v-{variant.name}"
    if engine.exists(f"/{name}"):
        return name
    mapping = engine.request("GET", f"/{info.index}/_mapping")[info.index]["mappings"]
    vector = mapping["properties"][fields.EMBEDDING]
    body: Json = {
        "settings": {"index": dict(variant.index)},
        "mappings": {"properties": {fields.EMBEDDING: {**vector, **variant.vector}}},
    }
    engine.request("PUT", f"/{name}", body=body)
    return name


def count(engine: Engine, index: str) -> int:
    """Rows that a search sees."""
    engine.request("POST", f"/{index}/_refresh")
    return int(engine.request("GET", f"/{index}/_count")["count"])


def grow(
    engine: Engine,
    index: str,
    corpus: Corpus,
    info: IndexInfo,
    first: int,
    last: int,
    variant: Variant,
    *,
    written: Written = lambda *_: None,
) -> float:
    """Write chunks `first` to `last`, exclusive, with `SENDERS` threads; the next rows are made meanwhile. Gives the
    seconds.

    Raises:
        EngineError: a request failed after its retries.
        EngineRejected: an item did.
    """
    begin = time.perf_counter()
    under_way: deque[tuple[int, Future[None]]] = deque()

    def finish() -> None:
        end, sent = under_way.popleft()
        sent.result()
        if end % PAGE == 0 or end == last:
            written(end, last)

    with ThreadPoolExecutor(SENDERS, thread_name_prefix="bulk") as pool:
        rows = corpus.rows(first, last, info, codes=variant.codes)
        for start in range(first, last, BATCH):
            # A few at a time: what waits to be sent stays within memory.
            if len(under_way) > SENDERS:
                finish()
            part = list(islice(rows, min(BATCH, last - start)))
            under_way.append((start + len(part), pool.submit(_send, engine, index, part, variant)))
        while under_way:
            finish()
    return time.perf_counter() - begin


@contextmanager
def building(engine: Engine, index: str) -> Iterator[None]:
    """An index that nobody searches while it is filled: no refresh, and the log of writes is put on disk now and then.
    A node that ends meanwhile loses what an interrupted run writes again."""
    _set(engine, index, {"refresh_interval": "-1", "translog.durability": "async"})
    try:
        yield
    finally:
        # Back to what the template says.
        template = {"refresh_interval": None, "translog.durability": None}
        _set(engine, index, template)


def _set(engine: Engine, index: str, values: Mapping[str, Any]) -> None:
    engine.request("PUT", f"/{index}/_settings", body={"index": dict(values)})


def _send(engine: Engine, index: str, rows: Sequence[ChunkRow], variant: Variant) -> None:
    tenants = {row.record.chunk_id: row.record.tenant for row in rows}

    def send(part: Sequence[BulkRow]) -> list[BulkItem]:
        return engine.bulk(_lines(part, index, tenants, variant))

    items = send_retrying(send, [BulkRow("index", row.record.chunk_id, row_json(row)) for row in rows], wait=ITEM_WAIT)
    refused = [item for item in items if not item.ok]
    if refused:
        raise EngineRejected(f"{len(refused)} of {len(items)} rows were refused: {refused[0].error}.", where=index)


def _lines(rows: Sequence[BulkRow], index: str, tenants: Mapping[str, str], variant: Variant) -> Iterator[str]:
    for row in rows:
        target = {"_index": index, "_id": row.id, "routing": variant.routing(tenants[row.id])}
        yield to_json({"index": {name: value for name, value in target.items() if value is not None}})
        yield str(row.body)


def settle(engine: Engine, index: str, *, merged: bool) -> None:
    """Wait until what was written is merged, as far as the engine merges by itself or to one segment, and on disk."""
    engine.request("POST", f"/{index}/_refresh")
    if merged:
        engine.request("POST", f"/{index}/_forcemerge", params={"max_num_segments": 1, "wait_for_completion": "false"})
    deadline = time.monotonic() + SETTLE_S
    while _unsettled(engine, index, merged=merged) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    engine.request("POST", f"/{index}/_flush", params={"force": "true", "wait_if_ongoing": "true"})
    engine.request("POST", f"/{index}/_refresh")


def _unsettled(engine: Engine, index: str, *, merged: bool) -> bool:
    # Segments that were merged count until a refresh lets go of them; an index that nobody searches has none by itself.
    engine.request("POST", f"/{index}/_refresh")
    answer = engine.request("GET", f"/{index}/_stats/merge,segments")
    primaries, shards = answer["_all"]["primaries"], answer["_shards"]["successful"]
    return int(primaries["merges"]["current"]) > 0 or (merged and int(primaries["segments"]["count"]) > shards)
