"""Replay: a frozen case against today's system; what changed by stage, rows compared only where they can be."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord, Moment, Sha256
from evaluation.evidence.cases import (
    Case,
    CorpusSnapshot,
    DisplayedCitation,
    FrozenPassage,
    GenerationIdentity,
    RetrievalIdentity,
)
from evaluation.evidence.changes import (
    Change,
    answer_changes,
    corpus_changes,
    generation_changes,
    identity_changes,
    passage_changes,
    retrieval_changes,
)
from evaluation.evidence.claim_sets import first_claims
from evaluation.evidence.decisions import Attachment, Support
from evaluation.evidence.file import CaseFile
from evaluation.evidence.freeze import corpus_snapshot, frozen_passages, generation_identity, retrieval_identity
from evaluation.evidence.refind import Refound, Today, refind
from evaluation.evidence.rows import rows_of
from ingest.registry import Registry
from query.answer_result import AnswerResult
from query.request import DEFAULT_SIZE, MAX_SIZE, Filters, SearchRequest, SearchResult
from query.search import SearchContext, search

RUN_FORMAT: Final = "mafteach-evidence-run/1"
# How an answer was written that no part of the system wrote: it is not asked for again.
BY_HAND: Final = "by hand"

# Writes today's answer to a search: the case's question with its filters, asked for its tenant.
Answerer = Callable[[SearchRequest], AnswerResult]


class RowComparison(EvidenceRecord):
    """One claim against the frozen and against today's passages."""

    claim_id: str
    claim_text: str
    attachment_before: Attachment
    attachment_after: Attachment
    proposal_before: Support
    proposal_after: Support

    @property
    def same(self) -> bool:
        """Whether nothing moved."""
        return (self.attachment_before, self.proposal_before) == (self.attachment_after, self.proposal_after)


class ReplayRun(EvidenceRecord):
    """One replay of one case."""

    format: Literal["mafteach-evidence-run/1"] = RUN_FORMAT
    run_id: str
    at: Moment
    case_id: Sha256
    corpus: CorpusSnapshot
    retrieval_identity: RetrievalIdentity
    generation_identity: GenerationIdentity | None = Field(
        None, description="Of today's answer; null where it was not asked for again."
    )
    refused: bool
    retrieval: dict[str, Any] = Field(description="The raw output of today's search.")
    answer: str | None = Field(description="Today's answer; null where it was not asked for again.")
    refound: tuple[Refound, ...]
    changes: tuple[Change, ...]
    comparable: bool
    why_not: tuple[str, ...] = ()
    rows: tuple[RowComparison, ...] = ()


def replay(
    file: CaseFile,
    *,
    context: SearchContext,
    registry: Registry,
    at: datetime,
    answerer: Answerer | None = None,
    app_version: str | None = None,
) -> ReplayRun:
    """Ask the case's question today.

    Args:
        file: the frozen case.
        context: today's search.
        registry: today's documents.
        at: the moment of the run.
        answerer: writes today's answer; None compares the frozen answer with today's passages.
        app_version: today's; None takes the frozen one, which is no change then.

    Raises:
        as `query.search.search`.
    """
    case = file.case
    size = min(MAX_SIZE, max(DEFAULT_SIZE, len(case.passages)))
    request = SearchRequest(
        tenant=case.tenant,
        query=case.query,
        size=size,
        filters=Filters.model_validate(case.filters),
        # The question is asked as it was: by the route that it named, its periods counted from the same day.
        route=case.retrieval.get("route", "auto") if case.retrieval.get("routed") is None else "auto",
        as_of=case.retrieval.get("as_of"),
    )
    result = search(request, context)
    wanted = {one.document_id for one in case.passages}
    corpus = corpus_snapshot(registry, case.tenant, context.info, listed=wanted)
    today = Today(texts=_texts(registry, case, wanted), hits=result.hits)
    refound = tuple(refind(passage, today) for passage in case.passages)
    identity = retrieval_identity(result, context.info)
    written = answerer is not None and case.generation_identity.method != BY_HAND
    today_answer = answerer(request) if answerer is not None and written else None
    answer = None if today_answer is None else today_answer.answer
    version = app_version or case.generation_identity.app_version
    generation = None if today_answer is None else generation_identity(today_answer, app_version=version)
    changes = (
        *corpus_changes(case.corpus, corpus),
        *identity_changes(case.retrieval_identity, identity),
        *retrieval_changes(case, result),
        *passage_changes(refound),
        *generation_changes(case.generation_identity, generation),
        *answer_changes(case, answer),
    )
    why_not = _why_not(file, corpus, refound, answer, at)
    rows = () if why_not else _rows(file, result, refound)
    return ReplayRun(
        run_id=uuid.uuid4().hex,
        at=at,
        case_id=case.case_id,
        corpus=corpus,
        retrieval_identity=identity,
        generation_identity=generation,
        refused=result.refused,
        retrieval=result.model_dump(mode="json", by_alias=True),
        answer=answer,
        refound=refound,
        changes=changes,
        comparable=not why_not,
        why_not=why_not,
        rows=rows,
    )


def _texts(registry: Registry, case: Case, wanted: set[str]) -> dict[str, str]:
    found = ((one, registry.get(case.tenant, one)) for one in sorted(wanted))
    return {one: record.text for one, record in found if record is not None and record.text is not None}


def _why_not(
    file: CaseFile, corpus: CorpusSnapshot, refound: tuple[Refound, ...], answer: str | None, at: datetime
) -> tuple[str, ...]:
    case = file.case
    why = []
    if corpus.documents_hash != case.corpus.documents_hash:
        why.append("the corpus is another: documents or their versions have changed")
    if answer is not None and answer != case.answer:
        today = first_claims(case.model_copy(update={"answer": answer}), at=at)
        then = [claim.text for claim in first_claims(case, at=at).claims]
        if [claim.text for claim in today.claims] != then:
            why.append("the claims are others: today's answer says something else")
    lost = sum(not one.same_text for one in refound)
    if lost:
        why.append(f"{lost} of {len(refound)} passages do not have the hash that they were frozen with")
    if not file.sets and not case.honest_miss:
        why.append("the answer was not split into claims")
    return tuple(why)


def _rows(file: CaseFile, result: SearchResult, refound: tuple[Refound, ...]) -> tuple[RowComparison, ...]:
    """The frozen claims over today's passages: a cited passage that is not retrieved today is none of them."""
    if file.case.honest_miss:
        return ()
    pairs = list(zip(refound, file.case.passages, strict=True))
    shifts = {
        place.chunk_id: (place, place.from_ - frozen.locator.from_)
        for place, frozen in pairs
        if place.from_ is not None
    }
    # What a citation showed and the search did not rank then is not asked of the search now: it was found by its place.
    unranked = (_today(frozen, place) for place, frozen in pairs if frozen.rank is None and place.same_text)
    passages = (*frozen_passages(result), *unranked)
    citations = tuple(_moved(one, shifts.get(one.chunk_id), passages) for one in file.case.citations)
    then = rows_of(file.case, file.claims)
    now = rows_of(file.case.model_copy(update={"passages": passages, "citations": citations}), file.claims)
    return tuple(
        RowComparison(
            claim_id=old.claim_id,
            claim_text=old.claim_text,
            attachment_before=old.attachment_seen,
            attachment_after=new.attachment_seen,
            proposal_before=old.proposal.support,
            proposal_after=new.proposal.support,
        )
        for old, new in zip(then, now, strict=True)
    )


def _today(frozen: FrozenPassage, place: Refound) -> FrozenPassage:
    """A passage at its place of today, with the text that it had."""
    if place.from_ is None or place.to is None:
        return frozen
    at = frozen.locator.model_copy(update={"from_": place.from_, "to": place.to})
    return frozen.model_copy(update={"locator": at, "document_id": place.document_id})


def _moved(
    citation: DisplayedCitation, place: tuple[Refound, int] | None, passages: tuple[FrozenPassage, ...]
) -> DisplayedCitation:
    """A citation on today's passage that holds its place; as it was, where its passage was not found."""
    if place is None:
        return citation
    found, shift = place
    start, end = citation.locator.from_ + shift, citation.locator.to + shift
    for one in passages:
        if one.document_id == found.document_id and one.locator.from_ <= start and end <= one.locator.to:
            locator = citation.locator.model_copy(update={"from_": start, "to": end})
            return citation.model_copy(
                update={"chunk_id": one.chunk_id, "document_id": one.document_id, "locator": locator}
            )
    return citation
