"""What a person does with documents over a real index: retry, release, delete; and input that goes wrong."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.documents import RawDocument
from ingest.extraction import Extraction, Issue, plain_extract
from ingest.queue import Queue
from ingest.service import take, work_queue
from ingest.worker import ingest_paths
from models.base import Vectors
from search_config import fields
from search_config.client import Engine
from search_config.errors import EngineDiskFull, NotFound, StateConflict
from search_config.install import IndexInfo, attach
from search_config.records import DocumentRecord, DocumentState, IngestRequest
from search_config.settings import Settings
from tests.engine.rows import WordEmbedder
from tests.engine.workers import (
    PATIENCE_S,
    WORDS,
    Background,
    Gate,
    Start,
    chunks,
    paragraphs,
    raw,
    write,
)


def test_what_may_be_retried_and_what_not(start: Start, engine: Engine, work_index: IndexInfo, tmp_path: Path) -> None:
    ingestor = start()
    (ready,) = ingestor.ingest([raw("טוב", "good")])
    with pytest.raises(StateConflict, match="nothing to retry"):
        ingestor.queue.retry("a", ready.document_id)
    with pytest.raises(StateConflict, match="quarantined"):
        ingestor.queue.release("a", ready.document_id)
    with pytest.raises(NotFound):
        ingestor.queue.retry("b", ready.document_id)
    write(engine, work_index, ready.document_id, {fields.STATE: "deleting"})
    for again in (ingestor.queue.retry, ingestor.queue.release):
        with pytest.raises(StateConflict, match="being deleted"):
            again("a", ready.document_id)
    with pytest.raises(StateConflict, match="being deleted"):
        ingestor.queue.enqueue(raw("אחר", "good"))
    gate = Gate()
    background = Background(start(gate), [raw("עובדים עליו", "busy")])
    assert gate.reached.wait(PATIENCE_S)
    with pytest.raises(StateConflict, match="A worker has"):
        ingestor.queue.retry("a", ingestor.work(raw("", "busy")).id)
    gate.open.set()
    background.result()


def test_a_retry_whose_file_is_gone_says_so_and_goes_on_when_it_is_back(start: Start, tmp_path: Path) -> None:
    ingestor = start()
    file = tmp_path / "files" / "a.txt"
    file.parent.mkdir()
    file.write_bytes(b"")
    (failed,) = ingest_paths(ingestor, [file], tenant="a").failed
    assert failed.code == "empty_document"
    file.unlink()

    def retried() -> DocumentRecord:
        ids = ingestor.queue.retry_all("a")
        assert ids == [failed.document_id]
        take(ingestor, ingestor.queue, list(ingestor.registry.get_many("a", ids).values()), lambda _: None)
        return ingestor.registry.require("a", failed.document_id)

    gone = retried()
    assert (gone.state, gone.reason_code) == (DocumentState.FAILED, "source_gone")
    assert str(file) in str(gone.reason)
    file.write_text("תוכן", encoding="utf-8")
    assert retried().state is DocumentState.READY


def test_an_interrupted_deletion_is_finished(start: Start, engine: Engine, work_index: IndexInfo) -> None:
    ingestor = start()
    one, two = ingestor.ingest([raw(paragraphs(2, "אחד"), "1"), raw(paragraphs(2, "שניים"), "2")])
    lease = {"owner": "gone", "taken_at": "2024-01-01T00:00:00Z"}
    for outcome in (one, two):
        write(
            engine,
            work_index,
            outcome.document_id,
            {fields.STATE: "deleting", fields.LEASE: lease, fields.CONTENT_HASH: None},
        )
    (again,) = ingestor.ingest([raw("חדש לגמרי", "1")])
    assert again.state is DocumentState.READY
    work_queue(ingestor, ingestor.queue, threading.Event(), once=True, on_outcome=lambda _: None)
    assert chunks(engine, work_index) == ["חדש לגמרי"]
    assert [record.document_id for record in ingestor.registry.iterate("a")] == [one.document_id]


def test_a_document_that_is_deleted_while_a_worker_has_it_stays_deleted(
    start: Start, engine: Engine, work_index: IndexInfo
) -> None:
    gate = Gate()
    worker, other = start(gate), start()
    background = Background(worker, [raw(paragraphs(3, "נמחק"))])
    assert gate.reached.wait(PATIENCE_S)
    other.registry.delete("a", other.work(raw("")).id)
    gate.open.set()
    (outcome,) = background.result()
    assert outcome.code == "state_conflict"
    assert chunks(engine, work_index) == []
    assert list(other.registry.iterate("a")) == []


def test_a_document_that_is_deleted_while_a_worker_writes_it_leaves_nothing(
    start: Start, engine: Engine, work_index: IndexInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its content is the same as before, so that old and new chunks have the same ids: none of them may stay."""
    worker, other = start(), start()
    (known,) = worker.ingest([raw(paragraphs(3, "נכתב"))])
    reached, go_on = threading.Event(), threading.Event()
    write_chunks = worker._store.write

    def slowly(rows: Any) -> Any:
        reached.set()
        assert go_on.wait(PATIENCE_S)
        return write_chunks(rows)

    monkeypatch.setattr(worker._store, "write", slowly)
    background = Background(worker, [raw(paragraphs(3, "נכתב"), groups=("צוות",))])
    assert reached.wait(PATIENCE_S)
    deleting = threading.Thread(target=other.registry.delete, args=("a", known.document_id))
    deleting.start()
    deadline = time.monotonic() + PATIENCE_S
    while other.registry.require("a", known.document_id).state is not DocumentState.DELETING:
        assert time.monotonic() < deadline
    go_on.set()
    (outcome,) = background.result()
    deleting.join(PATIENCE_S)
    assert outcome.code == "state_conflict"
    assert chunks(engine, work_index) == []
    assert list(other.registry.iterate("a")) == []


def doubting(raw_: RawDocument, request: IngestRequest) -> Extraction:
    """Doubts whatever mentions a doubt; a correction shows in its text's metadata."""
    read = plain_extract(1_000_000)(raw_, request)
    issues = (Issue("no_date", "No date was found."), Issue("no_total", "No total was found."))
    document = read.document.model_copy(update={"metadata": dict(request.corrections or {})})
    return Extraction(document, read.metadata, issues=issues if "ספק" in read.document.text else ())


def test_a_doubtful_document_waits_for_a_person(start: Start, engine: Engine, work_index: IndexInfo) -> None:
    ingestor = start(extract=doubting)
    sent = ingestor.queue.enqueue(raw("יש כאן ספק"))
    ingestor.queue.enqueue(raw("ברור", "clear"))
    take(ingestor, ingestor.queue, ingestor.queue.waiting(10), lambda _: None)
    row = ingestor.registry.require("a", sent.document_id)
    assert (row.state, row.reason_code, row.issue_codes) == (
        DocumentState.QUARANTINED,
        "doubtful_document",
        ("no_date", "no_total"),
    )
    assert row.issues == ("No date was found.", "No total was found.")
    assert row.text == "יש כאן ספק"
    assert chunks(engine, work_index) == ["ברור"]
    assert [one.document_id for one in ingestor.registry.iterate("a", reason="no_total")] == [sent.document_id]
    ingestor.queue.release("a", sent.document_id, corrections={"date": "2024-01-01"})
    take(ingestor, ingestor.queue, ingestor.queue.waiting(10), lambda _: None)
    row = ingestor.registry.require("a", sent.document_id)
    assert (row.state, row.reason, row.issues, row.metadata) == (DocumentState.READY, None, (), {"date": "2024-01-01"})
    # A release is of the content that a person saw.
    (changed,) = ingestor.ingest([raw("ספק אחר")])
    assert changed.state is DocumentState.QUARANTINED
    assert "יש כאן ספק" in chunks(engine, work_index)


def test_a_value_that_no_keyword_holds_fails_its_document_alone(start: Start) -> None:
    ingestor = start()
    bad, good = ingestor.ingest([raw("א", "bad", groups=("ק" * 20_000,)), raw("ב", "good")])
    assert (bad.state, bad.code, good.state) == (DocumentState.FAILED, "invalid_field", DocumentState.READY)
    row = ingestor.registry.require("a", bad.document_id)
    assert (row.state, row.reason_code) == (DocumentState.FAILED, "invalid_field")
    assert "32766" in str(row.reason)
    (mended,) = ingestor.ingest([raw("א", "bad", groups=("ק",))])
    assert mended.state is DocumentState.READY


def test_a_full_disk_is_told_and_the_same_command_goes_on(start: Start, engine: Engine, work_index: IndexInfo) -> None:
    ingestor = start()
    block = "index.blocks.read_only_allow_delete"
    ingestor.ingest([raw("קודם", "old")])
    engine.request("PUT", f"/{work_index.index}/_settings", body={block: True})
    try:
        with pytest.raises(EngineDiskFull, match="disk is full"):
            ingestor.ingest([raw("חדש", "old"), raw("נוסף", "new")])
    finally:
        engine.request("PUT", f"/{work_index.index}/_settings", body={block: None})
    ingestor.registry.refresh()
    waiting = list(ingestor.registry.iterate("a"))
    assert {(row.state, row.reason_code) for row in waiting} == {(DocumentState.QUEUED, "engine_disk_full")}
    outcomes = ingestor.ingest([raw("חדש", "old"), raw("נוסף", "new")])
    assert {outcome.state for outcome in outcomes} == {DocumentState.READY}
    assert sorted(chunks(engine, work_index)) == ["חדש", "נוסף"]
    assert {row.attempts for row in ingestor.registry.iterate("a")} == {1}


def test_a_file_under_another_name_is_one_document(
    start: Start, engine: Engine, work_index: IndexInfo, tmp_path: Path
) -> None:
    ingestor = start()
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "old.txt").write_text("תוכן שעובר", encoding="utf-8")
    (folder / "twin.txt").write_text("תוכן כפול", encoding="utf-8")
    ingest_paths(ingestor, [folder], tenant="a")
    (folder / "old.txt").rename(folder / "new.txt")
    (folder / "copy.txt").write_text("תוכן כפול", encoding="utf-8")
    report = ingest_paths(ingestor, [folder], tenant="a")
    assert (report.ready, report.unchanged) == (2, 1)
    assert sorted(row.name for row in ingestor.registry.iterate("a")) == ["copy.txt", "new.txt", "twin.txt"]
    assert sorted(chunks(engine, work_index)) == ["תוכן כפול", "תוכן כפול", "תוכן שעובר"]
    # A share that is not mounted is an empty folder: what it has was copied, and not moved.
    share = tmp_path / "share"
    share.mkdir()
    (share / "kept.txt").write_text("תוכן של השיתוף", encoding="utf-8")
    ingest_paths(ingestor, [share], tenant="a")
    (share / "kept.txt").rename(folder / "local.txt")
    ingest_paths(ingestor, [folder], tenant="a")
    assert {"kept.txt", "local.txt"} <= {row.name for row in ingestor.registry.iterate("a")}
    # The same source under another name: one document, with the new name.
    (first,) = ingestor.ingest([raw("טקסט", "id-1")])
    (second,) = ingestor.ingest([RawDocument(tenant="a", source="id-1", name="other.txt", data="טקסט".encode())])
    assert first.document_id == second.document_id
    assert ingestor.registry.require("a", first.document_id).name == "other.txt"


def test_a_run_that_ends_early_leaves_every_file_visible(start: Start, work_settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"מסמך {number}", encoding="utf-8")

    class Dies(WordEmbedder):
        def embed_passages(self, texts: Any) -> Vectors:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest_paths(start(Dies(WORDS)), [folder], tenant="a")
    ingestor = start()
    states = [row.state for row in ingestor.registry.iterate("a")]
    assert len(states) == 5
    assert DocumentState.READY not in states
    work_queue(ingestor, ingestor.queue, threading.Event(), once=True, on_outcome=lambda _: None)
    assert {row.state for row in ingestor.registry.iterate("a")} == {DocumentState.READY}


def test_a_summary_by_folder(start: Start) -> None:
    ingestor = start()
    ingestor.ingest(
        [
            raw(paragraphs(2, "מילה"), "x/1"),
            raw("ב", "x/2"),
            raw("", "x/y/3"),
            raw("ד", "4"),
            raw("ה", "x/1", tenant="b"),
        ]
    )
    summary = ingestor.registry.summary("a")
    found = {one.folder: (one.documents, one.chunks_generated, one.chunks_indexed) for one in summary.folders}
    assert found == {"x": (2, 3, 3), "x/y": (1, 0, 0), "": (1, 1, 1)}
    assert (summary.documents, summary.chunks_generated, summary.chunks_indexed) == (4, 4, 4)
    assert len(list(ingestor.registry.iterate("a", folder="x"))) == 3
    assert [row.source for row in ingestor.registry.iterate("a", folder="x/y/")] == ["x/y/3"]


def test_a_queue_serves_all_tenants_and_a_retry_one(engine: Engine, start: Start, work_settings: Settings) -> None:
    ingestor = start()
    queue = Queue(engine, attach(engine, work_settings, WORDS), work_settings)
    for tenant in ("a", "b"):
        queue.enqueue(raw("", "empty", tenant=tenant))
    take(ingestor, queue, queue.waiting(10), lambda _: None)
    assert [row.state for tenant in "ab" for row in ingestor.registry.iterate(tenant)] == [DocumentState.FAILED] * 2
    assert len(queue.retry_all("a")) == 1
    assert [row.tenant for row in queue.waiting(10)] == ["a"]
