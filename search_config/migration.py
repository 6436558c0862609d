"""A change of model or chunking, as everybody sees it: one row that says how far it is, and the swap of the alias.

Its steps are `ingest.migration`. The next version is an index of its own without the alias, marked in its `_meta` as
being built until it is whole, so that nobody can attach to half of it, wherever the alias is put.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from search_config.client import Engine
from search_config.errors import StateConflict
from search_config.install import IndexMeta
from search_config.model_description import ModelDescription
from search_config.names import Names
from search_config.records import Lease

Json = dict[str, Any]

ROW: Final = "latest"
CONFLICT: Final = 409
NOT_FOUND: Final = 404


class MigrationState(StrEnum):
    """States of a migration, in their order."""

    BUILDING = "building"
    CLOSING = "closing"
    SWAPPED = "swapped"
    DONE = "done"
    ABANDONED = "abandoned"


FINISHED: Final = frozenset({MigrationState.DONE, MigrationState.ABANDONED})


class Sample(BaseModel):
    """What a sample of queries found, each taken from a passage of the live index.

    Attributes:
        found_before: queries whose document the lexical leg found in the live index.
        found_after: the same in the next version.
        found_by_vectors: the same by the next version's dense leg.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: int
    found_before: int
    found_after: int
    found_by_vectors: int


class Migration(BaseModel):
    """The row of the latest migration.

    Attributes:
        model, analyzer, pipeline: what the next version is made with.
        lease: who works on it; see `ingest.lease`.
        documents: that can be searched and must be migrated, when they were last counted.
        migrated: of these, done.
        chunks: written to the next version.
        reason: why it stopped.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: MigrationState
    source_index: str
    target_index: str
    model: ModelDescription
    analyzer: str
    pipeline: str
    lease: Lease | None = None
    documents: int = 0
    migrated: int = 0
    chunks: int = 0
    sample: Sample | None = None
    reason: str | None = None
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in FINISHED

    def makes(self, meta: IndexMeta) -> bool:
        """Whether its next version is one of this kind."""
        return (self.model, self.analyzer, self.pipeline) == (meta.model, meta.analyzer, meta.pipeline)


class StoredMigration(NamedTuple):
    """The row as it was read, and what tells this state of it from every other."""

    row: Migration
    seq_no: int
    primary_term: int


def read_migration(engine: Engine, names: Names) -> StoredMigration | None:
    """The latest migration; None where there never was one.

    Raises:
        EngineError, EngineRejected
    """
    # A set-up of an earlier version has no such index.
    found = engine.request("GET", f"/{names.migrations}/_doc/{ROW}", params={"ignore": NOT_FOUND})
    if not found.get("found"):
        return None
    return StoredMigration(Migration.model_validate(found["_source"]), found["_seq_no"], found["_primary_term"])


def write_migration(engine: Engine, names: Names, row: Migration, before: StoredMigration | None) -> StoredMigration:
    """Write the row in place of the one that was read.

    Raises:
        StateConflict: another process has written it since.
        EngineError, EngineRejected
    """
    row = row.model_copy(update={"updated_at": datetime.now(UTC)})
    seen: Json = {"op_type": "create"}
    if before is not None:
        seen = {"if_seq_no": before.seq_no, "if_primary_term": before.primary_term}
    answer = engine.request(
        "PUT",
        f"/{names.migrations}/_doc/{ROW}",
        body=row.model_dump(mode="json"),
        params={**seen, "refresh": "true", "ignore": CONFLICT},
    )
    if "result" not in answer:
        raise StateConflict(
            "Another process has taken this migration over.",
            where=row.target_index,
            remedy="`mafteach status` shows how far it is.",
        )
    return StoredMigration(row, answer["_seq_no"], answer["_primary_term"])


def versions(engine: Engine, names: Names) -> list[str]:
    """All versions of the chunks, oldest first."""
    found = engine.request("GET", f"/{names.all_chunks}", params={"expand_wildcards": "all", "ignore": NOT_FOUND})
    return sorted(name for name in found if name.removeprefix(f"{names.chunks}-v").isdigit())


def next_version(engine: Engine, names: Names) -> str:
    """The name of a version that is not there yet."""
    there = versions(engine, names)
    newest = int(there[-1].removeprefix(f"{names.chunks}-v")) if there else 0
    return names.chunks_version(newest + 1)


def swap(engine: Engine, names: Names, *, source: str, target: str) -> None:
    """Move the alias in one call: at every moment it stands on one index. Refused where it is not on `source`.

    Raises:
        EngineError, EngineRejected
    """
    actions = [
        {"remove": {"index": source, "alias": names.chunks, "must_exist": True}},
        {"add": {"index": target, "alias": names.chunks, "is_write_index": True}},
    ]
    engine.request("POST", "/_aliases", body={"actions": actions})


def drop_old(engine: Engine, names: Names, live: str) -> list[str]:
    """Delete every version but the live one; gives their names.

    Raises:
        StateConflict: a migration is unfinished.
        EngineError, EngineRejected
    """
    stored = read_migration(engine, names)
    if stored is not None and not stored.row.finished:
        raise StateConflict(
            f"A migration is {stored.row.state}; both versions are needed.",
            where=stored.row.target_index,
            remedy="Finish it (mafteach migrate) or give it up (mafteach migrate --abandon).",
        )
    old = [name for name in versions(engine, names) if name != live]
    for name in old:
        engine.request("DELETE", f"/{name}", params={"ignore": NOT_FOUND})
    return old
