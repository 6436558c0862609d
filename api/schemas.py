"""Bodies of requests and answers, for both doors: closed, so that an unknown field is an error."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from api.caller import Caller
from query.answer_request import AnswerRequest
from query.filter_fields import Values
from query.glossary import GlossaryEntry
from query.request import (
    CONTEXT_SIZE,
    DEFAULT_SIZE,
    MAX_CONTEXT_SIZE,
    MAX_FROM,
    MAX_SIZE,
    MIN_CONTEXT_SIZE,
    AskedRoute,
    FacetName,
    Filters,
    Mode,
    SearchRequest,
    Weights,
)
from search_config.document_fields import DocumentFields
from search_config.records import DocumentRecord, DocumentState, Stamps

# Rows without their text: about a megabyte.
MAX_PAGE: Final = 1_000

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
    explain: bool = Field(False, description="Why each passage stands where it does, stage by stage, in words.")
    route: AskedRoute = Field(
        "auto",
        description="Who answers: the documents' fields (metadata), passages (semantic), both, or what the question "
        "asks for.",
    )
    as_of: date | None = Field(None, description="The day that periods ('last year') are counted from; null is today.")
    derived: bool = Field(True, description="Whether filters that the question itself names are applied.")
    without: Values = Field((), description="Fields of derived filters to leave out.")
    facets: tuple[FacetName, ...] = Field((), max_length=8, description="Fields whose values are counted.")
    from_: int = Field(
        0, alias="from", ge=0, le=MAX_FROM, description="Hits to skip; `total` tells how many there are."
    )
    weights: Weights | None = Field(None, description="Weights of the legs; null takes the profile's.")

    def request(self, caller: Caller) -> SearchRequest:
        """The request of this body, by this caller."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return SearchRequest(tenant=caller.tenant, groups=caller.groups, **own)


class SearchParameters(_Closed):
    """The same search in a URL: only what fits there."""

    q: str = Field(description="What to look for.", examples=["אישור חניה לתושב"])
    size: Size = DEFAULT_SIZE
    mode: Mode = "auto"
    group: Group = False
    route: AskedRoute = "auto"
    from_: int = Field(0, alias="from", ge=0, le=MAX_FROM, description="Hits to skip.")

    def request(self, caller: Caller) -> SearchRequest:
        """The request of these parameters, by this caller."""
        return SearchRequest(
            tenant=caller.tenant,
            groups=caller.groups,
            query=self.q,
            size=self.size,
            mode=self.mode,
            group=self.group,
            route=self.route,
            from_=self.from_,
        )


class GlossaryBody(_Closed):
    """Entries of the glossary of the key's tenant."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"entries": [{"term": "ועדת כספים", "kind": "acronym", "equivalents": ["ו״כ"]}]}]
        },
    )

    entries: tuple[GlossaryEntry, ...] = Field(max_length=MAX_PAGE)
    replace: bool = Field(False, description="Whether all other entries go.")


class GlossaryView(_Closed):
    """A whole glossary."""

    entries: tuple[GlossaryEntry, ...]


class GlossaryChange(_Closed):
    """What an edit did."""

    written: int
    deleted: int


class AnswerBody(_Closed):
    """A question without its tenant, which the key names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"question": "כמה אישורי חניה מגיעים לתושב?", "context": 5}]},
    )

    question: str = Field(description="In Hebrew, English or both.")
    context: int = Field(
        CONTEXT_SIZE,
        ge=MIN_CONTEXT_SIZE,
        le=MAX_CONTEXT_SIZE,
        description="Passages that the answer may be written from.",
    )
    filters: Filters = Field(
        default_factory=Filters, description="Values of one field mean 'one of'; fields are joined by 'and'."
    )
    mode: Mode = Field("auto", description="auto and hybrid ask both legs; lexical and dense ask one.")
    route: AskedRoute = Field(
        "auto",
        description="Who answers: the documents' fields (metadata), passages (semantic), both, or what the question "
        "asks for.",
    )
    as_of: date | None = Field(None, description="The day that periods ('last year') are counted from; null is today.")
    derived: bool = Field(True, description="Whether filters that the question itself names are applied.")
    without: Values = Field((), description="Fields of derived filters to leave out.")
    stream: bool | None = Field(
        None, description="Server-sent events; null goes by the Accept header (text/event-stream)."
    )

    def request(self, caller: Caller) -> AnswerRequest:
        """The request of this body, by this caller."""
        search = SearchRequest(
            tenant=caller.tenant,
            groups=caller.groups,
            query=self.question,
            filters=self.filters,
            mode=self.mode,
            route=self.route,
            as_of=self.as_of,
            derived=self.derived,
            without=self.without,
        )
        return AnswerRequest(search=search, context=self.context)


class DocumentParameters(_Closed):
    """Narrows a listing of documents, and pages through it."""

    state: DocumentState | None = Field(None, description="Only documents in this state.")
    issue: str | None = Field(
        None, min_length=1, max_length=200, description="Only documents with this code of a doubt: impossible_date."
    )
    type: str | None = Field(None, min_length=1, max_length=200, description="Only documents of this kind: contract.")
    size: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Documents of one page.")] = MAX_PAGE
    after: str | None = Field(
        None, min_length=1, max_length=200, description="The id of the last document of the page before."
    )


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
    folder: str | None
    reason_code: str | None
    issues: tuple[str, ...]
    issue_codes: tuple[str, ...] = Field(description="Kinds of the doubts about it.")
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
    extracted: DocumentFields | None = Field(description="What was read from its text, with the places.")
    created_at: datetime
    updated_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None


class Health(_Closed):
    """A probe's answer."""

    status: str = Field(examples=["ok"])
