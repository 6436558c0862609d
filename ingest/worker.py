"""Many documents: read lazily, in batches whose size is bounded, with events for a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ingest.documents import DocumentOutcome, RawDocument
from ingest.files import find_files, printable, read_file
from ingest.pipeline import Ingestor
from search_config.errors import DocumentError, UnreadableDocument
from search_config.records import tenant_id

# A batch is embedded together: enough texts to sort by length, few enough that progress shows and memory is bounded.
# A byte of Hebrew text costs about 30 bytes of vectors and records on its way.
BATCH_DOCUMENTS: Final = 32
BATCH_BYTES: Final = 2_000_000


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


OnEvent = Callable[[ProgressEvent], None]


def ingest_paths(
    ingestor: Ingestor,
    paths: Sequence[Path],
    *,
    tenant: str,
    groups: tuple[str, ...] = (),
    on_event: OnEvent | None = None,
) -> IngestReport:
    """Ingest files and whole folders; a bad file is listed with its reason, and the rest goes on.

    Raises:
        TenantError: before anything is read.
        InvalidRequest: a path that does not exist.
        EngineError, ModelError, IndexError_: the run cannot go on; what was finished is searchable, and a repeated run
            goes on from there.
    """
    tenant_id(tenant)
    found = list(find_files(paths))
    run = _Run(ingestor, on_event, len(found))
    for file in found:
        path = Path(file.where or "") if isinstance(file, UnreadableDocument) else file
        try:
            if isinstance(file, UnreadableDocument):
                raise file
            data = read_file(file, ingestor.max_bytes)
        except DocumentError as error:
            run.refuse(_raw(path, b"", tenant, groups), error)
        else:
            run.add(_raw(path, data, tenant, groups))
    return run.report()


def ingest_documents(
    ingestor: Ingestor, documents: Iterable[RawDocument], *, total: int | None = None, on_event: OnEvent | None = None
) -> IngestReport:
    """Ingest documents that are in memory or made one by one; results and errors as `ingest_paths`."""
    run = _Run(ingestor, on_event, total)
    for document in documents:
        run.add(document)
    return run.report()


def _raw(path: Path, data: bytes, tenant: str, groups: tuple[str, ...]) -> RawDocument:
    return RawDocument(
        tenant=tenant, source=path.absolute().as_uri(), name=printable(path.name), data=data, groups=groups
    )


@dataclass(slots=True)
class _Counts:
    ready: int = 0
    unchanged: int = 0
    chunks: int = 0


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
        )

    def _send(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if batch:
            for outcome in self._ingestor.ingest(batch, on_embedded=self._count_embedded):
                self._count(outcome)

    def _count(self, outcome: DocumentOutcome) -> None:
        counts = self._counts
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

    def _count_embedded(self, passages: int) -> None:
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
