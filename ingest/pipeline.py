"""Documents through every step: extract, cut, embed, index. Stages and timings only; each step is another module's.

A document's row in the registry describes the version that can be searched. It moves from queued to ready; where a
step fails the row says why, and what was searchable before stays so. An engine or model that goes away raises: rows
stay in the state they were in, and the same call later finishes the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np

from ingest.chunk_store import ChunkStore
from ingest.chunking import ChunkingSpec, chunk_document, embedded_text
from ingest.documents import DocumentOutcome, RawDocument, Timings
from ingest.extract.builder import one_line, shortened
from ingest.extract.registry import EXTRACTORS_VERSION, extract
from ingest.metadata import typed
from ingest.registry import Registry
from ingest.rows import chunk_rows, document_row
from ingest.work import MS, Work, by_tenant, rounds, same_wishes, share, stamp_of, timed
from models.base import Embedder, Vectors, token_coder
from models.vectors import checked
from search_config.client import BulkItem, Engine
from search_config.errors import DocumentError, IndexingIncomplete, IndexMismatch, InvalidVector
from search_config.install import IndexInfo
from search_config.records import DocumentState, Stamps, content_hash, document_id, tenant_id
from search_config.settings import Settings

# Texts that are embedded between two reports of progress: a second or two of work for the embedded model on two cores.
# Texts are sorted by length before they are parted, so that parting costs the model nothing.
SLICE_TEXTS: Final = 64

OnEmbedded = Callable[[int], None]
"""Told the number of passages that were embedded since it was last called."""


def _unwatched(_: int) -> None:
    return


class Ingestor:
    """Takes documents to the index."""

    def __init__(self, engine: Engine, info: IndexInfo, embedder: Embedder, settings: Settings) -> None:
        """Attach.

        Raises:
            IndexMismatch: the embedder is not the one that the index was made for.
        """
        if embedder.description.identity != info.model.identity:
            raise IndexMismatch(
                f"The index holds vectors of {info.model.identity}, the embedder is {embedder.description.identity}.",
                where=info.index,
                remedy="Set the embedder back, or migrate the index.",
            )
        self._info = info
        self._embedder = embedder
        self._settings = settings
        self._store = ChunkStore(engine, info, settings)
        self._spec = ChunkingSpec(
            strategy=settings.chunk_strategy, target=settings.chunk_target, window=embedder.passage_window
        )
        self.registry = Registry(engine, info, settings)
        self.stamps = Stamps(
            model=info.model.identity, analyzer=info.analyzer, extractor=EXTRACTORS_VERSION, pipeline=info.pipeline
        )

    @property
    def max_bytes(self) -> int:
        """Largest file that is accepted."""
        return self._settings.max_file_bytes

    def ingest(self, batch: Sequence[RawDocument], *, on_embedded: OnEmbedded = _unwatched) -> list[DocumentOutcome]:
        """Ingest documents of one tenant or several; texts of all are embedded together.

        Args:
            batch: any number, held in memory; a document that comes twice is ingested twice, in order.
            on_embedded: for a progress bar; called while the batch is embedded, its longest part.

        Returns:
            One outcome a document, in order. Those that failed say why; the others are searchable when this returns.

        Raises:
            EngineUnreachable, EngineOverloaded, EngineRejected, ModelUnavailable: nothing more can be done now; states
                stay as they are, and a repeated call goes on.
            TenantError: a document without a valid tenant; nothing was written.
        """
        works = [self._work(raw) for raw in batch]
        outcomes: list[DocumentOutcome | None] = [None] * len(works)
        for round_ in rounds(works):
            for i, outcome in zip(round_, self._ingest([works[i] for i in round_], on_embedded), strict=True):
                outcomes[i] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def refuse(self, raw: RawDocument, error: DocumentError) -> DocumentOutcome:
        """Record a document that could not even be read, so that listings show it; `raw.data` is not looked at."""
        work = self._work(raw)
        work.previous = self.registry.get_many(raw.tenant, [work.id]).get(work.id)
        work.error = error
        self.registry.begin([document_row(work, self.stamps, DocumentState.FAILED, reason=str(error))])
        self.registry.refresh()
        return self._outcome(work)

    def _work(self, raw: RawDocument) -> Work:
        id_, hash_ = document_id(tenant_id(raw.tenant), raw.source), content_hash(raw.data)
        return Work(raw=raw, id=id_, hash=hash_, stamp=stamp_of(id_, hash_, self.stamps))

    def _ingest(self, works: list[Work], on_embedded: OnEmbedded) -> list[DocumentOutcome]:
        for tenant, own in by_tenant(works):
            known = self.registry.get_many(tenant, [work.id for work in own])
            for work in own:
                work.previous = known.get(work.id)
        unchanged = self._unchanged(works)
        todo = [work for work in works if work.id not in unchanged]
        if todo:
            self.registry.begin(document_row(work, self.stamps, DocumentState.QUEUED) for work in todo)
            self._enter(todo, DocumentState.EXTRACTING)
            for work in todo:
                self._extract(work)
            self._enter(todo, DocumentState.EMBEDDING)
            self._embed([work for work in todo if work.error is None], on_embedded)
            self._enter(todo, DocumentState.INDEXING)
            self._index([work for work in todo if work.error is None])
            self._finish(todo)
        return [unchanged.get(work.id) or self._outcome(work) for work in works]

    def _enter(self, works: list[Work], state: DocumentState) -> None:
        self.registry.set_state([work.id for work in works if work.error is None], state)

    def _unchanged(self, works: list[Work]) -> dict[str, DocumentOutcome]:
        """Outcomes of those that are whole in the index already. A row that an interrupted run left is set right."""
        whole: dict[str, DocumentOutcome] = {}
        for tenant, own in by_tenant([work for work in works if work.same_content and same_wishes(work)]):
            counts = self._store.counts(tenant, {work.id: work.stamp for work in own})
            mend: list[Work] = []
            for work in own:
                known = work.previous
                if known is None or not known.chunks_indexed or counts[work.id] != known.chunks_indexed:
                    continue
                whole[work.id] = DocumentOutcome(
                    document_id=work.id,
                    name=work.raw.name,
                    source=work.raw.source,
                    state=DocumentState.READY,
                    unchanged=True,
                    chunks_generated=known.chunks_generated,
                    chunks_indexed=known.chunks_indexed,
                )
                if known.state is not DocumentState.READY:
                    mend.append(work)
            if mend:
                self._store.refresh()
                self._store.delete_others(tenant, {work.id: work.stamp for work in mend})
                self.registry.set_state([work.id for work in mend], DocumentState.READY)
                self.registry.refresh()
        return whole

    def _extract(self, work: Work) -> None:
        raw = work.raw
        try:
            with timed(work, "extract_ms"):
                document = extract(raw.data, name=raw.name, max_bytes=self.max_bytes, media_type=raw.media_type)
                work.metadata = typed(document.metadata)
            title = shortened(one_line(raw.title or ""))
            work.document = document.model_copy(update={"title": title}) if title else document
            with timed(work, "chunk_ms"):
                work.chunks = chunk_document(work.document, self._spec, self._embedder)
        except DocumentError as error:
            work.error = error

    def _embed(self, works: list[Work], on_embedded: OnEmbedded) -> None:
        started = time.perf_counter()
        texts = {work.id: _texts(work) for work in works}
        try:
            vectors, codes = self._encoded([text for work in works for text in texts[work.id]], on_embedded)
            ends = np.cumsum([len(work.chunks) for work in works])
            for work, end in zip(works, ends, strict=True):
                own = slice(end - len(work.chunks), end)
                work.vectors, work.codes = vectors[own], codes[own]
        except InvalidVector:
            # One text that the model cannot take must not cost the others their place.
            for work in works:
                try:
                    work.vectors, work.codes = self._encoded(texts[work.id], _unwatched)
                except InvalidVector as error:
                    work.error = error
        share(works, "embed_ms", (time.perf_counter() - started) * MS)

    def _encoded(self, texts: list[str], on_embedded: OnEmbedded) -> tuple[Vectors, list[bytes | None]]:
        """Checked vectors `(n, dim)` of texts and their token codes, in their order; the longest are embedded first.

        Codes are None where the embedder writes none.
        """
        vectors = np.zeros((len(texts), self._info.model.dim), dtype=np.float32)
        codes: list[bytes | None] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(order), SLICE_TEXTS):
            part = order[start : start + SLICE_TEXTS]
            made, coded = self._made([texts[i] for i in part])
            if len(made) != len(part) or len(coded) != len(part):
                raise InvalidVector(
                    f"The model gave {len(made)} vectors for {len(part)} texts.", where=self._info.index
                )
            vectors[part] = checked(made, dim=self._info.model.dim, where=self._info.index)
            for place, code in zip(part, coded, strict=True):
                codes[place] = code
            on_embedded(len(part))
        return vectors, codes

    def _made(self, texts: list[str]) -> tuple[Vectors, Sequence[bytes | None]]:
        """One pass of the model."""
        coder = token_coder(self._embedder)
        if coder is None:
            return self._embedder.embed_passages(texts), [None] * len(texts)
        made = coder.encode_passages(texts)
        return made.vectors, made.codes

    def _index(self, works: list[Work]) -> None:
        """New chunks first, then the old ones go: a document is never missing. What was refused is taken back."""
        started = time.perf_counter()
        now = datetime.now(UTC)
        items = iter(self._store.write(row for work in works for row in chunk_rows(work, self.stamps, now)))
        for work in works:
            refused = [item for item in (next(items) for _ in work.chunks) if not item.ok]
            if refused:
                work.error = _incomplete(work, refused)
        if works:
            self._store.refresh()
        for tenant, own in by_tenant(works):
            replaced = {work.id: work.stamp for work in own if work.error is None and work.previous is not None}
            self._store.delete_others(tenant, replaced)
            # Where content is the same, old and new chunks are the same rows: what was written of them is good.
            self._store.delete_made(tenant, [work.stamp for work in own if work.error and not work.same_content])
        share(works, "index_ms", (time.perf_counter() - started) * MS)

    def _finish(self, works: list[Work]) -> None:
        self.registry.put(document_row(work, self.stamps, DocumentState.READY) for work in works if work.error is None)
        failed = {work.id: str(work.error) for work in works if work.error is not None}
        self.registry.set_reasons(failed, DocumentState.FAILED)
        self.registry.refresh()

    def _outcome(self, work: Work) -> DocumentOutcome:
        error = work.error
        report = (*(work.document.report if work.document else ()), *work.metadata.report)
        return DocumentOutcome(
            document_id=work.id,
            name=work.raw.name,
            source=work.raw.source,
            state=DocumentState.READY if error is None else DocumentState.FAILED,
            code=None if error is None else error.code,
            reason=None if error is None else str(error),
            chunks_generated=len(work.chunks),
            chunks_indexed=len(work.chunks) if error is None else 0,
            report=report,
            timings=Timings(**work.timings),
        )


def _texts(work: Work) -> list[str]:
    document = work.extracted
    return [embedded_text(chunk, document) for chunk in work.chunks]


def _incomplete(work: Work, refused: Sequence[BulkItem]) -> IndexingIncomplete:
    return IndexingIncomplete(
        f"{len(refused)} of {len(work.chunks)} chunks were refused: {refused[0].error}.",
        where=work.raw.name,
        remedy="The version before, if any, stays searchable. Mend the cause and ingest the file again.",
    )
