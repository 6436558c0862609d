"""States and leases of documents over a real index: who works on what, and what a worker leaves."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from ingest.lease import Watch, Worker
from ingest.service import take, work_queue
from search_config.client import Engine
from search_config.install import IndexInfo
from search_config.records import DocumentState
from search_config.settings import Settings
from tests.engine.workers import (
    LEASE_S,
    PATIENCE_S,
    Background,
    Gate,
    Start,
    abandon,
    chunks,
    paragraphs,
    raw,
)


def test_an_upload_waits_and_a_worker_makes_it_ready(
    engine: Engine, start: Start, work_settings: Settings, work_index: IndexInfo, tmp_path: Path
) -> None:
    ingestor = start()
    row = ingestor.queue.enqueue(raw(paragraphs(3, "הועלה"), "uploads/נוהל", title="שם"))
    assert (row.state, row.attempts, row.folder) == (DocumentState.QUEUED, 0, "uploads")
    assert chunks(engine, work_index) == []
    outcomes: list[Any] = []
    work_queue(ingestor, ingestor.queue, threading.Event(), once=True, on_outcome=outcomes.append)
    assert [outcome.state for outcome in outcomes] == [DocumentState.READY]
    ready = ingestor.registry.require("a", row.document_id)
    assert (ready.state, ready.title, ready.attempts, ready.lease) == (DocumentState.READY, "שם", 1, None)
    assert ready.chunks_generated == ready.chunks_indexed == len(chunks(engine, work_index)) == 3
    assert ready.queued_at is not None
    assert ready.started_at is not None
    assert ready.finished_at is not None
    assert ingestor.queue.load(ready).data.decode() == paragraphs(3, "הועלה")
    ingestor.registry.delete("a", row.document_id)
    assert chunks(engine, work_index) == []
    assert ingestor.registry.get("a", row.document_id) is None
    assert [path for path in (tmp_path / "spool").rglob("*") if path.is_file()] == []


def test_two_workers_with_the_same_document_do_it_once(start: Start, engine: Engine, work_index: IndexInfo) -> None:
    gate = Gate()
    first, second = start(gate), start()
    one = Background(first, [raw(paragraphs(2, "שניים"))])
    assert gate.reached.wait(PATIENCE_S)
    (elsewhere,) = second.ingest([raw(paragraphs(2, "שניים"))], wait=False)
    assert elsewhere.state is DocumentState.EMBEDDING
    two = Background(second, [raw(paragraphs(2, "שניים"))])
    gate.open.set()
    assert [outcome.unchanged for outcome in one.result()] == [False]
    assert [outcome.unchanged for outcome in two.result()] == [True]
    assert len(chunks(engine, work_index)) == 2


def test_a_dead_workers_document_is_taken_over(start: Start, engine: Engine, work_index: IndexInfo) -> None:
    ingestor = start()
    row = ingestor.queue.enqueue(raw("תוכן"))
    abandon(engine, work_index, row.document_id)
    assert [one.document_id for one in ingestor.queue.waiting(10)] == [row.document_id]
    assert take(ingestor, ingestor.queue, ingestor.queue.waiting(10), lambda _: None) == 1
    record = ingestor.registry.require("a", row.document_id)
    assert (record.state, record.attempts) == (DocumentState.READY, 2)


def test_a_document_that_ends_every_worker_is_given_up_and_can_be_retried(
    start: Start, engine: Engine, work_index: IndexInfo, work_settings: Settings
) -> None:
    ingestor = start()
    row = ingestor.queue.enqueue(raw("רעל"))
    abandon(engine, work_index, row.document_id, attempts=work_settings.max_attempts)
    (outcome,) = ingestor.ingest([raw("רעל")])
    assert (outcome.state, outcome.code) == (DocumentState.FAILED, "too_many_attempts")
    record = ingestor.registry.require("a", row.document_id)
    assert (record.reason_code, record.attempts, record.lease) == (
        "too_many_attempts",
        work_settings.max_attempts + 1,
        None,
    )
    assert ingestor.queue.retry_all("a", reason="too_many_attempts") == [row.document_id]
    take(ingestor, ingestor.queue, [ingestor.registry.require("a", row.document_id)], lambda _: None)
    assert ingestor.registry.require("a", row.document_id).state is DocumentState.READY


def test_a_worker_that_slept_loses_to_the_one_that_took_over(
    start: Start, engine: Engine, work_index: IndexInfo
) -> None:
    gate = Gate()
    sleeper, other = start(gate), start()
    background = Background(sleeper, [raw(paragraphs(3, "ישן"))])
    assert gate.reached.wait(PATIENCE_S)
    id_ = sleeper.work(raw("")).id
    abandon(engine, work_index, id_)
    (outcome,) = other.ingest([raw(paragraphs(2, "חדש"))])
    assert outcome.state is DocumentState.READY
    gate.open.set()
    background.result()
    found = chunks(engine, work_index)
    assert len(found) in (2, 3)
    assert len({("ישן" in text) for text in found}) == 1, "chunks of two versions"
    record = other.registry.require("a", id_)
    assert record.state is DocumentState.READY
    assert record.chunks_indexed == len(found)


def test_silence_is_judged_by_the_watchers_own_clock(engine: Engine, work_index: IndexInfo) -> None:
    """Whatever clocks say: a worker that beats lives, a silent one is dead after its lease's length of watching."""
    now = [1_000.0]
    watch = Watch(engine, work_index.names, clock=lambda: now[0])
    # As a worker of another machine: whether its process is there cannot be looked up.
    row = {
        "worker_id": "far",
        "machine": "elsewhere",
        "pid": 1,
        "process_start": "1",
        "lease_s": 30.0,
        "beat": 0,
        "started_at": "2999-01-01T00:00:00Z",
    }

    def beat(number: int) -> None:
        engine.request("PUT", f"/{work_index.names.workers}/_doc/far", body={**row, "beat": number})

    beat(0)
    assert watch.dead(["far"]) == set()
    now[0] += 1_000_000  # nobody looked for days: that is one gap, not an age
    assert watch.dead(["far"]) == set()
    beat(1)
    for _ in range(10):
        now[0] += 9.9
        assert watch.dead(["far"]) == set() or now[0] > 1_000_000 + 1_000 + 29
        if watch.dead(["far"]):
            break
    assert watch.dead(["far"]) == {"far"}
    assert watch.dead(["never-was"]) == {"never-was"}


def test_a_worker_lives_while_it_works_and_is_gone_afterwards(engine: Engine, work_index: IndexInfo) -> None:
    worker = Worker(engine, work_index.names, lease_s=LEASE_S)
    watch = Watch(engine, work_index.names)
    with worker.working():
        owner = worker.lease().owner
        waited = threading.Event()
        for _ in range(8):
            waited.wait(LEASE_S / 4)
            assert watch.dead([owner]) == set()
    assert watch.dead([owner]) == {owner}


# What a second process runs: it registers as a worker, says its id, and waits to be killed.
OTHER_PROCESS = """
import sys, time
from ingest.lease import Worker
from search_config.client import Engine
from search_config.names import Names
worker = Worker(Engine(sys.argv[1], timeout_s=30), Names(prefix=sys.argv[2]), lease_s=3600)
with worker.working():
    print(worker.lease().owner, flush=True)
    time.sleep(600)
"""


def test_a_killed_process_of_this_machine_is_known_to_be_dead_at_once(engine: Engine, work_index: IndexInfo) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, engine.url, work_index.names.prefix], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        owner = process.stdout.readline().strip()
        watch = Watch(engine, work_index.names)
        assert watch.dead([owner]) == set()
    finally:
        process.kill()
        process.communicate()
    assert watch.dead([owner]) == {owner}
