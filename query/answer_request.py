"""What is asked of `query.answering`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from query.request import CONTEXT_SIZE, MAX_CONTEXT_SIZE, MIN_CONTEXT_SIZE, SearchRequest


class AnswerRequest(BaseModel):
    """One question. Who asks, and what narrows the search, is the search's own: one place where tenancy is decided."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search: SearchRequest = Field(description="Its `query` is the question; its `size` is not read.")
    context: int = Field(
        CONTEXT_SIZE,
        ge=MIN_CONTEXT_SIZE,
        le=MAX_CONTEXT_SIZE,
        description="Passages that the answer may be written from.",
    )

    @property
    def question(self) -> str:
        return self.search.query
