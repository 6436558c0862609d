"""What people decide about claims: append-only, with reasons; a changed mind names the decision before. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from evaluation.evidence.base import EvidenceRecord, Moment, Name, Sha256, Written
from evaluation.evidence.canonical import content_id
from evaluation.evidence.claim_sets import ClaimSet
from search_config.errors import InvalidRequest

DECISION_FORMAT: Final = "mafteach-evidence-decision/1"
NOT_PROVEN: Final = "not a proven cause"

Attachment = Literal["attached", "missing", "points_nowhere"]
Support = Literal["supported", "partially_supported", "not_supported", "cannot_be_evaluated"]
Cause = Literal[
    "not_in_corpus",
    "not_retrieved",
    "retrieved_not_cited",
    "qualification_omitted",
    "cited_contradicts",
    "locator_elsewhere",
]

ATTACHMENT_MEANINGS: Final[dict[Attachment, str]] = {
    "attached": "A citation stands at the claim and opens at the text that it quotes.",
    "missing": "No citation stands at the claim.",
    "points_nowhere": "A citation stands at the claim, but there is no such source, or its place holds other text.",
}
SUPPORT_MEANINGS: Final[dict[Support, str]] = {
    "supported": "The attached passage says all of the claim: its scope, exceptions, quantity and timing too.",
    "partially_supported": "The passage says a part of the claim, or a qualification of the passage is left out.",
    "not_supported": "The passage does not say the claim, or says the contrary.",
    "cannot_be_evaluated": "It can't be told from what is here; what is missing is named.",
}
CAUSE_MEANINGS: Final[dict[Cause, str]] = {
    "not_in_corpus": "A supporting passage is not in the corpus.",
    "not_retrieved": "It is in the corpus and was not retrieved.",
    "retrieved_not_cited": "It was retrieved and is not cited.",
    "qualification_omitted": "A qualification was retrieved and is omitted.",
    "cited_contradicts": "The cited passage contradicts the claim.",
    "locator_elsewhere": "The locator resolves to other text than the quote.",
}


class Diagnosis(EvidenceRecord):
    """A possible cause, from what is visible in the case: observation, hypothesis and next check kept apart."""

    cause: Cause
    observation: Written = Field(description="What can be seen in the case.")
    hypothesis: Written = Field(description="What may explain it.")
    next_check: Written = Field(description="What would tell.")
    standing: Literal["not a proven cause"] = NOT_PROVEN


class Verdict(EvidenceRecord):
    """Both verdicts on one claim, each with its written reason."""

    attachment: Attachment
    attachment_reason: Written
    support: Support = Field(description="; ".join(f"{name}: {text}" for name, text in SUPPORT_MEANINGS.items()))
    support_reason: Written
    missing: Written | None = Field(None, description="What is missing; mandatory for cannot_be_evaluated.")
    diagnosis: Diagnosis | None = None
    note: Written | None = Field(None, description="An open note.")

    @model_validator(mode="after")
    def _names_what_is_missing(self) -> Self:
        if self.support == "cannot_be_evaluated" and self.missing is None:
            raise ValueError("cannot_be_evaluated needs `missing`: name what is missing")
        return self


class Decision(EvidenceRecord):
    """One reviewer's verdict on one claim at one moment."""

    format: Literal["mafteach-evidence-decision/1"] = DECISION_FORMAT
    case_id: Sha256
    claim_id: str
    claim_set: Sha256 = Field(description="Hash of the claims that the reviewer saw.")
    revision: int = Field(ge=1, description="Of those claims.")
    reviewer: Name
    at: Moment
    supersedes: Sha256 | None = Field(None, description="The same reviewer's decision on this claim before.")
    verdict: Verdict

    @property
    def decision_id(self) -> str:
        """SHA-256 of the canonical JSON."""
        return content_id(self)


class Disagreement(EvidenceRecord):
    """Reviewers who differ on one claim; shown before any figure."""

    claim_id: str
    support: dict[str, Support] = Field(description="By reviewer.")
    attachment: dict[str, Attachment]


def chain_of(decisions: Iterable[Decision], claim_id: str, reviewer: str) -> tuple[Decision, ...]:
    """One reviewer's decisions on a claim, first to last.

    Raises:
        InvalidRequest: they form no chain.
    """
    own = [one for one in decisions if one.claim_id == claim_id and one.reviewer == reviewer]
    after = {one.supersedes: one for one in own}
    chain: list[Decision] = []
    link: str | None = None
    while (found := after.get(link)) is not None and len(chain) < len(own):
        chain.append(found)
        link = found.decision_id
    if len(chain) != len(own):
        raise InvalidRequest("Decisions do not follow each other.", where=f"{claim_id}, {reviewer}")
    return tuple(chain)


def current_decisions(decisions: Sequence[Decision], sets: Sequence[ClaimSet]) -> dict[str, tuple[Decision, ...]]:
    """The decisions that count, by claim: each reviewer's last one, unless its claim was touched since."""
    claims = sets[-1].claims if sets else ()
    counted: dict[str, tuple[Decision, ...]] = {}
    for claim in claims:
        last_touch = max((one.revision for one in sets if claim.claim_id in one.touched), default=0)
        reviewers = sorted({one.reviewer for one in decisions if one.claim_id == claim.claim_id})
        last = (chain_of(decisions, claim.claim_id, reviewer)[-1] for reviewer in reviewers)
        counted[claim.claim_id] = tuple(one for one in last if claim.material and one.revision >= last_touch)
    return counted


def disagreements(current: Mapping[str, Sequence[Decision]]) -> tuple[Disagreement, ...]:
    """The claims on which reviewers differ, in either verdict."""
    found = []
    for claim_id, decisions in current.items():
        support = {one.reviewer: one.verdict.support for one in decisions}
        attachment = {one.reviewer: one.verdict.attachment for one in decisions}
        if len(set(support.values())) > 1 or len(set(attachment.values())) > 1:
            found.append(Disagreement(claim_id=claim_id, support=support, attachment=attachment))
    return tuple(found)
