"""Several processes share the files of one run. One that dies is replaced; the files in its hands are tried singly."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Final, Protocol

from ingest.compose import opened_ingestor
from ingest.documents import DocumentOutcome, RawDocument
from ingest.files import read_file
from ingest.pipeline import Ingestor
from search_config.errors import DocumentError, MafteachError, WorkerFailed
from search_config.settings import Settings

# Files handed over at once: enough to embed texts of like length together, few enough that all processes end together.
HAND_DOCUMENTS: Final = 8
HAND_BYTES: Final = 2_000_000
# A process that cannot even begin will not do so the next time.
STARTS_MAX: Final = 3
# A process that was told that nothing is left to do ends at once; this long is beyond any closing of connections.
END_S: Final = 10.0

Describe = Callable[[Path, bytes], RawDocument]
OnOutcomes = Callable[[Sequence[DocumentOutcome]], None]
OnEmbedded = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """From a process: its files are done."""

    outcomes: tuple[DocumentOutcome, ...]


@dataclass(slots=True)
class _Hand:
    """A process, and the files that it has."""

    process: SpawnProcess
    pipe: Connection
    files: list[Path] = field(default_factory=list)


class Sharer(Protocol):
    """Shares files out among processes."""

    def run(self, files: Sequence[Path], on_outcomes: OnOutcomes, on_embedded: OnEmbedded) -> None:
        """Ingest files; each is one process's.

        Raises:
            WorkerFailed, MafteachError: the run cannot go on.
        """


class Pool:
    """Processes that ingest files."""

    def __init__(self, settings: Settings, url: str, describe: Describe, workers: int) -> None:
        """Prepare; nothing is started yet.

        Args:
            settings: of every process; the threads of the embedded model are shared out among them.
            url: where the engine answers.
            describe: makes a document of a path and its bytes; pickled for the processes.
            workers: how many processes.
        """
        threads = max(1, settings.embedder_threads // workers)
        self._settings = settings.model_copy(update={"embedder_threads": threads})
        self._url = url
        self._describe = describe
        self._workers = workers
        self._context = get_context("spawn")
        self._failed_starts = 0

    def run(self, files: Sequence[Path], on_outcomes: OnOutcomes, on_embedded: OnEmbedded) -> None:
        """Ingest files; each is one process's.

        Raises:
            WorkerFailed: processes end before they begin.
            MafteachError: what a process raised, since the run cannot go on.
        """
        todo = deque(_hands(files))
        hands = [self._start() for _ in range(min(self._workers, len(todo)))]
        try:
            while todo or any(hand.files for hand in hands):
                for hand in hands:
                    if not hand.files and todo:
                        _give(hand, todo.popleft())
                ready = wait([hand.pipe for hand in hands if hand.files])
                for i, hand in enumerate(hands):
                    if hand.pipe in ready and not self._hear(hand, on_outcomes, on_embedded):
                        todo.extendleft([file] for file in reversed(hand.files))
                        hands[i] = self._restart(hand)
        finally:
            for hand in hands:
                _end(hand)

    def _start(self) -> _Hand:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._settings, self._url, self._describe))
        process.start()
        theirs.close()
        return _Hand(process, ours)

    def _restart(self, dead: _Hand) -> _Hand:
        dead.pipe.close()
        dead.process.join()
        self._failed_starts += 1
        if self._failed_starts > STARTS_MAX * self._workers:
            raise WorkerFailed(
                "Worker processes end again and again before they have done anything.",
                where=f"exit status {dead.process.exitcode}",
                remedy="Run it with --workers 1 to see why; too little memory is the most likely reason.",
            )
        return self._start()

    def _hear(self, hand: _Hand, on_outcomes: OnOutcomes, on_embedded: OnEmbedded) -> bool:
        """One message of a process; False where it has ended."""
        try:
            said = hand.pipe.recv()
        except (EOFError, OSError):
            return False
        if isinstance(said, MafteachError):
            raise said
        if isinstance(said, Outcomes):
            self._failed_starts = 0
            hand.files = []
            on_outcomes(said.outcomes)
        else:
            on_embedded(said)
        return True


def _hands(files: Sequence[Path]) -> Iterator[list[Path]]:
    part: list[Path] = []
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
        part.append(file)
        if len(part) >= HAND_DOCUMENTS or size >= HAND_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _give(hand: _Hand, files: list[Path]) -> None:
    hand.files = files
    # One that has died meanwhile is heard of when it is listened to.
    with suppress(OSError):
        hand.pipe.send(files)


def _end(hand: _Hand) -> None:
    with suppress(OSError):
        hand.pipe.send(None)
    hand.pipe.close()
    if hand.files:
        hand.process.terminate()
    hand.process.join(END_S)
    if hand.process.is_alive():
        hand.process.kill()
        hand.process.join()


def _serve(pipe: Connection, settings: Settings, url: str, describe: Describe) -> None:
    """A process's life: files in, outcomes out, until it is told None or its starter is gone."""
    # Ctrl-C reaches the whole group: the starter ends its processes itself. SIGTERM ends it as an exception does, so
    # that it says that its leases are over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    with suppress(EOFError, OSError):
        try:
            with opened_ingestor(settings, url) as ingestor, ingestor.worker.working():
                while (files := pipe.recv()) is not None:
                    pipe.send(Outcomes(tuple(_ingested(ingestor, files, describe, pipe))))
        except MafteachError as error:
            pipe.send(error)


def _leave(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def _ingested(
    ingestor: Ingestor, files: Sequence[Path], describe: Describe, pipe: Connection
) -> Iterator[DocumentOutcome]:
    batch: list[RawDocument] = []
    for file in files:
        try:
            batch.append(describe(file, read_file(file, ingestor.max_bytes)))
        except DocumentError as error:
            yield ingestor.refuse(describe(file, b""), error)
    yield from ingestor.ingest(batch, on_embedded=pipe.send)
