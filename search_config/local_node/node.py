"""One embedded node: `start`, `stop`, `status`, `logs`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict

from search_config.errors import InvalidSettings, NodeDied, NodeError, NodeTimeout
from search_config.local_node import health, process
from search_config.local_node.artifacts import ArtifactStore, Progress, load_pins
from search_config.local_node.config import (
    CONSOLE_NAME,
    LOG_NAME,
    LOOPBACK,
    PREVIOUS_LOG_NAME,
    ClusterSpec,
    engine_settings,
    java_command,
    logging_settings,
)
from search_config.local_node.home import check_disk, ensure_home
from search_config.local_node.placement import PRIVATE_DIR, make_folders, own, place
from search_config.local_node.resources import check_memory, check_port, free_port, is_free
from search_config.local_node.runtime import choose_runtime
from search_config.settings import Settings

# Ready in about 10 s on two quiet cores; a loaded machine, or an index that must be recovered, gets this long.
START_TIMEOUT_S = 180.0
# The other process that holds the lock may be downloading 113 MB first: at 1 Mbit/s that takes 15 minutes.
LOCK_TIMEOUT_S = 1200.0
POLL_S = 0.1
# The transport port lies this far above the HTTP port, as 9300 does above 9200, where that one is free.
TRANSPORT_OFFSET = 100
# A first index needs room to grow; a node that has data must start on a nearly full disk too, if only to be read:
# just above the engine's flood stage, under which it makes indices read-only.
DISK_NEW = 1_000_000_000
DISK_EXISTING = 300_000_000
# Lines read to find why a node ended; an exception's trace is some hundreds of lines.
REASON_LINES = 2_000


class NodeStatus(BaseModel):
    """What is known of a node. `running`: it answers; `version` is None and `nodes` 0 while it does not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    running: bool
    url: str
    version: str | None
    nodes: int
    pid: int | None
    data_dir: str


class LocalNode:
    """An OpenSearch node of this machine, on loopback, as a background process that outlives its starter.

    Args:
        settings: `node_port`, `node_heap_mb`, `cache_dir` and `data_dir` are read.
        port: HTTP port instead of the setting's.
        data_dir: folder for data and logs instead of the setting's; one folder is one node.
        cluster: how the node is part of a cluster; None: a cluster of one.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        port: int | None = None,
        data_dir: Path | None = None,
        cluster: ClusterSpec | None = None,
    ) -> None:
        self._settings = settings
        self._port = settings.node_port if port is None else port
        self._spec = cluster or ClusterSpec()
        self._placement = place(settings.cache_dir, data_dir or settings.data_dir)

    @property
    def url(self) -> str:
        """Base URL of the running node, or the one that it would be started on."""
        record = process.running_record(self._placement)
        return _url(self._port if record is None else record.port)

    def start(self, progress: Progress | None = None) -> NodeStatus:
        """Start the node and wait until it serves requests; returns at once where it does already.

        Args:
            progress: called with a line for people at each step (downloads, unpacking, waiting).

        Raises:
            InvalidSettings: `knn_engine` is faiss, which this node does not have.
            PortBusy, NotEnoughMemory, NotEnoughDisk: before anything is started.
            ArtifactUnavailable, ArtifactCorrupt: a package of the engine can't be had.
            NodeDied: with the reason from the node's log.
            NodeTimeout: it lives, but serves nothing in time.
            NodeError: its folders or its process can't be made.
        """
        self._refuse_faiss()
        make_folders(self._placement)
        with self._locked():
            record = process.running_record(self._placement)
            if record is None:
                record = self._launch(progress)
            self._await_ready(record)
        return self.status()

    def stop(self) -> bool:
        """End the node: asked first, killed where it does not follow. False where none was running."""
        if not self._placement.node_dir.is_dir():
            return False
        with self._locked():
            record = process.running_record(self._placement)
            if record is None:
                return False
            process.end(record, self._placement)
            return True

    def kill(self) -> None:
        """End the node as a power cut would; for tests of what survives."""
        record = process.running_record(self._placement)
        if record is not None:
            process.kill(record, self._placement)

    def remove(self) -> None:
        """Stop the node and delete its data and logs."""
        self.stop()
        shutil.rmtree(self._placement.node_dir, ignore_errors=True)

    def status(self) -> NodeStatus:
        """The node's state now."""
        record = process.running_record(self._placement)
        answer = health.ask(record.port) if record is not None else None
        return NodeStatus(
            running=answer is not None,
            url=_url(self._port if record is None else record.port),
            version=answer.version if answer is not None else None,
            nodes=answer.nodes if answer is not None else 0,
            pid=record.pid if record is not None else None,
            data_dir=str(self._placement.node_dir),
        )

    def logs(self, lines: int = 100) -> str:
        """The last lines of the log of this start, or of the last one where the node is down."""
        return "\n".join(health.log_lines(self._placement.logs, lines))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self._placement.lock_file, timeout=LOCK_TIMEOUT_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise NodeTimeout(
                f"Another process has been starting or stopping this node for {LOCK_TIMEOUT_S:.0f} s.",
                where=str(self._placement.lock_file),
                remedy="End that process and try again.",
            ) from error
        except OSError as error:
            raise NodeError(
                f"The node's lock can't be taken: {error.strerror}.",
                where=str(self._placement.lock_file),
                remedy="The node belongs to another user; act as that user.",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _refuse_faiss(self) -> None:
        # The published plugin carries no native libraries: the first vector written to a faiss field ends the node.
        if self._settings.knn_engine == "faiss":
            raise InvalidSettings(
                "The embedded node has no native faiss library; one vector in a faiss field would end it.",
                where="MAFTEACH_KNN_ENGINE",
                remedy="Set it to lucene, or name a cluster that has faiss by MAFTEACH_OPENSEARCH_URL.",
            )

    def _launch(self, progress: Progress | None) -> process.PidRecord:
        placement = self._placement
        check_port(self._port)
        check_memory(self._settings.node_heap_mb)
        is_new = not any(placement.data.iterdir())
        check_disk(placement.data, DISK_NEW if is_new else DISK_EXISTING, "run the search engine", "MAFTEACH_DATA_DIR")
        pins = load_pins()
        store = ArtifactStore(self._settings.cache_dir.expanduser().absolute() / "engine" / "artifacts")
        home = ensure_home(placement.engine_dir, store, pins, progress)
        runtime = choose_runtime(placement.engine_dir, placement.account)
        if progress is not None:
            progress(f"Starting the search engine on {_url(self._port)}")
        transport = self._transport_port()
        for path in self._spec.repo_paths:
            if not path.exists():
                path.mkdir(mode=PRIVATE_DIR, parents=True)
                own(path, placement.account)
        settings = engine_settings(placement, self._spec, port=self._port, transport_port=transport)
        process.write_file(placement.config / "opensearch.yml", settings, placement.account)
        process.write_file(placement.config / "log4j2.properties", logging_settings(placement), placement.account)
        # So that what the log shows is of this start.
        (placement.logs / CONSOLE_NAME).unlink(missing_ok=True)
        if (placement.logs / LOG_NAME).exists():
            (placement.logs / LOG_NAME).replace(placement.logs / PREVIOUS_LOG_NAME)
        command = java_command(placement, home, runtime, heap_mb=self._settings.node_heap_mb)
        return process.launch(command, placement, port=self._port, transport_port=transport)

    def _transport_port(self) -> int:
        if self._spec.transport_port is not None:
            check_port(self._spec.transport_port)
            return self._spec.transport_port
        usual = self._port + TRANSPORT_OFFSET
        return usual if is_free(usual) else free_port()

    def _await_ready(self, record: process.PidRecord) -> None:
        """Wait until the cluster answers and all primary shards that it has are allocated."""
        deadline = time.monotonic() + START_TIMEOUT_S
        answer: health.NodeHealth | None = None
        while time.monotonic() < deadline:
            if process.running_record(self._placement) is None:
                self._placement.pid_file.unlink(missing_ok=True)
                raise self._died()
            answer = health.ask(record.port)
            if answer is not None and answer.cluster == self._spec.name and answer.status != "red":
                return
            time.sleep(POLL_S)
        reason = health.failure_reason(health.log_lines(self._placement.logs, REASON_LINES))
        state = "it gives no answer" if answer is None else f"its cluster is {answer.status}"
        raise NodeTimeout(
            f"The node is alive, but not ready after {START_TIMEOUT_S:.0f} s: {state}"
            f"{f'; its log says: {reason}' if reason else ''}.",
            where=str(self._placement.logs / LOG_NAME),
            remedy="Read the log; `mafteach node stop` ends the node.",
        )

    def _died(self) -> NodeDied:
        reason = health.failure_reason(health.log_lines(self._placement.logs, REASON_LINES))
        return NodeDied(
            f"The node ended while starting: {reason}"
            if reason is not None
            else "The node ended while starting and its log gives no reason; the system may have killed it for memory.",
            where=str(self._placement.logs),
            remedy="Correct what the log names and start again.",
        )


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
