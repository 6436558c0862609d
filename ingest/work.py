"""One document on its way through the pipeline, and small helpers over several of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np

from ingest.chunking import Chunk
from ingest.documents import RawDocument
from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import one_line, shortened
from ingest.extraction import Extraction
from ingest.ledger import Mark
from models.base import Terms, Vectors
from search_config.errors import IndexingIncomplete, MafteachError
from search_config.records import DocumentRecord, DocumentState, IngestRequest, Stamps, chunk_id

MS: Final = 1_000.0


@dataclass(slots=True)
class Work:
    """One document on its way; filled step by step.

    Attributes:
        stamp: what the ids of the chunks begin with that it makes.
        previous: its row when it was last looked at.
        mark: of that row, and then of each row that was written; None: there is none yet.
        attempts: this one included.
        indexed: its chunks, counted in the index.
        lost: another writer changed the row, so that it is not ours any more.
    """

    raw: RawDocument
    id: str
    hash: str
    stamp: str
    previous: DocumentRecord | None = None
    mark: Mark | None = None
    attempts: int = 0
    started: datetime | None = None
    extraction: Extraction | None = None
    chunks: list[Chunk] = field(default_factory=list)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    codes: Sequence[bytes | None] = ()
    terms: Sequence[Terms | None] = ()
    indexed: int = 0
    error: MafteachError | None = None
    lost: bool = False
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def going(self) -> bool:
        """Whether it is still on its way, and still ours."""
        return self.error is None and not self.lost

    @property
    def read(self) -> Extraction:
        """What was read of a work that got that far."""
        if self.extraction is None:
            raise IndexingIncomplete("The document was not extracted.", where=self.raw.name)
        return self.extraction

    @property
    def document(self) -> ExtractedDocument:
        """The extracted document of a work that got that far."""
        return self.read.document

    @property
    def same_content(self) -> bool:
        """Whether the searchable version was made from the same bytes in the same way."""
        known = self.previous
        if known is None or known.content_hash is None or known.stamps is None:
            return False
        return self.stamp == stamp_of(self.id, known.content_hash, known.stamps)

    @property
    def published(self) -> bool:
        """Whether a version of the document can be searched."""
        return self.previous is not None and self.previous.content_hash is not None

    @property
    def begun(self) -> bool:
        """Whether an earlier attempt may have left something."""
        return self.previous is not None and self.previous.state is not DocumentState.READY

    @property
    def request(self) -> IngestRequest:
        """What the sender asks for; a person's release stays with the content that this person saw."""
        raw, before = self.raw, self.previous.request if self.previous is not None else None
        released = before is not None and before.released and before.content_hash == self.hash
        return IngestRequest(
            payload=raw.payload,
            content_hash=self.hash,
            name=raw.name,
            title=raw.title,
            url=raw.url,
            groups=raw.groups,
            tags=raw.tags,
            media_type=raw.media_type,
            released=released,
            corrections=before.corrections if before is not None and released else None,
        )

    @property
    def version(self) -> int:
        """The version that this work makes."""
        if self.previous is None or self.previous.content_hash is None:
            return 1
        return self.previous.version if self.same_content else self.previous.version + 1


def stamp_of(document: str, hash_: str, stamps: Stamps) -> str:
    """What the ids of all chunks of one version begin with."""
    return chunk_id(document, hash_, stamps, 0).rpartition("-")[0] + "-"


class timed:  # noqa: N801  a context manager, read as a verb
    """Adds the milliseconds of its block to a work's timings."""

    def __init__(self, work: Work, stage: str) -> None:
        self._work, self._stage = work, stage

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._work.timings[self._stage] = (time.perf_counter() - self._started) * MS


def share(works: list[Work], stage: str, total_ms: float) -> None:
    """Divide a batch's milliseconds among its documents by their chunks."""
    chunks = sum(len(work.chunks) for work in works)
    for work in works:
        work.timings[stage] = total_ms * len(work.chunks) / max(1, chunks)


def same_wishes(work: Work) -> bool:
    """Whether what the sender says beside the content is what the registry has."""
    known, raw = work.previous, work.raw
    if known is None or (known.url, known.groups, known.name) != (raw.url, raw.groups, raw.name):
        return False
    if raw.tags != (() if known.request is None else known.request.tags):
        return False
    return raw.title is None or shortened(one_line(raw.title)) == known.title


def by_tenant(works: Sequence[Work]) -> list[tuple[str, list[Work]]]:
    """The works of each tenant, since every query names one."""
    tenants: dict[str, list[Work]] = {}
    for work in works:
        tenants.setdefault(work.raw.tenant, []).append(work)
    return list(tenants.items())


def rounds(works: Sequence[Work]) -> list[list[int]]:
    """Positions in rounds, so that no document comes twice in one."""
    turns: list[list[int]] = []
    seen: dict[str, int] = {}
    for i, work in enumerate(works):
        turn = seen.get(work.id, 0)
        seen[work.id] = turn + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(i)
    return turns
