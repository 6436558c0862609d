"""`mafteach bench cluster`: three nodes on loopback, disturbed while documents are ingested and searched.

Phases: a node killed; a rolling restart; a disk that is full by its watermark; a process that is stopped and goes on
(to the others, a network split); a snapshot to a folder and its restore into an empty cluster. Calls go on or fail with
an error of ours that says what is wrong. After each phase, every document that was acknowledged is there, once.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from evaluation.benchmark.cluster_work import Tally, Work
from evaluation.benchmark.deadline import Deadline
from evaluation.benchmark.report import BenchReport, Check
from evaluation.index import TENANT
from ingest.chunk_store import ChunkStore
from ingest.registry import Registry
from models.factory import load_embedder
from search_config.client import Engine
from search_config.errors import EngineError, EngineUnreachable, NodeTimeout
from search_config.install import attach, install
from search_config.local_node import ClusterSpec, LocalCluster, LocalNode, free_port
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings

NODES: Final = 3
HEAP_MB: Final = 512
PHASES: Final = ("replicas", "kill", "rolling", "disk", "stop", "snapshot")
QUICK_PHASES: Final = ("replicas", "kill", "disk", "snapshot")
# Seconds of undisturbed load of a phase, before and after.
LOAD_S, QUICK_LOAD_S = 10.0, 3.0
# How long a node stands still: longer than the others wait for it (three checks of 10 s).
STOPPED_S: Final = 45.0
GREEN_S: Final = 180.0
# Some times what a run takes on two cores, the longest waits for one node included: then it stands still.
LIMIT_S, QUICK_LIMIT_S = 2_400.0, 900.0
# Seconds of one request of the load: one that hangs on a node that stands still is to be told, and gone on from.
REQUEST_S: Final = 10.0
POLL_S: Final = 0.5
# More free bytes than any disk has: every node is over each watermark.
_NO_DISK: Final = "1000000gb"
_WATERMARK: Final = "cluster.routing.allocation.disk.watermark"
# How often nodes look at their disks; the engine takes no less.
_INFO: Final = {"cluster.info.update.interval": "10s"}
_REPOSITORY: Final = "bench"
SNAPSHOTS: Final = "snapshots"
_PREFIX: Final = "bench-cluster"

Say = Callable[[str], None]
Json = Any


def run(
    settings: Settings,
    *,
    quick: bool,
    phases: Sequence[str] | None = None,
    nodes: int = NODES,
    load_s: float | None = None,
    limit_s: float | None = None,
    say: Say = lambda _: None,
) -> BenchReport:
    """Start a cluster, run the phases, remove everything.

    Args:
        quick: without the rolling restart and the stopped process, which take minutes.
        phases: names of `PHASES`, instead.
        nodes: two or more; the last one is disturbed.
        load_s: seconds of undisturbed load before and after each disturbance, instead of those of the run.
        limit_s: seconds after which the run is given up, its nodes killed and removed, instead of those of the run.

    Raises:
        NodeTimeout: also where the whole takes longer than the limit.
        NodeError, EngineError, ModelError
    """
    wanted = phases or (QUICK_PHASES if quick else PHASES)
    with tempfile.TemporaryDirectory(prefix="mafteach-cluster-") as name:
        folder = Path(name)
        # The nodes may run as another account, which has to pass through.
        folder.chmod(0o755)
        repository = folder / SNAPSHOTS
        own = settings.model_copy(update={"opensearch_url": None, "replicas": 1, "index_prefix": _PREFIX})
        cluster = LocalCluster(own, nodes, base_dir=folder, repo_paths=[repository], heap_mb=HEAP_MB)
        deadline = Deadline(limit_s or (QUICK_LIMIT_S if quick else LIMIT_S))
        deadline.kills(cluster.kill_all)
        with deadline, cluster:
            bench = _Bench(own, cluster, folder, load_s or (QUICK_LOAD_S if quick else LOAD_S), deadline, say)
            try:
                for phase in wanted:
                    deadline.place = f"the phase {phase}"
                    bench.phase(phase)
            finally:
                bench.close()
    return _report(bench, wanted)


class _Bench:
    def __init__(
        self, settings: Settings, cluster: LocalCluster, folder: Path, load_s: float, deadline: Deadline, say: Say
    ) -> None:
        self._settings, self._cluster, self._folder = settings, cluster, folder
        self._repository = folder / SNAPSHOTS
        self._load_s, self._deadline, self._say = load_s, deadline, say
        self.nodes = len(cluster.nodes)
        # The one that is disturbed; the first one is asked by whoever sets up.
        self._victim = cluster.nodes[-1]
        self._engine = Engine(cluster.urls[0], timeout_s=settings.request_timeout_s)
        self._embedder = load_embedder(settings)
        self._info = install(self._engine, settings, self._embedder.description)
        patience = settings.model_copy(update={"request_timeout_s": min(REQUEST_S, settings.request_timeout_s)})
        self._work = Work(cluster.urls, self._info, self._embedder, patience)
        self.tallies: dict[str, Tally] = {}
        self.lost: dict[str, int] = {}
        self.doubled: dict[str, int] = {}
        self._green()

    @property
    def acknowledged(self) -> Mapping[str, int]:
        """Chunks of every document that was acknowledged."""
        return self._work.acknowledged

    def close(self) -> None:
        """Close all connections."""
        self._work.close()
        self._engine.close()

    def phase(self, name: str) -> None:
        """Disturb, wait until the cluster is whole, count."""
        disturb: Mapping[str, Callable[[], None]] = {
            "replicas": lambda: None,
            "kill": self._kill,
            "rolling": self._rolling,
            "disk": self._disk,
            "stop": self._stop,
            "snapshot": lambda: None,
        }
        with self._work.under_load() as tally:
            time.sleep(self._load_s)
            disturb[name]()
            time.sleep(self._load_s)
        self.tallies[name] = tally
        self._green()
        self.lost[name], self.doubled[name] = self._verified(self._engine, self._settings)
        if name == "snapshot":
            lost, doubled = self._restored()
            self.lost[name] += lost
            self.doubled[name] += doubled
        self._say(
            f"{name}: {tally.ingested} documents, {tally.searched} searches, {sum(tally.failed.values())} clear "
            f"failures; {self.lost[name]} lost, {self.doubled[name]} doubled."
        )

    def _kill(self) -> None:
        self._victim.kill()
        time.sleep(self._load_s)
        self._victim.start()
        self._green()

    def _rolling(self) -> None:
        for node in self._cluster.nodes:
            node.stop()
            node.start()
            self._green()

    def _disk(self) -> None:
        """Lower the watermarks until writes are refused, then raise them again, until they are not."""
        limits = {f"{_WATERMARK}.{name}": _NO_DISK for name in ("low", "high", "flood_stage")}
        self._set({**limits, **_INFO})
        tally = self._work.tally
        self._wait(
            lambda: any("disk_full" in code for code in list(tally.failed)), "no write was refused by the full disk"
        )
        searched = tally.searched
        self._wait(lambda: tally.searched > searched, "no search was answered while the disk was full")
        self._set(dict.fromkeys(limits))
        ingested = tally.ingested
        self._wait(lambda: tally.ingested > ingested, "writes were refused after there was room again")
        self._set(dict.fromkeys(_INFO))

    def _set(self, values: Mapping[str, str | None]) -> None:
        self._engine.request("PUT", "/_cluster/settings", body={"transient": dict(values)})

    def _stop(self) -> None:
        """Let one process stand still: its connections stay open, and nothing comes."""
        pid = self._victim.status().pid
        if pid is None:
            raise EngineUnreachable("The node that should stand still does not run.", where=self._victim.url)
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(STOPPED_S)
        finally:
            os.kill(pid, signal.SIGCONT)
        self._green()

    def _green(self) -> None:
        """Wait until all nodes are there and all copies of all shards."""

        def whole() -> bool:
            try:
                health = self._engine.request("GET", "/_cluster/health", retry=False)
            except EngineError:
                return False
            return health["status"] == "green" and int(health["number_of_nodes"]) == self.nodes

        self._wait(whole, "the cluster did not become whole again")

    def _verified(self, engine: Engine, settings: Settings) -> tuple[int, int]:
        """Acknowledged documents that are not there whole, and those that are there more than once."""
        info = attach(engine, settings, self._embedder.description)
        engine.request("POST", f"/{info.names.prefix}-*/_refresh")
        rows = {row.document_id: row for row in Registry(engine, info, settings).iterate(TENANT)}
        expected = self._work.acknowledged
        found = ChunkStore(engine, info, settings).totals(TENANT, list(expected))
        lost = sum(
            id_ not in rows or rows[id_].state is not DocumentState.READY or found[id_] < chunks
            for id_, chunks in expected.items()
        )
        return lost, sum(found[id_] > chunks for id_, chunks in expected.items())

    def _restored(self) -> tuple[int, int]:
        """Take a snapshot, restore it into an empty cluster of one node, and count there."""
        indices = f"{Names(prefix=_PREFIX).prefix}-*"
        self._engine.request("PUT", f"/_snapshot/{_REPOSITORY}", body=self._repository_body())
        self._engine.request("PUT", f"/_snapshot/{_REPOSITORY}/one", body={"indices": indices})

        def taken() -> bool:
            answer = self._engine.request("GET", f"/_snapshot/{_REPOSITORY}/one")["snapshots"][0]
            return str(answer["state"]) == "SUCCESS"

        self._wait(taken, "the snapshot did not succeed")
        spec = ClusterSpec(name="mafteach-restored", repo_paths=(self._repository,))
        node = LocalNode(
            self._settings.model_copy(update={"node_heap_mb": HEAP_MB}),
            port=free_port(),
            data_dir=self._folder / "restored",
            cluster=spec,
        )
        self._deadline.kills(node.kill)
        try:
            engine = Engine(node.start().url, timeout_s=self._settings.request_timeout_s)
            try:
                engine.request("PUT", f"/_snapshot/{_REPOSITORY}", body=self._repository_body(readonly=True))
                restore = {"indices": indices, "index_settings": {"index.number_of_replicas": 0}}
                engine.request("POST", f"/_snapshot/{_REPOSITORY}/one/_restore", body=restore)
                self._wait(lambda: _is_green(engine), "what was restored did not become whole")
                return self._verified(engine, self._settings)
            finally:
                engine.close()
        finally:
            node.remove()

    def _wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        """Poll, for a while and never beyond the end of the run."""
        patience = min(GREEN_S, self._deadline.left_s)
        ends_at = time.monotonic() + patience
        while not condition():
            if time.monotonic() > ends_at:
                raise NodeTimeout(f"Within {patience:.0f} s {otherwise}.", remedy="Read the nodes' logs.")
            time.sleep(POLL_S)

    def _repository_body(self, *, readonly: bool = False) -> Json:
        return {"type": "fs", "settings": {"location": str(self._repository), "readonly": readonly}}


def _is_green(engine: Engine) -> bool:
    return str(engine.request("GET", "/_cluster/health")["status"]) == "green"


def _report(bench: _Bench, phases: Sequence[str]) -> BenchReport:
    def none(name: str, value: int) -> Check:
        return Check(name=name, value=value, target="= 0", holds=value == 0)

    tallies = bench.tallies
    idle = sum(not (tallies[phase].ingested and tallies[phase].searched) for phase in phases)
    return BenchReport(
        name="cluster",
        size=f"{bench.nodes} nodes of {HEAP_MB} MiB heap, {len(bench.acknowledged)} documents acknowledged",
        checks=(
            none(
                "acknowledged documents lost or doubled, cluster",
                sum(bench.lost.values()) + sum(bench.doubled.values()),
            ),
            none("calls on the cluster that failed unclearly", sum(one.unclear for one in tallies.values())),
            none("phases in which nothing was ingested or searched", idle),
        ),
        columns=("phase", "ingested", "searched", "clear failures", "longest gap s", "lost", "doubled"),
        rows=tuple(
            (
                phase,
                str(tallies[phase].ingested),
                str(tallies[phase].searched),
                ", ".join(f"{code} x{count}" for code, count in sorted(tallies[phase].failed.items())) or "-",
                f"{tallies[phase].longest_gap_s:.1f}",
                str(bench.lost[phase]),
                str(bench.doubled[phase]),
            )
            for phase in phases
        ),
    )
