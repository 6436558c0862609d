"""`mafteach bench faults`: `kill -9` of a worker or of the node at random moments of an ingest, and what is left of it.

A run is repeated from its seed: the same documents, the same victims, the same pauses, these as parts of what the same
work takes without faults. It has a node and folders of its
own, and leaves nothing.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final

from evaluation.benchmark.report import BenchReport, Check
from evaluation.index import TENANT
from ingest.compose import opened_ingestor
from ingest.pipeline import Ingestor
from ingest.registry import STATES_MAX
from ingest.service import take
from ingest.worker import ingest_paths
from models.factory import load_embedder
from search_config import fields
from search_config.client import Engine
from search_config.errors import MafteachError
from search_config.install import install
from search_config.local_node import LocalNode, free_port
from search_config.records import DocumentState
from search_config.settings import Settings

DOCUMENTS, QUICK_DOCUMENTS = 300, 40
KILLS, QUICK_KILLS = 50, 6
# One victim in so many is the node: it takes ten seconds to come back, a worker two.
NODE_EVERY: Final = 5
# A worker lives at most as long as these many documents take on this machine, by the run without faults: so that on a
# slow one too some reach each state.
LIFE_DOCUMENTS: Final = 64
# Bounds of that: where the machine is so fast that the way of a batch were over at once, and where it is so slow, or so
# few documents are ingested, that most of a run were waiting.
LIFE_LEAST_S, LIFE_MOST_S = 2.5, 8.0
# A worker that does not begin in this time never will.
BEGIN_S: Final = 120.0
# Leases are short, so that a run does not wait for them; workers of this machine are known to be gone at once.
LEASE_S: Final = 2.0
NODE_HEAP_MB: Final = 512
# When everything is ready before the last kill, one file in so many is written anew, and there is work again.
CHANGE_EVERY: Final = 3
PARAGRAPHS_MAX: Final = 6
# Sentences of a paragraph, and a target that makes each paragraph a chunk of its own: what is tested is the way of many
# chunks, not the model, which is fastest with short ones.
SENTENCES: Final = 2
CHUNK_TARGET: Final = 128
# Rows of one page of chunk ids.
PAGE: Final = 5_000
LIVING: Final = "living"
CLEAN: Final = "clean"

_SUBJECTS: Final = ("ועדת הכספים", "מחלקת הגינון", "הספק", "אגף החינוך", "הנהלת המחסן", "יועצת המים")
_DEEDS: Final = (
    "אישרה את ההצעה",
    "ביקשה דיון נוסף",
    "דחתה את המועד",
    "פרסמה נוהל חדש",
    "הזמינה ציוד",
    "בדקה את החשבון",
)


Say = Callable[[str], None]


@dataclass(slots=True)
class Tally:
    """What happened, and what was found after it.

    Attributes:
        states: of the documents after the last kill.
        struck: the same summed over all kills: where in its way a document was met.
        unseen: documents without a row after the last kill, or in a state from which nothing goes on.
        attempts: runs that it took to make everything ready after the last kill.
        lost, doubled: chunks that are not there, or are there beside those that belong, against a run without faults.
    """

    worker_kills: int = 0
    node_kills: int = 0
    unseen: int = 0
    attempts: int = 0
    ready: int = 0
    lost: int = 0
    doubled: int = 0
    miscounted: int = 0
    states: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)


def run(
    settings: Settings,
    *,
    quick: bool,
    seed: int = 1,
    documents: int | None = None,
    kills: int | None = None,
    say: Say = lambda _: None,
) -> BenchReport:
    """Ingest while workers and the node are killed, then to the end, and compare with a run without faults.

    Args:
        quick: fewer documents and kills.
        seed: of the documents, the victims and the pauses.
        documents, kills: instead of those of the full or the quick run.
        say: told the documents' states after each kill.

    Raises:
        NodeError, EngineError, ModelError
    """
    documents = documents or (QUICK_DOCUMENTS if quick else DOCUMENTS)
    kills = (QUICK_KILLS if quick else KILLS) if kills is None else kills
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mafteach-faults-") as name:
        bench = _Bench(settings, Path(name), seed, documents, say)
        try:
            tally = bench.run(kills)
        finally:
            bench.node.remove()
    checks = (
        _check("documents that are neither ready nor go on after the last kill", tally.unseen, 0),
        _check("documents ready at the end", tally.ready, documents),
        _check("chunks lost", tally.lost, 0),
        _check("chunks doubled", tally.doubled, 0),
        _check("documents whose counts do not agree", tally.miscounted, 0),
        Check(name="kills", value=tally.worker_kills + tally.node_kills, target="", holds=None),
        Check(name="seconds", value=round(time.perf_counter() - started, 1), target="", holds=None),
    )
    return BenchReport(
        name="faults",
        size=f"{documents} documents, {kills} kills, seed {seed}",
        checks=checks,
        columns=(
            "seed",
            "documents",
            "workers killed",
            "nodes killed",
            "states at all kills",
            "states after the last kill",
            "runs to the end",
        ),
        rows=(
            (
                str(seed),
                str(documents),
                str(tally.worker_kills),
                str(tally.node_kills),
                _shown(tally.struck),
                _shown(tally.states),
                str(tally.attempts),
            ),
        ),
    )


def _shown(states: Counter[str]) -> str:
    return ", ".join(f"{state} {count}" for state, count in sorted(states.items()))


def _check(name: str, value: int, target: int) -> Check:
    return Check(name=name, value=value, target=f"= {target}", holds=value == target)


class _Bench:
    """One run."""

    def __init__(self, settings: Settings, folder: Path, seed: int, documents: int, say: Say) -> None:
        own = settings.model_copy(
            update={
                "opensearch_url": None,
                "node_port": free_port(),
                "node_heap_mb": NODE_HEAP_MB,
                "data_dir": folder / "node",
                "spool_dir": folder / "spool",
                "lease_s": LEASE_S,
                "chunk_target": CHUNK_TARGET,
            }
        )
        self.node = LocalNode(own)
        self._living = own.model_copy(update={"index_prefix": LIVING})
        self._clean = own.model_copy(update={"index_prefix": CLEAN})
        self._corpus = folder / "documents"
        # Apart, since how much is written anew depends on how fast the machine is, and the kills should not.
        self._dice = random.Random(seed)  # noqa: S311  repeatable, not secret
        self._words = random.Random(seed)  # noqa: S311
        self._documents = documents
        self._say = say
        self._edition = 0
        self._life_s = LIFE_LEAST_S
        self._context = get_context("spawn")

    def run(self, kills: int) -> Tally:
        tally = Tally()
        self._corpus.mkdir()
        for number in range(self._documents):
            self._write(number)
        url = self.node.start().url
        with _engine(self._living, url) as engine:
            model = load_embedder(self._living).description
            for settings in (self._living, self._clean):
                install(engine, settings, model)
            started = time.perf_counter()
            self._ingest_clean(url)
            share = min(1.0, LIFE_DOCUMENTS / self._documents)
            self._life_s = min(LIFE_MOST_S, max(LIFE_LEAST_S, share * (time.perf_counter() - started)))
            for number in range(kills):
                self._one_kill(url, tally)
                tally.struck += _states(engine)
                self._say(f"kill {number + 1} of {kills}: {_shown(_states(engine))}")
        self._finish(url, tally)
        self._compare(url, tally)
        return tally

    def _write(self, number: int) -> None:
        """One file, of one to six paragraphs."""
        words, edition = self._words, self._edition
        lines = [
            f"{words.choice(_SUBJECTS)} {words.choice(_DEEDS)} בסעיף {number}.{line}, מהדורה {edition}. " * SENTENCES
            for line in range(words.randint(1, PARAGRAPHS_MAX))
        ]
        text = f"# מסמך {number}\n\n" + "\n\n".join(lines) + "\n"
        (self._corpus / f"{number:04d}.md").write_text(text, encoding="utf-8")

    def _one_kill(self, url: str, tally: Tally) -> None:
        """Let a worker begin, and kill it at a random moment; or the node under it, and the worker some time after the
        node is back, if it has not ended by itself."""
        pause, after = (self._dice.random() * self._life_s for _ in range(2))
        of_node = self._dice.randrange(NODE_EVERY) == 0
        worker, pipe = self._begin(url)
        try:
            if pipe.poll(pause):  # it is done before its time has come: there is new work for the next one
                self._edition += 1
                for number in range(self._documents):
                    if self._words.randrange(CHANGE_EVERY) == 0:
                        self._write(number)
            if of_node:
                self.node.kill()
                self.node.start()
                pipe.poll(after)
                tally.node_kills += 1
            else:
                worker.kill()
                tally.worker_kills += 1
        finally:
            worker.kill()
            worker.join()
            pipe.close()

    def _begin(self, url: str) -> tuple[SpawnProcess, Connection]:
        """A worker that has begun; it says when it is done."""
        ours, theirs = self._context.Pipe(duplex=False)
        worker = self._context.Process(target=_ingest, args=(theirs, self._living, url, self._corpus))
        worker.start()
        theirs.close()
        if ours.poll(BEGIN_S):
            ours.recv()
        return worker, ours

    def _finish(self, url: str, tally: Tally) -> None:
        """Look at what is left, and go on until everything is ready, as a person would."""
        with opened_ingestor(self._living, url) as ingestor:
            ingestor.registry.refresh()
            rows = list(ingestor.registry.iterate(TENANT))
            tally.states = Counter(str(row.state) for row in rows)
            seen = sum(row.state is not DocumentState.DELETING for row in rows)
            tally.unseen = self._documents - seen
            ready = 0
            while ready < self._documents and tally.attempts < self._living.max_attempts:
                tally.attempts += 1
                ingest_paths(ingestor, [self._corpus], tenant=TENANT)
                ids = ingestor.queue.retry_all(TENANT)
                take(ingestor, ingestor.queue, list(ingestor.registry.get_many(TENANT, ids).values()), lambda _: None)
                ready = ingestor.registry.summary(TENANT).by_state.get(DocumentState.READY, 0)
            tally.ready = ready

    def _ingest_clean(self, url: str) -> None:
        """The files as they are, without faults."""
        with opened_ingestor(self._clean, url) as ingestor:
            ingest_paths(ingestor, [self._corpus], tenant=TENANT)

    def _compare(self, url: str, tally: Tally) -> None:
        """Against the same files, ingested without faults."""
        self._ingest_clean(url)
        with _engine(self._living, url) as engine:
            expected, found = _ids(engine, f"{CLEAN}-chunks"), _ids(engine, f"{LIVING}-chunks")
        tally.lost, tally.doubled = len(expected - found), len(found - expected)
        with opened_ingestor(self._living, url) as ingestor:
            tally.miscounted = _miscounted(ingestor, found)


def _miscounted(ingestor: Ingestor, found: Sequence[str] | set[str]) -> int:
    by_document = Counter(chunk.split("-", 1)[0] for chunk in found)
    rows = ingestor.registry.iterate(TENANT)
    return sum({row.chunks_generated, row.chunks_indexed} != {by_document[row.document_id]} for row in rows)


def _ingest(pipe: Connection, settings: Settings, url: str, corpus: Path) -> None:
    """A worker's life, as `mafteach ingest` has it."""
    try:
        with opened_ingestor(settings, url) as ingestor:
            pipe.send("begun")
            ingest_paths(ingestor, [corpus], tenant=TENANT)
        pipe.send("done")
    except MafteachError as error:
        # The node was killed under it: what the command would say, and its exit status.
        raise SystemExit(str(error)) from error


@contextmanager
def _engine(settings: Settings, url: str) -> Iterator[Engine]:
    engine = Engine(url, timeout_s=settings.request_timeout_s)
    try:
        yield engine
    finally:
        engine.close()


def _states(engine: Engine) -> Counter[str]:
    """States of the documents that are ingested under faults."""
    engine.request("POST", f"/{LIVING}-documents/_refresh")
    body = {"size": 0, "aggs": {"states": {"terms": {"field": fields.STATE, "size": STATES_MAX}}}}
    found = engine.search(f"{LIVING}-documents", body)["aggregations"]["states"]["buckets"]
    return Counter({str(bucket["key"]): int(bucket["doc_count"]) for bucket in found})


def _ids(engine: Engine, index: str) -> set[str]:
    """Ids of all chunks."""
    engine.request("POST", f"/{index}/_refresh")
    body: dict[str, Any] = {"size": PAGE, "_source": False, "sort": [{fields.CHUNK_ID: "asc"}]}
    ids: set[str] = set()
    while hits := engine.search(index, body)["hits"]["hits"]:
        ids |= {hit["_id"] for hit in hits}
        body["search_after"] = hits[-1]["sort"]
    return ids
