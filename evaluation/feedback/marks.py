"""A mark: one person's word on a passage or an answer. Frozen: a changed mind is another mark, or a withdrawal."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from search_config.records import TenantId, ValidLocator

# The longest query that any setting allows to be marked: far above what is asked, far below what fills an index.
MAX_QUERY_CHARS = 10_000
# An answer has five sentences and ten passages at most.
MAX_PASSAGES = 50

Kind = Literal["passage", "answer"]
Verdict = Literal["right", "wrong", "picked"]
FeedbackId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class MarkedPassage(_Closed):
    """A place in a document, as a hit or a citation has it."""

    document_id: str = Field(min_length=1, max_length=200)
    content_hash: str = Field(min_length=1, max_length=200, description="Of the version that was shown.")
    chunk_id: str | None = Field(None, max_length=300)
    locator: ValidLocator = Field(description="The hit's, the citation's, or a narrower one: what the mark is about.")

    @model_validator(mode="after")
    def _times_are_numbers(self) -> Self:
        # JSON has numbers that are read as infinite, and none to write them by.
        if not all(math.isfinite(one) for one in (self.locator.start_s, self.locator.end_s) if one is not None):
            raise ValueError("seconds are finite")
        return self

    @property
    def place(self) -> tuple[str, str, int, int]:
        """What tells two places apart."""
        return self.document_id, self.content_hash, self.locator.from_, self.locator.to


class MarkBody(_Closed):
    """What somebody says of a passage, or of an answer with all its citations."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        json_schema_extra={
            "examples": [
                {
                    "query": "כמה אישורי חניה מגיעים לתושב?",
                    "kind": "passage",
                    "verdict": "picked",
                    "passages": [
                        {
                            "document_id": "6f0c2a91d3b54e7788aa0123",
                            "content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                            "locator": {"from": 32, "to": 118},
                        }
                    ],
                }
            ]
        },
    )

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, description="What was asked.")
    kind: Kind
    verdict: Verdict = Field(description="right, wrong, or picked: 'this is the passage' (of a passage alone).")
    refused: bool = Field(
        False, description="The answer was a refusal; `right` then says that the documents have none."
    )
    passages: tuple[MarkedPassage, ...] = Field(
        (), max_length=MAX_PASSAGES, description="The passage; for an answer its citations, none for a refusal."
    )
    request_id: str | None = Field(
        None, pattern=r"^[A-Za-z0-9._-]{1,64}$", description="X-Request-ID of the answer that is marked: its log row."
    )

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.kind == "passage" and (len(self.passages) != 1 or self.refused):
            raise ValueError("a mark on a passage names that one passage")
        if self.kind == "answer" and self.verdict == "picked":
            raise ValueError("a passage is picked, not an answer")
        if self.refused and self.passages:
            raise ValueError("a refusal has no citations")
        return self


class Mark(MarkBody):
    """A stored mark: with who, when and whose."""

    id: FeedbackId
    at: datetime
    tenant: TenantId
    caller: str = Field(min_length=1, description="The key's id, or `jwt:` and the token's subject.")


class MarkView(Mark):
    """A mark as it is shown."""

    withdrawn: bool = False
