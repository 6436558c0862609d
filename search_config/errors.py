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
    ├── NotPermitted                 a valid credential that may not do this (exit 2)
    ├── RateLimited                  too many requests of one credential     (exit 1)
    │   └── TenantBusy               too many requests of one tenant at once
    ├── TimedOut                     a request that took longer than it may  (exit 1)
    ├── Busy                         too many requests of all tenants at once  (exit 1)
    ├── NotFound                     a document, a key or a run that is not there  (exit 1)
    ├── WorkerFailed                 worker processes end before they have done anything  (exit 1)
    ├── StateConflict                the document's state does not allow this   (exit 1)
    ├── AlreadyExists                a record that is written once and is there  (exit 1)
    ├── EvidenceCorrupt              an evidence record that is not what it was   (exit 1)
    ├── DocumentError                one document can't be ingested; the rest goes on  (exit 1)
    │   ├── EmptyDocument
    │   ├── BinaryDocument
    │   ├── UndecodableDocument
    │   ├── DocumentTooLarge
    │   ├── UnreadableDocument
    │   ├── UnsupportedFormat
    │   ├── EncryptedDocument        a password stands before it
    │   ├── ExpansionTooLarge        an archive, a mail or a table that unfolds beyond the limits
    │   ├── ExtractionFailed
    │   │   ├── ExtractionTimeout    over the time that one document may take
    │   │   ├── ExtractionOutOfMemory
    │   │   └── ExtractionCrashed    the parser's process died
    │   ├── InvalidField             a value beside the document that can't be stored
    │   ├── SourceGone               its file, or the uploaded bytes, are not there any more
    │   ├── TooManyAttempts          every worker that took it ended before it was done
    │   ├── DoubtfulDocument         a person must look at it: it is quarantined
    │   └── IndexingIncomplete       some of its chunks were refused
    ├── ModelError                                                           (exit 1)
    │   ├── ModelUnavailable         a file, package, endpoint that is missing or broken
    │   │   ├── ModelOverloaded      429 or 503 of an endpoint: came back after all retries
    │   │   └── ModelTimeout         an endpoint did not answer in time
    │   ├── InvalidVector            wrong dimension, not finite, not of unit length
    │   └── MissingExtra             an optional package, with its install command
    ├── SearchIndexError                                                          (exit 1)
    │   ├── IndexMissing             set-up was never run
    │   ├── IndexMismatch            the index was made for another model, analyzer or pipeline
    │   ├── IndexClosing             a migration is about to replace the index: writers wait for moments
    │   ├── MigrationRefused         the next version of the index is not as good as the live one
    │   ├── EngineRejected           the engine refused what it was sent (4xx)
    │   └── DashboardsRejected       Dashboards refused the saved objects, or has others than it was sent
    ├── EngineError                                                          (exit 3)
    │   ├── EngineUnreachable        no answer, refused, broken off, timed out
    │   ├── EngineOverloaded         429, circuit breaker, 503: came back after all retries
    │   ├── DashboardsUnreachable    no OpenSearch Dashboards answers
    │   └── EngineDiskFull           its disk is full: indices take no more rows until there is room
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


class NotPermitted(MafteachError):
    code = "not_permitted"


class RateLimited(MafteachError):
    code = "rate_limited"

    def __init__(
        self, what: str, *, retry_after_s: int = 60, where: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.retry_after_s = retry_after_s


class TenantBusy(RateLimited):
    code = "tenant_busy"


class TimedOut(MafteachError):
    code = "timed_out"


class Busy(MafteachError):
    code = "busy"


class NotFound(MafteachError):
    code = "not_found"


class WorkerFailed(MafteachError):
    code = "worker_failed"


class StateConflict(MafteachError):
    code = "state_conflict"


class AlreadyExists(MafteachError):
    code = "already_exists"


class EvidenceCorrupt(MafteachError):
    code = "evidence_corrupt"


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


class EncryptedDocument(DocumentError):
    code = "encrypted_document"


class ExpansionTooLarge(DocumentError):
    code = "expansion_too_large"


class ExtractionFailed(DocumentError):
    code = "extraction_failed"


class ExtractionTimeout(ExtractionFailed):
    code = "extraction_timeout"


class ExtractionOutOfMemory(ExtractionFailed):
    code = "extraction_out_of_memory"


class ExtractionCrashed(ExtractionFailed):
    code = "extraction_crashed"


class InvalidField(DocumentError):
    code = "invalid_field"


class SourceGone(DocumentError):
    code = "source_gone"


class TooManyAttempts(DocumentError):
    code = "too_many_attempts"


class DoubtfulDocument(DocumentError):
    """A document that a person must look at before it is searchable.

    Args:
        issues: one doubt each: its kind, a stable code, and a sentence for the person.
    """

    code = "doubtful_document"

    def __init__(
        self,
        what: str,
        *,
        issues: tuple[tuple[str, str], ...] = (),
        where: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.issues = issues


class IndexingIncomplete(DocumentError):
    code = "indexing_incomplete"


class ModelError(MafteachError):
    code = "model_error"


class ModelUnavailable(ModelError):
    code = "model_unavailable"


class ModelOverloaded(ModelUnavailable):
    code = "model_overloaded"


class ModelTimeout(ModelUnavailable):
    code = "model_timeout"


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


class IndexClosing(SearchIndexError):
    code = "index_closing"


class MigrationRefused(SearchIndexError):
    code = "migration_refused"


class EngineRejected(SearchIndexError):
    code = "engine_rejected"


class DashboardsRejected(SearchIndexError):
    code = "dashboards_rejected"


class EngineError(MafteachError):
    code = "engine_error"


class DashboardsUnreachable(EngineError):
    code = "dashboards_unreachable"


class EngineUnreachable(EngineError):
    code = "engine_unreachable"


class EngineOverloaded(EngineError):
    code = "engine_overloaded"


class EngineDiskFull(EngineError):
    code = "engine_disk_full"


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
