"""Claim sets: the claims of a case at one revision; every change by a person is a new revision. Pure.

Revisions form a chain by hash; nothing is overwritten. A change names the claims that it touched: their decisions count
no longer, all others go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from evaluation.evidence.base import EvidenceRecord, Moment, Name, Sha256, Written
from evaluation.evidence.canonical import content_id
from evaluation.evidence.cases import Case
from evaluation.evidence.claims import Span, separators_only, split_answer, words
from evaluation.evidence.connectives import Cut
from search_config.errors import InvalidRequest, NotFound

CLAIMS_FORMAT: Final = "mafteach-evidence-claims/1"
# As of chunk ids: 96 bits.
CLAIM_ID_DIGITS: Final = 24
RULES: Final = "rules"
Operation = Literal["rules", "model", "split", "merge", "immaterial", "material"]


class Claim(EvidenceRecord):
    """`answer[from:to]`: what can be right or wrong by itself."""

    claim_id: str
    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)
    text: str = Field(min_length=1)
    cut: Cut = Field(description="Why the claim begins where it does.")
    material: bool = Field(description="Wrong or missing, it would change the reader's decision.")
    why_immaterial: str | None = None


class ClaimSet(EvidenceRecord):
    """All claims of a case at one revision."""

    format: Literal["mafteach-evidence-claims/1"] = CLAIMS_FORMAT
    case_id: Sha256
    revision: int = Field(ge=1)
    supersedes: Sha256 | None = Field(None, description="Hash of the revision before.")
    operation: Operation
    touched: tuple[str, ...] = Field((), description="Claims whose decisions count no longer.")
    author: Name
    at: Moment
    reason: Written | None = None
    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _chained(self) -> Self:
        if (self.revision == 1) != (self.supersedes is None):
            raise ValueError("every revision but the first names the one before it")
        if any(later.from_ < earlier.to for earlier, later in pairwise(self.claims)):
            raise ValueError("claims overlap or are out of order")
        return self

    @property
    def claim_set_hash(self) -> str:
        """SHA-256 over the claims alone: equal claims of one case have one hash, whoever made them."""
        return content_id([self.case_id, [claim.model_dump(mode="json", by_alias=True) for claim in self.claims]])

    @property
    def revision_hash(self) -> str:
        """SHA-256 over the whole revision, with author and moment."""
        return content_id(self)

    @property
    def material(self) -> tuple[Claim, ...]:
        """The claims that are reviewed."""
        return tuple(claim for claim in self.claims if claim.material)

    def claim(self, claim_id: str) -> Claim:
        """One claim.

        Raises:
            NotFound
        """
        for claim in self.claims:
            if claim.claim_id == claim_id:
                return claim
        raise NotFound(
            "There is no such claim.", where=claim_id, remedy="See: mafteach evidence claims CASE --tenant T"
        )


def claim_id(case_id: str, start: int, end: int) -> str:
    """Id of a claim: the same for the same characters of the same case, at every revision."""
    return content_id([case_id, start, end])[:CLAIM_ID_DIGITS]


def first_claims(case: Case, *, at: datetime) -> ClaimSet:
    """Revision 1, by the rules. A refusal asserts nothing and has no claims."""
    spans = () if case.honest_miss else split_answer(case.answer)
    return ClaimSet(
        case_id=case.case_id,
        revision=1,
        operation="rules",
        author=RULES,
        at=at,
        claims=tuple(_claim(case, span) for span in spans),
    )


def proposed_by_model(case: Case, texts: Sequence[str], *, model: str, at: datetime) -> ClaimSet:
    """Revision 1, by a model: the claims that it names, in their order, each verbatim.

    Raises:
        InvalidRequest: a text that does not stand in the answer after the one before, or words that no claim holds.
    """
    spans: list[Span] = []
    reached = 0
    for text in texts:
        found = case.answer.find(text, reached) if text.strip() else -1
        if found < 0:
            raise InvalidRequest("A proposed claim does not stand in the answer.", where=repr(text[:80]))
        spans.append(Span(found, found + len(text), "model"))
        reached = found + len(text)
    made = ClaimSet(
        case_id=case.case_id,
        revision=1,
        operation="model",
        author=model,
        at=at,
        claims=tuple(_claim(case, span) for span in spans),
    )
    check_claims(case, made)
    return made


def split_claim(case: Case, current: ClaimSet, claim_id_: str, at_word: str, *, author: str, at: datetime) -> ClaimSet:
    """The next revision: one claim becomes two, the second begins with `at_word` (a text that stands in it once).

    Raises:
        NotFound, InvalidRequest
    """
    claim = current.claim(claim_id_)
    if not at_word.strip() or claim.text.count(at_word) != 1:
        raise InvalidRequest(
            f"The text stands {claim.text.count(at_word) if at_word.strip() else 0} times in the claim.",
            where=repr(at_word[:80]),
            remedy="Give words that stand in it exactly once.",
        )
    middle = claim.from_ + claim.text.index(at_word)
    left = case.answer[claim.from_ : middle].rstrip()
    if not words(left) or not words(case.answer[middle : claim.to]):
        raise InvalidRequest("One of the halves would hold no words.", where=repr(at_word[:80]))
    parts = (
        _claim(case, Span(claim.from_, claim.from_ + len(left), claim.cut)),
        _claim(case, Span(middle, claim.to, "person")),
    )
    return _next(current, {claim.claim_id: parts}, "split", author=author, at=at)


def merge_claims(case: Case, current: ClaimSet, first: str, second: str, *, author: str, at: datetime) -> ClaimSet:
    """The next revision: two neighbours become one claim, with what stands between them.

    Raises:
        NotFound, InvalidRequest: they are no neighbours.
    """
    ids = [claim.claim_id for claim in current.claims]
    left, right = sorted((current.claim(first), current.claim(second)), key=lambda claim: claim.from_)
    if ids.index(right.claim_id) - ids.index(left.claim_id) != 1:
        raise InvalidRequest("Only neighbours can be merged.", where=f"{first}, {second}")
    merged = _claim(case, Span(left.from_, right.to, left.cut))
    return _next(current, {left.claim_id: (merged,), right.claim_id: ()}, "merge", author=author, at=at)


def mark_claim(
    current: ClaimSet, claim_id_: str, *, material: bool, reason: str, author: str, at: datetime
) -> ClaimSet:
    """The next revision: a claim is marked immaterial, or material again, with a written reason.

    Raises:
        NotFound, InvalidRequest: it is marked so already, or there is no reason.
    """
    claim = current.claim(claim_id_)
    if claim.material == material:
        raise InvalidRequest("The claim is marked so already.", where=claim_id_)
    if not reason.strip():
        raise InvalidRequest("A reason is missing.", where="reason", remedy="Write why.")
    marked = claim.model_copy(update={"material": material, "why_immaterial": None if material else reason.strip()})
    return _next(
        current,
        {claim_id_: (marked,)},
        "material" if material else "immaterial",
        author=author,
        at=at,
        reason=reason,
    )


def check_claims(case: Case, claims: ClaimSet) -> None:
    """Hold a claim set against its answer: verbatim, in order, nothing left out.

    Raises:
        InvalidRequest: naming the first claim that does not hold.
    """
    reached = 0
    for claim in claims.claims:
        if case.answer[claim.from_ : claim.to] != claim.text or claim.claim_id != claim_id(
            case.case_id, claim.from_, claim.to
        ):
            raise InvalidRequest("A claim is not a verbatim span of the answer.", where=claim.claim_id)
        if not separators_only(case.answer[reached : claim.from_]):
            raise InvalidRequest("Words of the answer belong to no claim.", where=f"before {claim.claim_id}")
        reached = claim.to
    if not case.honest_miss and not separators_only(case.answer[reached:]):
        raise InvalidRequest("Words of the answer belong to no claim.", where="the end of the answer")


def check_chain(sets: Sequence[ClaimSet]) -> None:
    """Hold revisions against each other.

    Raises:
        InvalidRequest: a revision that does not follow the one before.
    """
    for number, one in enumerate(sets, start=1):
        before = sets[number - 2].revision_hash if number > 1 else None
        if one.revision != number or one.supersedes != before:
            raise InvalidRequest("A revision of the claims does not follow the one before.", where=f"revision {number}")


def _claim(case: Case, span: Span) -> Claim:
    return Claim(
        claim_id=claim_id(case.case_id, span.start, span.end),
        from_=span.start,
        to=span.end,
        text=case.answer[span.start : span.end],
        cut=span.cut,
        material=span.material,
        why_immaterial=span.why_immaterial,
    )


def _next(
    current: ClaimSet,
    changes: dict[str, tuple[Claim, ...]],
    operation: Operation,
    *,
    author: str,
    at: datetime,
    reason: str | None = None,
) -> ClaimSet:
    claims = tuple(new for claim in current.claims for new in changes.get(claim.claim_id, (claim,)))
    return ClaimSet(
        case_id=current.case_id,
        revision=current.revision + 1,
        supersedes=current.revision_hash,
        operation=operation,
        touched=tuple(changes),
        author=author,
        at=at,
        reason=reason,
        claims=claims,
    )
