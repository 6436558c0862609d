"""Whose turn it is with a document: claims rows for a worker, moves them on, and gives them back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from ingest import rows
from ingest.lease import Watch, Worker
from ingest.ledger import Change, Changed, Ledger, Stored
from ingest.work import Work, by_tenant
from search_config import fields
from search_config.errors import EngineError, EngineRejected, InvalidField, MafteachError, TooManyAttempts
from search_config.records import DocumentRecord, DocumentState

log = logging.getLogger(__name__)

Json = dict[str, Any]

# States in which a worker has a document in its hands.
WORKING: Final = frozenset({DocumentState.EXTRACTING, DocumentState.EMBEDDING, DocumentState.INDEXING})
# Workers that ended with a document in their hands before it is worked on alone: it may be what ends them. Once is
# chance for all of a batch but one.
SUSPECT_FROM: Final = 2


@dataclass(slots=True)
class Looked:
    """Works by what may be done with them.

    Attributes:
        free: may be claimed.
        suspects: may be claimed too, but alone: several workers ended while they had them.
        busy: another worker has them.
        deleting: someone began to delete the document and did not come to the end.
    """

    free: list[Work] = field(default_factory=list)
    suspects: list[Work] = field(default_factory=list)
    busy: list[Work] = field(default_factory=list)
    deleting: list[Work] = field(default_factory=list)


class Claims:
    """The works of one worker. Every write is a compare-and-set; one that another writer came before marks a work as
    `lost`."""

    def __init__(self, ledger: Ledger, worker: Worker, watch: Watch, *, max_attempts: int) -> None:
        self._ledger = ledger
        self._worker = worker
        self._watch = watch
        self._max_attempts = max_attempts

    def look(self, works: Sequence[Work]) -> Looked:
        """Read the works' rows, and tell what may be done with each."""
        for tenant, own in by_tenant(works):
            stored = self._ledger.read(tenant, [work.id for work in own])
            for work in own:
                row = stored.get(work.id)
                work.previous, work.mark = (None, None) if row is None else (row.record, row.mark)
                work.lost = False
        owners = {work.id: owner for work in works if (owner := self._owner(work.previous)) is not None}
        dead = self._watch.dead(set(owners.values()))
        looked = Looked()
        for work in works:
            state = None if work.previous is None else work.previous.state
            if work.id in owners and owners[work.id] not in dead:
                looked.busy.append(work)
            elif state is DocumentState.DELETING:
                looked.deleting.append(work)
            elif state in WORKING and not self._mine(work.previous) and _ended(work.previous) >= SUSPECT_FROM:
                looked.suspects.append(work)
            else:
                looked.free.append(work)
        return looked

    def _owner(self, row: DocumentRecord | None) -> str | None:
        """The other worker whose lease is on the row."""
        return None if row is None or row.lease is None or self._mine(row) else row.lease.owner

    def _mine(self, row: DocumentRecord | None) -> bool:
        return row is not None and row.lease is not None and row.lease.owner == self._worker.id

    def claim(self, works: Sequence[Work]) -> None:
        """Take works; those that another worker was faster with are `lost`, those that ended too many workers fail."""
        lease = self._worker.lease()
        now = datetime.now(UTC)
        changes = []
        for work in works:
            known = work.previous
            before = 0 if known is None or known.state is DocumentState.READY else known.attempts
            if known is not None and known.state in WORKING and not self._mine(known) and before >= self._max_attempts:
                work.error = _given_up(work, before)
            work.attempts = before if self._mine(known) else before + 1
            work.started = now
            if work.error is not None:
                continue
            if work.mark is None:
                row = rows.first_row(work, DocumentState.EXTRACTING, lease=lease)
                changes.append(Change(work.id, _whole(row), None))
            else:
                changes.append(Change(work.id, rows.claimed(work, lease), work.mark))
        self._note(works, self._ledger.write(changes))

    def enter(self, works: Sequence[Work], state: DocumentState, *, visible: bool = False) -> None:
        """Move works that are still going on to a state."""
        self.write(works, lambda _: rows.progress(state), visible=visible)

    def write(
        self, works: Sequence[Work], part: Callable[[Work], Json], *, whole: bool = False, visible: bool = False
    ) -> None:
        """Write a part of the row, or the `whole`, of each work that is still going on."""
        going = [work for work in works if work.going]
        changes = (Change(work.id, part(work), work.mark, whole=whole) for work in going)
        self._note(going, self._ledger.write(changes, visible=visible))

    def end(self, works: Sequence[Work], part: Callable[[Work, MafteachError], Json]) -> None:
        """Write how works ended that have an error. A row that the engine does not take is written bare."""
        failed = [(work, work.error) for work in works if work.error is not None and not work.lost]
        if not failed:
            return
        changes = []
        for work, error in failed:
            if work.mark is None:
                body = _whole(rows.first_row(work, DocumentState.FAILED)) | part(work, error)
                changes.append(Change(work.id, body, None))
            else:
                changes.append(Change(work.id, part(work, error), work.mark))
        changed = self._ledger.write(changes)
        bare = [
            Change(work.id, _whole(rows.bare_row(work, error)), work.mark, whole=True)
            for work, error in failed
            if work.id in changed.refused
        ]
        self._note([work for work, _ in failed], changed)
        if bare:
            self._note([work for work, _ in failed], self._ledger.write(bare))

    def give_back(self, works: Sequence[Work], error: MafteachError) -> None:
        """Let works wait again that could not be finished for no fault of theirs. What the engine does not take now
        stays as it is, and is free as soon as this worker is known to be gone."""
        kept = [work for work in works if work.going and work.mark is not None]
        with suppress(EngineError, EngineRejected):
            changes = (Change(work.id, rows.given_back(work, error), work.mark) for work in kept)
            lost = self._ledger.write(changes).lost
            for tenant, own in by_tenant([work for work in kept if work.id in lost]):
                self.let_go(self._ledger.read(tenant, [work.id for work in own]).values())

    def let_go(self, stored: Iterable[Stored]) -> None:
        """Take this worker's lease off those of the rows whose document is being deleted: whoever deletes it waits for
        that, since no chunk of it comes any more."""
        going = [one for one in stored if one.record.state is DocumentState.DELETING and self._mine(one.record)]
        self._ledger.write(Change(one.record.document_id, {fields.LEASE: None}, one.mark) for one in going)

    def _note(self, works: Sequence[Work], changed: Changed) -> None:
        for work in works:
            if work.id in changed.marks:
                work.mark = changed.marks[work.id]
            elif work.id in changed.lost:
                work.lost = True
            elif work.id in changed.refused and work.error is None:
                work.error = InvalidField(
                    f"The engine does not take what came with the document: {changed.refused[work.id]}.",
                    where=work.raw.name,
                    remedy="Shorten or correct its name, groups or other fields, and send it again.",
                )


def _ended(record: DocumentRecord | None) -> int:
    """Workers that took a document which is still not done."""
    return 0 if record is None else record.attempts


def _given_up(work: Work, attempts: int) -> TooManyAttempts:
    state = work.previous.state.value if work.previous is not None else "working"
    return TooManyAttempts(
        f"{attempts} workers ended while they had it, the last one while {state}.",
        where=work.raw.name,
        remedy="Look at the workers' logs and at the file (too large? damaged?), then retry it.",
    )


def _whole(record: DocumentRecord) -> Json:
    return record.model_dump(mode="json", exclude_none=True)
