"""One document on its way through the pipeline, and small helpers over several of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ingest.chunking import Chunk
from ingest.documents import RawDocument
from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import one_line, shortened
from ingest.metadata import TypedMetadata
from models.base import Vectors
from search_config.errors import IndexingIncomplete, MafteachError
from search_config.records import DocumentRecord, Stamps, chunk_id

MS: Final = 1_000.0


@dataclass(slots=True)
class Work:
    """One document on its way; filled step by step."""

    raw: RawDocument
    id: str
    hash: str
    stamp: str
    previous: DocumentRecord | None = None
    document: ExtractedDocument | None = None
    metadata: TypedMetadata = field(default_factory=TypedMetadata)
    chunks: list[Chunk] = field(default_factory=list)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    codes: Sequence[bytes | None] = ()
    error: MafteachError | None = None
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def extracted(self) -> ExtractedDocument:
        """The extracted document of a work that got that far."""
        if self.document is None:
            raise IndexingIncomplete("The document was not extracted.", where=self.raw.name)
        return self.document

    @property
    def same_content(self) -> bool:
        """Whether the searchable version was made from the same bytes in the same way."""
        known = self.previous
        if known is None or known.content_hash is None or known.stamps is None:
            return False
        return self.stamp == stamp_of(self.id, known.content_hash, known.stamps)

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
