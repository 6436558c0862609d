"""A temporary index with a data set in it, made by the normal ingest path."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from evaluation.dataset import Dataset
from evaluation.metrics import Passage
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexingIncomplete
from search_config.install import IndexInfo, install, uninstall
from search_config.names import Names
from search_config.records import DocumentState, document_id
from search_config.settings import Settings

TENANT: Final = "evaluation"
# Documents handed to ingest at once: their chunks are embedded in one sorted batch.
INGEST_BATCH: Final = 32
# Passages read back in one request: the engine's own limit of a result window.
PAGE: Final = 10_000


# Called with what is done, what there is, and what it is (`documents`, `questions`).
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """A temporary index with a data set in it."""

    info: IndexInfo
    settings: Settings
    passages: tuple[Passage, ...]
    sections: int
    seconds: float


@contextmanager
def built_index(
    dataset: Dataset, *, engine: Engine, embedder: Embedder, settings: Settings, progress: Progress
) -> Iterator[BuiltIndex]:
    """Ingest a data set under a prefix of its own; everything of it is removed at the end.

    Raises:
        IndexingIncomplete: a document did not become ready: figures over a part would mislead.
    """
    own = settings.model_copy(update={"index_prefix": f"eval-{uuid.uuid4().hex[:10]}"})
    names = Names(prefix=own.index_prefix)
    try:
        begin = time.perf_counter()
        info = install(engine, own, embedder.description)
        _ingest(dataset, Ingestor(engine, info, embedder, own), progress)
        seconds = time.perf_counter() - begin
        engine.request("POST", f"/{info.index}/_refresh")
        passages, sections = _passages(engine, info, dataset)
        yield BuiltIndex(info=info, settings=own, passages=passages, sections=sections, seconds=seconds)
    finally:
        uninstall(engine, names)


def _ingest(dataset: Dataset, ingestor: Ingestor, progress: Progress) -> None:
    total = len(dataset.documents)
    for start in range(0, total, INGEST_BATCH):
        batch = [
            RawDocument(
                tenant=TENANT,
                source=document.id,
                name=document.file_name,
                data=document.data,
                title=document.title,
                media_type=document.media_type,
            )
            for document in dataset.documents[start : start + INGEST_BATCH]
        ]
        for outcome in ingestor.ingest(batch):
            if outcome.state is not DocumentState.READY:
                raise IndexingIncomplete(
                    f"A document of the data set is {outcome.state.value}: {outcome.reason}", where=outcome.name
                )
        progress(min(start + INGEST_BATCH, total), total, "documents")


def _passages(engine: Engine, info: IndexInfo, dataset: Dataset) -> tuple[tuple[Passage, ...], int]:
    ids = {document_id(TENANT, document.id): document.id for document in dataset.documents}
    body = {
        "size": PAGE,
        "query": {"match_all": {}},
        "_source": [fields.CHUNK_ID, fields.DOCUMENT_ID, fields.LOCATOR, fields.SECTION],
        "sort": [{fields.CHUNK_ID: "asc"}],
    }
    passages: list[Passage] = []
    sections: set[tuple[str, str]] = set()
    while rows := engine.search(info.index, body)["hits"]["hits"]:
        for row in rows:
            source = row["_source"]
            document = ids[source[fields.DOCUMENT_ID]]
            locator = source[fields.LOCATOR]
            sections.add((document, source.get(fields.SECTION) or ""))
            passages.append(
                Passage(chunk_id=source[fields.CHUNK_ID], document_id=document, from_=locator["from"], to=locator["to"])
            )
        body["search_after"] = rows[-1]["sort"]
    return tuple(passages), len(sections)
