"""Labels of a set: what its authors say of every claim, and why; traps by name.

Labels are no decisions of reviewers and are kept apart from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from evaluation.evidence.base import EvidenceRecord, Written
from evaluation.evidence.decisions import Attachment, Support
from evaluation.evidence.file import CaseFile
from evaluation.evidence.folder import parsed, read_json
from evaluation.evidence.rows import Row
from search_config.errors import InvalidDataset

LABELS_FILE: Final = "labels.json"
Trap = Literal[
    "attached_not_supporting",
    "retrieved_not_cited",
    "qualification_omitted",
    "versions_disagree",
    "wrong_unit",
    "negation_lost",
    "number_changed",
    "scope_widened",
    "cause_invented",
    "points_nowhere",
    "not_evaluable",
]


class Label(EvidenceRecord):
    """What is right of one claim."""

    claim: str = Field(min_length=1, description="The claim, verbatim.")
    attachment: Attachment
    support: Support
    why: Written
    missing: Written | None = None
    trap: Trap | None = Field(None, description="How the row tempts to say that it is supported.")

    @model_validator(mode="after")
    def _holds(self) -> Self:
        if self.support == "cannot_be_evaluated" and self.missing is None:
            raise ValueError("cannot_be_evaluated needs `missing`")
        if self.trap is not None and self.support == "supported":
            raise ValueError("a trap is never supported")
        return self


_LABELS: Final = TypeAdapter(tuple[Label, ...])


def load_labels(folder: Path, file: CaseFile) -> tuple[tuple[Row, Label], ...]:
    """The rows of a case with their labels; none where the case has no labels.

    Raises:
        InvalidDataset: labels and rows are not one to one.
    """
    path = folder / LABELS_FILE
    if not path.is_file():
        return ()
    labels = parsed(_LABELS, read_json(path), path)
    rows = file.rows
    if [label.claim for label in labels] != [row.claim_text for row in rows]:
        raise InvalidDataset("The labels are not those of the claims, one to one and in order.", where=str(path))
    return tuple(zip(rows, labels, strict=True))


def trapped(pairs: Sequence[tuple[Row, Label]]) -> tuple[str, ...]:
    """Trap rows that the rules would call supported: there must be none."""
    return tuple(row.claim_text for row, label in pairs if label.trap and row.proposal.support == "supported")
