"""Whether a worker may write to the version of the index that it holds: asked before and after it claims documents.

A migration closes the gate for the moments around its swap. It says so in its row first, and looks for claimed
documents then; a worker claims first, and looks at the row then. So one of both always sees the other: a document is
either finished before the swap, or given back and taken again after it.
"""

from __future__ import annotations

from typing import Final

from ingest.lease import Watch
from search_config.client import Engine
from search_config.errors import IndexClosing, IndexMismatch, StateConflict
from search_config.install import IndexInfo, index_meta, live_index
from search_config.migration import Migration, MigrationState, read_migration, write_migration

# States in which nothing may be published.
CLOSED: Final = frozenset({MigrationState.CLOSING, MigrationState.SWAPPED})


class Gate:
    """Asked by one worker."""

    def __init__(self, engine: Engine, info: IndexInfo, watch: Watch) -> None:
        self._engine = engine
        self._info = info
        self._watch = watch

    def check(self) -> None:
        """Let pass, or raise.

        Raises:
            IndexMismatch: another version is live by now; this worker's vectors are of no use there.
            IndexClosing: a migration is about to swap, or has just swapped: it takes seconds.
            EngineError, EngineRejected
        """
        stored = read_migration(self._engine, self._info.names)
        live = live_index(self._engine, self._info.names)
        if live != self._info.index:
            raise self._moved(live)
        if stored is None or stored.row.state not in CLOSED:
            return
        row = stored.row
        if not self._left(row):
            raise self._closing(row)
        if row.state is MigrationState.CLOSING:
            # Whoever closed the gate has died. Opened in its row, so that it cannot swap if it only slept.
            opened = row.model_copy(update={"state": MigrationState.BUILDING, "lease": None})
            try:
                write_migration(self._engine, self._info.names, opened, stored)
            except StateConflict as error:
                raise self._closing(row) from error

    def _left(self, row: Migration) -> bool:
        return row.lease is None or bool(self._watch.dead([row.lease.owner]))

    def _closing(self, row: Migration) -> IndexClosing:
        return IndexClosing(
            f"A migration is about to replace the index ({row.state}).",
            where=row.target_index,
            remedy="Wait some seconds; `mafteach status` shows how far it is.",
        )

    def _moved(self, live: str | None) -> IndexMismatch:
        made_for = "nothing" if live is None else index_meta(self._engine, live).model.identity
        return IndexMismatch(
            f"{self._info.index} is not the live index any more; that is {live}, made for {made_for}. "
            f"This process holds vectors of {self._info.model.identity}.",
            where=self._info.names.chunks,
            remedy="Start it again, with the settings of the live index's model.",
        )
