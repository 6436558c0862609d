"""The rows of a sheet, one a material claim: what it says, what it cites, what the cited places hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord, Moment, Sha256
from evaluation.evidence.canonical import content_id
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import CLAIM_ID_DIGITS, Claim, ClaimSet
from evaluation.evidence.decisions import Attachment, Decision, Diagnosis, Support
from evaluation.evidence.diagnosis import diagnose
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.proposal import Proposal, propose
from evaluation.evidence.sources import AttachedSource, attachment_seen, lead_of, marks_of, source_of


class ModelRow(EvidenceRecord):
    """What a model proposes for one claim. Not a verdict."""

    model: str
    at: Moment
    standing: Literal["a proposal, not a verdict"] = "a proposal, not a verdict"
    support: Support | None
    why: str | None = None
    missing: str | None = None
    problem: str | None = None
    kept: int | None = Field(None, description="Of the answers that were written anew, those that say the claim.")
    resamples: int = Field(0, ge=0, description="Answers that were written anew.")


class Row(EvidenceRecord):
    """One claim of the sheet."""

    format: Literal["mafteach-evidence-row/1"] = "mafteach-evidence-row/1"
    row_id: str
    case_id: Sha256
    claim_set: Sha256
    claim_id: str
    ordinal: int = Field(ge=1)
    claim_text: str
    sources: tuple[AttachedSource, ...]
    attachment_seen: Attachment = Field(description="What the marks and locators show; no verdict.")
    proposal: Proposal = Field(description="By rules; shown apart, never counted as a verdict.")
    by_model: ModelRow | None = Field(
        None, description="By the model that was asked last; shown apart, never counted as a verdict."
    )
    diagnoses: tuple[Diagnosis, ...] = Field((), description="Possible causes by rules; none is proven.")
    decisions: tuple[Decision, ...] = Field((), description="Those that count: the last of each reviewer.")


def rows_of(
    case: Case,
    claims: ClaimSet,
    decisions: Mapping[str, Sequence[Decision]] | None = None,
    proposals: Sequence[ModelProposal] = (),
) -> tuple[Row, ...]:
    """One row a material claim, in the answer's order."""
    counted = decisions or {}
    return tuple(
        _row(case, claims, claim, ordinal, counted.get(claim.claim_id, ()), _by_model(claim.claim_id, proposals))
        for ordinal, claim in enumerate(claims.material, start=1)
    )


def _by_model(claim_id: str, proposals: Sequence[ModelProposal]) -> ModelRow | None:
    """The last run that saw the claim: a claim of this id has the same words in every revision."""
    for run in reversed(proposals):
        if (found := run.of(claim_id)) is not None:
            return ModelRow(
                model=run.model,
                at=run.at,
                resamples=len(run.resamples),
                **found.model_dump(exclude={"claim_id"}),
            )
    return None


def _row(
    case: Case,
    claims: ClaimSet,
    claim: Claim,
    ordinal: int,
    decisions: Sequence[Decision],
    by_model: ModelRow | None,
) -> Row:
    sources = tuple(source_of(case, index) for index in marks_of(case.answer, claim))
    seen = attachment_seen(sources)
    cited = [source.passage_text or "" for source in sources if source.resolves]
    lead = lead_of(case.answer, claim)
    proposal = propose(claim.text, cited, lead=lead, answer=case.answer, attachment=seen)
    cited_ids = {source.passage_id for source in sources if source.resolves}
    others = [passage for passage in case.passages if passage.chunk_id not in cited_ids]
    return Row(
        row_id=content_id([claims.claim_set_hash, claim.claim_id])[:CLAIM_ID_DIGITS],
        case_id=case.case_id,
        claim_set=claims.claim_set_hash,
        claim_id=claim.claim_id,
        ordinal=ordinal,
        claim_text=claim.text,
        sources=sources,
        attachment_seen=seen,
        proposal=proposal,
        by_model=by_model,
        diagnoses=diagnose(case, claim.text, sources, proposal, others, lead=lead),
        decisions=tuple(decisions),
    )
