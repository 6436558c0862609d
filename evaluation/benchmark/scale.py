"""`mafteach bench scale`: latency, recall under filters, disk and memory by size; ways to set an index up, compared.

It has a node and an index of its own, which grows from one size to the next. What is measured is kept in the cache
folder after each size: an interrupted run goes on from there. The index is removed when the run is whole.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.benchmark import scale_index, scale_measure
from evaluation.benchmark.corpus import BLOCK, PAGE, Corpus
from evaluation.benchmark.corpus_base import BASE, QUICK_BASE, load_base
from evaluation.benchmark.report import BenchReport
from evaluation.benchmark.scale_index import Variant
from evaluation.benchmark.scale_model import Beside, Point, VariantPoint
from evaluation.benchmark.scale_report import ScaleRun, report, write_outputs
from evaluation.benchmark.scale_variants import PLAIN, QUICK_VARIANTS, VARIANTS
from models.base import Embedder
from models.factory import load_embedder
from query.profile import load_profile
from query.request import SearchRequest
from query.search import SearchContext, search
from search_config.client import Engine
from search_config.errors import EngineRejected, EngineUnreachable
from search_config.install import IndexInfo, install, uninstall
from search_config.local_node import LocalNode, free_port
from search_config.names import Names
from search_config.settings import Settings

SIZES: Final = (BLOCK, 100_000, 200_000)
QUICK_SIZES: Final = (2_000, BLOCK)
# Questions of each figure: of 50, one neighbour of 20 that is missed is a thousandth of recall.
QUESTIONS, QUICK_QUESTIONS = 50, 25
VARIANT_CHUNKS, QUICK_VARIANT_CHUNKS = BLOCK, 2_000
# A process that broke a connection off and is there after this time does not end.
ENDS_S: Final = 10.0
_POLL_S: Final = 0.5
# A line of progress each so many chunks.
_TOLD_EVERY: Final = 10 * PAGE

Say = Callable[[str], None]


class _Kept(BaseModel):
    """What an interrupted run had measured."""

    model_config = ConfigDict(frozen=True)

    points: tuple[Point, ...] = ()
    variants: tuple[VariantPoint, ...] = ()


def run(
    settings: Settings,
    *,
    quick: bool,
    sizes: Sequence[int] | None = None,
    seed: int = 1,
    out: Path | None = None,
    say: Say = lambda _: None,
) -> BenchReport:
    """Measure every size, then the variants.

    Args:
        quick: small sizes, fewer questions and variants.
        sizes: rising numbers of chunks; instead of those of the full or the quick run.
        seed: of corpus and questions.
        out: folder for the JSON and the plot; None writes none.
        say: told what is done.

    Raises:
        NodeError, EngineError, ModelError, InvalidDataset
    """
    embedder = load_embedder(settings)
    count = QUICK_BASE if quick else BASE
    say(f"Embedding {count} passages, or reading them from the cache.")
    base = load_base(settings, embedder, count=count, seed=seed, progress=_told_base(say))
    corpus = Corpus(base, seed=seed)
    wanted = tuple(sorted(set(sizes or (QUICK_SIZES if quick else SIZES))))
    with _own_node(settings, say) as (engine, node):
        bench = _Bench(settings, engine, node, embedder, corpus, quick=quick, say=say)
        points = bench.sizes(wanted)
        variants = bench.variants()
        bench.remove()
    done = ScaleRun(corpus=corpus, points=points, variants=variants, quick=quick)
    if out is not None:
        write_outputs(done, out)
    return report(done)


def _told_base(say: Say) -> Callable[[int, int], None]:
    def told(done: int, total: int) -> None:
        if done % _TOLD_EVERY == 0 or done == total:
            say(f"{done} of {total} passages are embedded.")

    return told


@contextmanager
def _own_node(settings: Settings, say: Say) -> Iterator[tuple[Engine, LocalNode | None]]:
    """The cluster that is configured, or a node of this benchmark's own, whose memory is nobody else's."""
    node = None
    url = settings.opensearch_url
    if url is None:
        node = LocalNode(settings, port=free_port(), data_dir=settings.data_dir / "bench-scale")
    address = str(url) if node is None else node.start(say).url
    engine = Engine(address, timeout_s=settings.request_timeout_s)
    try:
        yield engine, node
    except BaseException:
        # What is indexed stays, for the next run.
        if node is not None:
            node.stop()
        raise
    else:
        if node is not None:
            node.remove()
    finally:
        engine.close()


def _ended(node: LocalNode) -> bool:
    """Whether the node's process is gone, or goes: one that breaks off writes its last words first."""
    until = time.monotonic() + ENDS_S
    while node.status().pid is not None:
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


class _Bench:
    """One run on one node."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        node: LocalNode | None,
        embedder: Embedder,
        corpus: Corpus,
        *,
        quick: bool,
        say: Say,
    ) -> None:
        said = f"{corpus.seed}\0{len(corpus.base)}\0{corpus.spread}\0{embedder.description}"
        key = hashlib.sha256(said.encode()).hexdigest()[:10]
        self._settings = settings.model_copy(update={"index_prefix": f"bench-scale-{key}"})
        self._kept = settings.cache_dir.expanduser() / "bench" / f"scale-{key}.json"
        self._engine, self._node, self._embedder, self._corpus = engine, node, embedder, corpus
        self._quick, self._say = quick, say
        # No beginning of the other prefix: what removes one leaves the other alone.
        self._first = self._settings.model_copy(update={"index_prefix": f"bench-smallest-{key}"})
        self._info: IndexInfo = install(engine, self._settings, embedder.description)
        self._first_info: IndexInfo = install(engine, self._first, embedder.description)
        self._profile = load_profile()
        self._questions = scale_measure.embedded(corpus, embedder, QUICK_QUESTIONS if quick else QUESTIONS)

    def sizes(self, wanted: Sequence[int]) -> tuple[Point, ...]:
        """Grow the index through the sizes, and measure each."""
        there = scale_index.count(self._engine, self._info.index)
        kept = {point.chunks: point for point in self._read().points if point.chunks <= there}
        if any(size < there and size not in kept for size in wanted):
            # An index does not shrink: what an interrupted run of other sizes left is no use.
            self.remove()
            self._info = install(self._engine, self._settings, self._embedder.description)
            self._first_info = install(self._engine, self._first, self._embedder.description)
            there, kept = 0, {}
        plain = Variant("sizes")
        points = []
        for size in wanted:
            if size in kept:
                points.append(kept[size])
                continue
            # Senders overtake each other: of an interrupted run, rows of the page before may be missing.
            first = max(0, there // PAGE - 1) * PAGE
            with scale_index.building(self._engine, self._info.index):
                seconds = scale_index.grow(
                    self._engine, self._info.index, self._corpus, self._info, first, size, plain, written=self._written
                )
            there = max(there, size)
            scale_index.settle(self._engine, self._info.index, merged=False)
            small = None if size == wanted[0] else self._filled_first(wanted[0], plain)
            points.append(self._point(size, (size - first) / seconds, plain, small))
            self._keep(_Kept(points=tuple(points), variants=self._read().variants))
        return tuple(points)

    def _written(self, done: int, total: int) -> None:
        if done % _TOLD_EVERY == 0 or done == total:
            self._say(f"{done} of {total} chunks are indexed.")

    def _point(self, size: int, rate: float, variant: Variant, first: IndexInfo | None) -> Point:
        """Measure the index as it is; its latency in turns with that of an index of the smallest size."""
        engine, index = self._engine, self._info.index
        infos = [self._info, *([] if first is None else [first])]
        legs = [scale_measure.legs_asker(engine, info.index, self._profile, variant) for info in infos]
        legs_took = scale_measure.timed(legs, self._questions)
        whole_took = scale_measure.timed([self._searcher(info) for info in infos], self._questions)
        beside = None if first is None else Beside(legs=legs_took[1], search=whole_took[1])
        self._say(
            f"{size} chunks: legs {legs_took[0].p50:g} ms, a whole search {whole_took[0].p50:g} ms at the median."
        )
        pid = None if self._node is None else self._node.status().pid
        return Point(
            chunks=size,
            chunks_per_s=round(rate, 1),
            legs=legs_took[0],
            search=whole_took[0],
            beside=beside,
            recall=scale_measure.recalls(engine, index, self._questions, variant),
            disk=scale_measure.disk(engine, index),
            segments=scale_measure.segments(engine, index),
            heap=scale_measure.heap_lived(engine),
            memory=None if pid is None else psutil.Process(pid).memory_info().rss,
        )

    def _searcher(self, info: IndexInfo) -> scale_measure.Ask:
        context = SearchContext(self._engine, info, self._embedder, self._profile, self._settings)

        def ask(question: tuple[str, tuple[float, ...]]) -> None:
            search(SearchRequest(tenant=scale_measure.MEDIUM_TENANT, query=question[0]), context)

        return ask

    def _filled_first(self, size: int, variant: Variant) -> IndexInfo:
        """An index of the smallest size, which stays as it is while the other one grows."""
        info = self._first_info
        if scale_index.count(self._engine, info.index) < size:
            with scale_index.building(self._engine, info.index):
                scale_index.grow(self._engine, info.index, self._corpus, info, 0, size, variant)
            scale_index.settle(self._engine, info.index, merged=False)
        return info

    def variants(self) -> tuple[VariantPoint, ...]:
        """Measure the ways to set an index up, each in an index of its own beside the default."""
        done = {variant.name: variant for variant in self._read().variants}
        wanted = QUICK_VARIANTS if self._quick else VARIANTS
        plain = next(variant for variant in wanted if variant.name == PLAIN)
        for variant in wanted:
            if variant.name not in done:
                done[variant.name] = self._variant(variant, plain)
                self._keep(_Kept(points=self._read().points, variants=tuple(done.values())))
        return tuple(done.values())

    def _variant(self, variant: Variant, plain: Variant) -> VariantPoint:
        try:
            index = scale_index.create(self._engine, self._info, variant)
        except EngineRejected as error:
            return VariantPoint(name=variant.name, refused=error.what)
        try:
            found = self._measured_variant(index, variant, plain)
        except EngineUnreachable:
            if self._node is None or not _ended(self._node):
                raise
            # A node without the engine's native libraries ends where one of them is needed.
            self._node.start(self._say)
            found = VariantPoint(name=variant.name, refused="ends a node without the engine's native libraries")
        if variant is not plain:
            self._engine.request("DELETE", f"/{index}")
        self._say(f"Variant {variant.name} is measured.")
        return found

    def _measured_variant(self, index: str, variant: Variant, plain: Variant) -> VariantPoint:
        engine, size = self._engine, QUICK_VARIANT_CHUNKS if self._quick else VARIANT_CHUNKS
        seconds = scale_index.grow(engine, index, self._corpus, self._info, 0, size, variant)
        scale_index.settle(engine, index, merged=variant.merged)
        pair = {index: variant} if variant is plain else {index: variant, self._filled_plain(plain, size): plain}
        asks = [scale_measure.legs_asker(engine, one, self._profile, way) for one, way in pair.items()]
        legs = scale_measure.timed(asks, self._questions)
        return VariantPoint(
            name=variant.name,
            chunks=size,
            chunks_per_s=round(size / seconds, 1),
            legs=legs[0],
            beside=Beside(legs=legs[-1]),
            recall=scale_measure.recalls(engine, index, self._questions, variant),
            disk=scale_measure.disk(engine, index),
            segments=scale_measure.segments(engine, index),
        )

    def _filled_plain(self, plain: Variant, size: int) -> str:
        """The default, which stays for the others to be compared with; an interrupted run may have removed it."""
        index = scale_index.create(self._engine, self._info, plain)
        if scale_index.count(self._engine, index) < size:
            scale_index.grow(self._engine, index, self._corpus, self._info, 0, size, plain)
            scale_index.settle(self._engine, index, merged=False)
        return index

    def remove(self) -> None:
        """Delete what was indexed and kept."""
        for settings in (self._settings, self._first):
            uninstall(self._engine, Names(prefix=settings.index_prefix))
        self._kept.unlink(missing_ok=True)

    def _read(self) -> _Kept:
        try:
            return _Kept.model_validate_json(self._kept.read_bytes())
        except (OSError, ValidationError):
            return _Kept()

    def _keep(self, kept: _Kept) -> None:
        unfinished = self._kept.with_suffix(".tmp")
        unfinished.write_text(kept.model_dump_json())
        unfinished.replace(self._kept)
