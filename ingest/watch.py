"""A folder kept in step: what comes, changes, moves and goes in it does so in the index.

The truth is the folder as it is and the registry as it is, compared as a whole at the start, after every trouble and
every few minutes; what the system tells of single files only makes it faster. A document goes only where its file is
certainly gone: never because a share is not mounted, a folder cannot be read or all of it seems to have vanished.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from watchfiles import Change, watch

from ingest.files import find_files
from ingest.mounts import Memory, gone, identity_of
from ingest.pipeline import Ingestor
from ingest.spool import path_of
from ingest.worker import ingest_paths, was_taken_away
from search_config.errors import EngineError, InvalidRequest, ModelError, NotFound, StateConflict
from search_config.records import DocumentRecord, document_id
from search_config.settings import Settings

log = logging.getLogger(__name__)

# Between two whole comparisons: what a network share changes elsewhere is told by no notification.
RESCAN_S: Final = 300.0
# Between two looks whether the folder is there (again), and after an engine or model that went away.
LOOK_S: Final = 2.0
# A folder that had as many documents and has no file now has lost its share, or somebody must confirm that it has not.
MANY: Final = 3
# Changes are gathered for so long: a file that is being written is read once. Milliseconds.
DEBOUNCE_MS: Final = 600
STEP_MS: Final = 150
MS: Final = 1_000

Kind = Literal["ready", "failed", "deleted", "paused", "resumed"]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """Something that a person may want to know; `detail` says why."""

    kind: Kind
    path: str
    detail: str = ""


OnEvent = Callable[[WatchEvent], None]


class FolderWatch:
    """Keeps the documents of one folder and tenant in step with its files."""

    def __init__(
        self,
        ingestor: Ingestor,
        settings: Settings,
        root: Path,
        *,
        tenant: str,
        groups: tuple[str, ...] = (),
        on_event: OnEvent,
        rescan_s: float = RESCAN_S,
        look_s: float = LOOK_S,
    ) -> None:
        """Prepare.

        Raises:
            InvalidRequest: the path is a file.
        """
        self._root = root.absolute()
        if self._root.exists() and not self._root.is_dir():
            raise InvalidRequest("Only a folder can be watched.", where=str(root), remedy="Name the folder it is in.")
        self._ingestor = ingestor
        self._tenant = tenant
        self._groups = groups
        self._on_event = on_event
        self._rescan_s, self._look_s = rescan_s, look_s
        self._memory = Memory(settings, self._root, tenant)
        self._paused: str | None = None
        self._told: set[WatchEvent] = set()

    def run(self, stop: threading.Event) -> None:
        """Follow the folder until `stop` is set. An engine or a model that goes away is waited for.

        Raises:
            IndexMismatch: a migration made another version the live one; start it again with that one's model.
            TenantError, InvalidSettings, EngineRejected
        """
        while not stop.is_set():
            try:
                if self._root.is_dir():
                    self._follow(stop)
                else:
                    self.synchronise()
            except (EngineError, ModelError) as error:
                log.warning("The watch waits: %s", error)
            except FileNotFoundError:
                log.warning("The folder went away: %s", self._root)
            stop.wait(self._look_s)

    def synchronise(self) -> bool:
        """Compare the whole folder with the registry, and set the registry right; False where the folder is not there.

        Raises:
            as `run`, and EngineError, ModelError
        """
        known = self._known(self._root)
        files = list(find_files([self._root])) if self._root.is_dir() else []
        names = [file for file in files if isinstance(file, Path)]
        why = self._missing(names, len(known))
        if why is not None:
            self._pause(why)
            return False
        vanished = [(record, path) for record, path in known if gone(path)]
        other = self._memory.seen.identity not in (None, identity_of(self._root))
        if other and 2 * len(vanished) > len(known):
            self._pause(
                f"another folder stands in its place, and {len(vanished)} of {len(known)} files are not in it. "
                "Mount the right one, or delete the documents (mafteach documents delete)."
            )
            return False
        self._resume()
        try:
            if files:
                self._ingest([self._root])
        except InvalidRequest:
            return False  # it went away in the middle
        self._delete(vanished)
        self._memory.keep({name.parent for name in names}, [path for _, path in known])
        return True

    def _missing(self, files: Sequence[Path], known: int) -> str | None:
        """Why nothing may be concluded from what is seen now."""
        if not self._root.is_dir():
            return "it is not there"
        if (place := self._memory.unmounted(self._root)) is not None:
            return f"nothing is mounted at {place} any more"
        same = self._memory.seen.identity == identity_of(self._root)
        if not files and known and (known >= MANY or not same):
            return (
                f"it has no file, and {known} documents are from it. If they were deleted on purpose, put a file "
                "there, or delete the documents (mafteach documents delete)"
            )
        return None

    def _follow(self, stop: threading.Event) -> None:
        """What the system tells, until the folder is another one. It is told to watch before the whole is compared, so
        that nothing falls in between."""
        identity, due = identity_of(self._root), 0.0
        told = watch(
            self._root,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=stop,
            rust_timeout=int(self._look_s * MS),
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        for changes in told:
            if stop.is_set() or identity_of(self._root) != identity:
                return
            if time.monotonic() >= due:
                if not self.synchronise():
                    return
                due = time.monotonic() + self._rescan_s
            elif changes and not self._apply(changes):
                due = 0.0

    def _apply(self, changes: set[tuple[Change, str]]) -> bool:
        """Single changes; False where only a whole comparison can tell."""
        paths: set[Path] = set()
        for change, name in changes:
            path = Path(name)
            # A folder's own change is told by those of its files.
            if not self._hidden(path) and not (change is Change.modified and path.is_dir()):
                paths.add(path)
        there = sorted(path for path in paths if not gone(path) and not path.is_symlink())
        vanished = [found for path in sorted(paths) if gone(path) for found in self._known(path)]
        if vanished and self._missing([path for path in there if path.is_file()], len(vanished)) is not None:
            return False
        if there:
            try:
                self._ingest(there)
            except InvalidRequest:
                return False  # one of them went away again
        self._delete(vanished)
        return True

    def _hidden(self, path: Path) -> bool:
        below = path.relative_to(self._root).parts if path.is_relative_to(self._root) else ()
        return any(part.startswith(".") for part in below)

    def _known(self, path: Path) -> list[tuple[DocumentRecord, Path]]:
        """Documents of a file, or of all files below a folder, with their paths."""
        registry = self._ingestor.registry
        own = document_id(self._tenant, path.absolute().as_uri())
        records = [*registry.get_many(self._tenant, [own]).values()]
        registry.refresh()
        records += list(registry.iterate(self._tenant, folder=str(path)))
        found = {record.document_id: (record, place) for record in records if (place := path_of(record.source))}
        return list(found.values())

    def _ingest(self, paths: Sequence[Path]) -> None:
        report = ingest_paths(
            self._ingestor, paths, tenant=self._tenant, groups=self._groups, is_gone=self._was_taken_away
        )
        for outcome in report.failed:
            self._tell_once(WatchEvent("failed", outcome.source, outcome.reason or ""))
        if report.ready:
            self._on_event(WatchEvent("ready", str(self._root), f"{report.ready} documents, {report.chunks} passages"))

    def _was_taken_away(self, path: Path) -> bool:
        """Whether a file whose content has come under another name is certainly gone. Of this folder the memory knows
        where shares were mounted; an empty folder in it is empty."""
        if self._memory.unmounted(path) is not None:
            return False
        return gone(path) if path.is_relative_to(self._root) else was_taken_away(path)

    def _delete(self, vanished: Sequence[tuple[DocumentRecord, Path]]) -> None:
        for record, path in vanished:
            place = self._memory.unmounted(path)
            if place is not None:
                self._tell_once(WatchEvent("paused", str(place), "nothing is mounted there any more; documents stay"))
                continue
            # Once more: between the look and now the share may have gone.
            if not self._root.is_dir() or not gone(path):
                continue
            with suppress(NotFound, StateConflict):  # moved already, or another process deletes it
                self._ingestor.registry.delete(self._tenant, record.document_id)
                self._on_event(WatchEvent("deleted", record.source))

    def _tell_once(self, event: WatchEvent) -> None:
        """Every comparison meets the same trouble again."""
        if event not in self._told:
            self._told.add(event)
            self._on_event(event)

    def _pause(self, why: str) -> None:
        if why != self._paused:
            log.warning("Nothing is deleted from %s: %s", self._root, why)
            self._on_event(WatchEvent("paused", str(self._root), why))
        self._paused = why

    def _resume(self) -> None:
        if self._paused is not None:
            self._on_event(WatchEvent("resumed", str(self._root)))
        self._paused = None
