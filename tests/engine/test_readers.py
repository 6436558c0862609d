"""Readers while documents are replaced and deleted: each sees one whole version, or nothing."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

import pytest

from ingest.chunk_store import ChunkStore
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import ModelDescription
from query.request import Mode, SearchRequest
from query.search import SearchContext, rank, search
from search_config import fields
from search_config.client import Engine
from search_config.errors import MafteachError
from search_config.install import IndexInfo, install, uninstall
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings
from tests.engine.rows import PROFILE, WordEmbedder

WORDS = ModelDescription(name="words", revision="1", dim=16, window=100_000, licence="MIT")
# Nothing here takes so long, on however slow a machine.
PATIENCE_S = 60.0
# Versions that are written while they read, by their number of chunks: longer, much shorter, the same length again.
LENGTHS = (12, 30, 2, 12, 30, 12, 2, 40, 1)
MODES: tuple[Mode, ...] = ("hybrid", "lexical", "dense")
# A page of a search reads its own passages after they were ranked by their keys; the others read a ranking.
PAGE: Final[Literal["page"]] = "page"
READ: Final[tuple[Mode | Literal["page"], ...]] = (*MODES, PAGE)
READERS: Final = len(READ)
PAGE_SIZE: Final = 45
BLEND: Final = {"bm25:content": 1.0, "cosine": 1.0}


class Library:
    """An index with an ingestor and a search over it."""

    def __init__(self, engine: Engine, settings: Settings, info: IndexInfo) -> None:
        words = WordEmbedder(WORDS)
        self.engine, self.info = engine, info
        self.ingestor = Ingestor(engine, info, words, settings)
        self.context = SearchContext(engine, info, words, PROFILE, settings)
        self.blended = replace(self.context, profile=PROFILE.model_copy(update={"blends": {"he": BLEND}}))

    def put(self, chunks: int, edition: int, source: str = "s") -> str:
        text = "\n\n".join(f"ארנונה בסעיף {i}, מהדורה {edition}. " + "מילה " * 80 for i in range(chunks))
        (outcome,) = self.ingestor.ingest(
            [RawDocument(tenant="a", source=source, name=f"{source}.txt", data=text.encode())]
        )
        assert outcome.state is DocumentState.READY
        assert outcome.chunks_indexed == chunks
        return outcome.document_id

    def seen(self, document: str, mode: Mode | Literal["page"]) -> Counter[tuple[int, str]]:
        """Chunks of a document that a search finds, by version."""
        if mode == PAGE:
            hits = search(SearchRequest(tenant="a", query="ארנונה בסעיף", size=PAGE_SIZE), self.blended).hits
            return Counter((hit.version, hit.content_hash) for hit in hits if hit.document_id == document)
        ranking = rank(SearchRequest(tenant="a", query="ארנונה בסעיף", mode=mode), self.context)
        passages = [one.passage for one in ranking.fused if one.passage.document_id == document]
        return Counter((passage.version, passage.content_hash) for passage in passages)


@pytest.fixture
def library(engine: Engine, settings: Settings) -> Iterator[Library]:
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}", "chunk_target": 512})
    info = install(engine, own, WORDS)
    yield Library(engine, own, info)
    uninstall(engine, Names(prefix=own.index_prefix))


class Readers:
    """Threads that search again and again, and keep what does not hold."""

    def __init__(self, library: Library, document: str) -> None:
        self.wrong: list[str] = []
        self.reads = 0
        self.allowed: dict[int, int] = {}
        self._library, self._document = library, document
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(mode,)) for mode in READ]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def pause(self) -> None:
        """A moment for the readers."""
        self._stop.wait(0.01)

    def _read(self, mode: Mode | Literal["page"]) -> None:
        while not self._stop.is_set():
            try:
                seen = self._library.seen(self._document, mode)
            except MafteachError as error:
                self.wrong.append(str(error))
                return
            self.reads += 1
            # A page has room for a part of a long document.
            least = 1 if mode == PAGE else PAGE_SIZE
            whole = [
                min(count, least) == min(self.allowed.get(version, 0), least) and count <= self.allowed[version]
                for (version, _), count in seen.items()
            ]
            if len(seen) != 1 or not all(whole):
                self.wrong.append(f"{mode}: {dict(seen)}")


def test_each_reader_sees_one_whole_version_while_it_is_replaced(library: Library) -> None:
    for number in range(5):
        library.put(3, 0, f"other-{number}")
    document = library.put(LENGTHS[0], 0)
    readers = Readers(library, document)
    readers.allowed = dict(enumerate(LENGTHS, start=1))
    with readers:
        for edition, length in enumerate(LENGTHS[1:], start=1):
            before = readers.reads
            library.put(length, edition)
            deadline = time.monotonic() + PATIENCE_S
            while readers.reads < before + READERS and not readers.wrong and time.monotonic() < deadline:
                readers.pause()
    assert readers.wrong == []
    assert readers.reads > len(LENGTHS) * READERS
    assert dict(library.seen(document, "hybrid")).popitem()[1] == LENGTHS[-1]
    assert ChunkStore(library.engine, library.info, library.context.settings).totals("a", [document]) == {
        document: LENGTHS[-1]
    }


def test_chunks_of_a_version_that_is_not_published_are_not_seen(library: Library) -> None:
    """What a worker leaves that dies between its chunks and its row; more of it than a leg has places."""
    document = library.put(4, 0)
    kept = library.seen(document, "hybrid")
    hits = library.engine.search(library.info.index, {"size": 10})["hits"]["hits"]
    lines = []
    for copy in range(150):
        source = hits[0]["_source"] | {"version": 2, "content_hash": "f" * 64, "chunk_id": f"{document}-x-{copy:05d}"}
        lines += [json.dumps({"index": {"_index": library.info.index, "_id": source["chunk_id"]}}), json.dumps(source)]
    library.engine.bulk(lines, refresh="true")
    for mode in READ:
        assert library.seen(document, mode) == kept
    assert {
        hit.version for hit in search(SearchRequest(tenant="a", query="ארנונה", size=100), library.context).hits
    } == {1}


def test_a_document_is_gone_for_readers_before_its_chunks_are(library: Library) -> None:
    document = library.put(4, 0)
    path = f"/{library.info.names.documents}/_update/{document}"
    part = {"doc": {fields.STATE: "deleting", fields.CONTENT_HASH: None}}
    library.engine.request("POST", path, body=part, params={"refresh": "true"})
    assert [library.seen(document, mode) for mode in READ] == [Counter()] * len(READ)
