"""Bodies and answers of the evidence routes; closed, so that an unknown field is an error."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.schemas import AnswerBody
from evaluation.evidence.base import LONGEST_NAME, LONGEST_TEXT
from evaluation.evidence.cases import Case, ExpectedEvidence
from evaluation.evidence.claim_sets import ClaimSet, Operation
from evaluation.evidence.decisions import Decision, Disagreement, Support, Verdict
from evaluation.evidence.file import CaseCounts, CaseFile
from evaluation.evidence.notes import Note
from evaluation.evidence.rows import Row
from evaluation.evidence.words import Word

# Cases of one page; each is read with its records.
MAX_CASES: Final = 200
# An answer that was shown: a few sentences, or a count that cites hundreds of documents.
LONGEST_ANSWER: Final = 200_000

ClaimId = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
CaseState = Literal["open", "done", "disagreed", "miss"]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FreezeBody(AnswerBody):
    """A question, and which answer to it is frozen."""

    shown: str | None = Field(
        None,
        max_length=LONGEST_ANSWER,
        description="The answer's text as it was displayed: that very answer is frozen, or none (409) where it is gone "
        "and would be another one by now. Null freezes what is answered now.",
    )
    expected: ExpectedEvidence | None = Field(
        None, description="What a set knows beforehand: passages that an answer needs, points that nothing answers."
    )


class CasesParameters(_Closed):
    """Narrows a list of cases, and pages through it."""

    state: CaseState | None = Field(
        None, description="open: a claim is undecided; disagreed: reviewers differ; done: neither; miss: a refusal."
    )
    verdict: Support | None = Field(None, description="Only cases with a claim that is decided so.")
    owner: str | None = Field(None, min_length=1, max_length=LONGEST_NAME, description="Only cases of this owner.")
    text: str | None = Field(
        None, min_length=1, max_length=LONGEST_NAME, description="Words of the question, the answer or the case's id."
    )
    size: Annotated[int, Field(ge=1, le=MAX_CASES, description="Cases of one page.")] = MAX_CASES
    after: str | None = Field(None, min_length=1, max_length=64, description="The last case of the page before.")

    def wants(self, case: Case) -> bool:
        """Whether a case passes, by what it holds itself."""
        if self.owner is not None and case.owner != self.owner:
            return False
        wanted = (self.text or "").casefold().split()
        said = f"{case.query}\n{case.answer}\n{case.case_id}".casefold() if wanted else ""
        return all(word in said for word in wanted)

    def passes(self, summary: CaseSummary) -> bool:
        """Whether a case passes, by what was decided about it."""
        if self.state is not None and summary.state != self.state:
            return False
        return self.verdict is None or summary.counts.by_verdict[self.verdict] > 0


class CaseSummary(_Closed):
    """One case in a list. There are counts, and no score."""

    case_id: str
    owner: str
    answered_at: datetime
    query: str
    outcome: str
    state: CaseState
    revision: int = Field(description="Of its claims; 0 before the answer was split.")
    counts: CaseCounts

    @classmethod
    def of(cls, file: CaseFile) -> CaseSummary:
        """The summary of a case with its records."""
        case, counts = file.case, file.counts()
        return cls(
            case_id=case.case_id,
            owner=case.owner,
            answered_at=case.answered_at,
            query=case.query,
            outcome=case.outcome,
            state=_state(file, counts),
            revision=len(file.sets),
            counts=counts,
        )


def _state(file: CaseFile, counts: CaseCounts) -> CaseState:
    if file.case.honest_miss:
        return "miss"
    if counts.disagreed:
        return "disagreed"
    return "open" if counts.undecided or not file.sets else "done"


class DecisionMade(_Closed):
    """A decision as it was written."""

    decision_id: str
    decision: Decision


class RevisionMade(_Closed):
    """A change of the claims, without the claims themselves."""

    revision: int
    operation: Operation
    author: str
    at: datetime
    reason: str | None
    touched: tuple[str, ...]
    claim_set: str

    @classmethod
    def of(cls, claims: ClaimSet) -> RevisionMade:
        """Of a claim set."""
        own = {name: getattr(claims, name) for name in cls.model_fields if name != "claim_set"}
        return cls(claim_set=claims.claim_set_hash, **own)


class Sheet(_Closed):
    """One case with its rows; the limits stand first, disagreements before counts."""

    limits: dict[str, tuple[str, ...]]
    disagreements: tuple[Disagreement, ...]
    summary: CaseSummary
    case: Case
    claims: ClaimSet | None
    rows: tuple[Row, ...]
    history: tuple[DecisionMade, ...] = Field(description="Every decision, oldest first; none is ever taken back.")
    revisions: tuple[RevisionMade, ...] = Field(description="Every change of the claims, oldest first.")
    texts: dict[str, str] = Field(description="Text of every claim that there ever was, by its id.")
    notes: tuple[Note, ...]
    words: dict[str, dict[str, Word]] = Field(description="What codes and fields are called and mean, by language.")
    reviewer: str = Field(description="Who asks, as their decisions name them.")
    may_review: bool


class ClaimsEdit(_Closed):
    """A change of a case's claims; `rules` splits an answer that was not split yet."""

    operation: Literal["rules", "split", "merge", "immaterial", "material"]
    claim_id: ClaimId | None = None
    other_claim_id: ClaimId | None = Field(None, description="The neighbour to merge with.")
    at_word: str = Field("", max_length=LONGEST_TEXT, description="Words of the claim before which it is split.")
    reason: str = Field("", max_length=LONGEST_TEXT, description="Why a claim is marked.")


class DecisionBody(_Closed):
    """A reviewer's verdict on a claim; the reviewer is the key's."""

    claim_id: ClaimId
    verdict: Verdict
    supersedes: str | None = Field(None, max_length=64, description="The reviewer's decision on this claim before.")


class NoteBody(_Closed):
    """An open note; the author is the key's."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    claim_id: ClaimId | None = Field(None, description="The claim that it is about; null for the whole case.")


class NoteMade(_Closed):
    """A note as it was written."""

    note_id: str
    note: Note
