"""What the stages hand on: a passage with what each leg says of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from query.fusion.base import Fused, Scored
from query.request import Hit, Leg, Scores, StageScore
from search_config import fields
from search_config.records import Locator


class Passage(NamedTuple):
    """The stored fields of one chunk that answers need.

    Attributes:
        place: the locator as it is stored. It is read where it is shown: of hundreds of passages ten are."""

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
    place: Mapping[str, Any]
    confidence: float | None = None

    @property
    def locator(self) -> Locator:
        """Where in its document it stands."""
        return Locator.model_validate(self.place)


class Key(NamedTuple):
    """Which chunk it is, and of which version of which document: all that is needed of a passage until it is shown."""

    chunk_id: str
    document_id: str
    version: int
    content_hash: str


# A hit before and after its text was read. Both name the chunk.
Found: TypeAlias = Key | Passage


class Place(NamedTuple):
    """Rank (from 1) and raw score in one leg. There are hundreds in a search, so no validated record:
    `query.request.StageScore` is made of it for what is shown."""

    rank: int
    score: float


class StageScores(NamedTuple):
    """Scores by stage, as `query.request.Scores`; None where a stage did not see the passage."""

    bm25: Place | None = None
    knn: Place | None = None
    sparse: Place | None = None
    fused: float | None = None
    rerank: float | None = None

    def shown(self) -> Scores:
        """The record of an answer."""
        return Scores(
            bm25=_shown(self.bm25),
            knn=_shown(self.knn),
            sparse=_shown(self.sparse),
            fused=self.fused,
            rerank=self.rerank,
        )


UNSCORED: Final = StageScores()


def _shown(place: Place | None) -> StageScore | None:
    return None if place is None else StageScore(rank=place.rank, score=place.score)


class Candidate(NamedTuple):
    """A hit with its rank and score in the legs that returned it.

    `scores.knn.score` is the cosine, not the engine's number. `cosine` is known for hits of the dense leg."""

    found: Found
    scores: StageScores = UNSCORED
    cosine: float | None = None

    @property
    def chunk_id(self) -> str:
        return self.found.chunk_id

    @property
    def document_id(self) -> str:
        return self.found.document_id

    @property
    def passage(self) -> Passage:
        """The passage itself.

        Raises:
            LookupError: its text was not read (`query.retrieve.Plan.texts`).
        """
        if isinstance(self.found, Passage):
            return self.found
        raise LookupError(f"The text of {self.chunk_id} was not read.")


def passage_of(source: Mapping[str, Any]) -> Passage:
    """A passage from the engine's `_source`."""
    read = source.get
    return Passage(
        source[fields.CHUNK_ID],
        source[fields.DOCUMENT_ID],
        source[fields.VERSION],
        source[fields.CONTENT_HASH],
        source[fields.ORDINAL],
        source[fields.TITLE],
        read(fields.SECTION) or "",
        source[fields.CONTENT],
        source[fields.LANGUAGE],
        read(fields.URL),
        source[fields.LOCATOR],
        read(fields.CONFIDENCE),
    )


def key_of(columns: Mapping[str, Any]) -> Key:
    """A key from the engine's `fields`."""
    return Key(
        columns[fields.CHUNK_ID][0],
        columns[fields.DOCUMENT_ID][0],
        columns[fields.VERSION][0],
        columns[fields.CONTENT_HASH][0],
    )


def ranked(leg: Leg, rows: Sequence[tuple[Found, float]], *, limit: int) -> tuple[Candidate, ...]:
    """The candidates of one leg: by score, then chunk id, ranks from 1.

    Args:
        leg: `knn` has cosines for scores.
        rows: in any order.
        limit: how many to keep.
    """
    ordered = sorted(rows, key=lambda row: (-row[1], row[0].chunk_id))[:limit]
    return tuple(
        Candidate(found, _of_leg(leg, Place(rank, score)), score if leg == "knn" else None)
        for rank, (found, score) in enumerate(ordered, start=1)
    )


def _of_leg(leg: Leg, place: Place) -> StageScores:
    if leg == "bm25":
        return StageScores(place)
    return StageScores(None, place) if leg == "knn" else StageScores(None, None, place)


def newest_versions(*legs: Sequence[tuple[Found, float]]) -> tuple[list[tuple[Found, float]], ...]:
    """Rows of each leg without those of a version that is older than another one of the same document in any leg."""
    newest: dict[str, int] = {}
    for leg in legs:
        for passage, _ in leg:
            document = passage.document_id
            if passage.version > newest.get(document, 0):
                newest[document] = passage.version
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
            scores = StageScores(
                theirs.bm25 or ours.bm25, theirs.knn or ours.knn, theirs.sparse or ours.sparse, ours.fused, ours.rerank
            )
            cosine = known.cosine if other.cosine is None else other.cosine
            candidate = Candidate(known.found, scores, cosine)
        found[candidate.chunk_id] = candidate
    return found


def scored(leg: Leg, candidates: Sequence[Candidate]) -> list[Scored]:
    """The hits of a leg as fusion reads them."""
    hits = []
    for candidate in candidates:
        stage: Place | None = getattr(candidate.scores, leg)
        if stage is not None:
            hits.append(Scored(candidate.chunk_id, stage.score, stage.rank))
    return hits


def at_most(scores: Mapping[Leg, Sequence[Scored]], found: Collection[str], *, full: int) -> dict[Leg, list[Scored]]:
    """The scores, and for hits that a leg did not return the most that they can have in it: its last hit's.

    Args:
        found: chunk ids of all legs' hits.
        full: hits that were asked of each leg. One that returned fewer has no other ones.
    """
    filled = {}
    for leg, hits in scores.items():
        known = {hit.chunk_id for hit in hits}
        rest = [chunk for chunk in found if chunk not in known] if len(hits) >= full else []
        filled[leg] = [*hits, *(Scored(chunk, hits[-1].score, None) for chunk in rest)]
    return filled


def with_fused(found: Mapping[str, Candidate], order: Sequence[Fused]) -> tuple[Candidate, ...]:
    """The candidates in their fused order, with their fused scores."""
    rows = []
    for row in order:
        candidate = found[row.chunk_id]
        said = candidate.scores
        scores = StageScores(said.bm25, said.knn, said.sparse, row.score, said.rerank)
        rows.append(Candidate(candidate.found, scores, candidate.cosine))
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
        scores=candidate.scores.shown(),
    )
