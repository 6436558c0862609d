"""Every index field's name, once. The mappings in `templates/` and all queries use these and no literals."""

from __future__ import annotations

from typing import Final

# --- both indices
TENANT: Final = "tenant"
DOCUMENT_ID: Final = "document_id"
VERSION: Final = "version"
CONTENT_HASH: Final = "content_hash"
TITLE: Final = "title"
LANGUAGE: Final = "language"
URL: Final = "url"
MEDIA_TYPE: Final = "media_type"
TYPE: Final = "type"
TAGS: Final = "tags"
DATE: Final = "date"
REFERENCE: Final = "reference"
GROUPS: Final = "groups"

FILTER_FIELDS: Final = "filter_fields"
PARTIES: Final = f"{FILTER_FIELDS}.parties"
PARTY_KINDS: Final = f"{FILTER_FIELDS}.party_kinds"
SIGNED_ON: Final = f"{FILTER_FIELDS}.signed_on"
EFFECTIVE_ON: Final = f"{FILTER_FIELDS}.effective_on"
EXPIRES_ON: Final = f"{FILTER_FIELDS}.expires_on"
AMOUNT_MINOR: Final = f"{FILTER_FIELDS}.amount_minor"
CURRENCY: Final = f"{FILTER_FIELDS}.currency"
REFERENCES: Final = f"{FILTER_FIELDS}.references"
REFERS_TO: Final = f"{FILTER_FIELDS}.refers_to"
SUPERSEDES: Final = f"{FILTER_FIELDS}.supersedes"
SUPERSEDED_BY: Final = f"{FILTER_FIELDS}.superseded_by"
NOT_FOUND: Final = f"{FILTER_FIELDS}.not_found"
STATED_NONE: Final = f"{FILTER_FIELDS}.stated_none"

# --- chunks
CONFIDENCE: Final = "confidence"
CHUNK_ID: Final = "chunk_id"
ORDINAL: Final = "ordinal"
SECTION: Final = "section"
CONTENT: Final = "content"
LOCATOR: Final = "locator"
OVERLAP_FROM: Final = "overlap_from"
EMBEDDING: Final = "embedding"
TOKEN_CODES: Final = "token_codes"  # noqa: S105  the tokens are a model's
SPARSE: Final = "sparse"
MODEL: Final = "model"
PIPELINE: Final = "pipeline"
INDEXED_AT: Final = "indexed_at"

# --- sub-fields of every searched text (title, section, content)
EXACT: Final = "exact"
ENGLISH: Final = "english"
INFLECTED: Final = "inflected"

# --- documents (the registry)
NAME: Final = "name"
SOURCE: Final = "source"
STATE: Final = "state"
REASON: Final = "reason"
REASON_CODE: Final = "reason_code"
ISSUES: Final = "issues"
ISSUE_CODES: Final = "issue_codes"
FOLDER: Final = "folder"
LEASE: Final = "lease"
LEASE_OWNER: Final = "lease.owner"
REQUEST: Final = "request"
QUEUED_AT: Final = "queued_at"
STARTED_AT: Final = "started_at"
FINISHED_AT: Final = "finished_at"
UPDATED_AT: Final = "updated_at"
ATTEMPTS: Final = "attempts"
CHUNKS_GENERATED: Final = "chunks_generated"
CHUNKS_INDEXED: Final = "chunks_indexed"
STAMPS: Final = "stamps"
TEXT: Final = "text"
LAYOUT: Final = "layout"
# What listings leave out of a row.
BULKY: Final = (TEXT, LAYOUT)
METADATA: Final = "metadata"
EXTRACTED: Final = "extracted"

# --- workers
WORKER_ID: Final = "worker_id"
MACHINE: Final = "machine"
PID: Final = "pid"
PROCESS_START: Final = "process_start"
LEASE_S: Final = "lease_s"
BEAT: Final = "beat"

# --- migrations
SOURCE_INDEX: Final = "source_index"
TARGET_INDEX: Final = "target_index"
FINGERPRINT: Final = "fingerprint"
CHUNKS: Final = "chunks"

# --- keys
KEY_ID: Final = "key_id"
KEY_HASH: Final = "key_hash"
CREATED_AT: Final = "created_at"
REVOKED_AT: Final = "revoked_at"
LABEL: Final = "label"
PERMISSIONS: Final = "permissions"

# --- the query log
AT: Final = "at"
REQUEST_ID: Final = "request_id"
CALLER: Final = "caller"
PATH: Final = "path"
STATUS: Final = "status"
CODE: Final = "code"
QUERY: Final = "query"
MODE: Final = "mode"
ROUTE: Final = "route"
FILTERS: Final = "filters"
FILTER_NAMES: Final = "filter_names"
REFUSED: Final = "refused"
HITS: Final = "hits"
TOTAL: Final = "total"
NO_RESULT: Final = "no_result"
DEGRADED: Final = "degraded"
PROFILE: Final = "profile"
TOOK_MS: Final = "took_ms"


# --- evidence
KIND: Final = "kind"
CASE_ID: Final = "case_id"
CLAIM_ID: Final = "claim_id"
AUTHOR: Final = "author"
SEQUENCE: Final = "sequence"
HASH: Final = "hash"
RECORD: Final = "record"

# --- feedback
FEEDBACK_ID: Final = "feedback_id"
VERDICT: Final = "verdict"
WITHDRAWS: Final = "withdraws"

# --- glossary
TERM: Final = "term"
EQUIVALENTS: Final = "equivalents"


def sub(field: str, name: str) -> str:
    """The full name of a sub-field: `sub(CONTENT, EXACT)` is `content.exact`."""
    return f"{field}.{name}"
