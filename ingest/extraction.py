"""The one step that turns a file's bytes into a document with fields, and its doubts: given to the `Ingestor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ingest.documents import RawDocument
from ingest.extract.base import ExtractedDocument
from ingest.extract.registry import extract
from ingest.metadata import TypedMetadata, typed
from search_config.document_fields import DocumentFields, FilterFields
from search_config.errors import DoubtfulDocument
from search_config.records import IngestRequest


@dataclass(frozen=True, slots=True)
class Issue:
    """One reason why a person should look at a document before it is searchable.

    Attributes:
        code: stable; listings and retries select by it.
        what: one sentence for that person.
    """

    code: str
    what: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """A document as it was read.

    Attributes:
        document: canonical text and blocks.
        metadata: what came with the file, typed.
        extracted: what was read from the text, with the places.
        filter_fields: the same flat.
        issues: where there are any, the document is quarantined until a person releases it.
    """

    document: ExtractedDocument
    metadata: TypedMetadata
    extracted: DocumentFields | None = None
    filter_fields: FilterFields = field(default_factory=FilterFields)
    issues: tuple[Issue, ...] = ()


Extract = Callable[[RawDocument, IngestRequest], Extraction]
"""Takes a document and what was asked for it, corrected fields among it; raises `DocumentError`."""


def plain_extract(max_bytes: int) -> Extract:
    """Text and front matter, in this process."""

    def run(raw: RawDocument, _request: IngestRequest) -> Extraction:
        document = extract(raw.data, name=raw.name, max_bytes=max_bytes, media_type=raw.media_type)
        return Extraction(document, typed(document.metadata), issues=doubts_of(document))

    return run


def doubts_of(document: ExtractedDocument) -> tuple[Issue, ...]:
    """What the extractor itself was not sure of."""
    return tuple(Issue(code, what) for code, what in document.doubts)


def doubt(issues: tuple[Issue, ...], name: str) -> DoubtfulDocument:
    """The error of a document with issues."""
    return DoubtfulDocument(
        " ".join(issue.what for issue in issues),
        issues=tuple((issue.code, issue.what) for issue in issues),
        where=name,
        remedy="Look at it, then release it (mafteach documents release ID), or mend the file and ingest it again.",
    )
