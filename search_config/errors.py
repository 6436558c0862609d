"""The whole error tree. HTTP-free: the doors in `api` decide on statuses.

    MafteachError
    ├── InvalidInput                 the caller's request is wrong           (exit 2)
    │   ├── InvalidSettings          one or several MAFTEACH_* values
    │   ├── InvalidRequest           a query, a filter, a command's argument
    │   │   ├── EmptyQuery           nothing to search for
    │   │   ├── QueryTooLong         over the limit of characters
    │   │   └── InvalidDataset       an evaluation folder that does not hold
    │   └── InvalidProfile           a profile that is damaged or of another model
    ├── TenantError                  tenancy fails closed                    (exit 2)
    │   ├── MissingTenant
    │   ├── InvalidTenant
    │   └── UnknownTenant
    ├── AuthenticationError          no credential, or not a valid one       (exit 2)
    ├── NotFound                     a document, a key or a run that is not there  (exit 1)
    ├── DocumentError                one document can't be ingested; the rest goes on  (exit 1)
    │   ├── EmptyDocument
    │   ├── BinaryDocument
    │   ├── UndecodableDocument
    │   ├── DocumentTooLarge
    │   ├── UnreadableDocument
    │   ├── UnsupportedFormat
    │   ├── ExtractionFailed
    │   └── IndexingIncomplete       some of its chunks were refused
    ├── ModelError                                                           (exit 1)
    │   ├── ModelUnavailable         a file, package, endpoint that is missing or broken
    │   ├── InvalidVector            wrong dimension, not finite, not of unit length
    │   └── MissingExtra             an optional package, with its install command
    ├── SearchIndexError                                                          (exit 1)
    │   ├── IndexMissing             set-up was never run
    │   ├── IndexMismatch            the index was made for another model, analyzer or pipeline
    │   └── EngineRejected           the engine refused what it was sent (4xx)
    ├── EngineError                                                          (exit 3)
    │   ├── EngineUnreachable        no answer, refused, broken off, timed out
    │   └── EngineOverloaded         429, circuit breaker, 503: came back after all retries
    └── NodeError                    the embedded node                       (exit 3)
        ├── PortBusy
        ├── NotEnoughMemory
        ├── NotEnoughDisk
        ├── ArtifactUnavailable      a package could not be downloaded
        ├── ArtifactCorrupt          a checksum that does not hold
        ├── NodeDied                 the process ended at start; the log's reason
        └── NodeTimeout              alive, but not ready in time

Every error says what happened, where, and what to do; `code` is stable and documented in docs/errors.md.
"""

from __future__ import annotations

from typing import ClassVar


class MafteachError(Exception):
    """Base of all errors that a user may see.

    Args:
        what: one sentence, what went wrong.
        where: the file, field, index or address concerned.
        remedy: one sentence, what to do.
    """

    code: ClassVar[str] = "error"

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f" [{self.where}]" if self.where else ""
        advice = f" {self.remedy}" if self.remedy else ""
        return f"{self.what}{place}{advice}"

    def as_dict(self) -> dict[str, str | None]:
        """The error for machines: `code`, `what`, `where`, `remedy`."""
        return {"code": self.code, "what": self.what, "where": self.where, "remedy": self.remedy}


class InvalidInput(MafteachError):
    code = "invalid_input"


class InvalidSettings(InvalidInput):
    code = "invalid_settings"


class InvalidRequest(InvalidInput):
    code = "invalid_request"


class EmptyQuery(InvalidRequest):
    code = "empty_query"


class QueryTooLong(InvalidRequest):
    code = "query_too_long"


class InvalidDataset(InvalidRequest):
    code = "invalid_dataset"


class InvalidProfile(InvalidInput):
    code = "invalid_profile"


class TenantError(MafteachError):
    code = "tenant_error"


class MissingTenant(TenantError):
    code = "missing_tenant"


class InvalidTenant(TenantError):
    code = "invalid_tenant"


class UnknownTenant(TenantError):
    code = "unknown_tenant"


class AuthenticationError(MafteachError):
    code = "not_authenticated"


class NotFound(MafteachError):
    code = "not_found"


class DocumentError(MafteachError):
    code = "document_error"


class EmptyDocument(DocumentError):
    code = "empty_document"


class BinaryDocument(DocumentError):
    code = "binary_document"


class UndecodableDocument(DocumentError):
    code = "undecodable_document"


class DocumentTooLarge(DocumentError):
    code = "document_too_large"


class UnreadableDocument(DocumentError):
    code = "unreadable_document"


class UnsupportedFormat(DocumentError):
    code = "unsupported_format"


class ExtractionFailed(DocumentError):
    code = "extraction_failed"


class IndexingIncomplete(DocumentError):
    code = "indexing_incomplete"


class ModelError(MafteachError):
    code = "model_error"


class ModelUnavailable(ModelError):
    code = "model_unavailable"


class InvalidVector(ModelError):
    code = "invalid_vector"


class MissingExtra(ModelError):
    code = "missing_extra"


class SearchIndexError(MafteachError):
    code = "index_error"


class IndexMissing(SearchIndexError):
    code = "index_missing"


class IndexMismatch(SearchIndexError):
    code = "index_mismatch"


class EngineRejected(SearchIndexError):
    code = "engine_rejected"


class EngineError(MafteachError):
    code = "engine_error"


class EngineUnreachable(EngineError):
    code = "engine_unreachable"


class EngineOverloaded(EngineError):
    code = "engine_overloaded"


class NodeError(MafteachError):
    code = "node_error"


class PortBusy(NodeError):
    code = "port_busy"


class NotEnoughMemory(NodeError):
    code = "not_enough_memory"


class NotEnoughDisk(NodeError):
    code = "not_enough_disk"


class ArtifactUnavailable(NodeError):
    code = "artifact_unavailable"


class ArtifactCorrupt(NodeError):
    code = "artifact_corrupt"


class NodeDied(NodeError):
    code = "node_died"


class NodeTimeout(NodeError):
    code = "node_timeout"
