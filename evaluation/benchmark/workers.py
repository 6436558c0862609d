"""`mafteach bench workers`: the same files by one worker, by several processes, and by Ray.

The files are slow to read and quick to embed (`evaluation.benchmark.drawings`), so that a second core can be of use.
Each way has an index of its own, and all of their chunks are compared to the byte: ids, texts, token codes, and every
other column but the time of writing and the vector, which is compared by its values: processes that share the cores
out compute with fewer threads each, and sums of other numbers of threads differ in a float's last bit. The rate is of
the whole run, the start of the processes included.
"""

from __future__ import annotations

import importlib.util
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.benchmark.drawings import drawing
from evaluation.benchmark.report import BenchReport, Check
from evaluation.benchmark.temporary import temporary_index
from evaluation.index import TENANT
from ingest.compose import opened_ingestor
from ingest.processes import Pool
from ingest.ray_pool import LOCAL, RayPool
from ingest.worker import IngestReport, MakePool, ingest_paths
from models.base import Vectors
from models.factory import load_embedder
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexingIncomplete
from search_config.install import IndexInfo
from search_config.settings import Settings

TARGET_RATE: Final = 1.3
TARGET_SHARE: Final = 0.5
# Values of vectors of length 1, in float32: some times what its last bit is worth.
VECTOR_TOLERANCE: Final = 1e-6
SHARE: Final = "share of one worker's time that reading takes"
IDS: Final = "process ids that worked, several processes"
TWICE: Final = "documents done twice"
DIFFER: Final = "chunks that differ, several processes"
RATE: Final = "documents a second, several processes over one worker"
DOCUMENTS, QUICK_DOCUMENTS = 128, 32
WORKERS: Final = 4
# An actor each is enough to compare what Ray makes; each one loads a model.
RAY_ACTORS: Final = 2
# Pages of a document, lines of a caption, and squares of a page: half a second of reading for one passage to embed.
PAGES: Final = 2
LINES: Final = 3
SQUARES: Final = 500
# Rows of one page of the comparison; with their columns a thousand are some megabytes.
PAGE_ROWS: Final = 1_000
MS_PER_S: Final = 1_000

_WHO: Final = ("The water board", "The garden office", "The supplier", "The survey of the quarter", "The storage yard")
_WHAT: Final = ("approved the plan", "moved the fence", "measured the slope", "ordered the pipes", "drew the section")

Json = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Way:
    """One way through all files.

    Attributes:
        twice: documents that were worked on more than once, by what the processes say and by the rows' attempts.
        chunks: every column but the time and the vector, and the token codes, by chunk id.
        vectors: of shape `(dim,)`, by chunk id.
    """

    name: str
    report: IngestReport
    twice: int
    chunks: dict[str, Json]
    vectors: dict[str, Vectors]

    @property
    def rate(self) -> float:
        """Documents a second."""
        return self.report.documents / self.report.seconds

    def differs(self, other: Way) -> int:
        """Chunks that only one of both has, or that are not the same."""
        ids = self.chunks.keys() | other.chunks.keys()
        return sum(self.chunks.get(id_) != other.chunks.get(id_) for id_ in ids)

    def farthest(self, other: Way) -> float:
        """The largest difference of a value of a vector, over the chunks that both have."""
        both = self.vectors.keys() & other.vectors.keys()
        return max((float(np.abs(self.vectors[id_] - other.vectors[id_]).max()) for id_ in both), default=0.0)


def run(
    settings: Settings,
    engine: Engine,
    *,
    quick: bool,
    seed: int = 1,
    documents: int | None = None,
    workers: int = WORKERS,
    ray: bool | None = None,
    say: Say = lambda _: None,
) -> BenchReport:
    """Ingest the same files in each way, and compare.

    Args:
        quick: half as many documents.
        seed: of the files.
        documents: how many, instead of those of the run.
        workers: processes of the second way.
        ray: whether Ray has its turn; None: where it is installed.
        say: told each way's figures.

    Raises:
        EngineError, ModelError, WorkerFailed, IndexingIncomplete
    """
    count = documents or (QUICK_DOCUMENTS if quick else DOCUMENTS)
    ways: list[tuple[str, Callable[[Settings], MakePool | None]]] = [
        ("one worker", lambda _: None),
        (f"{workers} processes", lambda own: partial(_processes, own, engine.url, workers)),
    ]
    if ray if ray is not None else importlib.util.find_spec("ray") is not None:
        ways.append(("Ray", lambda own: partial(_actors, own, engine.url)))
    done: list[Way] = []
    with tempfile.TemporaryDirectory(prefix="mafteach-workers-") as name:
        folder = Path(name)
        _write(folder, count, seed)
        for what, pool in ways:
            done.append(_one(settings, engine, folder, what, pool))
            say(f"{what}: {done[-1].rate:.2f} documents a second, processes {sorted(done[-1].report.processes)}")
    return _report(done, workers, count, seed)


def _write(folder: Path, count: int, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  repeatable, not secret
    for number in range(count):
        pages = [
            [f"{dice.choice(_WHO)} {dice.choice(_WHAT)} {number}.{page}.{line}." for line in range(LINES)]
            for page in range(PAGES)
        ]
        (folder / f"{number:04d}.pdf").write_bytes(drawing(pages, SQUARES))


def _processes(settings: Settings, url: str, workers: int, describe: Any) -> Pool:
    return Pool(settings, url, describe, workers)


def _actors(settings: Settings, url: str, describe: Any) -> RayPool:
    return RayPool(settings, url, describe, address=LOCAL, workers=RAY_ACTORS)


def _one(
    settings: Settings, engine: Engine, folder: Path, name: str, pool: Callable[[Settings], MakePool | None]
) -> Way:
    with temporary_index(engine, settings, load_embedder(settings).description) as (info, own):
        with opened_ingestor(own, engine.url) as ingestor:
            report = ingest_paths(ingestor, [folder], tenant=TENANT, pool=pool(own))
            if report.failed:
                worst = report.failed[0]
                raise IndexingIncomplete(f"A document is {worst.state}: {worst.reason}", where=worst.name)
            again = sum(row.attempts - 1 for row in ingestor.registry.iterate(TENANT))
        twice = again + sum(report.processes.values()) - report.documents
        chunks = _chunks(engine, info)
        vectors = {id_: np.asarray(chunk.pop(fields.EMBEDDING), dtype=np.float32) for id_, chunk in chunks.items()}
        return Way(name, report, twice, chunks, vectors)


def _chunks(engine: Engine, info: IndexInfo) -> dict[str, Json]:
    """Every column of every chunk but the time, with its token codes."""
    engine.request("POST", f"/{info.index}/_refresh")
    body: Json = {"size": PAGE_ROWS, "sort": [{fields.CHUNK_ID: "asc"}], "docvalue_fields": [fields.TOKEN_CODES]}
    found: dict[str, Json] = {}
    while hits := engine.search(info.index, body)["hits"]["hits"]:
        for hit in hits:
            columns = {name: value for name, value in hit["_source"].items() if name != fields.INDEXED_AT}
            found[hit["_id"]] = {**columns, fields.TOKEN_CODES: hit.get("fields", {}).get(fields.TOKEN_CODES)}
        body["search_after"] = hits[-1]["sort"]
    return found


def _report(done: list[Way], workers: int, count: int, seed: int) -> BenchReport:
    alone, together = done[0], done[1]
    by_ray = done[2] if len(done) > 2 else None
    farthest = max(way.farthest(alone) for way in done)
    rate = round(together.rate / alone.rate, 2)
    share = round(alone.report.stages.extract_ms / MS_PER_S / alone.report.seconds, 2)
    return BenchReport(
        name="workers",
        size=f"{count} documents of {PAGES} drawn pages, {len(alone.chunks)} passages, seed {seed}",
        checks=(
            Check(
                name=SHARE,
                value=share,
                target=f">= {TARGET_SHARE:g}",
                holds=share >= TARGET_SHARE,
            ),
            Check(name=RATE, value=rate, target=f">= {TARGET_RATE:g}", holds=rate >= TARGET_RATE),
            _exactly(IDS, len(together.report.processes), workers),
            _exactly(TWICE, sum(way.twice for way in done), 0),
            _exactly(DIFFER, together.differs(alone), 0),
            _exactly("chunks that differ, Ray", None if by_ray is None else by_ray.differs(alone), 0),
            Check(
                name="largest difference of a vector's value",
                value=farthest,
                target=f"<= {VECTOR_TOLERANCE:g}",
                holds=farthest <= VECTOR_TOLERANCE,
            ),
        ),
        columns=("way", "documents", "passages", "seconds", "documents a second", "process ids", "done twice"),
        rows=tuple(
            (
                way.name,
                str(way.report.documents),
                str(len(way.chunks)),
                f"{way.report.seconds:.1f}",
                f"{way.rate:.2f}",
                " ".join(f"{pid}: {documents}" for pid, documents in sorted(way.report.processes.items())),
                str(way.twice),
            )
            for way in done
        ),
    )


def _exactly(name: str, value: int | None, target: int) -> Check:
    return Check(name=name, value=value, target=f"= {target}", holds=None if value is None else value == target)
