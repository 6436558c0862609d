"""Changes of model and of chunking over a real index, while others search, ingest and delete; and interrupted."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.documents import RawDocument
from ingest.migration import Migrator
from ingest.pipeline import Ingestor
from ingest.stale import documents_by_stamp
from models.base import Embedder, ModelDescription, Vectors
from query.request import SearchRequest
from query.search import SearchContext, search
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexingIncomplete, IndexMismatch, MigrationRefused, StateConflict
from search_config.install import (
    IndexInfo,
    attach,
    create_next_index,
    finish_index,
    index_meta,
    install,
    live_index,
    uninstall,
)
from search_config.migration import Migration, MigrationState, Sample, read_migration, swap, versions
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings
from tests.engine.rows import PROFILE, WordEmbedder
from tests.engine.workers import PATIENCE_S, TARGET, Background, empty, paragraphs, raw, write

DOCUMENTS = 20
# Documents of the examples that are migrated with the embedded model.
EXAMPLES = 4
# Documents that come in the middle of each change.
LATE = 2
CLIENTS = 8
# Between two searches of a client, so that eight of them leave something of the machine to the migration.
PAUSE_S = 0.1
FIRST = ModelDescription(name="first", revision="1", dim=16, window=100_000, licence="MIT")
# The same length, other vectors: nothing but the model's name tells them apart.
SECOND = FIRST.model_copy(update={"name": "second"})
THIRD = ModelDescription(name="third", revision="1", dim=24, window=100_000, licence="MIT")


class Salted(WordEmbedder):
    """Words have other directions in every model."""

    def __init__(self, description: ModelDescription, on_passages: Callable[[], None] = lambda: None) -> None:
        super().__init__(description)
        self._on_passages = on_passages
        self.embedded = 0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._on_passages()
        self.embedded += len(texts)
        return self._vectors(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        name = self.description.name
        return super().embed_passages([" ".join(f"{name}:{word}" for word in text.split()) for text in texts])


class Interrupted(BaseException):
    """The process ends here: nothing of ours is run any more."""


class Place:
    """An installation that changes its model."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine, self.settings = engine, settings
        self.names = Names(prefix=settings.index_prefix)

    def ingestor(self, model: ModelDescription, **settings: Any) -> Ingestor:
        words, own = Salted(model), self.settings.model_copy(update=settings)
        return Ingestor(self.engine, attach(self.engine, own, model), words, own)

    def migrator(self, embedder: Embedder, **more: Any) -> Migrator:
        return Migrator(self.engine, self.settings.model_copy(update=more.pop("settings", {})), embedder, **more)

    def context(self, model: ModelDescription) -> SearchContext:
        info = attach(self.engine, self.settings, model)
        return SearchContext(self.engine, info, Salted(model), PROFILE, self.settings)

    def fill(self, model: ModelDescription) -> list[str]:
        batch = [raw(paragraphs(1 + i % 3, f"מילה{i}"), f"s{i}") for i in range(DOCUMENTS)]
        outcomes = self.ingestor(model).ingest(batch)
        assert all(one.state is DocumentState.READY for one in outcomes)
        return [one.document_id for one in outcomes]

    def rows(self, index: str) -> dict[str, dict[str, Any]]:
        self.engine.request("POST", f"/{index}/_refresh")
        hits = self.engine.search(index, {"size": 1_000})["hits"]["hits"]
        return {hit["_id"]: hit["_source"] for hit in hits}

    @property
    def migration(self) -> Migration:
        stored = read_migration(self.engine, self.names)
        assert stored is not None
        return stored.row

    @property
    def live(self) -> str:
        return live_index(self.engine, self.names) or ""


@pytest.fixture(scope="module")
def installed(engine: Engine, settings: Settings) -> Iterator[Settings]:
    """Templates and indices, once: putting them takes longer than most of what is tested."""
    own = settings.model_copy(
        update={"index_prefix": f"t{uuid.uuid4().hex[:10]}", "chunk_target": TARGET, "lease_s": 0.4}
    )
    install(engine, own, FIRST)
    yield own
    uninstall(engine, Names(prefix=own.index_prefix))


@pytest.fixture
def place(engine: Engine, installed: Settings) -> Place:
    """The installation as it was at first: one empty version for the first model, no document, no migration."""
    names = Names(prefix=installed.index_prefix)
    engine.request("DELETE", f"/{names.all_chunks},{names.prefix}-migrated-*")
    create_next_index(engine, installed, FIRST, names.chunks_version(1))
    finish_index(engine, names.chunks_version(1))
    engine.request("PUT", f"/{names.chunks_version(1)}/_alias/{names.chunks}", body={"is_write_index": True})
    for index in (names.documents, names.migrations):
        empty(engine, index)
    return Place(engine, installed)


class Clients:
    """Threads that search as services do: each holds the version that it attached to, and attaches again when it is
    told to. A document is asked for by its own text: vectors of one model give it the cosine 1, mixed ones do not."""

    def __init__(self, place: Place, model: ModelDescription, known: Sequence[str]) -> None:
        self.failed: list[str] = []
        self.searches = 0
        self._place, self._known = place, list(known)
        self._context = place.context(model)
        self._stop = threading.Event()
        self._progress = threading.Condition()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(CLIENTS)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def attach(self, model: ModelDescription) -> None:
        self._context = self._place.context(model)

    def wait(self, searches: int) -> None:
        with self._progress:
            wanted = self.searches + searches
            assert self._progress.wait_for(lambda: self.searches >= wanted or self.failed, PATIENCE_S)

    def _run(self, number: int) -> None:
        turn = number
        while not self._stop.wait(PAUSE_S):
            i = turn % DOCUMENTS
            turn += CLIENTS
            context = self._context
            query = paragraphs(1, f"מילה{i}")
            try:
                result = search(SearchRequest(tenant="a", query=query, mode=MODES[turn % 3]), context)
                self._check(result, self._known[i], context)
            except Exception as error:  # noqa: BLE001  whatever it is, it is a failed search
                self.failed.append(repr(error))
            with self._progress:
                self.searches += 1
                self._progress.notify_all()

    def _check(self, result: Any, document: str, context: SearchContext) -> None:
        assert (result.index.name, result.index.model) == (context.info.index, context.info.model.identity)
        assert not result.degraded, result.degraded
        assert result.hits, "nothing was found"
        first = result.hits[0]
        assert first.document_id == document
        if (knn := first.scores.knn) is not None:
            assert knn.score > 0.99, "vectors of two models"


MODES = ("hybrid", "dense", "lexical")


def test_two_changes_of_model_while_eight_clients_search_and_documents_come(place: Place) -> None:
    known = place.fill(FIRST)
    with Clients(place, FIRST, known) as clients:
        before = FIRST
        for number, model in enumerate((SECOND, THIRD)):
            ingestor, late = place.ingestor(before), [f"late-{number}-{i}" for i in range(LATE)]

            def during(ingestor: Ingestor = ingestor, late: list[str] = late) -> None:
                # The migration is in the middle: one document comes, one changes, one goes, and searches go on.
                if not late:
                    return
                name = late.pop()
                ingestor.ingest([raw(paragraphs(2, name), name), raw(paragraphs(2, "משתנה" * len(late)), "changes")])
                if len(late) == 1:
                    gone = ingestor.ingest([raw("יימחק מיד", "goes")])[0].document_id
                    ingestor.registry.delete("a", gone)
                clients.wait(CLIENTS)

            source = place.live
            report = place.migrator(Salted(model, during)).run()
            assert (report.needed, report.source, report.target) == (True, source, place.live)
            clients.wait(2 * CLIENTS)  # services that were not started again search the version before, by its name
            clients.attach(model)
            clients.wait(2 * CLIENTS)
            assert place.migration.state is MigrationState.DONE
            with pytest.raises(IndexMismatch):
                ingestor.ingest([raw("מאוחר מדי", "too-late")])
            before = model
    assert clients.failed == []
    old = [place.names.chunks_version(1), place.names.chunks_version(2)]
    assert place.migrator(Salted(THIRD)).drop_old() == old
    assert versions(place.engine, place.names) == [place.live]
    rows = place.rows(place.live)
    assert {row["model"] for row in rows.values()} == {THIRD.identity}
    records = list(place.ingestor(THIRD).registry.iterate("a"))
    assert len(records) == DOCUMENTS + 2 * LATE + 1
    assert {record.state for record in records} == {DocumentState.READY}
    assert sum(record.chunks_generated for record in records) == len(rows)
    assert {record.stamps.model for record in records if record.stamps} == {THIRD.identity}
    assert all(record.chunks_generated == record.chunks_indexed for record in records)


def test_what_is_migrated_is_what_an_ingest_would_have_made(
    engine: Engine, settings: Settings, embedder: Embedder, examples: Path
) -> None:
    """To the letter and to the bit, with the embedded model's vectors and token codes; only times differ."""
    fresh = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    cut = fresh.model_copy(update={"chunk_strategy": "F", "chunk_target": 700})
    paths = sorted((examples / "documents" / "policies").iterdir())[:EXAMPLES]
    batch = [
        RawDocument(
            tenant="a", source=path.name, name=path.name, data=path.read_bytes(), groups=("צוות",), tags=("תג",)
        )
        for path in paths
    ]
    try:
        Ingestor(engine, install(engine, fresh, embedder.description), embedder, fresh).ingest(batch)
        Migrator(engine, cut, embedder).run()
        info = attach(engine, cut, embedder.description)
        migrated = _whole(engine, info)
        anew = Ingestor(engine, info, embedder, cut)
        for row in list(anew.registry.iterate("a")):
            anew.registry.delete("a", row.document_id)
        assert _whole(engine, info) == {}
        anew.ingest(batch)
        made = _whole(engine, info)
    finally:
        uninstall(engine, Names(prefix=fresh.index_prefix))
    assert migrated == made
    assert all(row["codes"] for row in made.values())
    assert {row["pipeline"] for row in made.values()} == {"1/F/700"}


def _whole(engine: Engine, info: IndexInfo) -> dict[str, dict[str, Any]]:
    body = {"size": 1_000, "docvalue_fields": [fields.TOKEN_CODES]}
    engine.request("POST", f"/{info.index}/_refresh")
    hits = engine.search(info.index, body)["hits"]["hits"]
    rows = {hit["_id"]: {**hit["_source"], "codes": hit.get("fields", {}).get(fields.TOKEN_CODES)} for hit in hits}
    for row in rows.values():
        del row[fields.INDEXED_AT]
    return rows


@pytest.mark.parametrize("state", [MigrationState.BUILDING, MigrationState.CLOSING, MigrationState.SWAPPED])
def test_an_interrupted_migration_goes_on(place: Place, state: MigrationState) -> None:
    known = place.fill(FIRST)
    before = len(place.rows(place.live))

    def end(row: Migration) -> None:
        if row.state is state and row.migrated >= DOCUMENTS // 3:
            raise Interrupted

    model = Salted(SECOND)
    with pytest.raises(Interrupted):
        place.migrator(model, on_step=end).run()
    assert place.migration.state is state
    assert place.migration.reason is None
    half, done = place.migration.target_index, model.embedded
    swapped = state is MigrationState.SWAPPED
    assert (place.live == half) is swapped
    if not swapped:
        assert index_meta(place.engine, half).building
        # What is half-built cannot be used, wherever somebody puts the alias.
        source = place.live
        swap(place.engine, place.names, source=source, target=half)
        with pytest.raises(IndexMismatch, match="still building"):
            attach(place.engine, place.settings, SECOND)
        swap(place.engine, place.names, source=half, target=source)
    # Searches and ingests go on with what is live, also where the gate was closed.
    live = SECOND if swapped else FIRST
    hits = search(SearchRequest(tenant="a", query=paragraphs(1, "מילה3")), place.context(live)).hits
    assert hits[0].document_id == known[3]
    (outcome,) = place.ingestor(live).ingest([raw(paragraphs(2, "בינתיים"), "meanwhile")])
    assert outcome.state is DocumentState.READY
    report = place.migrator(model).run()
    assert (report.needed, report.resumed, report.target, place.live) == (True, True, half, half)
    rows = place.rows(half)
    assert {row["model"] for row in rows.values()} == {SECOND.identity}
    chunks = before + outcome.chunks_indexed
    assert len(rows) == chunks
    # What was done before is not done again.
    assert model.embedded <= chunks
    assert done > 0
    groups = documents_by_stamp(place.engine, place.names)
    assert [(group.documents, group.chunks, group.stamps.model) for group in groups] == [
        (DOCUMENTS + 1, chunks, SECOND.identity)
    ]
    assert place.migrator(model).run().needed is False
    (again,) = place.ingestor(SECOND).ingest([raw(paragraphs(1, "מילה0"), "s0")])
    assert again.unchanged


def test_the_second_of_two_is_refused(place: Place) -> None:
    place.fill(FIRST)
    refused: list[str] = []

    def second() -> None:
        if not refused:
            with pytest.raises(StateConflict) as caught:
                place.migrator(Salted(SECOND)).run()
            refused.append(str(caught.value))
            with pytest.raises(StateConflict):
                place.migrator(Salted(SECOND)).abandon()
            with pytest.raises(StateConflict):
                place.migrator(Salted(SECOND)).drop_old()

    assert place.migrator(Salted(SECOND, second)).run().needed
    assert "migrates already" in refused[0]


def test_another_model_than_that_of_the_unfinished_migration_is_refused_until_it_is_given_up(place: Place) -> None:
    place.fill(FIRST)

    def end(row: Migration) -> None:
        if row.migrated:
            raise Interrupted

    with pytest.raises(Interrupted):
        place.migrator(Salted(SECOND), on_step=end).run()
    with pytest.raises(StateConflict, match="unfinished"):
        place.migrator(Salted(THIRD)).run()
    half = place.migration.target_index
    assert place.migrator(Salted(THIRD)).abandon() == half
    assert half not in versions(place.engine, place.names)
    assert place.migration.state is MigrationState.ABANDONED
    assert place.migrator(Salted(THIRD)).run().needed
    assert attach(place.engine, place.settings, THIRD).index == place.live


def test_documents_in_a_workers_hands_are_waited_for(place: Place) -> None:
    """The gate closes while a worker embeds: what it publishes is in the next version too."""
    place.fill(FIRST)
    reached, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        assert go_on.wait(PATIENCE_S)

    slow = Ingestor(place.engine, attach(place.engine, place.settings, FIRST), Salted(FIRST, hold), place.settings)
    background: list[Background] = []

    def start(row: Migration) -> None:
        if row.state is MigrationState.CLOSING:
            go_on.set()
        elif not background:
            background.append(Background(slow, [raw(paragraphs(3, "באמצע"), "in-hand")]))
            assert reached.wait(PATIENCE_S)

    place.migrator(Salted(SECOND), on_step=start).run()
    (outcome,) = background[0].result()
    assert outcome.state is DocumentState.READY
    rows = [row for row in place.rows(place.live).values() if row["document_id"] == outcome.document_id]
    assert [row["model"] for row in rows] == [SECOND.identity] * outcome.chunks_indexed


def test_a_worker_of_the_model_before_leaves_the_documents_to_others(place: Place) -> None:
    place.fill(FIRST)
    old = place.ingestor(FIRST)
    place.migrator(Salted(SECOND)).run()
    before = place.rows(place.live)
    row = old.queue.enqueue(raw(paragraphs(2, "ממתין"), "waits", payload="file:///nowhere"))
    with pytest.raises(IndexMismatch, match="not the live index"):
        old.ingest([raw(paragraphs(2, "ממתין"), "waits")])
    assert old.registry.require("a", row.document_id).state is DocumentState.QUEUED
    assert place.rows(place.live) == before
    assert place.rows(place.names.chunks_version(1)).keys().isdisjoint(before)
    (outcome,) = place.ingestor(SECOND).ingest([raw(paragraphs(2, "ממתין"), "waits")])
    assert outcome.state is DocumentState.READY
    # Whoever deletes through the version before leaves nothing in the live one.
    old.registry.delete("a", row.document_id)
    assert not [one for one in place.rows(place.live).values() if one["document_id"] == row.document_id]


def test_a_next_version_that_finds_less_does_not_become_the_live_one(place: Place) -> None:
    place.fill(FIRST)
    live = place.live
    worse = Sample(queries=20, found_before=20, found_after=10, found_by_vectors=20)
    with pytest.raises(MigrationRefused):
        place.migrator(Salted(SECOND), compare=lambda *_: worse).run()
    assert place.live == live
    assert place.migration.reason is not None
    assert place.migration.lease is None
    same = worse.model_copy(update={"found_after": 19})
    assert place.migrator(Salted(SECOND), compare=lambda *_: same).run().resumed


def test_chunks_that_are_lost_on_the_way_are_noticed(place: Place) -> None:
    place.fill(FIRST)

    def lose(row: Migration) -> None:
        if row.state is MigrationState.CLOSING:
            id_ = next(iter(place.rows(row.target_index)))
            place.engine.request("DELETE", f"/{row.target_index}/_doc/{id_}", params={"refresh": "true"})

    live = place.live
    with pytest.raises(MigrationRefused, match="other chunks"):
        place.migrator(Salted(SECOND), on_step=lose).run()
    assert place.live == live


def test_a_document_that_cannot_be_cut_anew_is_named(place: Place) -> None:
    ids = place.fill(FIRST)
    write(place.engine, attach(place.engine, place.settings, FIRST), ids[5], {fields.LAYOUT: None})
    with pytest.raises(IndexingIncomplete, match=ids[5]):
        place.migrator(Salted(SECOND)).run()
    assert place.migration.reason is not None
    place.ingestor(FIRST).registry.delete("a", ids[5])
    assert place.migrator(Salted(SECOND)).run().documents == DOCUMENTS - 1
