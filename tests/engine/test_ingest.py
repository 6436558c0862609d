"""Files to chunks in a real index: bad ones among good, twice, changed, refused in part, and an engine that goes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.documents import RawDocument
from ingest.encoding import SLICE_TEXTS
from ingest.pipeline import Ingestor
from ingest.worker import ProgressEvent, ingest_documents, ingest_paths
from models.base import ModelDescription, Vectors
from search_config.client import Engine
from search_config.errors import (
    EngineUnreachable,
    IndexMismatch,
    InvalidRequest,
    InvalidTenant,
    InvalidVector,
    MissingTenant,
    NotFound,
)
from search_config.install import IndexInfo, attach, create_chunks_index, install, uninstall
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings
from tests.engine.proxy import BreakingProxy
from tests.engine.rows import WordEmbedder

WIDE = ModelDescription(name="words", revision="1", dim=16, window=100_000, licence="MIT")
# A paragraph of these tests is a chunk of its own.
TARGET = 512
# A worker that lost its engine lives on in this process: the next one must see that it is silent.
LEASE_S = 0.5
# One term of more than 32,766 bytes is refused by the engine, whatever the analyzer.
IMMENSE = "א" * 17_000

Make = Callable[..., tuple[Ingestor, IndexInfo]]


@pytest.fixture(scope="module")
def installed(engine: Engine, settings: Settings) -> Iterator[IndexInfo]:
    """Templates, pipelines and indices of the module's own; the indices are made anew for every test."""
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    yield install(engine, own, WIDE)
    uninstall(engine, Names(prefix=own.index_prefix))


@pytest.fixture
def make_ingestor(engine: Engine, settings: Settings, installed: IndexInfo) -> Make:
    """`make_ingestor()` gives an ingestor over empty indices; a test makes one."""

    def make(embedder: WordEmbedder | None = None, **overrides: object) -> tuple[Ingestor, IndexInfo]:
        own = settings.model_copy(
            update={"index_prefix": installed.names.prefix, "chunk_target": TARGET, "lease_s": LEASE_S, **overrides}
        )
        words = embedder or WordEmbedder(WIDE)
        engine.request("DELETE", f"/{installed.index},{installed.names.documents}")
        create_chunks_index(engine, own, words.description, version=1, live=True)
        engine.request("PUT", f"/{installed.names.documents}")
        info = attach(engine, own, words.description)
        return Ingestor(engine, info, words, own), info

    return make


def raw(text: str, source: str = "s", *, tenant: str = "a", **more: Any) -> RawDocument:
    return RawDocument(tenant=tenant, source=source, name=f"{source}.txt", data=text.encode(), **more)


def rows(engine: Engine, info: IndexInfo) -> list[dict[str, Any]]:
    body = {"size": 1_000, "query": {"match_all": {}}, "sort": ["document_id", "version", "ordinal"]}
    return [hit["_source"] for hit in engine.search(info.index, body)["hits"]["hits"]]


def paragraphs(count: int, word: str = "מילה") -> str:
    return "\n\n".join(f"פסקה מספר {i}. " + f"{word} " * 80 for i in range(count))


def test_a_folder_with_bad_files_among_good_ones(engine: Engine, make_ingestor: Make, tmp_path: Path) -> None:
    ingestor, info = make_ingestor(max_file_bytes=50_000)
    folder = tmp_path / "מסמכים"
    (folder / "sub").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.txt").write_text("סמוי")
    (folder / "a.txt").write_text("פסקה ראשונה.\n\nפסקה שנייה.", encoding="utf-8")
    (folder / "old.txt").write_bytes('החוזה נחתם ע"י העירייה'.encode("windows-1255"))
    (folder / "sub" / "b.md").write_text("---\ndate: 31.12.2024\ntype: contract\n---\n# כותרת\n\nגוף", encoding="utf-8")
    (folder / "sub" / "c.html").write_text("<title>דף</title><p>תוכן", encoding="utf-8")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "big.txt").write_bytes(b"x" * 50_001)
    (folder / "garbage.txt").write_bytes(bytes(range(128, 256)) * 10)
    (folder / "scan.pdf").write_bytes(b"%PDF-1.7")
    (folder / "image.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(tmp_path)
    (folder / "link.txt").symlink_to(folder / "a.txt")
    (folder / os.fsdecode(b"\xe0\xe1.txt")).write_text("שם שאינו UTF-8", encoding="utf-8")
    events: list[ProgressEvent] = []

    report = ingest_paths(ingestor, [folder], tenant="a", on_event=events.append)

    assert {outcome.name: outcome.code for outcome in report.failed} == {
        "empty.txt": "empty_document",
        "big.txt": "document_too_large",
        "garbage.txt": "undecodable_document",
        "scan.pdf": "extraction_failed",
        "image.txt": "binary_document",
        "pipe": "unreadable_document",
    }
    assert (report.documents, report.ready, report.unchanged) == (11, 5, 0)
    assert sorted(outcome.name for outcome in report.noted) == ["b.md", "old.txt"]
    assert [event.done for event in events if event.outcome] == list(range(1, 12))
    assert {event.total for event in events} == {11}
    assert (events[0].done, events[0].chunks, events[-1].chunks) == (0, 0, 5)
    assert events[-1].chunks_per_second > 0
    found = rows(engine, info)
    assert len(found) == report.chunks == 5
    for row in found:
        record = ingestor.registry.require("a", row["document_id"])
        assert record.text is not None
        assert record.text[row["locator"]["from"] : row["locator"]["to"]] == row["content"]
        assert record.state is DocumentState.READY
        assert record.attempts == record.version == 1
    failed = ingestor.registry.list("a", state=DocumentState.FAILED)
    assert {record.name: bool(record.reason) for record in failed} == {o.name: True for o in report.failed}
    summary = ingestor.registry.summary("a")
    assert (summary.documents, summary.chunks_indexed) == (11, 5)
    assert summary.by_state == {DocumentState.READY: 5, DocumentState.FAILED: 6}
    assert ingestor.registry.summary("b").documents == 0


def test_a_run_tells_how_far_it_is_while_one_batch_is_embedded(make_ingestor: Make, tmp_path: Path) -> None:
    ingestor, _ = make_ingestor()
    (tmp_path / "long.txt").write_text(paragraphs(2 * SLICE_TEXTS + 1), encoding="utf-8")
    events: list[ProgressEvent] = []
    ingest_paths(ingestor, [tmp_path], tenant="a", on_event=events.append)
    told = [(event.done, event.chunks) for event in events]
    assert told == [(0, 0), (0, SLICE_TEXTS), (0, 2 * SLICE_TEXTS), (0, 2 * SLICE_TEXTS + 1), (1, 2 * SLICE_TEXTS + 1)]


def test_the_same_files_twice_write_nothing(engine: Engine, make_ingestor: Make, tmp_path: Path) -> None:
    ingestor, info = make_ingestor()
    for i in range(40):
        (tmp_path / f"{i:02d}.txt").write_text(paragraphs(3, f"מילה{i}"), encoding="utf-8")
    first = ingest_paths(ingestor, [tmp_path], tenant="a")
    before = rows(engine, info)
    written = engine.request("GET", f"/{info.names.prefix}-*/_stats/indexing")["_all"]["total"]["indexing"]
    second = ingest_paths(ingestor, [tmp_path, tmp_path / "00.txt"], tenant="a")
    again = engine.request("GET", f"/{info.names.prefix}-*/_stats/indexing")["_all"]["total"]["indexing"]
    assert (first.ready, first.chunks) == (40, len(before))
    assert (second.documents, second.unchanged, second.chunks) == (40, 40, 0)
    assert again["index_total"] == written["index_total"]
    assert rows(engine, info) == before


def test_a_changed_shorter_version_replaces_all_of_the_old_one(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor()
    (one,) = ingestor.ingest([raw(paragraphs(30))])
    (two,) = ingestor.ingest([raw(paragraphs(2, "אחרת"))])
    found = rows(engine, info)
    assert one.chunks_indexed == 30
    assert two.chunks_indexed == len(found) == 2
    assert all("אחרת" in row["content"] and row["version"] == 2 for row in found)
    record = ingestor.registry.require("a", two.document_id)
    assert (record.version, record.chunks_indexed, record.text) == (2, 2, paragraphs(2, "אחרת"))


def test_what_a_sender_says_beside_the_content_counts(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor()
    ingestor.ingest([raw("תוכן אחד", groups=("x",), title="שם אחד")])
    (same,) = ingestor.ingest([raw("תוכן אחד", groups=("x",), title="שם אחד")])
    (other,) = ingestor.ingest([raw("תוכן אחד", groups=("y",), title="שם שני", url="https://x.example/1")])
    assert same.unchanged
    assert not other.unchanged
    (row,) = rows(engine, info)
    assert (row["groups"], row["title"], row["url"]) == (["y"], "שם שני", "https://x.example/1")


def test_one_refused_chunk_fails_its_document_alone_and_keeps_the_version_before(
    engine: Engine, make_ingestor: Make
) -> None:
    ingestor, info = make_ingestor(chunk_target=20_000)
    ingestor.ingest([raw("הגרסה הקודמת", "changed")])
    bad = f"{paragraphs(60)}\n\n{IMMENSE}"
    changed, new, good = ingestor.ingest([raw(bad, "changed"), raw(bad, "new"), raw("מסמך תקין", "good")])
    assert changed.state is new.state is DocumentState.FAILED
    assert good.state is DocumentState.READY
    assert changed.code == "indexing_incomplete"
    assert changed.reason is not None
    assert f"1 of {changed.chunks_generated} chunks were refused" in changed.reason
    assert "32766" in changed.reason
    assert sorted(row["content"] for row in rows(engine, info)) == ["הגרסה הקודמת", "מסמך תקין"]
    kept = ingestor.registry.require("a", changed.document_id)
    assert (kept.state, kept.text, kept.chunks_indexed) == (DocumentState.FAILED, "הגרסה הקודמת", 1)
    assert kept.reason == changed.reason
    (back,) = ingestor.ingest([raw("הגרסה הקודמת", "changed")])
    assert back.unchanged
    assert ingestor.registry.require("a", changed.document_id).state is DocumentState.READY


@pytest.mark.parametrize("breaks_at", range(1, 10))
def test_an_engine_that_goes_away_leaves_nothing_that_looks_ready(
    engine: Engine, make_ingestor: Make, settings: Settings, breaks_at: int
) -> None:
    whole, info = make_ingestor(bulk_max_items=2)
    whole.ingest([raw("גרסה ראשונה", "old")])
    batch = [raw(paragraphs(5, "חדש"), "old"), raw(paragraphs(5, "אחר"), "new")]
    proxy = BreakingProxy(engine.url, breaks_at=breaks_at)
    breaking = Engine(proxy.url, timeout_s=5)
    own = settings.model_copy(
        update={"index_prefix": info.names.prefix, "chunk_target": TARGET, "bulk_max_items": 2, "lease_s": LEASE_S}
    )
    cut = Ingestor(breaking, info, WordEmbedder(WIDE), own)
    with pytest.raises(EngineUnreachable):
        cut.ingest(batch)
    breaking.close()
    proxy.close()
    whole.registry.refresh()
    ready = whole.registry.list("a", state=DocumentState.READY)
    assert all(whole.registry.require("a", record.document_id).text == "גרסה ראשונה" for record in ready)

    outcomes = whole.ingest(batch)

    assert [outcome.state for outcome in outcomes] == [DocumentState.READY] * 2
    found = rows(engine, info)
    assert len(found) == 10
    assert not any("ראשונה" in row["content"] for row in found)
    assert {record.state for record in whole.registry.iterate("a")} == {DocumentState.READY}
    assert all(outcome.unchanged for outcome in whole.ingest(batch))


def test_an_interrupted_new_version_is_taken_back_when_the_old_file_returns(
    engine: Engine, make_ingestor: Make, settings: Settings
) -> None:
    whole, info = make_ingestor(bulk_max_items=1)
    whole.ingest([raw("גרסה ראשונה")])
    proxy = BreakingProxy(engine.url, breaks_at=7)
    breaking = Engine(proxy.url, timeout_s=5)
    own = settings.model_copy(
        update={"index_prefix": info.names.prefix, "chunk_target": TARGET, "bulk_max_items": 1, "lease_s": LEASE_S}
    )
    with pytest.raises(EngineUnreachable):
        Ingestor(breaking, info, WordEmbedder(WIDE), own).ingest([raw(paragraphs(5, "חדש"))])
    breaking.close()
    engine.request("POST", f"/{info.index}/_refresh")
    assert len(rows(engine, info)) > 1, "the connection was to break between two chunks"
    (outcome,) = whole.ingest([raw("גרסה ראשונה")])
    assert outcome.unchanged
    assert [row["content"] for row in rows(engine, info)] == ["גרסה ראשונה"]


def test_tenants_with_the_same_source_stay_apart(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor()
    a, b = ingestor.ingest([raw("של א", tenant="a"), raw("של ב", tenant="b")])
    assert a.document_id != b.document_id
    assert ingestor.registry.get("b", a.document_id) is None
    assert ingestor.registry.get_many("b", [a.document_id]) == {}
    with pytest.raises(NotFound):
        ingestor.registry.delete("b", a.document_id)
    ingestor.registry.delete("a", a.document_id)
    assert [row["tenant"] for row in rows(engine, info)] == ["b"]
    assert ingestor.registry.get("a", a.document_id) is None
    with pytest.raises(NotFound):
        ingestor.registry.require("a", a.document_id)


def test_a_document_twice_in_one_batch_ends_as_the_last(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor()
    first, second, third = ingestor.ingest([raw("אחד"), raw("שניים"), raw("שניים")])
    assert not first.unchanged
    assert not second.unchanged
    assert third.unchanged
    assert [row["content"] for row in rows(engine, info)] == ["שניים"]


def test_many_documents_are_listed_page_by_page(make_ingestor: Make) -> None:
    ingestor, _ = make_ingestor()
    report = ingest_documents(ingestor, (raw(f"מסמך {i}", f"s{i}") for i in range(70)), total=70)
    assert report.ready == 70
    page = ingestor.registry.list("a", size=50)
    rest = ingestor.registry.list("a", size=50, after=page[-1].document_id)
    assert len({record.document_id for record in (*page, *rest)}) == 70
    assert all(record.text is None for record in page)


class Failing(WordEmbedder):
    """Cannot take texts with a certain word."""

    def embed_passages(self, texts: Any) -> Vectors:
        vectors = super().embed_passages(texts)
        if any("רעל" in text for text in texts):
            raise InvalidVector("The model gave a vector that is zero or not finite.", where="words")
        return vectors


def test_a_text_that_the_model_cannot_take_fails_its_document_alone(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor(Failing(WIDE))
    good, bad = ingestor.ingest([raw("טוב", "g"), raw("רעל", "b")])
    assert (good.state, bad.state, bad.code) == (DocumentState.READY, DocumentState.FAILED, "invalid_vector")
    assert [row["content"] for row in rows(engine, info)] == ["טוב"]


class Unnormalised(WordEmbedder):
    """Gives vectors of another length."""

    def embed_passages(self, texts: Any) -> Vectors:
        return super().embed_passages(texts) * 2


def test_vectors_are_checked_before_they_are_written(engine: Engine, make_ingestor: Make) -> None:
    ingestor, info = make_ingestor(Unnormalised(WIDE))
    (outcome,) = ingestor.ingest([raw("טקסט")])
    assert outcome.reason is not None
    assert "unit length" in outcome.reason
    assert rows(engine, info) == []


def test_wrong_use_is_refused_before_anything_is_written(engine: Engine, make_ingestor: Make, tmp_path: Path) -> None:
    ingestor, info = make_ingestor()
    with pytest.raises(MissingTenant):
        ingest_paths(ingestor, [tmp_path], tenant=" ")
    with pytest.raises(InvalidTenant):
        ingestor.ingest([raw("טוב"), raw("x", tenant="*")])
    with pytest.raises(InvalidRequest, match="2 path"):
        ingest_paths(ingestor, [tmp_path / "no", tmp_path, tmp_path / "nor"], tenant="a")
    with pytest.raises(IndexMismatch):
        Ingestor(engine, info, WordEmbedder(WIDE.model_copy(update={"revision": "2"})), Settings(_env_file=None))
    assert rows(engine, info) == []
    assert ingestor.registry.summary("a").documents == 0
