"""`mafteach bench rerank`: what reranking costs a candidate, the fetch of its code included, and codes on disk; and how
long a cross-encoder takes for the same passages, where the extra `sentence-transformers` is installed."""

from __future__ import annotations

import os
import statistics
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Final

from evaluation.benchmark.embed import passages
from evaluation.benchmark.report import BenchReport, Check
from evaluation.index import TENANT
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from models.cross_encoder import CrossEncoderScorer
from models.factory import load_embedder
from models.late_interaction import HEADER
from models.random_cross_encoder import write_random_cross_encoder
from query.features import COSINE, MAXSIM, MAXSIM_NEAR, bm25_feature
from query.profile import load_profile
from query.request import SearchRequest
from query.reranking import POOL, LinearBlend
from query.reranking_stage import reranked
from query.search import SearchContext, rank
from search_config import fields
from search_config.client import Engine
from search_config.errors import EngineError, MissingExtra
from search_config.install import IndexInfo, attach, install, uninstall
from search_config.names import Names
from search_config.settings import Settings

TARGET_US: Final = 200.0
TARGET_BYTES: Final = 52.0
TARGET_SPEED: Final = 50.0
SPEED: Final = "rerank of 25 candidates, times faster than a cross-encoder of 6 layers of 384"
# Candidates that are compared with the cross-encoder, and how often it reads them: about a second each.
_COMPARED: Final = 25
_CROSS_ROUNDS, _QUICK_CROSS_ROUNDS = 7, 3
# Tokens of the passage that the target speaks of.
CANDIDATE_TOKENS: Final = 150
_QUERY: Final = "כמה זמן יש לספק לתקן תקלה לאחר שנמסרה לו הודעה?"
_DOCUMENTS: Final = 120  # more than are reranked
_BATCH: Final = 30
_ROUNDS, _QUICK_ROUNDS = 60, 15
US_PER_S: Final = 1e6
# What the libraries under numpy read, each its own.
_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# An engine keeps what replicas may still ask for; it looks again at what that is every 30 s.
_LEASE_S, _POLL_S = 120.0, 2.0
# An engine tells sizes of files as they were up to 10 s ago.
_STATISTICS_S: Final = 11.0
_MIN_BITS: Final = 1


def run(settings: Settings, engine: Engine, *, quick: bool) -> BenchReport:
    """Ingest passages, rerank them again and again with one thread; then compare the index with one without codes.

    A quick run leaves the disk out: merging away what the engine keeps for replicas takes a minute of waiting.

    Raises:
        EngineError, ModelError
    """
    coded = settings.model_copy(update={"token_bits": settings.token_bits or _MIN_BITS})
    embedder = load_embedder(coded)
    with _index(coded, engine, embedder) as info:
        tokens = _tokens(engine, info, coded)
        micros = _micros_alone(coded.model_copy(update={"index_prefix": info.names.prefix}), engine.url, quick=quick)
        per_candidate = micros * CANDIDATE_TOKENS / (sum(tokens) / len(tokens))
        disk = None if quick else _disk(engine, info, coded, sum(tokens))
    slow = _cross_encoder_s(settings, passages(embedder, _COMPARED), quick=quick)
    faster = None if slow is None else slow * US_PER_S / (micros * _COMPARED)
    checks = (
        Check(
            name=f"rerank, us a candidate of {CANDIDATE_TOKENS} tokens",
            value=round(per_candidate, 1),
            target=f"<= {TARGET_US:g}",
            holds=per_candidate <= TARGET_US,
        ),
        Check(
            name="token codes on disk, bytes a token and bit",
            value=None if disk is None else round(disk, 2),
            target=f"<= {TARGET_BYTES:g}",
            holds=None if disk is None else disk <= TARGET_BYTES,
        ),
        Check(
            name=SPEED,
            value=None if faster is None else round(faster, 1),
            target=f">= {TARGET_SPEED:g}",
            holds=None if faster is None else faster >= TARGET_SPEED,
        ),
    )
    return BenchReport(
        name="rerank",
        size=f"{POOL} candidates, {_COMPARED} beside the cross-encoder",
        checks=checks,
        columns=("bits", "tokens a passage", "candidates", "ms a query"),
        rows=((str(coded.token_bits), f"{sum(tokens) / len(tokens):.0f}", str(POOL), f"{micros * POOL / 1000:.1f}"),),
    )


def _cross_encoder_s(settings: Settings, texts: list[str], *, quick: bool) -> float | None:
    """Seconds a query of a cross-encoder with `MAFTEACH_EMBEDDER_THREADS` threads, the median of the rounds; its
    weights are random, which makes it no slower. None without the extra."""
    folder = settings.cache_dir.expanduser() / "bench" / "cross-encoder"
    try:
        if not (folder / "model.safetensors").is_file():
            write_random_cross_encoder(folder)
        scorer = CrossEncoderScorer(str(folder), threads=settings.embedder_threads)
    except MissingExtra:
        return None
    scorer.score(_QUERY, texts[:1])
    took = []
    for _ in range(_QUICK_CROSS_ROUNDS if quick else _CROSS_ROUNDS):
        start = time.perf_counter()
        scorer.score(_QUERY, texts)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


@contextmanager
def _index(settings: Settings, engine: Engine, embedder: Embedder) -> Iterator[IndexInfo]:
    own = settings.model_copy(update={"index_prefix": f"bench-{uuid.uuid4().hex[:10]}"})
    try:
        info = install(engine, own, embedder.description)
        ingestor = Ingestor(engine, info, embedder, own)
        documents = [
            RawDocument(tenant=TENANT, source=f"{number}", name=f"{number}.txt", data=text.encode())
            for number, text in enumerate(passages(embedder, _DOCUMENTS))
        ]
        # In several calls, and so segments: one alone is never merged.
        for start in range(0, _DOCUMENTS, _BATCH):
            ingestor.ingest(documents[start : start + _BATCH])
        yield info
    finally:
        uninstall(engine, Names(prefix=own.index_prefix))


def _tokens(engine: Engine, info: IndexInfo, settings: Settings) -> list[int]:
    """Tokens of each passage, by the length of its code."""
    body = {"size": 10 * _DOCUMENTS, "_source": False, "docvalue_fields": [fields.TOKEN_CODES]}
    rows = engine.search(info.index, body, compressed=False)["hits"]["hits"]
    sizes = [len(row["fields"][fields.TOKEN_CODES][0]) * 3 // 4 - HEADER.size for row in rows]
    return [size * 8 // (info.model.dim * settings.token_bits) for size in sizes]


def _micros_alone(settings: Settings, url: str, *, quick: bool) -> float:
    """`_micros` in a process of its own whose linear algebra has one thread: that is fixed when numpy is loaded."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(_micros, settings, url, quick=quick).result()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _micros(settings: Settings, url: str, *, quick: bool) -> float:
    """Microseconds a candidate: the median of the rounds."""
    engine = Engine(url, timeout_s=settings.request_timeout_s)
    embedder = load_embedder(settings)
    info = attach(engine, settings, embedder.description)
    context = SearchContext(engine, info, embedder, load_profile(), settings)
    ranking = rank(SearchRequest(tenant=TENANT, query=_QUERY), context)
    blend = LinearBlend(dict.fromkeys((bm25_feature(fields.CONTENT), COSINE, MAXSIM, MAXSIM_NEAR), 1.0))
    took = []
    for _ in range(_QUICK_ROUNDS if quick else _ROUNDS):
        start = time.perf_counter()
        reranked(engine, ranking.plan, ranking.query, ranking.fused, blend, ranking.tokens)
        took.append(time.perf_counter() - start)
    engine.close()
    return statistics.median(took) * US_PER_S / min(POOL, len(ranking.fused))


def _disk(engine: Engine, info: IndexInfo, settings: Settings, tokens: int) -> float:
    """Bytes a token and bit that the index has over one of the same passages without codes, both merged."""
    without = settings.model_copy(update={"token_bits": 0})
    with _index(without, engine, load_embedder(without)) as plain:
        extra = _merged_bytes(engine, info.index) - _merged_bytes(engine, plain.index)
    return extra / (tokens * settings.token_bits)


def _merged_bytes(engine: Engine, index: str) -> int:
    """Bytes of an index of one segment, without what the engine keeps of the rows for replicas that come back."""
    engine.request("POST", f"/{index}/_flush")
    deadline = time.monotonic() + _LEASE_S
    while not _released(engine, index):
        if time.monotonic() > deadline:
            raise EngineError("The engine keeps the history of an index for too long.", where=index)
        time.sleep(_POLL_S)
        engine.request("POST", f"/{index}/_flush", params={"force": "true"})
    engine.request("POST", f"/{index}/_forcemerge", params={"max_num_segments": 1})
    engine.request("POST", f"/{index}/_flush", params={"force": "true"})
    # Files of before stay as long as a reader has them open.
    engine.request("POST", f"/{index}/_refresh")
    time.sleep(_STATISTICS_S)
    return int(engine.request("GET", f"/{index}/_stats/store")["_all"]["total"]["store"]["size_in_bytes"])


def _released(engine: Engine, index: str) -> bool:
    """Whether the last commit keeps no row for replicas: only then does a merge drop what was kept."""
    shards = engine.request("GET", f"/{index}/_stats", params={"level": "shards"})["indices"][index]["shards"]
    return all(
        int(copy["commit"]["user_data"]["min_retained_seq_no"]) > copy["seq_no"]["max_seq_no"]
        for copies in shards.values()
        for copy in copies
    )
