"""`mafteach bench peers`: other ways to search by words and meaning, on the same node, corpus, questions and model.

Every question is put to every system before the next one, and who begins changes, so that a machine that slows down
slows all. Nobody reranks but the row that says so. Vectors are the same and are there before: the rate of writing is
that of the rows alone. `recall` compares each system's search by vector alone, under the tenant's filter, with exact
neighbours; `R@1` and `MRR` are of what each gives in the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from evaluation.benchmark.corpus import LARGE, MEDIUM, Corpus
from evaluation.benchmark.corpus_base import BASE, QUICK_BASE, load_base
from evaluation.benchmark.corpus_text import examples_folder
from evaluation.benchmark.peers_base import CANDIDATES, SIZE, Peer, Row
from evaluation.benchmark.peers_data import written_dataset
from evaluation.benchmark.peers_engine import EngineHybrid, ExactScript, Mafteach
from evaluation.benchmark.peers_haystack import Haystack
from evaluation.benchmark.peers_llamaindex import LlamaIndex
from evaluation.benchmark.report import BenchReport, Check, Table
from evaluation.benchmark.temporary import temporary_index
from ingest.chunk_store import ChunkRow, ChunkStore
from models.base import Embedder
from models.factory import load_embedder
from query import build
from query.filters import tenant_filter
from query.profile import load_profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.errors import IndexingIncomplete, MissingExtra
from search_config.install import IndexInfo
from search_config.settings import Settings

CHUNKS, QUICK_CHUNKS = 20_000, 2_000
QUERIES, QUICK_QUERIES = 150, 30
# Asked of everybody before anything is measured: everything loads, compiles and connects.
WARM_UP: Final = 5
TARGET_SPEED: Final = 0.5
SPEED: Final = "p50 over Haystack's, efficient filtering, no rerank"
SPEED_WHOLE: Final = "p50 of the whole search over Haystack's, no rerank"
SPEED_PAGE: Final = f"p50 over Haystack's with {SIZE} a leg"
RECALL: Final = f"recall@{SIZE} over Haystack's"
TENANTS: Final = {f"{MEDIUM}-0": "1%", LARGE: "50%"}
PERCENTILES: Final = (50, 95, 99)
MS: Final = 1000.0

Say = Callable[[str], None]


@dataclass(slots=True)
class Measured:
    """One system's figures.

    Attributes:
        written: rows a second; None where it has no rows of its own.
        times: milliseconds of each question by tenant.
        recall: by tenant.
        quality: (R@1, MRR) by data set.
    """

    peer: Peer
    written: float | None = None
    times: dict[str, list[float]] = field(default_factory=dict)
    recall: dict[str, float] = field(default_factory=dict)
    quality: dict[str, tuple[float, float]] = field(default_factory=dict)

    def percentile(self, tenant: str, share: int) -> float:
        return float(np.percentile(self.times[tenant], share))


def run(
    settings: Settings,
    engine: Engine,
    *,
    quick: bool,
    seed: int = 1,
    chunks: int | None = None,
    folders: Sequence[Path] = (),
    say: Say = lambda _: None,
) -> BenchReport:
    """Measure all systems that are installed.

    Args:
        chunks: of the generated corpus; None takes the size's own.
        folders: data sets beside `examples/`.
        say: told what goes on, and which systems are missing.

    Raises:
        InvalidDataset, EngineError, ModelError
    """
    embedder = load_embedder(settings)
    corpus = Corpus(load_base(settings, embedder, count=QUICK_BASE if quick else BASE, seed=seed), seed=seed)
    count = chunks or (QUICK_CHUNKS if quick else CHUNKS)
    with temporary_index(engine, settings, embedder.description) as (info, own):
        rows = list(corpus.rows(0, count, info))
        rate = _per_second(len(rows), lambda: _write(engine, info, own, rows))
        plain = [Row(one.record.chunk_id, one.record.tenant, one.record.content, one.vector) for one in rows]
        with _systems(engine, info, own, embedder, plain, say) as systems:
            for system in systems:
                if isinstance(system.peer, Mafteach):
                    system.written = rate
            asked = corpus.queries(WARM_UP + (QUICK_QUERIES if quick else QUERIES))
            for tenant in TENANTS:
                say(f"{len(asked)} questions of a tenant of {TENANTS[tenant]}")
                _ask(systems, asked, tenant)
                _recall(engine, info, embedder, systems, asked[WARM_UP:], tenant)
    by_name = {system.peer.described.name: system for system in systems}
    for folder in dict.fromkeys((examples_folder(), *folders)):
        _quality(settings, engine, embedder, folder, by_name, say)
    return _report(systems, count, len(asked) - WARM_UP, seed)


def _per_second(count: int, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def _write(engine: Engine, info: IndexInfo, settings: Settings, rows: Sequence[ChunkRow]) -> None:
    store = ChunkStore(engine, info, settings)
    refused = [item for item in store.write(rows) if not item.ok]
    if refused:
        raise IndexingIncomplete(f"{len(refused)} of {len(rows)} rows were not written: {refused[0].error}.")
    store.refresh()


@contextmanager
def _systems(
    engine: Engine, info: IndexInfo, settings: Settings, embedder: Embedder, rows: Sequence[Row], say: Say
) -> Iterator[list[Measured]]:
    """All that are installed, filled; ours first."""
    context = SearchContext(engine, info, embedder, load_profile().checked_for(info), settings)
    prefix = info.names.prefix

    def haystack(efficient: bool, candidates: int, *, written: bool = False) -> Callable[[], Peer]:
        return lambda: Haystack(
            engine.url, f"{prefix}-haystack", embedder, efficient=efficient, candidates=candidates, written=written
        )

    makers: tuple[Callable[[], Peer], ...] = (
        lambda: Mafteach(context, rerank=False, page=False),
        lambda: Mafteach(context, rerank=False),
        lambda: Mafteach(context, rerank=True),
        haystack(True, CANDIDATES),
        haystack(True, SIZE, written=True),
        haystack(False, CANDIDATES, written=True),
        lambda: LlamaIndex(engine, f"{prefix}-llamaindex", embedder),
        lambda: EngineHybrid(engine, context),
        lambda: ExactScript(engine, context),
    )
    with ExitStack() as stack:
        made = []
        for make in makers:
            try:
                peer = make()
            except MissingExtra as error:
                say(str(error))
                continue
            stack.callback(peer.close)
            before = _documents(engine, prefix)
            rate = _per_second(len(rows), lambda: peer.write(rows))  # noqa: B023  called at once
            made.append(Measured(peer, rate if _documents(engine, prefix) > before else None))
        # Made by one of the peers, outside of the installation's own names.
        stack.callback(engine.request, "DELETE", f"/_search/pipeline/{prefix}-llamaindex", params={"ignore": 404})
        yield made


def _documents(engine: Engine, prefix: str) -> int:
    """Rows under a prefix, the peers' too."""
    return int(engine.request("GET", f"/{prefix}-*/_count")["count"])


def _ask(systems: Sequence[Measured], asked: Sequence[str], tenant: str) -> None:
    """Put every question to everybody, in turns."""
    for number, query in enumerate(asked):
        first = number % len(systems)
        for system in (*systems[first:], *systems[:first]):
            start = time.perf_counter()
            system.peer.search(query, tenant)
            took = (time.perf_counter() - start) * MS
            if number >= WARM_UP:
                system.times.setdefault(tenant, []).append(took)


def _recall(
    engine: Engine, info: IndexInfo, embedder: Embedder, systems: Sequence[Measured], asked: Sequence[str], tenant: str
) -> None:
    """The share of the exact neighbours that each finds by vector alone."""
    vectors = embedder.embed_queries(list(asked))
    exact = [
        {hit["_id"] for hit in engine.search(info.index, body)["hits"]["hits"]}
        for body in (build.exact_knn_body(row.tolist(), tenant_filter(tenant), candidates=SIZE) for row in vectors)
    ]
    for system in systems:
        shares = [
            len(wanted & set(system.peer.nearest(query, tenant))) / len(wanted)
            for query, wanted in zip(asked, exact, strict=True)
            if wanted
        ]
        system.recall[tenant] = float(np.mean(shares))


def _quality(
    settings: Settings,
    engine: Engine,
    embedder: Embedder,
    folder: Path,
    measured: Mapping[str, Measured],
    say: Say,
) -> None:
    """R@1 and MRR of everybody over a data set, in indices of their own."""
    say(f"R@1 and MRR on {folder.name}")
    with (
        written_dataset(settings, engine, embedder, folder) as data,
        _systems(engine, data.info, data.settings, embedder, data.rows, say) as systems,
    ):
        for system in systems:
            measured[system.peer.described.name].quality[data.name] = data.figures(system.peer)


def _report(systems: Sequence[Measured], chunks: int, questions: int, seed: int) -> BenchReport:
    sets = list(dict.fromkeys(name for system in systems for name in system.quality))
    columns = ("system", "tenant", *(f"p{share} ms" for share in PERCENTILES), f"recall@{SIZE}", "rows a second")
    rows = tuple(
        (
            system.peer.described.name,
            TENANTS[tenant],
            *(f"{system.percentile(tenant, share):.1f}" for share in PERCENTILES),
            f"{system.recall[tenant]:.3f}",
            "-" if system.written is None else f"{system.written:.0f}",
        )
        for tenant in TENANTS
        for system in systems
    )
    quality = tuple(
        (system.peer.described.name, name, f"{system.quality[name][0]:.3f}", f"{system.quality[name][1]:.3f}")
        for name in sets
        for system in systems
    )
    chosen = tuple(
        (one.name, one.settings, ", ".join(f"{name} {number}" for name, number in one.versions.items()))
        for one in (system.peer.described for system in systems)
    )
    return BenchReport(
        name="peers",
        checks=_checks(systems),
        columns=columns,
        rows=rows,
        more=(
            Table(title="Answers found", columns=("system", "data set", "R@1", "MRR"), rows=quality),
            Table(
                title="Settings",
                columns=("system", "settings", "versions"),
                rows=chosen,
            ),
        ),
        size=f"{chunks} chunks, {questions} questions, seed {seed}",
    )


def _checks(systems: Sequence[Measured]) -> tuple[Check, ...]:
    """Against Haystack, in the tenant of 1%; without a value where it is not installed."""
    tenant = next(iter(TENANTS))
    ours, whole = systems[:2]
    theirs = [system for system in systems if isinstance(system.peer, Haystack)][:2]
    target, wanted = f"<= {TARGET_SPEED:g}", ">= 0"
    if not theirs:
        return tuple(
            Check(name=name, value=None, target=goal, holds=None)
            for name, goal in ((SPEED, target), (SPEED_WHOLE, ""), (SPEED_PAGE, ""), (RECALL, wanted))
        )
    deep, page = (other.percentile(tenant, 50) for other in theirs)
    ratio = ours.percentile(tenant, 50) / deep
    # The smallest difference over both tenants.
    ahead = min(ours.recall[one] - theirs[0].recall[one] for one in TENANTS)
    return (
        Check(name=SPEED, value=round(ratio, 2), target=target, holds=ratio <= TARGET_SPEED),
        Check(name=SPEED_WHOLE, value=round(whole.percentile(tenant, 50) / deep, 2), target="", holds=None),
        Check(name=SPEED_PAGE, value=round(ours.percentile(tenant, 50) / page, 2), target="", holds=None),
        Check(name=RECALL, value=round(ahead, 4), target=wanted, holds=ahead >= 0),
    )
