"""The query log: who asked what, when, by which route, and what came of it; for audit and for Dashboards.

Rows are written by a thread of its own, in batches, after the answer has been given: a request never waits for the log,
and a log that can't be written costs rows, which are counted, never a request. Rows older than the retention are
deleted at the start and once a day: the state management of a cluster (`search_config.retention`), where there is one,
can only drop whole indices.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from query.filters import tenant_filter
from search_config import fields
from search_config.client import Engine
from search_config.errors import EngineRejected, MafteachError
from search_config.names import Names

# Rows that wait: a minute of two hundred requests a second, a few megabytes.
QUEUE_ROWS: Final = 12_000
# Rows of one bulk request, and how long a row may wait for others.
BATCH_ROWS: Final = 500
BATCH_WAIT_S: Final = 1.0
# How long `close` waits for the rows that are left.
CLOSE_S: Final = 5.0
RETENTION_EVERY_S: Final = 86_400.0
PAGE: Final = 1_000

log = logging.getLogger(__name__)


class QueryRow(BaseModel):
    """One row of the log. `query` is None unless the settings keep the words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: datetime
    request_id: str
    tenant: str
    caller: str
    path: str
    status: int
    code: str | None = None
    query: str | None = None
    language: str | None = None
    mode: str | None = None
    route: str | None = None
    filters: dict[str, Any] = {}
    filter_names: tuple[str, ...] = ()
    refused: bool | None = None
    reason: str | None = None
    hits: int | None = None
    total: int | None = None
    no_result: bool | None = None
    degraded: tuple[str, ...] = ()
    profile: str | None = None
    took_ms: dict[str, float] = {}


class QueryLog:
    """The log of one installation."""

    def __init__(self, engine: Engine, names: Names, *, days: int, rows_max: int = QUEUE_ROWS) -> None:
        """Attach; `start` begins to write.

        Args:
            engine: where the log is kept.
            names: of the installation.
            days: rows older than this are deleted.
            rows_max: rows that may wait.
        """
        self._engine = engine
        self._index = names.queries
        self._days = days
        # None wakes the thread up, to end.
        self._waiting: queue.Queue[QueryRow | None] = queue.Queue(rows_max)
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._on_lost: Callable[[int], None] = _unwatched

    def observe_lost(self, listener: Callable[[int], None]) -> None:
        """Tell `listener` of rows that could not be kept; for metrics."""
        self._on_lost = listener

    def start(self) -> None:
        """Begin to write."""
        self._ends.clear()
        self._thread = threading.Thread(target=self._run, name="query-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what is left, for some seconds at most."""
        self._ends.set()
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
        if self._thread is not None:
            self._thread.join(CLOSE_S)
            self._thread = None

    def write(self, row: QueryRow) -> None:
        """Take a row; where too many wait it is lost, and counted."""
        try:
            self._waiting.put_nowait(row)
        except queue.Full:
            self._on_lost(1)

    def rows(self, tenant: str, *, since: datetime | None = None, size: int = PAGE) -> list[QueryRow]:
        """A tenant's rows, newest first.

        Raises:
            MissingTenant, InvalidTenant, EngineError
        """
        clauses = tenant_filter(tenant)
        if since is not None:
            clauses.append({"range": {fields.AT: {"gte": since.isoformat()}}})
        body = {
            "size": size,
            "query": {"bool": {"filter": clauses}},
            "sort": [{fields.AT: "desc"}, {fields.REQUEST_ID: "asc"}],
        }
        return [
            QueryRow.model_validate(hit["_source"]) for hit in self._engine.search(self._index, body)["hits"]["hits"]
        ]

    def expire(self, now: datetime | None = None) -> int:
        """Delete the rows that are older than the retention; gives their number.

        Raises:
            EngineRejected, EngineError
        """
        oldest = (now or datetime.now(UTC)) - timedelta(days=self._days)
        # Page by page: deleting by query is a module that not every node has, the embedded one for one.
        body = {
            "size": PAGE,
            "_source": False,
            "query": {"range": {fields.AT: {"lt": oldest.isoformat()}}},
            "sort": [{fields.AT: "asc"}],
        }
        deleted = 0
        while rows := self._engine.search(self._index, body)["hits"]["hits"]:
            gone = [json.dumps({"delete": {"_index": row["_index"], "_id": row["_id"]}}) for row in rows]
            items = self._engine.bulk(gone, refresh="true")
            done = sum(item.ok for item in items)
            deleted += done
            if done == 0:
                raise EngineRejected(f"No row could be deleted: {items[0].error}.", where=self._index)
        return deleted

    def _run(self) -> None:
        due = 0.0
        while not (self._ends.is_set() and self._waiting.empty()):
            # Once a day, when a row comes: without requests nothing is there that was not there yesterday.
            if time.monotonic() >= due and not self._ends.is_set():
                self._expire()
                due = time.monotonic() + RETENTION_EVERY_S
            batch = self._batch()
            if batch:
                self._send(batch)

    def _batch(self) -> list[QueryRow]:
        """The rows that came in within some time of the first one, as many as one request takes."""
        taken = [self._waiting.get()]
        self._ends.wait(BATCH_WAIT_S)
        with suppress(queue.Empty):
            while len(taken) < BATCH_ROWS:
                taken.append(self._waiting.get_nowait())
        return [row for row in taken if row is not None]

    def _send(self, batch: list[QueryRow]) -> None:
        action = json.dumps({"create": {"_index": self._index}})
        try:
            items = self._engine.bulk(
                line for row in batch for line in (action, row.model_dump_json(exclude_none=True))
            )
        except MafteachError as error:
            log.warning("%d rows of the query log are lost: %s", len(batch), error)
            self._on_lost(len(batch))
            return
        lost = [item for item in items if not item.ok]
        if lost:
            log.warning("%d rows of the query log were refused: %s", len(lost), lost[0].error)
            self._on_lost(len(lost))

    def _expire(self) -> None:
        try:
            self.expire()
        except MafteachError as error:
            log.warning("old rows of the query log could not be deleted: %s", error)


def _unwatched(_: int) -> None:
    return
