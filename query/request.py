"""What is asked and what comes back: validated, closed records."""

from __future__ import annotations

from datetime import date
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from query.filter_fields import Filters as Filters
from query.filter_fields import ShortText, Values
from query.metadata_result import MetadataAnswer
from search_config.records import Locator, TenantId

DEFAULT_SIZE = 10
MAX_SIZE = 100
# Far beyond what can be reached: candidates of both legs are 400 at most.
MAX_FROM = 10_000
# How many passages an answer is written from; not the size of a page, and not the number of candidates. Fewer miss
# aspects, more bury them.
CONTEXT_SIZE = 5
MIN_CONTEXT_SIZE = 4
MAX_CONTEXT_SIZE = 10

Language = Literal["he", "en", "identifier", "other"]
Mode = Literal["auto", "hybrid", "lexical", "dense"]
Leg = Literal["bm25", "knn", "sparse"]
Route = Literal["metadata", "semantic", "both"]
AskedRoute = Literal["auto", "metadata", "semantic", "both"]
FacetName = Literal["type", "language", "tags", "party", "vendor", "client", "currency", "year"]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Weights(_Closed):
    """Weights of the legs, which are divided by their sum."""

    bm25: float = Field(ge=0, le=1, allow_inf_nan=False)
    knn: float = Field(ge=0, le=1, allow_inf_nan=False)
    sparse: float = Field(0.0, ge=0, le=1, allow_inf_nan=False, description="Of an index with sparse terms alone.")

    @model_validator(mode="after")
    def _one_leg_counts(self) -> Self:
        if self.bm25 + self.knn + self.sparse == 0:
            raise ValueError("one of the weights must be above 0")
        return self

    def shares(self) -> dict[Leg, float]:
        """By leg, summing to 1; the sparse one where it counts."""
        total = self.bm25 + self.knn + self.sparse
        shares: dict[Leg, float] = {"bm25": self.bm25 / total, "knn": self.knn / total}
        return {**shares, "sparse": self.sparse / total} if self.sparse else shares


class SearchRequest(_Closed):
    """One search. The tenant is mandatory and comes from a credential or from --tenant, never from a body.

    `groups` are the asker's own, from the credential as well. None is an operator, who sees every document of the
    tenant; a tuple, an empty one too, sees documents without groups and those that share one of its groups.
    """

    tenant: TenantId
    groups: tuple[ShortText, ...] | None = None
    query: str
    size: int = Field(DEFAULT_SIZE, ge=1, le=MAX_SIZE)
    filters: Filters = Filters()
    mode: Mode = "auto"
    group: bool = Field(False, description="One row a document: its best passage.")
    mmr_lambda: float | None = Field(
        None, ge=0, le=1, allow_inf_nan=False, description="Lambda of MMR for this search; null takes the profile's."
    )
    explain: bool = False
    route: AskedRoute = Field(
        "auto", description="Who answers: the documents' fields, passages, both, or what the question asks for."
    )
    as_of: date | None = Field(None, description="The day that periods are counted from; null is today.")
    derived: bool = Field(True, description="Whether filters that the question itself names are applied.")
    without: Values = Field((), description="Fields of derived filters that are left out.")
    facets: tuple[FacetName, ...] = Field((), max_length=8, description="Fields whose values are counted.")
    from_: int = Field(0, alias="from", ge=0, le=MAX_FROM, description="Hits to skip: 10 gives the second page of 10.")
    weights: Weights | None = Field(None, description="Weights of the legs for this search; null takes the profile's.")


class Replacement(_Closed):
    """That a document was replaced."""

    document_id: str | None = Field(None, description="The one that replaces it, where the asker may see that.")
    title: str | None = None


class Step(_Closed):
    """One stage's part in a hit's place, in words."""

    stage: Literal["question", "lexical", "dense", "sparse", "fused", "reranked", "diversified", "versions", "place"]
    text: str


class FacetValue(_Closed):
    """One value of a field."""

    value: str
    documents: int = Field(ge=0, description="Documents that pass the filters.")
    found: int = Field(ge=0, description="Of these, documents among the hits that can be reached.")


class Facet(_Closed):
    """The values of one field, exact; the most frequent first."""

    field: FacetName
    values: tuple[FacetValue, ...]
    distinct: int = Field(ge=0, description="How many values there are; `values` has 50 at most.")


class Expansion(_Closed):
    """Words of the query that the tenant's glossary knows, and what was searched beside them."""

    term: str
    equivalents: tuple[str, ...]


class RouteTaken(_Closed):
    """How the route was chosen."""

    by: Literal["asked", "example", "rules", "neighbours", "model", "unsure"]
    reason: str


class Side(_Closed):
    """One of the documents that a question compares."""

    name: str
    document_ids: tuple[str, ...]


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
    superseded: Replacement | None = Field(None, description="Set where another document has replaced this one.")
    explanation: tuple[Step, ...] = Field((), description="Why it stands here, stage by stage; on request.")


class IndexIdentity(_Closed):
    """Which index answered."""

    name: str
    model: str
    pipeline: str


class Degraded(_Closed):
    """A leg that failed while another one answered."""

    leg: Leg
    reason: str


class SearchResult(_Closed):
    """A whole answer of a search; `hits` are filled in a refusal too (the nearest)."""

    query: str
    language: Language
    route: Route = "semantic"
    routed: RouteTaken | None = Field(None, description="Null where the request named the route.")
    filters: Filters = Field(description="Those of the request.")
    derived: Filters = Field(Filters(), description="Those that the question named and the search applied.")
    as_of: date | None = Field(None, description="The day that periods were counted from.")
    metadata: MetadataAnswer | None = Field(None, description="What the documents' fields say.")
    facets: tuple[Facet, ...] = ()
    glossary: tuple[Expansion, ...] = ()
    did_you_mean: str | None = Field(None, description="Another spelling, whose words the documents hold.")
    sides: tuple[Side, ...] = Field((), description="The documents that a question compares; each gives hits.")
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
