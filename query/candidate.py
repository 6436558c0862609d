"""What the stages hand on: a passage with what each leg says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from query.fusion.base import Fused, Scored
from query.request import Hit, Leg, Scores, StageScore
from search_config import fields
from search_config.records import Locator


@dataclass(frozen=True, slots=True)
class Passage:
    """The stored fields of one chunk that answers need."""

    chunk_id: str
    document_id: str
    version: int
    content_hash: str
    ordinal: int
    title: str
    section: str
    content: str
    language: str
    url: str | None
    locator: Locator
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its rank and score in the legs that returned it.

    `scores.knn.score` is the cosine, not the engine's number. `cosine` is known for hits of the dense leg, and for
    others once it was asked for."""

    passage: Passage
    scores: Scores = field(default_factory=Scores)
    cosine: float | None = None

    @property
    def chunk_id(self) -> str:
        return self.passage.chunk_id


def passage_of(source: Mapping[str, Any]) -> Passage:
    """A passage from the engine's `_source`."""
    return Passage(
        chunk_id=source[fields.CHUNK_ID],
        document_id=source[fields.DOCUMENT_ID],
        version=source[fields.VERSION],
        content_hash=source[fields.CONTENT_HASH],
        ordinal=source[fields.ORDINAL],
        title=source[fields.TITLE],
        section=source.get(fields.SECTION) or "",
        content=source[fields.CONTENT],
        language=source[fields.LANGUAGE],
        url=source.get(fields.URL),
        locator=Locator.model_validate(source[fields.LOCATOR]),
        confidence=source.get(fields.CONFIDENCE),
    )


def ranked(leg: Leg, rows: Sequence[tuple[Passage, float]], *, limit: int) -> tuple[Candidate, ...]:
    """The candidates of one leg: by score, then chunk id, ranks from 1.

    Args:
        leg: `knn` has cosines for scores.
        rows: in any order.
        limit: how many to keep.
    """
    ordered = sorted(rows, key=lambda row: (-row[1], row[0].chunk_id))[:limit]
    return tuple(
        Candidate(
            passage,
            Scores.model_validate({leg: StageScore(rank=rank, score=score)}),
            cosine=score if leg == "knn" else None,
        )
        for rank, (passage, score) in enumerate(ordered, start=1)
    )


def newest_versions(*legs: Sequence[tuple[Passage, float]]) -> tuple[list[tuple[Passage, float]], ...]:
    """Rows of each leg without those of a version that is older than another one of the same document in any leg."""
    newest: dict[str, int] = {}
    for passage, _ in (row for leg in legs for row in leg):
        newest[passage.document_id] = max(passage.version, newest.get(passage.document_id, 0))
    return tuple([row for row in leg if row[0].version == newest[row[0].document_id]] for leg in legs)


def merged(
    lexical: Sequence[Candidate], dense: Sequence[Candidate], sparse: Sequence[Candidate] = ()
) -> dict[str, Candidate]:
    """Every candidate once, by chunk id, with what all legs say of it."""
    found = {candidate.chunk_id: candidate for candidate in lexical}
    for other in (*dense, *sparse):
        candidate, known = other, found.get(other.chunk_id)
        if known is not None:
            ours, theirs = known.scores, other.scores
            scores = Scores.model_construct(
                bm25=theirs.bm25 or ours.bm25,
                knn=theirs.knn or ours.knn,
                sparse=theirs.sparse or ours.sparse,
                fused=ours.fused,
                rerank=ours.rerank,
            )
            cosine = known.cosine if other.cosine is None else other.cosine
            candidate = Candidate(known.passage, scores, cosine)
        found[candidate.chunk_id] = candidate
    return found


def scored(leg: Leg, candidates: Sequence[Candidate], more: Mapping[str, float] | None = None) -> list[Scored]:
    """The hits of a leg as fusion reads them, and after them (`more`, by chunk id) scores that were asked for
    afterwards."""
    hits = []
    for candidate in candidates:
        stage: StageScore | None = getattr(candidate.scores, leg)
        if stage is not None:
            hits.append(Scored(candidate.chunk_id, stage.score, stage.rank))
    return hits + [Scored(chunk_id, score, None) for chunk_id, score in sorted((more or {}).items())]


def with_fused(
    found: Mapping[str, Candidate], order: Sequence[Fused], cosines: Mapping[str, float]
) -> tuple[Candidate, ...]:
    """The candidates in their fused order, with their fused scores and the cosines that were asked for afterwards."""
    rows = []
    for row in order:
        candidate = found[row.chunk_id]
        said = candidate.scores
        # Built anew, not copied: there are hundreds in a search, and a copy takes five times as long.
        scores = Scores.model_construct(
            bm25=said.bm25, knn=said.knn, sparse=said.sparse, fused=row.score, rerank=said.rerank
        )
        cosine = cosines.get(row.chunk_id) if candidate.cosine is None else candidate.cosine
        rows.append(Candidate(candidate.passage, scores, cosine))
    return tuple(rows)


def hit_of(candidate: Candidate, rank: int, *, highlights: tuple[str, ...], distance: float | None) -> Hit:
    """The answer's row for a candidate."""
    passage = candidate.passage
    return Hit(
        rank=rank,
        document_id=passage.document_id,
        version=passage.version,
        content_hash=passage.content_hash,
        chunk_id=passage.chunk_id,
        title=passage.title,
        section=passage.section,
        content=passage.content,
        language=passage.language,
        url=passage.url,
        locator=passage.locator,
        confidence=passage.confidence,
        highlights=highlights,
        cosine_distance=distance,
        scores=candidate.scores,
    )
