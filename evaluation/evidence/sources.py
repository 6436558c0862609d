"""What the marks of a claim point at: citations, and the passages behind them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.cases import Case, DisplayedCitation, FrozenPassage
from evaluation.evidence.claim_sets import Claim
from evaluation.evidence.claims import MARK
from evaluation.evidence.decisions import Attachment
from search_config.records import Locator
from search_config.sentences import sentence_starts


class AttachedSource(EvidenceRecord):
    """One citation of a claim, and what stands at its place."""

    index: int = Field(ge=1)
    document_id: str | None = Field(None, description="Null where no citation of the answer has this number.")
    document_name: str | None = None
    version: int | None = None
    passage_id: str | None = None
    rank: int | None = Field(None, description="Of the passage in the retrieval; null where it was not retrieved.")
    locator: Locator | None = None
    quote: str | None = Field(None, description="As displayed.")
    passage_text: str | None = Field(None, description="The exact text of the retrieved passage.")
    resolves: bool = Field(description="Whether the retrieved passage holds the quote at the locator.")
    problem: str | None = None


def marks_of(answer: str, claim: Claim) -> tuple[int, ...]:
    """Numbers of the citations at a claim: its own marks; without any, the next marks of the same sentence."""
    own = _numbers(answer[claim.from_ : claim.to])
    if own:
        return own
    line_end = answer.find("\n", claim.to)
    stop = len(answer) if line_end < 0 else line_end
    starts = sentence_starts(answer, claim.from_, stop)
    later = [start for start in starts if start >= claim.to]
    sentence_end = later[0] if later else stop
    rest = answer[claim.to : sentence_end]
    # Marks behind the full stop belong to the sentence before it.
    tail = answer[sentence_end:stop]
    while (mark := MARK.match(tail)) is not None:
        rest += mark.group()
        tail = tail[mark.end() :].lstrip(" \t,.;")
    first = MARK.search(rest)
    if first is None:
        return ()
    found = [first.group()]
    at = first.end()
    while (mark := MARK.match(rest, at)) is not None:
        found.append(mark.group())
        at = mark.end()
    return _numbers("".join(found))


def lead_of(answer: str, claim: Claim) -> str:
    """The part of the claim's sentence that stands before it: a claim may lean on it ("within six hours")."""
    line_start = answer.rfind("\n", 0, claim.from_) + 1
    starts = [line_start, *sentence_starts(answer, line_start, claim.from_ + 1)]
    return answer[max(start for start in starts if start <= claim.from_) : claim.from_]


def source_of(case: Case, index: int) -> AttachedSource:
    """What a mark points at."""
    citation = next((one for one in case.citations if one.index == index), None)
    if citation is None:
        return AttachedSource(index=index, resolves=False, problem="The answer has no citation of this number.")
    passage = _passage_of(case, citation)
    problem = _problem(citation, passage)
    return AttachedSource(
        index=index,
        document_id=citation.document_id,
        document_name=citation.document_name,
        version=citation.version,
        passage_id=citation.chunk_id,
        rank=passage.rank if passage else None,
        locator=citation.locator,
        quote=citation.quote,
        passage_text=passage.text if passage else None,
        resolves=problem is None,
        problem=problem,
    )


def _passage_of(case: Case, citation: DisplayedCitation) -> FrozenPassage | None:
    """The frozen passage of a citation. Words of a field that stand in no passage of the index are frozen as they are,
    several of them without an id: their places tell them apart."""
    same = [one for one in case.passages if one.chunk_id == citation.chunk_id]
    if citation.chunk_id:
        return next(iter(same), None)
    own = (one for one in same if one.document_id == citation.document_id)
    return next((one for one in own if one.locator.from_ == citation.locator.from_), None)


def _problem(citation: DisplayedCitation, passage: FrozenPassage | None) -> str | None:
    if passage is None and citation.locator.from_ == citation.locator.to:
        return "The citation names a document and no words of it."
    if passage is None:
        return "The cited passage is not among the retrieved ones."
    start = citation.locator.from_ - passage.locator.from_
    end = citation.locator.to - passage.locator.from_
    if start < 0 or end > len(passage.text):
        return "The locator lies outside the passage."
    if passage.text[start:end] != citation.quote:
        return "The locator resolves to other text than the quote."
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(mark[1:-1]) for mark in MARK.findall(text)))


def attachment_seen(sources: Sequence[AttachedSource]) -> Attachment:
    """What marks and locators show."""
    if not sources:
        return "missing"
    return "attached" if any(source.resolves for source in sources) else "points_nowhere"
