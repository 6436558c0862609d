"""How far reviewers agree with each other, and the rules' proposals with labels. Pure.

Figures come after what they are made of: disagreements are listed first, and a coefficient over few rows is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final, get_args

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.decisions import Disagreement, Support
from evaluation.evidence.file import CaseFile
from evaluation.significance import Estimate, proportion

# Doubly reviewed rows below which Cohen's kappa moves by a tenth and more with a single row.
LEAST_ROWS: Final = 30
VERDICTS: Final[tuple[Support, ...]] = get_args(Support)


class ReviewerPair(EvidenceRecord):
    """Two reviewers over the rows that both decided."""

    first: str
    second: str
    rows: int
    same: int
    kappa: float | None = Field(description="Cohen's kappa (1960) of the support verdicts; null under 30 rows.")
    why_no_kappa: str | None = None


class ReviewerAgreement(EvidenceRecord):
    """Disagreements first, figures after."""

    disagreements: tuple[Disagreement, ...]
    pairs: tuple[ReviewerPair, ...]


class VerdictAgreement(EvidenceRecord):
    """Rows with one label, and what the rules proposed for them."""

    label: Support
    rows: int
    proposed: dict[Support, int]
    recall: Estimate = Field(description="Share of these rows for which the rules propose the same, with its interval.")


class ProposalAgreement(EvidenceRecord):
    """Proposals by rules against labels: what a proposal is worth, not a verdict and no score of a case."""

    standing: str = "agreement of a proposal with labels; no verdict, and no score of a case or system"
    rows: int
    by_label: tuple[VerdictAgreement, ...]
    supported_is_right: Estimate = Field(description="Of rows proposed as supported, the share labelled so.")
    wrongly_supported: tuple[str, ...] = Field(description="Claims proposed as supported and labelled otherwise.")


def reviewer_agreement(files: Sequence[CaseFile]) -> ReviewerAgreement:
    """Every pair of reviewers who share rows."""
    decided: dict[str, dict[tuple[str, str], Support]] = {}
    for file in files:
        for claim_id, decisions in file.current.items():
            for one in decisions:
                decided.setdefault(one.reviewer, {})[one.case_id, claim_id] = one.verdict.support
    pairs = []
    for first, second in combinations(sorted(decided), 2):
        shared = sorted(decided[first].keys() & decided[second].keys())
        if shared:
            mine = [decided[first][row] for row in shared]
            theirs = [decided[second][row] for row in shared]
            pairs.append(_pair(first, second, mine, theirs))
    return ReviewerAgreement(
        disagreements=tuple(one for file in files for one in file.disagreements), pairs=tuple(pairs)
    )


def proposal_agreement(rows: Sequence[tuple[str, Support, Support]]) -> ProposalAgreement:
    """Proposals against labels.

    Args:
        rows: (claim text, label, proposal) of each row.
    """
    by_label = []
    for label in VERDICTS:
        of_label = [proposal for _, wanted, proposal in rows if wanted == label]
        by_label.append(
            VerdictAgreement(
                label=label,
                rows=len(of_label),
                proposed={verdict: of_label.count(verdict) for verdict in VERDICTS},
                recall=proportion(of_label.count(label), len(of_label)),
            )
        )
    supported = [(text, wanted) for text, wanted, proposal in rows if proposal == "supported"]
    return ProposalAgreement(
        rows=len(rows),
        by_label=tuple(by_label),
        supported_is_right=proportion(sum(wanted == "supported" for _, wanted in supported), len(supported)),
        wrongly_supported=tuple(text for text, wanted in supported if wanted != "supported"),
    )


def _pair(first: str, second: str, mine: Sequence[Support], theirs: Sequence[Support]) -> ReviewerPair:
    same = sum(a == b for a, b in zip(mine, theirs, strict=True))
    kappa, why = None, None
    if len(mine) < LEAST_ROWS:
        why = f"{len(mine)} rows were reviewed by both; {LEAST_ROWS} are needed"
    elif len({*mine, *theirs}) < 2:
        why = "both gave one and the same verdict to every row; kappa is not defined then"
    else:
        from sklearn.metrics import cohen_kappa_score

        kappa = float(cohen_kappa_score(list(mine), list(theirs)))
    return ReviewerPair(first=first, second=second, rows=len(mine), same=same, kappa=kappa, why_no_kappa=why)
