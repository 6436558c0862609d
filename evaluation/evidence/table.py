"""The sheet as a table: the same columns in CSV, XLSX and HTML. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evaluation.evidence.file import CaseFile
from evaluation.evidence.rows import Row

COLUMNS: Final = (
    "case_id",
    "claim_id",
    "ordinal",
    "claim",
    "citations",
    "source",
    "version",
    "passage_id",
    "rank",
    "locator",
    "passage",
    "attachment_seen",
    "reviewer",
    "at",
    "attachment",
    "attachment_reason",
    "support",
    "support_reason",
    "missing",
    "diagnosis",
    "note",
    "proposal_not_a_verdict",
    "model_proposal_not_a_verdict",
    "resampled_answers_that_keep_it",
)
# The columns of a decision, empty where there is none.
DECIDED: Final = COLUMNS[COLUMNS.index("reviewer") : COLUMNS.index("proposal_not_a_verdict")]


def table_rows(file: CaseFile) -> list[tuple[str, ...]]:
    """A line for each decision that counts, and one for each claim without any; an honest miss has none."""
    return [line for row in file.rows for line in _lines(row)] if file.sets else []


def _lines(row: Row) -> list[tuple[str, ...]]:
    sources = row.sources
    head = (
        row.case_id,
        row.claim_id,
        str(row.ordinal),
        row.claim_text,
        " ".join(f"[{one.index}]" for one in sources),
        _joined(one.document_name for one in sources),
        _joined(one.version for one in sources),
        _joined(one.passage_id for one in sources),
        _joined(one.rank for one in sources),
        _joined(
            f"{one.locator.from_}:{one.locator.to} {one.locator.label}".strip() if one.locator else None
            for one in sources
        ),
        _joined((one.passage_text for one in sources), "\n\n"),
        row.attachment_seen,
    )
    proposal = row.proposal.support + (f" ({row.proposal.missing})" if row.proposal.missing else "")
    model = row.by_model
    apart = (
        proposal,
        f"{model.support or model.problem} ({model.model})" if model else "",
        f"{model.kept} of {model.resamples}" if model and model.kept is not None else "",
    )
    if not row.decisions:
        return [(*head, *("",) * len(DECIDED), *apart)]
    lines: list[tuple[str, ...]] = []
    for decision in row.decisions:
        verdict = decision.verdict
        cause = verdict.diagnosis
        told = (
            f"{cause.cause} ({cause.standing}): {cause.observation} | {cause.hypothesis} | {cause.next_check}"
            if cause
            else ""
        )
        lines.append(
            (
                *head,
                decision.reviewer,
                decision.at.isoformat(),
                verdict.attachment,
                verdict.attachment_reason,
                verdict.support,
                verdict.support_reason,
                verdict.missing or "",
                told,
                verdict.note or "",
                *apart,
            )
        )
    return lines


def _joined(values: Iterable[object], separator: str = "; ") -> str:
    return separator.join("" if value is None else str(value) for value in values)
