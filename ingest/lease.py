"""Who lives among the workers: a row each, changed by a heartbeat while it works, and judged by those who watch it.

A lease on a document names its worker; it holds as long as that worker lives. No clock of another machine is ever
compared with ours: a worker is dead when its row has not changed for its lease's length by the watcher's own monotonic
clock, and at once where it ran on this machine and its process is gone. Taking a document from a worker that lives
after all does no harm, since every write of a row is a compare-and-set that the former owner loses.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from search_config.client import Engine
from search_config.errors import EngineError, EngineRejected
from search_config.names import Names
from search_config.records import Lease

log = logging.getLogger(__name__)

Json = dict[str, Any]

ID_BYTES: Final = 8
# A heartbeat may be lost or late three times before the lease is over.
BEATS_A_LEASE: Final = 4
# A gap between two looks counts for this part of a lease at most: while nobody could look (the engine was down, this
# machine slept) its owner could not show a sign of life either.
GAPS_A_LEASE: Final = 3
# Fields of /proc/PID/stat after the command's closing bracket: the state, and the start in clock ticks after boot.
_STAT_STATE, _STAT_START = 0, 19
_CONFLICT: Final = 409
_NOT_FOUND: Final = 404
_ENDED: Final = frozenset("ZXx")
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE: Final = Path("/proc/self/ns/pid")


class WorkerRow(BaseModel):
    """A worker as the others see it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    worker_id: str
    machine: str
    pid: int
    process_start: str
    lease_s: float
    beat: int
    started_at: datetime


class Worker:
    """This process's part: registers when it takes its first document, and lives visibly until it ends.

    Used by one thread; the heartbeat is a thread of its own.
    """

    def __init__(self, engine: Engine, names: Names, *, lease_s: float) -> None:
        self._engine = engine
        self._index = names.workers
        self._lease_s = lease_s
        self._depth = 0
        self._beat: _Heartbeat | None = None
        self.id = secrets.token_hex(ID_BYTES)

    @contextmanager
    def working(self) -> Iterator[None]:
        """While inside, the leases of this worker hold; at the end it says that it holds none. Can be nested."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._end()

    def lease(self) -> Lease:
        """A lease to write into a row; registers the worker where it is not yet, or was given up as dead.

        Raises:
            EngineError, EngineRejected
        """
        if self._beat is not None and self._beat.lost.is_set():
            # Whoever gave it up may have taken its documents: it goes on as another.
            self._end()
            self.id = secrets.token_hex(ID_BYTES)
        if self._beat is None:
            row = WorkerRow(
                worker_id=self.id,
                machine=machine(),
                pid=os.getpid(),
                process_start=process_start(os.getpid()) or "",
                lease_s=self._lease_s,
                beat=0,
                started_at=datetime.now(UTC),
            )
            self._engine.request("PUT", f"/{self._index}/_doc/{self.id}", body=row.model_dump(mode="json"))
            self._beat = _Heartbeat(self._engine, self._index, self.id, self._lease_s / BEATS_A_LEASE)
            self._beat.start()
        return Lease(owner=self.id, taken_at=datetime.now(UTC))

    def _end(self) -> None:
        if self._beat is None:
            return
        self._beat.stop()
        self._beat = None
        # An engine that is gone: the row stays, and others see in time that it does not change any more.
        with suppress(EngineError, EngineRejected):
            self._engine.request("DELETE", f"/{self._index}/_doc/{self.id}", params={"ignore": _NOT_FOUND}, retry=False)


class _Heartbeat:
    """Changes a worker's row again and again."""

    def __init__(self, engine: Engine, index: str, worker: str, pause_s: float) -> None:
        self._engine, self._path, self._pause_s = engine, f"/{index}/_update/{worker}", pause_s
        self._ended = threading.Event()
        self.lost = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat-{worker}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        beat = 0
        while not self._ended.wait(self._pause_s):
            beat += 1
            try:
                # Without an upsert: a row that others deleted says that they gave this worker up.
                answer = self._engine.request(
                    "POST", self._path, body={"doc": {"beat": beat}}, params={"ignore": _NOT_FOUND}, retry=False
                )
            except (EngineError, EngineRejected) as error:
                log.warning("A heartbeat was not taken: %s", error)
                continue
            if "result" not in answer:
                log.warning("This worker was given up as dead; it goes on as another.")
                self.lost.set()
                return


@dataclass(slots=True)
class _Seen:
    """How long a row has looked the same."""

    beat: int
    at: float
    age: float = 0.0


class Watch:
    """Judges other workers; remembers what it saw of them, so that one watch must be asked again and again."""

    def __init__(self, engine: Engine, names: Names, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._index = names.workers
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def dead(self, owners: Collection[str]) -> set[str]:
        """Those of the workers that do not live any more: ended in order, gone from this machine, or long silent.

        Raises:
            EngineError, EngineRejected
        """
        if not owners:
            return set()
        answer = self._engine.request("POST", f"/{self._index}/_mget", body={"ids": sorted(owners)})
        return {row["_id"] for row in answer["docs"] if self._is_dead(row)}

    def _is_dead(self, answer: Json) -> bool:
        if not answer.get("found"):
            self._seen.pop(answer["_id"], None)
            return True
        row = WorkerRow.model_validate(answer["_source"])
        if not _gone(row) and not self._silent(row):
            return False
        log.warning("Worker %s (pid %s) is dead; its documents are taken over.", row.worker_id, row.pid)
        # Deleted, so that one that only slept learns of it. A beat in between keeps the row: then it lives.
        seen = {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}
        gone = self._engine.request(
            "DELETE", f"/{self._index}/_doc/{row.worker_id}", params={**seen, "ignore": (_NOT_FOUND, _CONFLICT)}
        )
        return "status" not in gone or gone["status"] == _NOT_FOUND

    def _silent(self, row: WorkerRow) -> bool:
        now = self._clock()
        seen = self._seen.get(row.worker_id)
        if seen is None or seen.beat != row.beat:
            self._seen[row.worker_id] = _Seen(row.beat, now)
            return False
        seen.age += min(now - seen.at, row.lease_s / GAPS_A_LEASE)
        seen.at = now
        return seen.age >= row.lease_s


def machine() -> str:
    """A name of this start of this system, and of what counts its processes; empty where there is none to be had.

    A container shares the first with its host and not the second.
    """
    try:
        return f"{_BOOT_ID.read_text(encoding='ascii').strip()}/{_PID_NAMESPACE.readlink()}"
    except OSError:
        return ""


def process_start(pid: int) -> str | None:
    """When a process of this machine started, in ticks since boot, which no clock that is set can change; None for one
    that has ended, or where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if stat[_STAT_STATE] in _ENDED else stat[_STAT_START]


def _gone(row: WorkerRow) -> bool:
    """Whether the worker ran on this machine, and its process has ended."""
    if not row.machine or not row.process_start or row.machine != machine():
        return False
    return process_start(row.pid) != row.process_start
