"""What goes into ingest and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from search_config.records import DocumentState


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as it was sent.

    Attributes:
        tenant: whose it is.
        source: where it came from; names the document within its tenant, so that a second ingest replaces it.
        name: what a person calls it; its ending tells the format where the content does not.
        data: the file's bytes.
        url: for people who want to open the original.
        groups: who may see it.
        tags: keywords beside those in the document.
        title: overrides the title in the document.
        media_type: overrides the detection of the format.
        payload: where the bytes can be read again (a file URI, or what the spool gave); None where they can't.
    """

    tenant: str
    source: str
    name: str
    data: bytes
    url: str | None = None
    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    title: str | None = None
    media_type: str | None = None
    payload: str | None = None


class Timings(BaseModel):
    """Milliseconds by stage; embedding and indexing are a batch's time shared by chunks."""

    model_config = ConfigDict(frozen=True)

    extract_ms: float = 0.0
    chunk_ms: float = 0.0
    embed_ms: float = 0.0
    index_ms: float = 0.0

    def plus(self, other: Timings) -> Timings:
        """The sums."""
        own = self.model_dump()
        return Timings(**{name: own[name] + value for name, value in other.model_dump().items()})


class DocumentOutcome(BaseModel):
    """What became of one document."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    name: str
    source: str
    state: DocumentState
    code: str | None = Field(None, description="Stable code of the error.")
    reason: str | None = Field(None, description="Why it failed: what went wrong and what to do.")
    unchanged: bool = Field(False, description="The same content was there already; nothing was written.")
    chunks_generated: int = 0
    chunks_indexed: int = 0
    report: tuple[str, ...] = Field((), description="What a person should know though it worked.")
    timings: Timings = Timings()
    pid: int | None = Field(None, description="Process that worked on it; None where nothing was to do.")
