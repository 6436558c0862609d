"""A frozen case: everything that an answer was made from, as it was; immutable, named by its own hash."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from evaluation.evidence.base import EvidenceRecord, Moment, Name, Sha256
from evaluation.evidence.canonical import content_id, text_hash
from search_config.records import Locator, TenantId
from search_config.visibility import may_see

CASE_FORMAT: Final = "mafteach-evidence-case/1"
# Characters of a document on either side of a passage that are kept with it.
SURROUNDINGS: Final = 200
# Documents listed in a snapshot; of a larger corpus those of the passages are listed, and the hash covers all.
SNAPSHOT_DOCUMENTS: Final = 2_000

Outcome = Literal["answer", "refusal"]


class DocumentVersion(EvidenceRecord):
    """One document of the corpus at the time."""

    document_id: str
    name: str
    version: int = Field(ge=1)
    content_hash: str


class CorpusSnapshot(EvidenceRecord):
    """Which documents could be found."""

    index: str = Field(description="The versioned index of chunks that was asked.")
    documents_total: int = Field(ge=0)
    documents_hash: Sha256 = Field(description="Over id, version and content hash of all documents, by id.")
    documents: tuple[DocumentVersion, ...] = Field(description="All; of a large corpus those of the passages.")
    complete: bool = Field(description="Whether `documents` lists all of them.")


class FrozenPassage(EvidenceRecord):
    """One retrieved passage with what stood around it."""

    rank: int | None = Field(
        ge=1, description="In the retrieval; null for a passage that a citation shows and the search did not rank."
    )
    chunk_id: str
    document_id: str
    document_name: str
    version: int
    content_hash: str
    section: str
    language: str
    url: str | None = None
    locator: Locator
    text: str
    text_sha256: Sha256
    before: str | None = Field(description="Up to 200 characters before it; null where they could not be read.")
    after: str | None
    groups: tuple[str, ...] = Field((), description="Who may see its document; empty: everyone of the tenant.")

    @model_validator(mode="after")
    def _hash_holds(self) -> Self:
        if text_hash(self.text) != self.text_sha256:
            raise ValueError(f"the text of passage {self.chunk_id} is not the one of its hash")
        return self


class DisplayedCitation(EvidenceRecord):
    """A citation as the reader saw it."""

    index: int = Field(ge=1, description="The number in the mark [n].")
    document_id: str
    document_name: str
    version: int
    content_hash: str
    chunk_id: str
    locator: Locator
    locator_label: str
    url: str | None = None
    quote: str
    groups: tuple[str, ...] = Field((), description="Who may see its document.")


class RetrievalIdentity(EvidenceRecord):
    """How passages were found."""

    model: str
    pipeline: str
    analyzer: str
    profile: str
    weights: dict[str, float]
    route: str
    degraded: tuple[str, ...] = ()


class GenerationIdentity(EvidenceRecord):
    """How the answer was written from them."""

    method: str
    model: str | None = None
    prompt: str | None = Field(None, description="Name and version of the prompt, or its hash; null without a model.")
    app_version: str
    locale: str


class ExpectedPassage(EvidenceRecord):
    """A passage that an answer needs, by its words."""

    document_name: str
    quote: Annotated[str, Field(min_length=1)]


class ExpectedEvidence(EvidenceRecord):
    """What a set knows beforehand about the evidence."""

    passages: tuple[ExpectedPassage, ...] = ()
    unanswerable: tuple[str, ...] = Field((), description="Points that the corpus can't answer.")


class Case(EvidenceRecord):
    """One question with its answer or refusal, and all that it was made from."""

    format: Literal["mafteach-evidence-case/1"] = CASE_FORMAT
    tenant: TenantId
    owner: Name
    answered_at: Moment
    query: str
    outcome: Outcome
    answer: str = Field(description="As displayed; of a refusal, what was said instead.")
    label: str = Field(description="What stood beside the answer.")
    reason: str | None = Field(None, description="Why it was refused.")
    answered_parts: tuple[str, ...] = ()
    not_in_sources: tuple[str, ...] = Field((), description="Parts of the question that the answer said it left open.")
    citations: tuple[DisplayedCitation, ...]
    filters: dict[str, Any]
    retrieval: dict[str, Any] = Field(description="The raw output of the search, with scores by stage and filters.")
    passages: tuple[FrozenPassage, ...]
    corpus: CorpusSnapshot
    retrieval_identity: RetrievalIdentity
    generation_identity: GenerationIdentity
    expected: ExpectedEvidence | None = None

    @property
    def case_id(self) -> str:
        """SHA-256 of the canonical JSON."""
        return content_id(self)

    @property
    def honest_miss(self) -> bool:
        """Whether nothing was asserted: counted as a result of its own."""
        return self.outcome == "refusal"

    def visible_to(self, groups: Collection[str] | None) -> bool:
        """Whether someone with these groups may see every document that the case shows; None sees all."""
        shown = [one.groups for one in self.passages] + [one.groups for one in self.citations]
        return all(may_see(own, groups) for own in shown)
