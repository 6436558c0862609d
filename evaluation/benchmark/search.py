"""`mafteach bench search`: what `/search` costs beside a bare loop over the same engine, model and features.

The bare loop is what somebody writes who needs ranked passages and nothing else: it embeds the query, sends both legs
in one `_msearch` (the bodies and filters are those of a search), fuses by rank, reads the features of the best fifty,
reranks by the same blend, and reads its ten passages with their words marked. No tenant is checked in it, no version,
no refusal; nothing is logged or validated. A search is a request over HTTP to a server of its own process, with a key,
and a client that reads its JSON.

Both answer the same questions in turns, and who begins changes, so that a machine that slows down slows both. Rounds of
16 clients at once (threads, for the bare loop) take turns likewise. A tenant of half of the chunks is asked, then one
of 1%, there beside the engine's two legs and the embedding alone too.
"""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

from evaluation.benchmark.corpus import GROUPS, LARGE, MEDIUM, Corpus
from evaluation.benchmark.corpus_base import BASE, QUICK_BASE, load_base
from evaluation.benchmark.report import BenchReport, Check
from evaluation.benchmark.temporary import temporary_index
from ingest.chunk_store import ChunkRow, ChunkStore
from models.base import EncodedQueries, TokenCoder, token_coder
from models.factory import load_embedder
from query import build
from query.base64_text import decoded
from query.features import BM25, COSINE, MAXSIM, MAXSIM_MEAN, MAXSIM_NEAR
from query.filters import tenant_filter
from query.language import query_language
from query.profile import Profile, load_profile
from query.reranking import POOL
from query.search import MIN_CANDIDATES
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexingIncomplete, ModelUnavailable
from search_config.install import IndexInfo
from search_config.records import ChunkRecord, DocumentRecord, DocumentState
from search_config.settings import Settings

CHUNKS, QUICK_CHUNKS = 20_000, 2_000
QUERIES, QUICK_QUERIES = 200, 60
CLIENTS: Final = 16
ROUNDS, QUICK_ROUNDS = 3, 2
# Questions of one client in one round.
EACH, QUICK_EACH = 12, 6
# Words of a question; those of the examples have eleven in the middle, four of them function words.
WORDS: Final = 8
# Asked before anything is measured: both processes load, compile and connect.
WARM_UP: Final = 20
SIZE: Final = 10
TARGET_OVERHEAD: Final = 1.25
TARGET_RATE: Final = 0.8
TARGET_LEGS: Final = 2.0
OVERHEAD: Final = "p50 of /search over a bare loop"
# A tenant of 1% of the chunks.
ONE_PERCENT: Final = f"{MEDIUM}-0"
OVERHEAD_OF_ONE_PERCENT: Final = "tenant of 1%: p50 of /search over a bare loop"
LEGS_OF_ONE_PERCENT: Final = "tenant of 1%: p50 of /search over embedding and both legs"
RATE: Final = "searches a second of 16 clients over a bare loop of 16 threads"
_RRF_K: Final = 60
_TIMEOUT_S: Final = 60.0
_OK: Final = 200
MS: Final = 1000.0

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """A running service, and a key that sees all of the measured tenant."""

    url: str
    key: str


# Starts a service with some settings, for a tenant and its groups, and ends it.
Serve = Callable[[Settings, str, Sequence[str]], AbstractContextManager[Served]]


def run(
    settings: Settings, engine: Engine, serve: Serve, *, quick: bool, seed: int = 1, chunks: int | None = None
) -> BenchReport:
    """Measure both ratios in one run.

    Args:
        serve: starts the service.
        chunks: size of the index; None takes the size's own.

    Raises:
        EngineError, ModelError
        ModelUnavailable: the model writes no token codes, or the service answered with an error.
    """
    embedder = load_embedder(settings)
    coder = token_coder(embedder)
    if coder is None:
        raise ModelUnavailable("The configured model writes no token codes.", where=embedder.description.identity)
    corpus = Corpus(load_base(settings, embedder, count=QUICK_BASE if quick else BASE, seed=seed), seed=seed)
    groups = tuple(group for group in GROUPS if group)
    size = chunks or (QUICK_CHUNKS if quick else CHUNKS)
    with temporary_index(engine, settings, embedder.description) as (info, own):
        _fill(engine, info, own, corpus, size)
        bare = Bare(engine, info, coder, load_profile().checked_for(info), LARGE, groups)
        with serve(own, LARGE, groups) as served:
            report = _measured(bare, served, corpus, quick=quick)
        with serve(own, ONE_PERCENT, groups) as served:
            more = _of_one_percent(replace(bare, tenant=ONE_PERCENT), served, corpus, quick=quick)
    return report.model_copy(update={"size": f"{size:,} chunks", "checks": (*report.checks, *more)})


def _measured(bare: Bare, served: Served, corpus: Corpus, *, quick: bool) -> BenchReport:
    count, rounds, each = (QUICK_QUERIES, QUICK_ROUNDS, QUICK_EACH) if quick else (QUERIES, ROUNDS, EACH)
    asked = questions(corpus, WARM_UP + count + rounds * CLIENTS * each)
    warm, single, rest = asked[:WARM_UP], asked[WARM_UP : WARM_UP + count], asked[WARM_UP + count :]
    with connected(served) as search:
        for query in warm:
            search(query), bare.ask(query)
        ours, theirs, stages, refused = _alternating(search, bare.ask, single)
    rates = [_rates(bare, served, rest[at * CLIENTS * each :][: CLIENTS * each], first=at % 2) for at in range(rounds)]
    overhead = statistics.median(ours) / statistics.median(theirs)
    rate = statistics.median(mine / other for mine, other in rates)
    return BenchReport(
        name="search",
        checks=(
            Check(
                name=OVERHEAD,
                value=round(overhead, 3),
                target=f"<= {TARGET_OVERHEAD:g}",
                holds=overhead <= TARGET_OVERHEAD,
            ),
            Check(name=RATE, value=round(rate, 3), target=f">= {TARGET_RATE:g}", holds=rate >= TARGET_RATE),
        ),
        columns=("what", "/search", "bare loop"),
        rows=(
            ("p50, ms", f"{statistics.median(ours):.1f}", f"{statistics.median(theirs):.1f}"),
            ("p95, ms", f"{_p95(ours):.1f}", f"{_p95(theirs):.1f}"),
            (
                "searches a second",
                f"{statistics.median(mine for mine, _ in rates):.1f}",
                f"{statistics.median(other for _, other in rates):.1f}",
            ),
            # A refusal looks for other spellings too.
            ("refused", f"{refused} of {count}", ""),
            *((f"{stage}, ms (p50)", f"{statistics.median(values):.1f}", "") for stage, values in stages.items()),
        ),
    )


def _of_one_percent(bare: Bare, served: Served, corpus: Corpus, *, quick: bool) -> tuple[Check, Check]:
    """What a search costs a small tenant, in whose passages the engine has little to do."""
    count = QUICK_QUERIES if quick else QUERIES
    asked = questions(corpus, WARM_UP + count, tenant=ONE_PERCENT)
    with connected(served) as search:
        for query in asked[:WARM_UP]:
            search(query), bare.ask(query)
        ours, theirs, _, _ = _alternating(search, bare.ask, asked[WARM_UP:])
        whole, alone, _, _ = _alternating(search, bare.legs, asked[WARM_UP:])
    overhead = statistics.median(ours) / statistics.median(theirs)
    legs = statistics.median(whole) / statistics.median(alone)
    return (
        Check(
            name=OVERHEAD_OF_ONE_PERCENT,
            value=round(overhead, 3),
            target=f"<= {TARGET_OVERHEAD:g}",
            holds=overhead <= TARGET_OVERHEAD,
        ),
        Check(name=LEGS_OF_ONE_PERCENT, value=round(legs, 3), target=f"<= {TARGET_LEGS:g}", holds=legs <= TARGET_LEGS),
    )


def questions(corpus: Corpus, count: int, tenant: str = LARGE) -> list[str]:
    """As long as people's, of words that stand in passages of a tenant, as they follow each other: a search that finds
    nothing good looks for another spelling too, which is not what most searches do."""
    dice = np.random.default_rng((corpus.seed, 11))
    found: list[str] = []
    page = corpus.page(0)
    own = [content for content, owner in zip(page.contents, page.tenants, strict=True) if owner == tenant]
    while len(found) < count:
        words = own[len(found) % len(own)].split()
        start = int(dice.integers(max(1, len(words) - WORDS)))
        found.append(" ".join(words[start : start + WORDS]))
    return found


def _alternating(
    search: Callable[[str], Json], bare: Callable[[str], object], queries: Sequence[str]
) -> tuple[list[float], list[float], dict[str, list[float]], int]:
    """Milliseconds of each question by both, and of the stages that the service tells; and how many it refused."""
    ours, theirs, stages, refused = list[float](), list[float](), dict[str, list[float]](), 0
    for place, query in enumerate(queries):
        for mine in (place % 2 == 0, place % 2 == 1):
            start = time.perf_counter()
            answer = search(query) if mine else bare(query)
            (ours if mine else theirs).append((time.perf_counter() - start) * MS)
            if mine and isinstance(answer, dict):
                refused += answer["refused"]
                for stage, took in answer["took_ms"].items():
                    stages.setdefault(stage, []).append(took)
    return ours, theirs, stages, refused


def _rates(bare: Bare, served: Served, queries: Sequence[str], *, first: int) -> tuple[float, float]:
    """Searches a second of all clients at once, by the service and by the bare loop."""
    parts = [queries[client::CLIENTS] for client in range(CLIENTS)]

    def clients(part: Sequence[str]) -> None:
        with connected(served) as search:
            for query in part:
                search(query)

    def threads(part: Sequence[str]) -> None:
        for query in part:
            bare.ask(query)

    found = {}
    for work in (clients, threads) if first == 0 else (threads, clients):
        with ThreadPoolExecutor(CLIENTS) as pool:
            start = time.perf_counter()
            list(pool.map(work, parts))
            found[work] = len(queries) / (time.perf_counter() - start)
    return found[clients], found[threads]


def _p95(values: Sequence[float]) -> float:
    return float(np.quantile(values, 0.95))


@contextmanager
def connected(served: Served) -> Iterator[Callable[[str], Json]]:
    """One client with a connection of its own: asks `/search` and reads the answer."""
    address = urlsplit(served.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_S)
    headers = {"Authorization": f"Bearer {served.key}", "Content-Type": "application/json"}

    def search(query: str) -> Json:
        # Passages alone are compared: the bare loop counts no fields.
        body = json.dumps({"query": query, "size": SIZE, "route": "semantic"})
        connection.request("POST", "/search", body.encode(), headers)
        response = connection.getresponse()
        answer: Json = json.loads(response.read())
        if response.status != _OK:
            raise ModelUnavailable(f"/search answered {response.status}: {answer.get('detail')}", where=served.url)
        return answer

    try:
        yield search
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class Bare:
    """The loop without a service around it."""

    engine: Engine
    info: IndexInfo
    coder: TokenCoder
    profile: Profile
    tenant: str
    groups: tuple[str, ...]

    def legs(self, query: str) -> list[Json]:
        """The engine's answers of both legs, and nothing after them."""
        return self._found(query)[-1]

    def ask(self, query: str) -> list[Json]:
        """The sources of the ten best passages, best first."""
        encoded, vector, filters, lexical, header, answers = self._found(query)
        cosines: dict[str, float] = {}
        fused: dict[str, float] = {}
        for leg, answer in enumerate(answers):
            for rank, row in enumerate(answer["hits"]["hits"], start=1):
                chunk = build.chunk_of(row)
                fused[chunk] = fused.get(chunk, 0.0) + 1 / (_RRF_K + rank)
                if leg == 1:
                    cosines[chunk] = build.cosine_of(row["_score"])
        pool = sorted(fused, key=lambda one: -fused[one])[:POOL]
        scores = self._scores(query, pool, filters, vector, cosines, encoded.tokens[0])
        best = sorted(pool, key=lambda one: -scores[one])[:SIZE]
        read = self.engine.msearch([(header, build.details_body(best, filters, lexical, vector, self.profile))])
        rows = {row["_id"]: row for row in read[0]["hits"]["hits"]}
        return [{**rows[one]["_source"], "highlight": rows[one].get("highlight", {})} for one in best]

    def _found(self, query: str) -> tuple[EncodedQueries, list[float], list[Json], Json, Json, list[Json]]:
        """The query's encoding and vector, the filters, the lexical query, the header, and both legs' answers."""
        encoded = self.coder.encode_queries([query])
        vector = encoded.vectors[0].tolist()
        filters = tenant_filter(self.tenant, groups=self.groups)
        text, _ = build.lexical_text(query, self.profile)
        lexical = build.lexical_query(text, filters, self.profile, ())
        header = build.header(self.info.index, tenant=self.tenant, query=query)
        answers = self.engine.msearch(
            [
                ({**header, "search_type": "dfs_query_then_fetch"},
                 build.lexical_body(lexical, candidates=MIN_CANDIDATES, texts=False)),
                (header, build.dense_body(vector, filters, candidates=MIN_CANDIDATES, texts=False)),
            ]
        )  # fmt: skip
        return encoded, vector, filters, lexical, header, answers

    def _scores(
        self,
        query: str,
        pool: Sequence[str],
        filters: Sequence[Json],
        vector: Sequence[float],
        cosines: Mapping[str, float],
        tokens: Any,
    ) -> dict[str, float]:
        weights = self.profile.blend_for(query_language(query)) or {}
        searched = [name for name in weights if name.startswith(BM25)]
        text, _ = build.bounded_text(query, len(searched))
        named = {name: {"match": {name.removeprefix(BM25): {"query": text}}} for name in searched}
        wanted = vector if any(one not in cosines for one in pool) else None
        body = build.features_body(list(pool), filters, named, wanted, with_codes=True)
        answer = self.engine.search(
            self.info.index,
            body,
            compressed=False,
            include_named_queries_score="true",
            search_type="dfs_query_then_fetch",
        )
        rows = {build.chunk_of(row): row for row in answer["hits"]["hits"]}
        codes = decoded([rows[one]["fields"][fields.TOKEN_CODES][0] for one in pool])
        near = self.coder.maxsim(tokens, codes)
        scores = {}
        for place, one in enumerate(pool):
            matched = rows[one].get("matched_queries")
            known = dict(matched) if isinstance(matched, dict) else {}
            known[COSINE] = cosines[one] if one in cosines else build.cosine_of(known.get(COSINE, 0.0))
            known[MAXSIM], known[MAXSIM_NEAR] = float(near.whole[place]), float(near.near[place])
            known[MAXSIM_MEAN] = known[MAXSIM] / max(1, len(tokens))
            scores[one] = sum(weight * known.get(name, 0.0) for name, weight in weights.items())
        return scores


def _fill(engine: Engine, info: IndexInfo, settings: Settings, corpus: Corpus, chunks: int) -> None:
    """Write chunks, and the rows of their documents."""
    store = ChunkStore(engine, info, settings)
    step = settings.bulk_max_items
    for start in range(0, chunks, step):
        rows = list(corpus.rows(start, min(chunks, start + step), info))
        _all_ok(store.write(rows))
        _all_ok(engine.bulk([line for row in rows for line in _document(row, info)]))
    for index in (info.index, info.names.documents):
        engine.request("POST", f"/{index}/_refresh")


def _document(row: ChunkRow, info: IndexInfo) -> tuple[str, str]:
    record: ChunkRecord = row.record
    now = datetime.now(UTC)
    document = DocumentRecord(
        document_id=record.document_id,
        tenant=record.tenant,
        name=f"{record.document_id}.txt",
        source=f"bench:{record.document_id}",
        state=DocumentState.READY,
        chunks_generated=1,
        chunks_indexed=1,
        version=record.version,
        content_hash=record.content_hash,
        title=record.title,
        groups=record.groups,
        created_at=now,
        updated_at=now,
    )
    action = json.dumps({"index": {"_index": info.names.documents, "_id": record.document_id}})
    return action, json.dumps(document.model_dump(mode="json", exclude_none=True), ensure_ascii=False)


def _all_ok(items: Sequence[Any]) -> None:
    refused = [item for item in items if not item.ok]
    if refused:
        raise IndexingIncomplete(f"{len(refused)} of {len(items)} rows were not written: {refused[0].error}.")
