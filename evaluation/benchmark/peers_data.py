"""A data set for the comparison: cut and embedded once, by our ingest, and handed to every system as the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.benchmark.peers_base import Peer, Row
from evaluation.dataset import Question, load_dataset
from evaluation.index import PAGE, TENANT, built_index
from evaluation.metrics import MRR, figures, qrels, recall_name
from ingest.chunking.base import with_header
from models.base import Embedder
from search_config import fields
from search_config.client import Engine
from search_config.install import IndexInfo
from search_config.settings import Settings


@dataclass(frozen=True, slots=True)
class PeerData:
    """A data set in our index, and as rows.

    Attributes:
        judged: right chunk ids by question.
    """

    name: str
    info: IndexInfo
    settings: Settings
    rows: tuple[Row, ...]
    questions: tuple[Question, ...]
    judged: Mapping[str, Mapping[str, int]]

    def figures(self, peer: Peer) -> tuple[float, float]:
        """R@1 and MRR of what a system gives."""
        run = {question.id: peer.search(question.query, TENANT) for question in self.questions}
        found = figures(run, self.judged, (1,)).figures
        return found[recall_name(1)].value, found[MRR].value


@contextmanager
def written_dataset(settings: Settings, engine: Engine, embedder: Embedder, folder: Path) -> Iterator[PeerData]:
    """Ingest a data set under a prefix of its own; it is removed at the end.

    Raises:
        InvalidDataset, IndexingIncomplete, EngineError, ModelError
    """
    dataset = load_dataset(folder, max_file_bytes=settings.max_file_bytes)
    with built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=lambda *_: None) as built:
        questions = tuple(question for question in dataset.questions if question.retrievable)
        yield PeerData(
            name=dataset.name,
            info=built.info,
            settings=built.settings,
            rows=tuple(_rows(engine, built.info)),
            questions=questions,
            judged=qrels(questions, built.passages),
        )


def _rows(engine: Engine, info: IndexInfo) -> Iterator[Row]:
    names = [fields.CHUNK_ID, fields.TITLE, fields.SECTION, fields.CONTENT, fields.EMBEDDING]
    body: dict[str, Any] = {"size": PAGE // 10, "query": {"match_all": {}}, "_source": names}
    body["sort"] = [{fields.CHUNK_ID: "asc"}]
    while hits := engine.search(info.index, body)["hits"]["hits"]:
        for hit in hits:
            source = hit["_source"]
            header = " > ".join(part for part in (source[fields.TITLE], source.get(fields.SECTION)) if part)
            vector = np.asarray(source[fields.EMBEDDING], dtype=np.float32)
            yield Row(source[fields.CHUNK_ID], TENANT, with_header(f"[{header}]", source[fields.CONTENT]), vector)
        body["search_after"] = hits[-1]["sort"]
