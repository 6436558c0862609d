"""What is measured of an index at one size: latency, recall under filters, bytes on disk by kind of file, memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from evaluation.benchmark.corpus import COMBINATIONS, LARGE, MEDIUM, SMALL, SMALL_TENANTS, Corpus
from evaluation.benchmark.scale_index import Variant
from models.base import Embedder
from query import build
from query.filters import Clause, tenant_filter
from query.profile import Profile
from query.request import Filters
from search_config.client import Engine
from search_config.errors import EngineRejected

# Neighbours that recall is counted of, and candidates that a search asks a leg for.
RECALL_AT: Final = 20
CANDIDATES: Final = 100
# The tenant of 1% whose latency is compared over sizes.
MEDIUM_TENANT: Final = f"{MEDIUM}-0"
MS: Final = 1000.0
# Files of Lucene by what they hold; what is not named is text, postings, doc values and the source.
VECTOR_FILES: Final = ("vec", "vemf", "veq", "vemq", "veb", "vemb")
GRAPH_FILES: Final = ("vex", "vem")
DOC_VALUES_FILES: Final = ("dvd", "dvm")
SOURCE_FILES: Final = ("fdt", "fdx", "fdm")


class Quantiles(BaseModel):
    """Milliseconds."""

    model_config = ConfigDict(frozen=True)

    p50: float
    p95: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Quantiles:
        """Of times in seconds."""
        middle, high = np.quantile(np.array(seconds) * MS, (0.5, 0.95))
        return cls(p50=round(float(middle), 2), p95=round(float(high), 2))


class Bytes(BaseModel):
    """Bytes on disk of all primary shards, by kind of file."""

    model_config = ConfigDict(frozen=True)

    total: int
    vectors: int
    graph: int
    doc_values: int
    source: int

    @property
    def text(self) -> int:
        """The rest: postings, positions, norms, points."""
        return max(0, self.total - self.vectors - self.graph - self.doc_values - self.source)


def embedded(corpus: Corpus, embedder: Embedder, count: int) -> list[tuple[str, tuple[float, ...]]]:
    """Questions with their vectors."""
    texts = corpus.queries(count)
    return [(text, tuple(map(float, row))) for text, row in zip(texts, embedder.embed_queries(texts), strict=True)]


Questions = Sequence[tuple[str, tuple[float, ...]]]


def filter_sets(questions: int) -> dict[str, list[tuple[str, list[Clause]]]]:
    """For each named filter, the tenant and clauses of each question."""
    small = (f"{SMALL}-{number * SMALL_TENANTS // questions}" for number in range(questions))
    named: dict[str, list[tuple[str, Filters]]] = {
        "tenant 50%": [(LARGE, Filters())] * questions,
        "tenant 1%": [(MEDIUM_TENANT, Filters())] * questions,
        "tenant .01%": [(tenant, Filters()) for tenant in small],
    }
    for one in COMBINATIONS:
        named[f"tenant, type, date, group {one.share:.1%}"] = [(one.tenant, one.filters)] * questions
    return {
        name: [(tenant, tenant_filter(tenant, filters)) for tenant, filters in rows] for name, rows in named.items()
    }


def recalls(engine: Engine, index: str, questions: Questions, variant: Variant) -> dict[str, float | None]:
    """Recall@20 of the k-NN leg as a search sends it against exact search, for each filter; None where nothing passes
    the filter."""
    return {
        name: _recall(engine, index, questions, rows, variant) for name, rows in filter_sets(len(questions)).items()
    }


def _recall(
    engine: Engine, index: str, questions: Questions, rows: Sequence[tuple[str, list[Clause]]], variant: Variant
) -> float | None:
    shares = []
    for (_, vector), (tenant, clauses) in zip(questions, rows, strict=True):
        exact = build.exact_knn_body(vector, clauses, candidates=RECALL_AT)
        approximate = build.dense_body(vector, clauses, candidates=CANDIDATES)
        near, true = (_ids(answer) for answer in _asked(engine, index, (approximate, exact), tenant, variant))
        if true:
            shares.append(len(set(near[:RECALL_AT]) & set(true)) / len(true))
    return round(sum(shares) / len(shares), 4) if shares else None


def _asked(engine: Engine, index: str, bodies: Sequence[build.Body], tenant: str, variant: Variant) -> list[Any]:
    header: dict[str, Any] = {"index": index}
    if (routing := variant.routing(tenant)) is not None:
        header["routing"] = routing
    answers = engine.msearch([(header, body | {"_source": False}) for body in bodies])
    for answer in answers:
        if "error" in answer:
            raise EngineRejected(f"OpenSearch refused a search: {answer['error']}.", where=index)
    return answers


def _ids(answer: Mapping[str, Any]) -> list[str]:
    return [row["_id"] for row in answer["hits"]["hits"]]


# Asks one question, whatever comes of it.
Ask = Callable[[tuple[str, tuple[float, ...]]], object]


def legs_asker(engine: Engine, index: str, profile: Profile, variant: Variant, *, tenant: str = MEDIUM_TENANT) -> Ask:
    """Asks for both legs in one `_msearch`, as a search sends them, each row with its passage: as where a stage
    looks into them (`query.retrieve.Plan.texts`); else a search asks for keys alone, which takes about half."""
    clauses = tenant_filter(tenant)
    header: dict[str, Any] = {"index": index}
    if (routing := variant.routing(tenant)) is not None:
        header["routing"] = routing

    def ask(question: tuple[str, tuple[float, ...]]) -> None:
        text, _ = build.lexical_text(question[0], profile)
        lexical = build.lexical_body(build.lexical_query(text, clauses, profile), candidates=CANDIDATES)
        engine.msearch([(header, lexical), (header, build.dense_body(question[1], clauses, candidates=CANDIDATES))])

    return ask


def timed(asks: Sequence[Ask], questions: Questions) -> list[Quantiles]:
    """Times of one call a question by each of `asks`, after one round that warms up. They take turns, and who begins
    changes: a machine that slows down slows all of them."""
    for question in questions:
        for ask in asks:
            ask(question)
    times: list[list[float]] = [[] for _ in asks]
    for number, question in enumerate(questions):
        for turn in range(len(asks)):
            place = (number + turn) % len(asks)
            times[place].append(_seconds(asks[place], question))
    return [Quantiles.of(one) for one in times]


def _seconds(ask: Ask, question: tuple[str, tuple[float, ...]]) -> float:
    begin = time.perf_counter()
    ask(question)
    return time.perf_counter() - begin


def disk(engine: Engine, index: str) -> Bytes:
    """Bytes of an index that is settled."""
    answer = engine.request("GET", f"/{index}/_stats/store,segments", params={"include_segment_file_sizes": "true"})[
        "_all"
    ]["primaries"]
    sizes = {name: int(one["size_in_bytes"]) for name, one in answer["segments"].get("file_sizes", {}).items()}

    def of(kinds: Sequence[str]) -> int:
        return sum(sizes.get(kind, 0) for kind in kinds)

    return Bytes(
        # The engine renews the first figure every ten seconds only; the files' own are of now.
        total=max(int(answer["store"]["size_in_bytes"]), sum(sizes.values())),
        vectors=of(VECTOR_FILES),
        graph=of(GRAPH_FILES),
        doc_values=of(DOC_VALUES_FILES),
        source=of(SOURCE_FILES),
    )


def heap_lived(engine: Engine) -> int:
    """Bytes of heap, of all nodes, that the last collection left, or that are in use where there was none."""
    pools = [
        pool
        for node in engine.request("GET", "/_nodes/stats/jvm")["nodes"].values()
        for pool in node["jvm"]["mem"]["pools"].values()
    ]
    left = sum(int(pool.get("last_gc_stats", {}).get("used_in_bytes", 0)) for pool in pools)
    return left or sum(int(pool["used_in_bytes"]) for pool in pools)


def segments(engine: Engine, index: str) -> int:
    """Segments of all primary shards."""
    return int(engine.request("GET", f"/{index}/_stats/segments")["_all"]["primaries"]["segments"]["count"])
