"""The next version of the chunks beside the live one, then one swap of the alias. An interrupted run goes on.

    building   documents are written anew, while searches and ingests go on; what they change is written again
    closing    workers take nothing new for seconds; the rest is written, counts are compared, the alias is moved
    swapped    the documents' rows are told what their chunks are made with now
    done       the version before stays, for processes that hold it, until it is dropped

Each step can be repeated. Whoever migrates holds a lease in the migration's row; each write of that row is a
compare-and-set, so that of two who think it theirs one stops.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ingest import rows
from ingest.claims import WORKING
from ingest.lease import Watch, Worker
from ingest.ledger import Change, Ledger, Mark
from ingest.rebuilding import Counts, Rebuilder
from ingest.stale import documents_by_stamp
from models.base import Embedder
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexMissing, MafteachError, MigrationRefused, StateConflict
from search_config.install import (
    IndexInfo,
    create_next_index,
    extend_old,
    finish_index,
    index_meta,
    live_index,
    wanted_meta,
)
from search_config.migration import (
    Migration,
    MigrationState,
    Sample,
    StoredMigration,
    drop_old,
    next_version,
    read_migration,
    swap,
    write_migration,
)
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings

Json = dict[str, Any]

# Passes while ingests go on: each has only what changed during the one before. Then the gate closes for the rest.
OPEN_PASSES: Final = 4
# So little changed in a pass that the rest can be done while workers wait.
FEW: Final = 16
# Seconds between two looks at workers that finish the documents in their hands.
PAUSE_S: Final = 0.1
# Rows of one look at them; those beyond have their turn when these are done.
CLAIMED_MAX: Final = 1_000
# The lexical legs of both versions read the same text: fewer finds mean that the next version lacks some of it.
KEPT_SHARE: Final = 0.9

Compare = Callable[[str, IndexInfo], Sample]
"""Asks a sample of queries of the live index (its name) and of the next version."""


class MigrationReport(BaseModel):
    """What a run came to.

    Attributes:
        needed: False where the live index is as the settings say already, and nothing was done.
    """

    model_config = ConfigDict(frozen=True)

    needed: bool
    source: str
    target: str
    resumed: bool = False
    documents: int = 0
    chunks_before: int = 0
    chunks_after: int = 0
    sample: Sample | None = None
    seconds: float = 0.0
    dropped: tuple[str, ...] = Field((), description="Versions that were deleted.")


OnStep = Callable[[Migration], None]
"""Told the row after each write of it."""


class Migrator:
    """Changes the live index to what the settings and the embedder ask for."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        embedder: Embedder,
        *,
        compare: Compare | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._embedder = embedder
        self._names = Names(prefix=settings.index_prefix)
        self._wanted = wanted_meta(settings, embedder.description)
        self._compare = compare
        self._on_step = on_step
        self._worker = Worker(engine, self._names, lease_s=settings.lease_s)
        self._watch = Watch(engine, self._names)
        self._ledger = Ledger(engine, self._names, settings)
        self._stored: StoredMigration | None = None

    def run(self) -> MigrationReport:
        """Migrate, or go on with a migration that was interrupted.

        Raises:
            IndexMissing: there is nothing to migrate.
            StateConflict: another process migrates, or an unfinished migration is to something else.
            MigrationRefused: the next version does not hold what the live one does; that one stays.
            IndexingIncomplete, ModelError, EngineError, EngineRejected: it stopped; the next run goes on.
        """
        started = time.perf_counter()
        source = self._live()
        extend_old(self._engine, self._settings)
        with self._worker.working():
            resumed = self._take()
            if self._stored is None or self._stored.row.finished:
                return MigrationReport(needed=False, source=source, target=source)
            try:
                counts = self._through()
            except MafteachError as error:
                # An engine that is gone, or a row that another process has: the row stays, and says as much.
                with suppress(MafteachError):
                    self._give_up(error)
                raise
        row = self._row
        return MigrationReport(
            needed=True,
            source=row.source_index,
            target=row.target_index,
            resumed=resumed,
            documents=row.documents,
            chunks_before=0 if counts is None else counts.before,
            chunks_after=row.chunks if counts is None else counts.after,
            sample=row.sample,
            seconds=time.perf_counter() - started,
        )

    def abandon(self) -> str | None:
        """Give an unfinished migration up and delete what it made; gives that index's name.

        Raises:
            StateConflict: another process migrates, or the alias is moved already: then it can only be finished.
        """
        self._live()
        stored = read_migration(self._engine, self._names)
        if stored is None or stored.row.finished:
            return None
        self._check_free(stored.row)
        target = stored.row.target_index
        if live_index(self._engine, self._names) == target:
            raise StateConflict(
                "The alias is moved already; the migration can only be finished.",
                where=target,
                remedy="Run `mafteach migrate`; the way back is another migration.",
            )
        ended = {"state": MigrationState.ABANDONED, "lease": None, "finished_at": datetime.now(UTC)}
        self._stored = write_migration(self._engine, self._names, stored.row.model_copy(update=ended), stored)
        for name in (target, self._names.migrated(target)):
            self._engine.request("DELETE", f"/{name}", params={"ignore_unavailable": "true"})
        return target

    def drop_old(self) -> list[str]:
        """Delete every version but the live one.

        Raises:
            StateConflict: a migration is unfinished.
        """
        return drop_old(self._engine, self._names, self._live())

    def _live(self) -> str:
        live = live_index(self._engine, self._names)
        if live is None:
            raise IndexMissing(
                "There is no index yet.",
                where=self._names.chunks,
                remedy="Run `mafteach setup`; nothing is to migrate.",
            )
        return live

    def _take(self) -> bool:
        """Take the unfinished migration over, or begin one where one is needed; True where one goes on."""
        stored = read_migration(self._engine, self._names)
        if stored is not None and not stored.row.finished:
            self._check_free(stored.row)
            if not stored.row.makes(self._wanted):
                raise StateConflict(
                    f"A migration to {stored.row.model.identity}, {stored.row.pipeline} is unfinished; the settings "
                    f"ask for {self._wanted.model.identity}, {self._wanted.pipeline}.",
                    where=stored.row.target_index,
                    remedy="Finish it with its settings, or give it up: mafteach migrate --abandon.",
                )
            self._stored = stored
            state = stored.row.state
            # A gate that was closed for a dead migrator may have let workers through.
            again = MigrationState.BUILDING if state is MigrationState.CLOSING else state
            self._write(state=again, reason=None)
            return True
        source = self._live()
        if index_meta(self._engine, source) == self._wanted and not self._stale():
            return False
        now = datetime.now(UTC)
        begun = Migration(
            state=MigrationState.BUILDING,
            source_index=source,
            target_index=next_version(self._engine, self._names),
            model=self._wanted.model,
            analyzer=self._wanted.analyzer,
            pipeline=self._wanted.pipeline,
            lease=self._worker.lease(),
            started_at=now,
            updated_at=now,
        )
        self._stored = write_migration(self._engine, self._names, begun, stored)
        self._tell()
        return False

    def _stale(self) -> bool:
        """Whether a document's chunks were made otherwise than the settings say, as far as a migration mends that."""
        wanted = (self._wanted.model.identity, self._wanted.analyzer, self._wanted.pipeline)
        return any(
            (group.stamps.model, group.stamps.analyzer, group.stamps.pipeline) != wanted
            for group in documents_by_stamp(self._engine, self._names)
        )

    def _check_free(self, row: Migration) -> None:
        if row.lease is not None and not self._watch.dead([row.lease.owner]):
            raise StateConflict(
                f"Another process migrates already ({row.migrated} of {row.documents} documents, {row.state}).",
                where=row.target_index,
                remedy="Wait for it; `mafteach status` shows how far it is. Should it have died, repeat this in a "
                "minute.",
            )

    def _through(self) -> Counts | None:
        """Every step that is left."""
        row = self._row
        target = IndexInfo(
            names=self._names,
            index=row.target_index,
            model=row.model,
            analyzer=row.analyzer,
            pipeline=row.pipeline,
            engine_version="",
        )
        rebuilder = Rebuilder(self._engine, target, self._embedder, self._settings)
        counts = None
        if live_index(self._engine, self._names) != row.target_index:
            create_next_index(self._engine, self._settings, row.model, row.target_index)
            rebuilder.prepare()
            self._build(rebuilder)
            self._write(sample=self._sampled(target))
            counts = self._close(rebuilder)
        self._write(state=MigrationState.SWAPPED)
        rebuilder.stamp()
        self._write(state=MigrationState.DONE, reason=None, finished_at=datetime.now(UTC), lease=None)
        rebuilder.forget()
        return counts

    def _build(self, rebuilder: Rebuilder) -> None:
        for _ in range(OPEN_PASSES):
            if self._pass(rebuilder) <= FEW:
                return

    def _pass(self, rebuilder: Rebuilder) -> int:
        total, begun = self._total(), self._row.documents

        def told(documents: int, chunks: int) -> None:
            row = self._row
            migrated = min(total, row.migrated + documents)
            self._write(documents=total, migrated=migrated, chunks=row.chunks + chunks)

        if begun != total:
            self._write(documents=total)
        done = rebuilder.copy(told)
        self._write(documents=done.documents, migrated=done.documents)
        return done.copied

    def _total(self) -> int:
        body = {"size": 0, "track_total_hits": True, "query": {"exists": {"field": fields.CONTENT_HASH}}}
        return int(self._engine.search(self._names.documents, body)["hits"]["total"]["value"])

    def _sampled(self, target: IndexInfo) -> Sample | None:
        if self._compare is None:
            return None
        sample = self._compare(self._row.source_index, target)
        lost = sample.found_after < KEPT_SHARE * sample.found_before
        if lost or (sample.queries and not sample.found_by_vectors):
            raise MigrationRefused(
                f"Of {sample.queries} queries the live index finds {sample.found_before} by words, the next version "
                f"{sample.found_after}, and {sample.found_by_vectors} by its vectors.",
                where=target.index,
                remedy="Look at the model; give the migration up (mafteach migrate --abandon) or run it again.",
            )
        return sample

    def _close(self, rebuilder: Rebuilder) -> Counts:
        """The rest, while no worker publishes anything; then the alias."""
        self._write(state=MigrationState.CLOSING)
        self._wait_for_workers()
        while self._pass(rebuilder):
            pass  # a document was deleted or related to another one at this moment
        counts = rebuilder.compare()
        row = self._row
        finish_index(self._engine, row.target_index)
        # Once more by compare-and-set: whoever thinks us dead has changed the row.
        self._write(state=MigrationState.CLOSING)
        swap(self._engine, self._names, source=row.source_index, target=row.target_index)
        return counts

    def _wait_for_workers(self) -> None:
        """Until no worker has a document in its hands. What a dead one left waits again, so that it cannot publish it
        should it only have slept."""
        while True:
            self._ledger.refresh()
            body = {
                "size": CLAIMED_MAX,
                "query": {"terms": {fields.STATE: [state.value for state in WORKING]}},
                "_source": [fields.LEASE],
                "seq_no_primary_term": True,
            }
            hits = self._engine.search(self._names.documents, body)["hits"]["hits"]
            if not hits:
                return
            owners = {hit["_id"]: (hit["_source"].get(fields.LEASE) or {}).get("owner") for hit in hits}
            dead = self._watch.dead({owner for owner in owners.values() if owner})
            part = {**rows.progress(DocumentState.QUEUED), fields.LEASE: None}
            self._ledger.write(
                [
                    Change(hit["_id"], part, Mark(hit["_seq_no"], hit["_primary_term"]))
                    for hit in hits
                    if not owners[hit["_id"]] or owners[hit["_id"]] in dead
                ]
            )
            self._write()
            time.sleep(PAUSE_S)

    @property
    def _row(self) -> Migration:
        if self._stored is None:
            raise StateConflict("No migration was begun.", where=self._names.migrations)
        return self._stored.row

    def _write(self, **changes: Any) -> None:
        """Change the row, with a lease that holds.

        Raises:
            StateConflict: another process has taken it over.
        """
        lease = changes.pop("lease", self._worker.lease())
        row = self._row.model_copy(update={**changes, "lease": lease})
        self._stored = write_migration(self._engine, self._names, row, self._stored)
        self._tell()

    def _tell(self) -> None:
        if self._on_step is not None:
            self._on_step(self._row)

    def _give_up(self, error: MafteachError) -> None:
        """Say in the row why it stopped, and let workers go on."""
        row = self._row
        state = MigrationState.BUILDING if row.state is MigrationState.CLOSING else row.state
        if row.state is MigrationState.CLOSING and live_index(self._engine, self._names) == row.target_index:
            state = MigrationState.SWAPPED
        stopped = row.model_copy(update={"state": state, "lease": None, "reason": str(error)})
        self._stored = write_migration(self._engine, self._names, stopped, self._stored)
        self._tell()
