"""Open notes on a case or a claim; append-only, never a verdict."""

from __future__ import annotations

from typing import Final, Literal

from evaluation.evidence.base import EvidenceRecord, Moment, Name, Sha256, Written
from evaluation.evidence.canonical import content_id

NOTE_FORMAT: Final = "mafteach-evidence-note/1"


class Note(EvidenceRecord):
    """What someone wants the next reader to know."""

    format: Literal["mafteach-evidence-note/1"] = NOTE_FORMAT
    case_id: Sha256
    claim_id: str | None = None
    author: Name
    at: Moment
    text: Written

    @property
    def note_id(self) -> str:
        """SHA-256 of the canonical JSON."""
        return content_id(self)
