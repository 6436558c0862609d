"""What is asked and what comes back: validated, closed records."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from search_config.records import Locator, TenantId

DEFAULT_SIZE = 10
MAX_SIZE = 100
# How many passages an answer is written from; not the size of a page, and not the number of candidates. Fewer miss
# aspects, more bury them.
CONTEXT_SIZE = 5
MIN_CONTEXT_SIZE = 4
MAX_CONTEXT_SIZE = 10

Language = Literal["he", "en", "identifier", "other"]
Mode = Literal["auto", "hybrid", "lexical", "dense"]
Leg = Literal["bm25", "knn"]
ShortText = Annotated[str, Field(min_length=1, max_length=200)]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Filters(_Closed):
    """What a request may narrow by; each list means "one of", the fields are joined by "and". Never a tenant."""

    document_id: tuple[ShortText, ...] = ()
    type: tuple[ShortText, ...] = ()
    language: tuple[ShortText, ...] = ()
    tags: tuple[ShortText, ...] = ()
    reference: tuple[ShortText, ...] = ()
    date_from: date | None = None
    date_to: date | None = None


class SearchRequest(_Closed):
    """One search. The tenant is mandatory and comes from a credential or from --tenant, never from a body."""

    tenant: TenantId
    query: str
    size: int = Field(DEFAULT_SIZE, ge=1, le=MAX_SIZE)
    filters: Filters = Filters()
    mode: Mode = "auto"
    group: bool = Field(False, description="One row a document: its best passage.")
    mmr_lambda: float | None = Field(
        None, ge=0, le=1, allow_inf_nan=False, description="Lambda of MMR for this search; null takes the profile's."
    )
    explain: bool = False


class StageScore(_Closed):
    """Rank (from 1) and raw score of a hit in one leg."""

    rank: int = Field(ge=1)
    score: float


class Scores(_Closed):
    """A hit's scores by stage; None where a stage did not see it."""

    bm25: StageScore | None = None
    knn: StageScore | None = None
    sparse: StageScore | None = None
    fused: float | None = None
    rerank: float | None = None


class Hit(_Closed):
    """One passage. `content` is `canonical_text[locator.from:locator.to]`, to the letter."""

    rank: int = Field(ge=1)
    document_id: str
    version: int
    content_hash: str
    chunk_id: str
    title: str
    section: str
    content: str
    language: str
    url: str | None = None
    locator: Locator
    confidence: float | None = Field(None, description="OCR confidence, 0 to 1; null for born-digital text.")
    highlights: tuple[str, ...] = ()
    cosine_distance: float | None = Field(None, description="1 - cosine of query and passage, 0 to 2.")
    scores: Scores = Scores()


class IndexIdentity(_Closed):
    """Which index answered."""

    name: str
    model: str
    pipeline: str


class Degraded(_Closed):
    """A leg that failed while the other one answered."""

    leg: Leg
    reason: str


class SearchResult(_Closed):
    """A whole answer of a search; `hits` are filled in a refusal too (the nearest)."""

    query: str
    language: Language
    route: Literal["semantic", "metadata", "both"] = "semantic"
    filters: Filters
    refused: bool = False
    reason: str | None = None
    profile: str
    index: IndexIdentity
    weights: dict[Leg, float]
    degraded: tuple[Degraded, ...] = ()
    notes: tuple[str, ...] = Field(
        (), description="What the asker should know: a query cut at the window, and the like."
    )
    total: int = Field(ge=0, description="Hits that can be reached by paging.")
    took_ms: dict[str, float] = Field(description="Milliseconds by stage.")
    hits: tuple[Hit, ...]
