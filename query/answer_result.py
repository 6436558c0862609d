"""What an answer is made of: the text, its sentences with their marks, and citations that the server attached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from query.request import SearchResult
from search_config.records import Locator

# Shown with every answer, in the language of the question.
NOT_CHECKED = {"he": "מצוטט מתוך המקורות, לא נבדקה נכונותו", "en": "Quoted from sources, not checked for truth"}

AnswerMethod = Literal["extractive", "model", "metadata", "none"]
RefusalReason = Literal["nothing_relevant", "model", "no_passages"]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Citation(_Closed):
    """One source of an answer; `quote` is `canonical_text[locator.from:locator.to]` of that version, to the letter. A
    document without a text that was counted by its fields is cited by its title, at 0 to 0."""

    index: int = Field(ge=1, description="The number in the mark [n].")
    document_id: str
    document_name: str = Field(description="Its file's name, or else its title.")
    version: int
    content_hash: str
    chunk_id: str = Field(description="Of the passage; empty where a field was read in no passage.")
    locator: Locator = Field(description="Of the quote, which may be a part of the passage.")
    locator_label: str = Field(description="For people: 'עמוד 7'.")
    fragment: str = Field(description="'#page=7', '#t=12,19', '#char=100,250'; behind the url it opens the place.")
    url: str | None
    quote: str
    cosine_distance: float | None = None


class AnswerSentence(_Closed):
    """One sentence of the answer: `answer[from:to]`."""

    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)
    text: str
    citations: tuple[Annotated[int, Field(ge=1)], ...] = Field((), description="Valid marks of this sentence.")
    problems: tuple[str, ...] = Field((), description="Marks, quotes, links or names that did not hold.")


class AnswerResult(_Closed):
    """An answer, or an honest no; the search behind it stands whole in `search`."""

    question: str
    answer: str
    label: str = Field(description="'Quoted from sources, not checked for truth', in the question's language.")
    method: AnswerMethod
    model: str | None = None
    refused: bool = False
    reason: RefusalReason | None = None
    explanation: str | None = Field(
        None, description="Why it refused: deciding score, threshold, profile; or what failed."
    )
    grounded: bool = Field(description="True only when every sentence carries a valid citation.")
    answered_parts: tuple[str, ...] = ()
    not_in_sources: tuple[str, ...] = ()
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = Field((), description="What the asker should know: sources that were cut, a failed leg.")
    took_ms: dict[str, float] = Field(
        default_factory=dict, description="Milliseconds behind the search: `cite`, `select` or `model`, and `check`."
    )
    search: SearchResult
