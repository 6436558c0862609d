"""Rows of the documents index under compare-and-set: a change is made on the row that was read, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ingest.bulk import BulkRow, to_json, write
from search_config import fields
from search_config.client import BulkItem, Engine, disk_full
from search_config.errors import EngineError, EngineOverloaded, EngineRejected
from search_config.names import Names
from search_config.records import DocumentRecord, tenant_id
from search_config.settings import Settings

Json = dict[str, Any]

CONFLICT: Final = 409
NOT_FOUND: Final = 404


class Mark(NamedTuple):
    """What tells a row's state apart from every other: sequence number and primary term."""

    seq_no: int
    primary_term: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as it was read, without its text."""

    record: DocumentRecord
    mark: Mark


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes:
        id: the document.
        body: a part, merged into the row; the whole row where `whole`; None deletes it.
        mark: of the row that is changed; None where there must be none yet (then `body` is whole).
    """

    id: str
    body: Json | None
    mark: Mark | None
    whole: bool = False

    def row(self) -> BulkRow:
        """The bulk action."""
        if self.body is None:
            return BulkRow("delete", self.id, seen=self.mark)
        if self.mark is None:
            return BulkRow("create", self.id, to_json(self.body))
        if self.whole:
            return BulkRow("index", self.id, to_json(self.body), seen=self.mark)
        return BulkRow("update", self.id, to_json({"doc": self.body}), seen=self.mark)


@dataclass(slots=True)
class Changed:
    """What became of changes.

    Attributes:
        marks: of the rows that were changed, as they are now.
        lost: rows that another writer changed, made or deleted in between.
        refused: rows that the engine does not take, with its reason.
    """

    marks: dict[str, Mark] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)


class Ledger:
    """The one writer of document rows. The server side alone has it."""

    def __init__(self, engine: Engine, names: Names, settings: Settings) -> None:
        self._engine = engine
        self._index = names.documents
        self._settings = settings

    def read(self, tenant: str, document_ids: Sequence[str]) -> dict[str, Stored]:
        """Those of the documents that exist, as last written, without their text.

        Raises:
            EngineError, EngineRejected
        """
        if not document_ids:
            return {}
        answer = self._engine.request(
            "POST",
            f"/{self._index}/_mget",
            body={"ids": list(document_ids)},
            params={"_source_excludes": ",".join(fields.BULKY)},
        )
        found = {}
        for row in answer["docs"]:
            if "error" in row:
                raise EngineRejected(f"A row could not be read: {row['error']}.", where=self._index)
            if row.get("found"):
                record = DocumentRecord.model_validate(row["_source"])
                if record.tenant == tenant_id(tenant):
                    found[record.document_id] = Stored(record, Mark(row["_seq_no"], row["_primary_term"]))
        return found

    def write(self, changes: Iterable[Change], *, visible: bool = False) -> Changed:
        """Make changes, each on the row that it names or not at all.

        Args:
            changes: at most one for a row.
            visible: whether searches see them when this returns.

        Raises:
            EngineOverloaded, EngineDiskFull: some were not taken for now; the others are written.
            EngineUnreachable, EngineRejected
        """
        items = write(
            self._engine,
            self._index,
            (change.row() for change in changes),
            max_items=self._settings.bulk_max_items,
            max_bytes=self._settings.bulk_max_bytes,
            refresh="true" if visible else "false",
        )
        done = Changed()
        later: list[BulkItem] = []
        for item in items:
            if item.ok and item.status != NOT_FOUND and item.seq_no is not None and item.primary_term is not None:
                done.marks[item.id] = Mark(item.seq_no, item.primary_term)
            elif item.status in (CONFLICT, NOT_FOUND):
                done.lost.add(item.id)
            elif item.transient or item.disk_full:
                later.append(item)
            else:
                done.refused[item.id] = item.error or "no reason given"
        if later:
            raise self._not_now(later[0])
        return done

    def _not_now(self, item: BulkItem) -> EngineError:
        where = f"{self._index}/{item.id}"
        if item.disk_full:
            return disk_full(str(item.error), where)
        return EngineOverloaded(f"OpenSearch is overloaded: {item.error}.", where=where, remedy="Try again later.")

    def refresh(self) -> None:
        """Make what was written visible to searches."""
        self._engine.request("POST", f"/{self._index}/_refresh")
