"""The vocabulary of stored things: frozen records, one source of truth with the mappings (a test compares them)."""

from __future__ import annotations

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from search_config.document_fields import DocumentFields, FilterFields
from search_config.errors import InvalidTenant, MissingTenant

# 96 bits of a SHA-256: with 10^9 ids the chance of one collision is about 10^-11.
ID_HEX_DIGITS = 24
# Chunk ids carry this much of the stamp that tells versions of one document apart.
STAMP_HEX_DIGITS = 10
# What the URI of a local file begins with, before its absolute path.
FILE_URI = "file://"
TENANT_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,62}$"

TenantId = Annotated[str, Field(pattern=TENANT_PATTERN)]


class _Record(BaseModel):
    # Validators are made when the first one is asked for; see `document_fields`.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


def tenant_id(value: str | None) -> str:
    """Validate a tenant's name: 1 to 63 of a-z, 0-9, `_` and `-`, no wildcard, no list.

    Raises:
        MissingTenant: None or blank: tenancy fails closed.
        InvalidTenant: another form.
    """
    if value is None or not value.strip():
        raise MissingTenant(
            "No tenant was given.", remedy="Name one: --tenant T on the command line, a key's tenant on HTTP."
        )
    if not _is_tenant(value):
        raise InvalidTenant(
            "This is not a tenant's name.",
            where=repr(value[:80]),
            remedy="Use 1 to 63 of the characters a-z, 0-9, _ and -, beginning with a letter or digit.",
        )
    return value


def _is_tenant(value: str) -> bool:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    return 0 < len(value) <= 63 and value[0] not in "_-" and set(value) <= allowed


def _not_reversed(locator: Locator) -> Locator:
    if locator.to < locator.from_:
        raise ValueError("a locator ends before it begins")
    return locator


class Locator(_Record):
    """Where a passage stands: characters `from` (inclusive) to `to` (exclusive) of the canonical text, and the place in
    the original file where the format has one."""

    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)
    label: str = Field("", description="For people: 'עמוד 7', 'גיליון מחירים, B4:C9'.")
    page: int | None = Field(None, ge=1)
    slide: int | None = Field(None, ge=1)
    sheet: str | None = None
    cells: str | None = None
    start_s: float | None = Field(None, ge=0, description="Seconds.")
    end_s: float | None = Field(None, ge=0, description="Seconds.")
    attachment: str | None = Field(None, description="Name of the mail's attachment that the place is in.")


ValidLocator = Annotated[Locator, AfterValidator(_not_reversed)]


class DocumentState(StrEnum):
    """States of a document; only the worker side writes them."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    DELETING = "deleting"


class Stamps(_Record):
    """What a document was made with."""

    model: str = Field(description="ModelDescription.identity")
    analyzer: str
    extractor: str
    pipeline: str = Field(description="Chunking strategy, target length, pipeline version.")


class Lease(_Record):
    """Who works on a document. It holds as long as its owner's row among the workers shows that the owner lives."""

    owner: str = Field(description="Id of the worker.")
    taken_at: datetime


class IngestRequest(_Record):
    """What a sender asked for: enough to do the work, or to do it again."""

    payload: str | None = Field(None, description="Where the bytes are: a file URI, or spool:NAME; None: not kept.")
    content_hash: str | None = Field(None, description="SHA-256 of the bytes that were sent.")
    name: str = ""
    title: str | None = None
    url: str | None = None
    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] = Field((), description="Beside those in the document.")
    media_type: str | None = None
    released: bool = Field(False, description="A person looked at the doubts and lets the document in.")
    corrections: dict[str, Any] | None = Field(None, description="Fields that this person corrected.")


class DocumentRecord(_Record):
    """One row of the documents index: a document's visible state, and its canonical text."""

    document_id: str
    tenant: TenantId
    name: str = Field(description="What a person calls it: the file's name.")
    source: str = Field(description="Where it came from: an absolute file URI, or an id that the sender gave.")
    state: DocumentState
    reason: str | None = None
    reason_code: str | None = Field(None, description="Stable code of the error behind the reason.")
    issues: tuple[str, ...] = Field((), description="What a person should look at, one doubt each.")
    issue_codes: tuple[str, ...] = Field((), description="The kinds of these doubts.")
    attempts: int = Field(0, ge=0)
    folder: str | None = Field(None, description="Where its source lies, for summaries; see `folder_of`.")
    lease: Lease | None = None
    request: IngestRequest | None = None
    chunks_generated: int = Field(0, ge=0)
    chunks_indexed: int = Field(0, ge=0)
    stamps: Stamps | None = None
    version: int = Field(1, ge=1)
    content_hash: str | None = Field(None, description="SHA-256 of the file's bytes, hexadecimal.")
    title: str | None = None
    language: str | None = None
    media_type: str | None = None
    url: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    reference: str | None = None
    groups: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict, description="Front matter and the like, as it stood.")
    extracted: DocumentFields | None = Field(None, description="What was read from its text, with the places.")
    filter_fields: FilterFields = Field(FilterFields(), description="The same flat, as it is filtered and counted by.")
    text: str | None = Field(None, description="Canonical text; every offset of its chunks is into this.")
    layout: str | None = Field(None, description="Blocks of that text as JSON: with both it can be cut anew.")
    created_at: datetime
    updated_at: datetime
    queued_at: datetime | None = None
    started_at: datetime | None = Field(None, description="When work on it began last.")
    finished_at: datetime | None = Field(None, description="When it became ready, failed or quarantined.")


class ChunkRecord(_Record):
    """One row of the chunks index, without its vector. `text[locator.from:locator.to] == content`, always."""

    chunk_id: str
    document_id: str
    tenant: TenantId
    version: int = Field(ge=1)
    content_hash: str
    ordinal: int = Field(ge=0, description="0 for the first chunk of its document.")
    title: str
    section: str = Field("", description="Title path of the section, joined by ' > '.")
    content: str = Field(min_length=1)
    language: str
    media_type: str
    url: str | None = None
    locator: ValidLocator
    overlap_from: int | None = Field(None, ge=0, description="Where the embedded overlap before `from` begins.")
    model: str
    pipeline: str
    indexed_at: datetime
    type: str | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    reference: str | None = None
    groups: tuple[str, ...] = ()
    filter_fields: FilterFields = Field(FilterFields(), description="Those of its document.")
    confidence: float | None = Field(None, ge=0, le=1, description="OCR confidence; None for born-digital text.")


def document_id(tenant: str, source: str) -> str:
    """Id of the document that `source` names for this tenant: the same at every ingest, never equal for two tenants."""
    return hashlib.sha256(f"{tenant}\0{source}".encode()).hexdigest()[:ID_HEX_DIGITS]


def folder_of(source: str) -> str:
    """The folder of a source: a path for a file URI, what stands before the last `/` of another id, or nothing."""
    if source.startswith(FILE_URI):
        source = unquote(source.removeprefix(FILE_URI), errors="replace")
    return source.rpartition("/")[0] or ("/" if source.startswith("/") else "")


def chunk_id(document: str, content_hash: str, stamps: Stamps, ordinal: int) -> str:
    """Id of a chunk: equal for equal content made in the same way, another for another version of its document."""
    stamp = hashlib.sha256(f"{content_hash}\0{stamps.model_dump_json()}".encode()).hexdigest()[:STAMP_HEX_DIGITS]
    return f"{document}-{stamp}-{ordinal:05d}"


def content_hash(data: bytes) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
