"""Many documents: read lazily, in batches whose size is bounded, with events for a progress bar."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ingest.documents import DocumentOutcome, RawDocument, Timings
from ingest.files import find_files, printable, read_file
from ingest.pipeline import Ingestor
from ingest.processes import Describe, Sharer
from ingest.spool import path_of
from search_config.errors import DocumentError, NotFound, StateConflict, UnreadableDocument
from search_config.records import IngestRequest, content_hash, tenant_id

# A batch is embedded together: enough texts to sort by length, few enough that progress shows and memory is bounded.
# A byte of Hebrew text costs about 30 bytes of vectors and records on its way.
BATCH_DOCUMENTS: Final = 32
BATCH_BYTES: Final = 2_000_000
# Files that are queued by one request; a row is about a kilobyte.
REGISTER_FILES: Final = 500


class ProgressEvent(BaseModel):
    """How far a run has come; sent at the beginning, while passages are embedded, and after every document."""

    model_config = ConfigDict(frozen=True)

    done: int
    total: int | None = Field(description="None where it is not known how many will come.")
    ready: int
    unchanged: int
    failed: int
    chunks: int = Field(description="Passages embedded in this run; those of documents that go on too.")
    seconds: float
    outcome: DocumentOutcome | None = Field(None, description="Of the document that was just finished, if one was.")

    @property
    def chunks_per_second(self) -> float:
        """Passages embedded in a second."""
        return self.chunks / self.seconds if self.seconds else 0.0


class IngestReport(BaseModel):
    """A whole run."""

    model_config = ConfigDict(frozen=True)

    documents: int = 0
    ready: int = Field(0, description="Ingested in this run.")
    unchanged: int = 0
    failed: tuple[DocumentOutcome, ...] = ()
    noted: tuple[DocumentOutcome, ...] = Field((), description="Ready, with something that a person should know.")
    chunks: int = 0
    seconds: float = 0.0
    stages: Timings = Field(Timings(), description="Work by stage, summed over documents and processes.")
    processes: dict[int, int] = Field(default_factory=dict, description="Documents worked on, by process id.")


OnEvent = Callable[[ProgressEvent], None]
MakePool = Callable[[Describe], Sharer]
"""Makes the processes that share a run's files."""
IsGone = Callable[[Path], bool]


def ingest_paths(
    ingestor: Ingestor,
    paths: Sequence[Path],
    *,
    tenant: str,
    groups: tuple[str, ...] = (),
    on_event: OnEvent | None = None,
    pool: MakePool | None = None,
    is_gone: IsGone | None = None,
) -> IngestReport:
    """Ingest files and whole folders; a bad file is listed with its reason, and the rest goes on.

    All new and changed files are queued first, so that listings show what is to be done, and what is left of it where
    the run ends early. A file that was moved becomes one document: the one of its old place goes once the new one is
    ready.

    Args:
        pool: makes the processes that share the work; None works in this one.
        is_gone: tells whether a file is certainly not there any more; None asks `was_taken_away`.

    Raises:
        TenantError: before anything is read.
        InvalidRequest: a path that does not exist.
        EngineError, ModelError, SearchIndexError, WorkerFailed: the run cannot go on; what was finished is searchable,
            and a repeated run goes on from there.
    """
    tenant_id(tenant)
    found = list(find_files(paths))
    run = _Run(ingestor, on_event, len(found))
    describe = partial(_raw, tenant=tenant, groups=groups)
    files = [file for file in found if isinstance(file, Path)]
    with ingestor.worker.working():
        for error in found:
            if isinstance(error, UnreadableDocument):
                run.refuse(describe(Path(error.where or ""), b""), error)
        newcomers = _register(ingestor, files, tenant, describe)
        if pool is not None:
            pool(describe).run(files, run.count, run.count_embedded)
        else:
            for file in files:
                try:
                    data = read_file(file, ingestor.max_bytes)
                except DocumentError as error:
                    run.refuse(describe(file, b""), error)
                else:
                    run.add(describe(file, data))
        report = run.report()
    _forget_moved(ingestor, tenant, newcomers, is_gone or was_taken_away)
    return report


def was_taken_away(path: Path) -> bool:
    """Whether a file is not there while its folder is, and holds something: an empty folder may be the place of a share
    that is not mounted, which has not lost its files."""
    try:
        return not os.path.lexists(path) and any(path.parent.iterdir())
    except OSError:
        return False


def _register(ingestor: Ingestor, files: Sequence[Path], tenant: str, describe: Describe) -> dict[str, str]:
    """Queue new and changed files; gives the content hashes of those that have no row yet, by their source."""
    newcomers: dict[str, str] = {}
    for start in range(0, len(files), REGISTER_FILES):
        requests: list[tuple[str, IngestRequest]] = []
        for file in files[start : start + REGISTER_FILES]:
            try:
                raw = describe(file, read_file(file, ingestor.max_bytes))
            except DocumentError:
                continue  # refused with its reason when its turn comes
            request = IngestRequest(
                payload=raw.payload, content_hash=content_hash(raw.data), name=raw.name, groups=raw.groups
            )
            requests.append((raw.source, request))
        new = ingestor.queue.enqueue_files(tenant, requests)
        newcomers |= {source: request.content_hash or "" for source, request in requests if source in new}
    return newcomers


def _forget_moved(ingestor: Ingestor, tenant: str, newcomers: Mapping[str, str], is_gone: IsGone) -> None:
    """Delete documents whose file is not there any more while the same content has come under another name."""
    hashes = sorted(set(newcomers.values()))
    for start in range(0, len(hashes), REGISTER_FILES):
        same = ingestor.registry.same_content(tenant, hashes[start : start + REGISTER_FILES])
        arrived = {record.content_hash for record in same if record.source in newcomers}
        for record in same:
            path = path_of(record.source)
            if record.source in newcomers or record.content_hash not in arrived or path is None:
                continue
            if is_gone(path):
                with suppress(NotFound, StateConflict):  # another process deletes it
                    ingestor.registry.delete(tenant, record.document_id)


def ingest_documents(
    ingestor: Ingestor, documents: Iterable[RawDocument], *, total: int | None = None, on_event: OnEvent | None = None
) -> IngestReport:
    """Ingest documents that are in memory or made one by one; results and errors as `ingest_paths`."""
    run = _Run(ingestor, on_event, total)
    for document in documents:
        run.add(document)
    return run.report()


def _raw(path: Path, data: bytes, *, tenant: str, groups: tuple[str, ...]) -> RawDocument:
    source = path.absolute().as_uri()
    return RawDocument(
        tenant=tenant, source=source, name=printable(path.name), data=data, groups=groups, payload=source
    )


@dataclass(slots=True)
class _Counts:
    ready: int = 0
    unchanged: int = 0
    chunks: int = 0
    stages: Timings = field(default_factory=Timings)


class _Run:
    """Gathers batches and counts."""

    def __init__(self, ingestor: Ingestor, on_event: OnEvent | None, total: int | None) -> None:
        self._total = total
        self._ingestor = ingestor
        self._on_event = on_event
        self._started = time.perf_counter()
        self._batch: list[RawDocument] = []
        self._bytes = 0
        self._counts = _Counts()
        self._failed: list[DocumentOutcome] = []
        self._noted: list[DocumentOutcome] = []
        self._embedded = 0
        self._processes: Counter[int] = Counter()
        self._tell(None)

    def add(self, document: RawDocument) -> None:
        if self._batch and self._bytes + len(document.data) > BATCH_BYTES:
            self._send()
        self._batch.append(document)
        self._bytes += len(document.data)
        if len(self._batch) >= BATCH_DOCUMENTS:
            self._send()

    def refuse(self, document: RawDocument, error: DocumentError) -> None:
        self._count(self._ingestor.refuse(document, error))

    def report(self) -> IngestReport:
        self._send()
        return IngestReport(
            documents=self._counts.ready + self._counts.unchanged + len(self._failed),
            ready=self._counts.ready,
            unchanged=self._counts.unchanged,
            failed=tuple(self._failed),
            noted=tuple(self._noted),
            chunks=self._counts.chunks,
            seconds=time.perf_counter() - self._started,
            stages=self._counts.stages,
            processes=dict(self._processes),
        )

    def _send(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if batch:
            self.count(self._ingestor.ingest(batch, on_embedded=self.count_embedded))

    def count(self, outcomes: Iterable[DocumentOutcome]) -> None:
        for outcome in outcomes:
            self._count(outcome)

    def _count(self, outcome: DocumentOutcome) -> None:
        counts = self._counts
        counts.stages = counts.stages.plus(outcome.timings)
        if outcome.pid is not None:
            self._processes[outcome.pid] += 1
        if outcome.reason is not None:
            self._failed.append(outcome)
        elif outcome.unchanged:
            counts.unchanged += 1
        else:
            counts.ready += 1
            counts.chunks += outcome.chunks_indexed
        if outcome.reason is None and outcome.report:
            self._noted.append(outcome)
        self._tell(outcome)

    def count_embedded(self, passages: int) -> None:
        self._embedded += passages
        self._tell(None)

    def _tell(self, outcome: DocumentOutcome | None) -> None:
        if self._on_event is None:
            return
        counts = self._counts
        self._on_event(
            ProgressEvent(
                done=counts.ready + counts.unchanged + len(self._failed),
                total=self._total,
                ready=counts.ready,
                unchanged=counts.unchanged,
                failed=len(self._failed),
                chunks=self._embedded,
                seconds=time.perf_counter() - self._started,
                outcome=outcome,
            )
        )
