"""`mafteach bench ingest`: rows a second beside a bare bulk loop, and documents a second beside the usual script.

Both comparisons take turns, round by round, so that a machine that slows down slows both; each round gives one ratio,
and the median of them is the figure.

Without embedding: rows whose vectors are there, through `ChunkStore`, beside two threads that send ready dictionaries
of the same rows in batches of the same size. With embedding: documents through the whole `Ingestor` (states, chunking,
token codes, checks), beside the same chunks through sentence-transformers (torch, float32, the same weights) with one
write a chunk and no states; it is handed the chunks.
"""

from __future__ import annotations

import base64
import json
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.benchmark.corpus import Corpus
from evaluation.benchmark.corpus_base import QUICK_BASE, load_base
from evaluation.benchmark.report import BenchReport, Check
from evaluation.benchmark.temporary import temporary_index
from evaluation.index import TENANT
from ingest.chunk_store import VECTOR_DECIMALS, ChunkRow, ChunkStore
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from models.export import export_sentence_transformer
from models.factory import load_embedder
from models.sentence_transformer import SentenceTransformerEmbedder
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexingIncomplete, MissingExtra
from search_config.records import DocumentState
from search_config.settings import Settings

TARGET_BULK: Final = 0.9
TARGET_EMBEDDING: Final = 2.0
BULK: Final = "bulk indexing over a bare two-thread bulk"
EMBEDDING: Final = "ingest over sentence-transformers with per-document writes"
# Rows and rounds without embedding; documents and rounds with it.
_ROWS, _QUICK_ROWS = 10_000, 2_000
_DOCUMENTS, _QUICK_DOCUMENTS = 120, 24
_ROUNDS, _QUICK_ROUNDS = 5, 3
# Passages of one document: two or three chunks of the default length.
_PASSAGES: Final = 6
_BARE_THREADS: Final = 2
# Spread of the vectors of rows that are only written: any will do, and calibrating one takes a while.
_SPREAD: Final = 0.2

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rates:
    """Things a second in each round, ours and theirs."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return statistics.median(mine / other for mine, other in zip(self.ours, self.theirs, strict=True))

    def row(self, what: str, unit: str) -> tuple[str, ...]:
        mine, other = statistics.median(self.ours), statistics.median(self.theirs)
        return what, unit, f"{mine:.1f}", f"{other:.1f}", f"{self.ratio:.2f}"


def run(
    settings: Settings,
    engine: Engine,
    *,
    quick: bool,
    seed: int = 1,
    rows: int | None = None,
    folder: Path | None = None,
) -> BenchReport:
    """Measure both comparisons; the second needs the extra `sentence-transformers`.

    Args:
        rows: without embedding; None takes the size's own.
        folder: where the model for sentence-transformers is kept (470 MB); None: below the cache folder.

    Raises:
        EngineError, ModelError
    """
    embedder = load_embedder(settings)
    corpus = Corpus(load_base(settings, embedder, count=QUICK_BASE, seed=seed), seed=seed, spread=_SPREAD)
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    count = rows or (_QUICK_ROWS if quick else _ROWS)
    bulk = _bulk(settings, engine, embedder, corpus, count, rounds)
    documents = _documents(corpus, _QUICK_DOCUMENTS if quick else _DOCUMENTS)
    try:
        other = _torch(settings, folder or settings.cache_dir.expanduser() / "bench" / "e5-torch")
        embedding: Rates | None = _embedding(settings, engine, embedder, other, documents, rounds)
    except MissingExtra:
        embedding = None
    table = [bulk.row("bulk", "rows a second")]
    if embedding is not None:
        table.append(embedding.row("with embedding", "chunks a second"))
    return BenchReport(
        name="ingest",
        checks=(_check(BULK, bulk, TARGET_BULK), _check(EMBEDDING, embedding, TARGET_EMBEDDING)),
        columns=("what", "unit", "mafteach", "theirs", "ratio"),
        rows=tuple(table),
        size=f"{count} rows without embedding, {len(documents)} documents with it, {rounds} rounds, seed {seed}",
    )


def _check(name: str, rates: Rates | None, target: float) -> Check:
    value = None if rates is None else round(rates.ratio, 2)
    return Check(name=name, value=value, target=f">= {target:g}", holds=None if value is None else value >= target)


def _rate(count: int, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def _bulk(settings: Settings, engine: Engine, embedder: Embedder, corpus: Corpus, count: int, rounds: int) -> Rates:
    ours, theirs = [], []
    with temporary_index(engine, settings, embedder.description) as (info, _):
        rows = list(corpus.rows(0, count, info))
        ready = [(row.record.chunk_id, _plain(row)) for row in rows]
    for number in range(rounds):
        # Who begins changes, so that what the engine still merges from the last run is nobody's alone.
        for mine in (number % 2 == 0, number % 2 == 1):
            with temporary_index(engine, settings, embedder.description) as (info, own):
                store = ChunkStore(engine, info, own)
                if mine:
                    ours.append(_rate(count, lambda: _complete(store.write(rows))))  # noqa: B023  called at once
                else:
                    theirs.append(_rate(count, lambda: _bare(engine, info.index, ready, own)))
    return Rates(tuple(ours), tuple(theirs))


def _plain(row: ChunkRow) -> Json:
    """A row as a script has it in its hands."""
    columns = row.record.model_dump(mode="json", by_alias=True, exclude_none=True)
    columns[fields.EMBEDDING] = np.round(row.vector.astype(np.float64), VECTOR_DECIMALS).tolist()
    if row.code is not None:
        columns[fields.TOKEN_CODES] = base64.b64encode(row.code).decode("ascii")
    return columns


def _bare(engine: Engine, index: str, ready: Sequence[tuple[str, Json]], settings: Settings) -> None:
    """Batches of the same size from two threads; nothing is tried again, only errors are counted."""
    size = settings.bulk_max_items

    def send(start: int) -> int:
        lines = [
            json.dumps(line, ensure_ascii=False)
            for name, columns in ready[start : start + size]
            for line in ({"index": {"_index": index, "_id": name}}, columns)
        ]
        return sum(not item.ok for item in engine.bulk(lines))

    with ThreadPoolExecutor(_BARE_THREADS) as pool:
        failed = sum(pool.map(send, range(0, len(ready), size)))
    if failed:
        raise IndexingIncomplete(f"{failed} of {len(ready)} rows were not written.", where=index)


def _complete(items: Sequence[Any]) -> None:
    refused = [item for item in items if not item.ok]
    if refused:
        raise IndexingIncomplete(f"{len(refused)} of {len(items)} rows were not written: {refused[0].error}.")


def _documents(corpus: Corpus, count: int) -> list[RawDocument]:
    page = corpus.page(0)
    texts = ["\n\n".join(page.contents[place * _PASSAGES % len(page.contents) :][:_PASSAGES]) for place in range(count)]
    return [
        RawDocument(tenant=TENANT, source=f"{place}", name=f"{place}.txt", data=text.encode())
        for place, text in enumerate(texts)
    ]


def _torch(settings: Settings, folder: Path) -> SentenceTransformerEmbedder:
    """The same weights in float32.

    Raises:
        MissingExtra
    """
    if not (folder / "modules.json").is_file():
        export_sentence_transformer(folder)
    return SentenceTransformerEmbedder(str(folder), threads=settings.embedder_threads)


def _embedding(
    settings: Settings,
    engine: Engine,
    embedder: Embedder,
    other: SentenceTransformerEmbedder,
    documents: Sequence[RawDocument],
    rounds: int,
) -> Rates:
    chunks = _chunks(settings, engine, embedder, documents)
    ours, theirs = [], []
    for number in range(rounds):
        for mine in (number % 2 == 0, number % 2 == 1):
            with temporary_index(engine, settings, embedder.description) as (info, own):
                if mine:
                    ingestor = Ingestor(engine, info, embedder, own)
                    ours.append(_rate(len(chunks), lambda: _ready(ingestor, documents)))  # noqa: B023  called at once
                else:
                    theirs.append(_rate(len(chunks), lambda: _one_by_one(engine, info.index, other, chunks)))
    return Rates(tuple(ours), tuple(theirs))


def _chunks(settings: Settings, engine: Engine, embedder: Embedder, documents: Sequence[RawDocument]) -> list[Json]:
    """The rows that our ingest makes of the documents; this run also loads everything, and is not measured."""
    with temporary_index(engine, settings, embedder.description) as (info, own):
        _ready(Ingestor(engine, info, embedder, own), documents)
        engine.request("POST", f"/{info.index}/_refresh")
        hits = engine.search(info.index, {"size": 10_000, "query": {"match_all": {}}})["hits"]["hits"]
        return [hit["_source"] for hit in hits]


def _ready(ingestor: Ingestor, documents: Sequence[RawDocument]) -> None:
    for outcome in ingestor.ingest(documents):
        if outcome.state is not DocumentState.READY:
            raise IndexingIncomplete(f"A document is {outcome.state.value}: {outcome.reason}", where=outcome.name)


def _one_by_one(engine: Engine, index: str, embedder: SentenceTransformerEmbedder, chunks: Sequence[Json]) -> None:
    for chunk in chunks:
        vector = embedder.embed_passages([f"{chunk[fields.TITLE]}\n{chunk[fields.CONTENT]}"])[0]
        row = {**chunk, fields.EMBEDDING: vector.astype(float).tolist()}
        engine.request("PUT", f"/{index}/_doc/{chunk[fields.CHUNK_ID]}", body=row)
    engine.request("POST", f"/{index}/_refresh")
