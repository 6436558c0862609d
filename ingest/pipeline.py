"""Documents through every step: claim, extract, cut, embed, index. Stages and timings only; each step is another
module's.

A document's row in the registry describes the version that can be searched. It moves from queued to ready; where a
step fails the row says why, and what was searchable before stays so. An engine or model that goes away raises: rows
wait, or stay in the state they were in, and the same call later finishes the work. Any number of processes may ingest
at once, the same documents too: each row is one worker's at a time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ingest import rows
from ingest.chunk_store import ChunkStore
from ingest.chunking import ChunkingSpec, chunk_document
from ingest.claims import WORKING, Claims
from ingest.deletion import Deleter
from ingest.documents import DocumentOutcome, RawDocument, Timings
from ingest.encoding import Encoder, OnEmbedded, unwatched
from ingest.extract.builder import one_line, shortened
from ingest.extract.registry import EXTRACTORS_VERSION
from ingest.extraction import Extract, doubt, plain_extract
from ingest.fields.resolve import Superseding
from ingest.gate import Gate
from ingest.lease import Watch, Worker
from ingest.ledger import Ledger
from ingest.publishing import Publisher
from ingest.queue import Queue
from ingest.reading import DocumentReader
from ingest.registry import Registry
from ingest.spool import Spool
from ingest.work import Work, by_tenant, rounds, same_wishes, stamp_of, timed
from models.base import Embedder
from search_config.client import Engine
from search_config.errors import (
    DocumentError,
    DoubtfulDocument,
    EngineError,
    IndexClosing,
    IndexMismatch,
    ModelError,
    SearchIndexError,
    StateConflict,
)
from search_config.install import IndexInfo
from search_config.records import DocumentState, Stamps, content_hash, document_id, tenant_id
from search_config.settings import Settings

# Seconds between two looks at a document that another worker has; a batch takes that one seconds.
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 1.0

__all__ = ["Ingestor", "OnEmbedded"]


class Ingestor:
    """Takes documents to the index. One batch at a time: threads that share one wait for each other."""

    def __init__(
        self,
        engine: Engine,
        info: IndexInfo,
        embedder: Embedder,
        settings: Settings,
        *,
        extract: Extract | None = None,
    ) -> None:
        """Attach.

        Args:
            extract: reads files, the ingestor closes it; None reads them in this process and without fields.

        Raises:
            IndexMismatch: the embedder is not the one that the index was made for.
        """
        if embedder.description.identity != info.model.identity:
            raise IndexMismatch(
                f"The index holds vectors of {info.model.identity}, the embedder is {embedder.description.identity}.",
                where=info.index,
                remedy="Set the embedder back, or migrate the index.",
            )
        self._embedder = embedder
        self._settings = settings
        self._extract_document = extract or plain_extract(settings.max_file_bytes)
        self._spec = ChunkingSpec(
            strategy=settings.chunk_strategy, target=settings.chunk_target, window=embedder.passage_window
        )
        self.stamps = Stamps(
            model=info.model.identity, analyzer=info.analyzer, extractor=EXTRACTORS_VERSION, pipeline=info.pipeline
        )
        self.registry = Registry(engine, info, settings)
        self.queue = Queue(engine, info, settings)
        self.worker = Worker(engine, info.names, lease_s=settings.lease_s)
        watch = Watch(engine, info.names)
        self._gate = Gate(engine, info, watch)
        ledger, spool = Ledger(engine, info.names, settings), Spool(settings)
        self._store = ChunkStore(engine, info, settings)
        self._encoder = Encoder(embedder, info)
        self._claims = Claims(ledger, self.worker, watch, max_attempts=settings.max_attempts)
        related = Superseding(engine, info.names, settings)
        self._publisher = Publisher(self._store, ledger, self._claims, self.worker, spool, self.stamps, related)
        self._deleter = Deleter(ledger, self._store, spool, self.worker, watch, related)
        self._turn_lock = threading.Lock()

    def close(self) -> None:
        """End what reads documents, where that has a process of its own."""
        if isinstance(self._extract_document, DocumentReader):
            self._extract_document.close()

    @property
    def max_bytes(self) -> int:
        """Largest file that is accepted."""
        return self._settings.max_file_bytes

    def ingest(
        self, batch: Sequence[RawDocument], *, on_embedded: OnEmbedded = unwatched, wait: bool = True
    ) -> list[DocumentOutcome]:
        """Ingest documents of one tenant or several; texts of all are embedded together.

        Args:
            batch: any number, held in memory; a document that comes twice is ingested twice, in order.
            on_embedded: for a progress bar; called while the batch is embedded, its longest part.
            wait: whether to wait for documents that another worker has, and look at them after it. Else their outcome
                is the state that they are in.

        Returns:
            One outcome a document, in order. Those that failed say why; the others are searchable when this returns.

        Raises:
            EngineUnreachable, EngineOverloaded, EngineDiskFull, EngineRejected, ModelUnavailable: nothing more can be
                done now; documents wait, and a repeated call goes on.
            IndexMismatch: a migration made another version the live one: attach anew, with that one's model.
            IndexClosing: a migration is about to; only without `wait`.
            TenantError: a document without a valid tenant; nothing was written.
        """
        works = [self.work(raw) for raw in batch]
        outcomes: list[DocumentOutcome | None] = [None] * len(works)
        with self._turn_lock, self.worker.working():
            for round_ in rounds(works):
                done = self._ingest([works[i] for i in round_], on_embedded, wait=wait)
                for i in round_:
                    outcomes[i] = done[works[i].id]
        return [outcome for outcome in outcomes if outcome is not None]

    def refuse(self, raw: RawDocument, error: DocumentError) -> DocumentOutcome:
        """Record a document that could not even be read, so that listings show it; `raw.data` is not looked at. One
        that another worker has is left to that one."""
        work = self.work(raw)
        with self._turn_lock, self.worker.working():
            looked = self._claims.look([work])
            work.error = error
            if not looked.busy and not looked.deleting:
                self._claims.claim([work])
                self._claims.end([work], rows.unfinished)
                self.registry.refresh()
        return self._outcome(work)

    def work(self, raw: RawDocument) -> Work:
        """A work to begin with.

        Raises:
            TenantError
        """
        id_, hash_ = document_id(tenant_id(raw.tenant), raw.source), content_hash(raw.data)
        return Work(raw=raw, id=id_, hash=hash_, stamp=stamp_of(id_, hash_, self.stamps))

    def _ingest(self, works: list[Work], on_embedded: OnEmbedded, *, wait: bool) -> dict[str, DocumentOutcome]:
        """Outcomes by document. In turns: what another worker has is looked at again until it is free."""
        outcomes: dict[str, DocumentOutcome] = {}
        pause = FIRST_PAUSE_S
        waiting = works
        # Remembered over all turns: a deletion that took one away may only be finished in the next.
        lost: set[str] = set()
        while waiting:
            lost |= {work.id for work in waiting if work.lost}
            try:
                done = self._turn(waiting, lost, on_embedded)
            except IndexClosing:
                if not wait:
                    raise
                done = {}
            outcomes |= done
            waiting = [work for work in waiting if work.id not in outcomes]
            if waiting and not wait:
                return outcomes | {work.id: _elsewhere(work) for work in waiting}
            if waiting and not done:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
        return outcomes

    def _turn(self, works: list[Work], lost: set[str], on_embedded: OnEmbedded) -> dict[str, DocumentOutcome]:
        """Do what can be done now."""
        self._gate.check()
        looked = self._claims.look(works)
        for work in looked.deleting:
            if work.mark is not None:
                self._deleter.take_over(work.raw.tenant, work.id, work.mark)
        outcomes = {work.id: _elsewhere(work) for work in looked.free if work.id in lost and _overtaken(work)}
        outcomes |= self._unchanged([one for one in (*looked.free, *looked.suspects) if one.id not in outcomes])
        together = [work for work in looked.free if work.id not in outcomes]
        alone = [[work] for work in looked.suspects if work.id not in outcomes]
        for group in (together, *alone):
            if group:
                self._through(group, on_embedded)
                outcomes |= {work.id: self._outcome(work) for work in group if not work.lost}
        if outcomes:
            self.registry.refresh()
        return outcomes

    def _through(self, works: list[Work], on_embedded: OnEmbedded) -> None:
        """Every step for documents that are free."""
        self._claims.claim(works)
        try:
            # Again: a migration that closed it in between does not wait for what was not claimed yet.
            self._gate.check()
            for work in works:
                if work.going:
                    self._extract(work)
            self._claims.enter(works, DocumentState.EMBEDDING)
            self._encoder.embed([work for work in works if work.going], on_embedded)
            self._publisher.publish([work for work in works if work.going])
            self._claims.end(works, rows.unfinished)
        except (EngineError, SearchIndexError, ModelError) as error:
            self._claims.give_back(works, error)
            raise

    def _unchanged(self, works: list[Work]) -> dict[str, DocumentOutcome]:
        """Outcomes of those that are whole in the index already. A row that an interrupted run left is set right."""
        whole: dict[str, DocumentOutcome] = {}
        for tenant, own in by_tenant([work for work in works if work.same_content and same_wishes(work)]):
            counts = self._store.counts(tenant, {work.id: work.stamp for work in own})
            mend: list[Work] = []
            for work in own:
                known = work.previous
                if known is None or not known.chunks_generated or counts[work.id] != known.chunks_generated:
                    continue
                work.indexed = counts[work.id]
                if known.state is not DocumentState.READY:
                    mend.append(work)
                whole[work.id] = DocumentOutcome(
                    document_id=work.id,
                    name=work.raw.name,
                    source=work.raw.source,
                    state=DocumentState.READY,
                    unchanged=True,
                    chunks_generated=known.chunks_generated,
                    chunks_indexed=work.indexed,
                )
            if mend:
                self._publisher.mend(tenant, mend)
        lost = {work.id for work in works if work.lost}
        return {id_: outcome for id_, outcome in whole.items() if id_ not in lost}

    def _extract(self, work: Work) -> None:
        raw, request = work.raw, work.request
        try:
            with timed(work, "extract_ms"):
                read = self._extract_document(raw, request)
            title = shortened(one_line(raw.title or ""))
            document = read.document.model_copy(update={"title": title}) if title else read.document
            tags = tuple(dict.fromkeys((*read.metadata.tags, *raw.tags)))
            metadata = read.metadata.model_copy(update={"tags": tags})
            work.extraction = replace(read, document=document, metadata=metadata)
            if read.issues and not request.released:
                raise doubt(read.issues, raw.name)
            with timed(work, "chunk_ms"):
                work.chunks = chunk_document(document, self._spec, self._embedder)
        except DocumentError as error:
            work.error = error

    def _outcome(self, work: Work) -> DocumentOutcome:
        error, read = work.error, work.extraction
        bad = DocumentState.QUARANTINED if isinstance(error, DoubtfulDocument) else DocumentState.FAILED
        return DocumentOutcome(
            document_id=work.id,
            name=work.raw.name,
            source=work.raw.source,
            state=DocumentState.READY if error is None else bad,
            code=None if error is None else error.code,
            reason=None if error is None else str(error),
            chunks_generated=len(work.chunks),
            chunks_indexed=work.indexed,
            report=() if read is None else (*read.document.report, *read.metadata.report),
            timings=Timings(**work.timings),
            pid=os.getpid(),
        )


def _overtaken(work: Work) -> bool:
    """Whether a lost work is not wanted any more: its document was deleted, or sent again as something else."""
    if work.previous is None:
        return True
    wanted = work.previous.request
    return work.previous.state not in WORKING and wanted is not None and wanted.content_hash != work.hash


def _elsewhere(work: Work) -> DocumentOutcome:
    """The outcome of a document that is not, or not any more, this worker's."""
    row = work.previous
    gone = StateConflict(
        "The document was deleted while it was ingested.",
        where=work.raw.name,
        remedy="Ingest it again if it is wanted.",
    )
    return DocumentOutcome(
        document_id=work.id,
        name=work.raw.name,
        source=work.raw.source,
        state=DocumentState.FAILED if row is None else row.state,
        code=gone.code if row is None else None,
        reason=str(gone) if row is None else None,
        chunks_generated=0 if row is None else row.chunks_generated,
        chunks_indexed=0 if row is None else row.chunks_indexed,
        report=() if row is None else ("Another worker goes on with it.",),
    )
