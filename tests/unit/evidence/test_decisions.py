"""Decisions: reasons are mandatory, a changed mind names the one before, disagreement is shown; no score."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import ValidationError

from evaluation.evidence.agreement import LEAST_ROWS, proposal_agreement, reviewer_agreement
from evaluation.evidence.claim_sets import split_claim
from evaluation.evidence.decisions import Support
from evaluation.evidence.file import CaseCounts, CaseFile
from search_config.errors import InvalidRequest
from tests.unit.evidence.cases import AT, case, file, verdict


@pytest.mark.parametrize("field", ["attachment_reason", "support_reason"])
@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_reason_is_refused(field: str, empty: str) -> None:
    with pytest.raises(ValidationError):
        verdict("supported", **{field: empty})


def test_cannot_be_evaluated_names_what_is_missing() -> None:
    with pytest.raises(ValidationError):
        verdict("cannot_be_evaluated")
    assert verdict("cannot_be_evaluated", missing="הנספח").missing == "הנספח"


def test_a_diagnosis_keeps_observation_hypothesis_and_check_apart_and_proves_nothing() -> None:
    parts = {"cause": "not_retrieved", "observation": "o", "hypothesis": "h", "next_check": "c"}
    diagnosis = verdict("not_supported", diagnosis=parts).diagnosis
    assert diagnosis is not None
    assert diagnosis.standing == "not a proven cause"
    for part in ("observation", "hypothesis", "next_check"):
        with pytest.raises(ValidationError):
            verdict("not_supported", diagnosis={**parts, part: ""})


def decided(known: CaseFile, claim: int, support: Support, reviewer: str, before: str | None = None) -> CaseFile:
    at = AT + timedelta(seconds=len(known.decisions))
    made = known.next_decision(
        known.claims.claims[claim].claim_id, verdict(support), reviewer=reviewer, at=at, supersedes=before
    )
    return replace(known, decisions=(*known.decisions, made))


def test_a_changed_mind_names_the_decision_before_and_alone_counts() -> None:
    known = decided(file(), 0, "supported", "dana")
    first = known.decisions[0].decision_id
    for wrong in (None, "0" * 64):
        with pytest.raises(InvalidRequest):
            decided(known, 0, "not_supported", "dana", wrong)
    known = decided(known, 0, "not_supported", "dana", first)
    known.check()
    claim = known.claims.claims[0].claim_id
    assert [one.verdict.support for one in known.current[claim]] == ["not_supported"]
    assert len(known.decisions) == 2


def test_an_edit_supersedes_the_decisions_of_its_claim_alone() -> None:
    known = file(case("The fee is NIS 950 an hour. Access lapses after 180 days and stays closed."))
    known = decided(decided(known, 0, "supported", "dana"), 1, "supported", "dana")
    edited = split_claim(known.case, known.claims, known.claims.claims[1].claim_id, "and stays", author="d", at=AT)
    known = replace(known, sets=(*known.sets, edited))
    known.check()
    assert [len(known.current[claim.claim_id]) for claim in edited.claims] == [1, 0, 0]


def test_disagreement_is_in_no_verdicts_count() -> None:
    known = decided(decided(file(), 0, "supported", "dana"), 0, "not_supported", "noa")
    counts = known.counts()
    assert len(known.disagreements) == counts.disagreed == 1
    assert sum(counts.by_verdict.values()) == 0
    assert counts.undecided == counts.claims - 1


def test_no_score_of_a_case_exists() -> None:
    assert set(CaseCounts.model_fields) == {
        "honest_miss", "claims", "immaterial", "undecided", "disagreed", "by_verdict",
    }  # fmt: skip
    assert CaseFile(case(refused=True)).counts().honest_miss


def reviewed(rows: int) -> CaseFile:
    """Two reviewers on that many rows; every third one they see otherwise."""
    known = file(case(" ".join(f"Fee number {number} is paid." for number in range(rows))))
    assert len(known.claims.claims) == rows
    for claim in range(rows):
        first: Support = "supported" if claim % 2 else "not_supported"
        second: Support = first if claim % 3 else "partially_supported"
        known = decided(decided(known, claim, first, "dana"), claim, second, "noa")
    return known


def test_kappa_needs_thirty_doubly_reviewed_rows() -> None:
    (few,) = reviewer_agreement([reviewed(LEAST_ROWS - 1)]).pairs
    assert few.kappa is None
    assert few.why_no_kappa is not None
    report = reviewer_agreement([reviewed(LEAST_ROWS)])
    (pair,) = report.pairs
    # 15 S, 15 N against 10 S, 10 N, 10 P, 20 alike: p_o = 2/3, p_e = (15*10 + 15*10)/900 = 1/3, kappa = 1/2.
    assert pair.kappa == pytest.approx(0.5)
    assert len(report.disagreements) == 10
    assert list(type(report).model_fields) == ["disagreements", "pairs"]


def test_agreement_of_proposals_is_told_by_verdict_with_intervals() -> None:
    report = proposal_agreement(
        [
            ("a", "supported", "supported"),
            ("b", "supported", "partially_supported"),
            ("c", "not_supported", "supported"),
        ]
    )
    supported = report.by_label[0]
    assert (supported.rows, supported.recall.value) == (2, 0.5)
    assert supported.recall.low < 0.5 < supported.recall.high
    assert report.wrongly_supported == ("c",)
