"""A case with everything that was recorded about it: what both the index and a folder give. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord, Moment
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet, check_chain, check_claims
from evaluation.evidence.decisions import (
    Decision,
    Disagreement,
    Support,
    Verdict,
    chain_of,
    current_decisions,
    disagreements,
)
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.notes import Note
from evaluation.evidence.rows import Row, rows_of
from search_config.errors import InvalidRequest


class CaseCounts(EvidenceRecord):
    """Counts of one case. There is no score, and none is to be made of them."""

    honest_miss: bool = Field(description="A refusal: a result of its own, with no claims.")
    claims: int
    immaterial: int
    undecided: int
    disagreed: int = Field(description="Claims on which reviewers differ; they are in no verdict's count.")
    by_verdict: dict[Support, int] = Field(description="Claims whose reviewers agree.")


@dataclass(frozen=True)
class CaseFile:
    """One case with its records, in the order in which they were made.

    Attributes:
        sets: revisions of the claims; none before the answer was split.
        proposals: of a configured model, run by run; shown apart, and in no count.
    """

    case: Case
    sets: tuple[ClaimSet, ...] = ()
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Note, ...] = ()
    proposals: tuple[ModelProposal, ...] = ()

    @property
    def claims(self) -> ClaimSet:
        """The claims as they are now.

        Raises:
            InvalidRequest: the answer was never split.
        """
        if not self.sets:
            raise InvalidRequest(
                "The answer was not split into claims yet.",
                where=self.case.case_id,
                remedy="Run: mafteach evidence claims CASE --tenant T",
            )
        return self.sets[-1]

    @cached_property
    def current(self) -> dict[str, tuple[Decision, ...]]:
        """Decisions that count, by claim."""
        return current_decisions(self.decisions, self.sets)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The sheet."""
        return rows_of(self.case, self.claims, self.current, self.proposals)

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Claims on which reviewers differ."""
        return disagreements(self.current)

    def counts(self) -> CaseCounts:
        """Counts by verdict."""
        current = self.current
        claims = self.sets[-1].claims if self.sets else ()
        differing = {one.claim_id for one in self.disagreements}
        agreed = Counter(
            decisions[0].verdict.support for claim, decisions in current.items() if decisions and claim not in differing
        )
        material = [claim for claim in claims if claim.material]
        return CaseCounts(
            honest_miss=self.case.honest_miss,
            claims=len(material),
            immaterial=len(claims) - len(material),
            undecided=sum(not current.get(claim.claim_id) for claim in material),
            disagreed=len(differing),
            by_verdict={verdict: agreed[verdict] for verdict in get_args(Support)},
        )

    def next_decision(
        self, claim_id: str, verdict: Verdict, *, reviewer: str, at: Moment, supersedes: str | None
    ) -> Decision:
        """The decision that a reviewer is about to make; nothing is written.

        Args:
            supersedes: the reviewer's decision on this claim before; a changed mind must name it.

        Raises:
            NotFound: no such claim.
            InvalidRequest: an immaterial claim, or another decision stands before this one.
        """
        claim = self.claims.claim(claim_id)
        if not claim.material:
            raise InvalidRequest("The claim is marked as immaterial.", where=claim_id)
        chain = chain_of(self.decisions, claim_id, reviewer.strip())
        last = chain[-1].decision_id if chain else None
        if supersedes != last:
            raise InvalidRequest(
                "A changed decision names the one before it." if last else "There is no decision to supersede.",
                where=claim_id,
                remedy=f"Give supersedes: {last}." if last else "Leave out supersedes.",
            )
        return Decision(
            case_id=self.case.case_id,
            claim_id=claim_id,
            claim_set=self.claims.claim_set_hash,
            revision=self.claims.revision,
            reviewer=reviewer,
            at=at,
            supersedes=last,
            verdict=verdict,
        )

    def check(self) -> None:
        """Hold the records against each other.

        Raises:
            InvalidRequest: the first thing that does not hold.
        """
        case_id = self.case.case_id
        owners = {one.case_id for one in self.sets} | {one.case_id for one in self.decisions}
        owners |= {one.case_id for one in self.notes} | {one.case_id for one in self.proposals}
        if not owners <= {case_id}:
            raise InvalidRequest("A record belongs to another case.", where=case_id)
        check_chain(self.sets)
        for claims in self.sets:
            check_claims(self.case, claims)
        known = {claim.claim_id for claims in self.sets for claim in claims.claims}
        hashes = {one.claim_set_hash for one in self.sets}
        for run in self.proposals:
            if run.claim_set not in hashes or not {one.claim_id for one in run.claims} <= known:
                raise InvalidRequest("A model's proposal is on claims that there are not.", where=run.proposal_id)
        for decision in self.decisions:
            if decision.claim_id not in known or not 1 <= decision.revision <= len(self.sets):
                raise InvalidRequest("A decision is on a claim that there is not.", where=decision.decision_id)
            if self.sets[decision.revision - 1].claim_set_hash != decision.claim_set:
                raise InvalidRequest("A decision was made on other claims.", where=decision.decision_id)
        if self.sets and len(self.rows) != len(self.claims.material):
            raise InvalidRequest("There are not as many rows as claims.", where=case_id)
        for claim_id, reviewer in sorted({(one.claim_id, one.reviewer) for one in self.decisions}):
            chain_of(self.decisions, claim_id, reviewer)
