"""Bodies of requests and answers, for both doors: closed, so that an unknown field is an error."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from query.request import DEFAULT_SIZE, MAX_SIZE, Filters, Mode, SearchRequest
from search_config.records import DocumentRecord, DocumentState, Stamps

Group = Annotated[bool, Field(description="One row a document: its best passage.")]
Size = Annotated[int, Field(ge=1, le=MAX_SIZE, description="Hits of one answer.")]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchBody(_Closed):
    """A search without its tenant, which the key names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"query": "מתי משלמים לספק?", "size": 5, "filters": {"type": ["contract"]}}]},
    )

    query: str = Field(description="What to look for, in Hebrew, English or both; or an identifier.")
    size: Size = DEFAULT_SIZE
    filters: Filters = Field(
        default_factory=Filters, description="Values of one field mean 'one of'; fields are joined by 'and'."
    )
    mode: Mode = Field("auto", description="auto and hybrid ask both legs; lexical and dense ask one.")
    group: Group = False
    mmr_lambda: float | None = Field(
        None,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Lambda of MMR: 1 keeps the ranking, less gives passages that say something else a place; null "
        "takes the profile's.",
    )
    explain: bool = Field(False, description="More on how the answer came about.")

    def request(self, tenant: str) -> SearchRequest:
        """The request of this body for a tenant."""
        return SearchRequest(
            tenant=tenant,
            query=self.query,
            size=self.size,
            filters=self.filters,
            mode=self.mode,
            group=self.group,
            mmr_lambda=self.mmr_lambda,
            explain=self.explain,
        )


class SearchParameters(_Closed):
    """The same search in a URL: only what fits there."""

    q: str = Field(description="What to look for.", examples=["אישור חניה לתושב"])
    size: Size = DEFAULT_SIZE
    mode: Mode = "auto"
    group: Group = False

    def request(self, tenant: str) -> SearchRequest:
        """The request of these parameters for a tenant."""
        return SearchRequest(tenant=tenant, query=self.q, size=self.size, mode=self.mode, group=self.group)


class DocumentParameters(_Closed):
    """Narrows a listing of documents."""

    state: DocumentState | None = Field(None, description="Only documents in this state.")


class DocumentRow(_Closed):
    """A document in a listing."""

    id: str
    name: str
    tenant: str
    state: DocumentState
    reason: str | None
    attempts: int
    chunks_generated: int
    chunks_indexed: int
    stamps: Stamps | None

    @classmethod
    def of(cls, record: DocumentRecord) -> Self:
        """The row of a record."""
        return cls(id=record.document_id, **{name: getattr(record, name) for name in cls.model_fields if name != "id"})


class DocumentView(DocumentRow):
    """One document, without its text."""

    source: str
    version: int
    content_hash: str | None
    title: str | None
    language: str | None
    media_type: str | None
    url: str | None
    type: str | None
    tags: tuple[str, ...]
    date: str | None
    reference: str | None
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class Health(_Closed):
    """A probe's answer."""

    status: str = Field(examples=["ok"])
