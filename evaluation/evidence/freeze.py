"""Freezing: an answer with its search becomes a case, with the corpus as it stands at this moment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.resources import files
from types import MappingProxyType

from evaluation.evidence.canonical import canonical_json, sha256
from evaluation.evidence.cases import (
    SNAPSHOT_DOCUMENTS,
    Case,
    CorpusSnapshot,
    DisplayedCitation,
    DocumentVersion,
    ExpectedEvidence,
    FrozenPassage,
    GenerationIdentity,
    RetrievalIdentity,
)
from evaluation.evidence.cited import UNKNOWN_GROUPS, cited_passages, frozen
from ingest.registry import Registry
from query.answer_result import AnswerResult, Citation
from query.request import SearchResult
from search_config.client import Engine
from search_config.install import IndexInfo
from search_config.language import language_of
from search_config.records import DocumentRecord, DocumentState, tenant_id


def freeze(
    answer: AnswerResult,
    *,
    tenant: str,
    owner: str,
    registry: Registry,
    engine: Engine,
    info: IndexInfo,
    generation: GenerationIdentity,
    answered_at: datetime,
    expected: ExpectedEvidence | None = None,
) -> Case:
    """The case of an answer or refusal; nothing is written.

    Args:
        answer: as displayed, with the raw output of its search.
        tenant: whose documents were asked; the corpus is read under it alone.
        owner: who answers for the case.
        engine: has the passages of citations that the search did not rank.
        generation: what wrote the answer.
        answered_at: when it was given.
        expected: what a set knows about the evidence.

    Raises:
        TenantError, EngineError, EngineRejected
    """
    owned = tenant_id(tenant)
    hits = answer.search.hits
    cited = {citation.document_id for citation in answer.citations}
    documents = _documents(registry, owned, {hit.document_id for hit in hits} | cited)
    return Case(
        tenant=owned,
        owner=owner,
        answered_at=answered_at,
        query=answer.question,
        outcome="refusal" if answer.refused else "answer",
        answer=answer.answer,
        label=answer.label,
        reason=answer.explanation or answer.reason,
        answered_parts=answer.answered_parts,
        not_in_sources=answer.not_in_sources,
        citations=tuple(_citation(one, documents) for one in answer.citations),
        filters=answer.search.filters.model_dump(mode="json", exclude_defaults=True),
        retrieval=answer.search.model_dump(mode="json", by_alias=True),
        passages=(
            *frozen_passages(answer.search, documents),
            *cited_passages(answer.citations, hits, documents, engine=engine, index=info.index, tenant=owned),
        ),
        corpus=corpus_snapshot(registry, owned, info, listed=documents),
        retrieval_identity=retrieval_identity(answer.search, info),
        generation_identity=generation,
        expected=expected,
    )


def generation_identity(answer: AnswerResult, *, app_version: str) -> GenerationIdentity:
    """What wrote an answer, in this process: the prompt is named by the hash of the module that writes it."""
    by_model = answer.method == "model"
    return GenerationIdentity(
        method=answer.method,
        model=answer.model,
        prompt=sha256(files("query").joinpath("prompt.py").read_bytes()) if by_model else None,
        app_version=app_version,
        locale=language_of(answer.question),
    )


def corpus_snapshot(registry: Registry, tenant: str, info: IndexInfo, *, listed: Iterable[str] = ()) -> CorpusSnapshot:
    """The tenant's documents that can be found now; `listed` are kept by name where there are too many for all."""
    wanted = set(listed)
    digest = hashlib.sha256()
    every: list[DocumentVersion] = []
    few: list[DocumentVersion] = []
    total = 0
    for record in registry.iterate(tenant, state=DocumentState.READY):
        one = _version(record)
        digest.update(canonical_json([one.document_id, one.version, one.content_hash]))
        total += 1
        if total <= SNAPSHOT_DOCUMENTS:
            every.append(one)
        if one.document_id in wanted:
            few.append(one)
    complete = total <= SNAPSHOT_DOCUMENTS
    return CorpusSnapshot(
        index=info.index,
        documents_total=total,
        documents_hash=digest.hexdigest(),
        documents=tuple(every if complete else few),
        complete=complete,
    )


def _documents(registry: Registry, tenant: str, ids: set[str]) -> dict[str, DocumentRecord]:
    found = ((one, registry.get(tenant, one)) for one in sorted(ids))
    return {one: record for one, record in found if record is not None}


def _version(record: DocumentRecord) -> DocumentVersion:
    return DocumentVersion(
        document_id=record.document_id,
        name=record.name,
        version=record.version,
        content_hash=record.content_hash or "",
    )


def _citation(citation: Citation, documents: dict[str, DocumentRecord]) -> DisplayedCitation:
    record = documents.get(citation.document_id)
    return DisplayedCitation(
        index=citation.index,
        document_id=citation.document_id,
        document_name=citation.document_name,
        version=citation.version,
        content_hash=citation.content_hash,
        chunk_id=citation.chunk_id,
        locator=citation.locator,
        locator_label=citation.locator_label,
        url=citation.url,
        quote=citation.quote,
        groups=record.groups if record else UNKNOWN_GROUPS,
    )


def frozen_passages(
    result: SearchResult, documents: Mapping[str, DocumentRecord] = MappingProxyType({})
) -> tuple[FrozenPassage, ...]:
    """The hits of a search in their order, with what stands around them in those of the documents."""
    return tuple(
        frozen(hit, documents.get(hit.document_id), rank=hit.rank, otherwise_named=hit.title) for hit in result.hits
    )


def retrieval_identity(result: SearchResult, info: IndexInfo) -> RetrievalIdentity:
    """How a search found its passages."""
    return RetrievalIdentity(
        model=result.index.model,
        pipeline=result.index.pipeline,
        analyzer=info.analyzer,
        profile=result.profile,
        weights={str(leg): weight for leg, weight in result.weights.items()},
        route=result.route,
        degraded=tuple(entry.leg for entry in result.degraded),
    )
