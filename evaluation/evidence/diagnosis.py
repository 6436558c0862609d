"""Possible causes of a bad row, from what is visible in the case; none is proven. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.evidence.cases import Case, FrozenPassage
from evaluation.evidence.decisions import Cause, Diagnosis
from evaluation.evidence.proposal import Proposal, propose
from evaluation.evidence.sources import AttachedSource

# What may explain each observation, and what would tell.
_HYPOTHESES: Final[dict[Cause, tuple[str, str]]] = {
    "not_in_corpus": (
        "The document was never ingested, failed, or was replaced by a version without it.",
        "Look for the document in `mafteach documents list`, in every state.",
    ),
    "not_retrieved": (
        "The passage ranked below those that were handed on.",
        "Run the query with --explain and a larger size, and find the passage's rank in each leg.",
    ),
    "retrieved_not_cited": (
        "The answer was written from this passage and cites another, or from none.",
        "Read this passage against the claim; compare the prompt's order of passages.",
    ),
    "qualification_omitted": (
        "The answer was shortened, or was cut from the passage before its qualification.",
        "Read the sentence to its end and decide whether the reader's decision would change.",
    ),
    "cited_contradicts": (
        "The answer changed a number, a unit or a negation, or drew on another version of the source.",
        "Compare claim and sentence word by word, and other versions of the document.",
    ),
    "locator_elsewhere": (
        "Offsets were counted in another text, or the document has changed since.",
        "Compare content hash and canonical text of the cited version.",
    ),
}


def diagnose(
    case: Case,
    claim: str,
    sources: Sequence[AttachedSource],
    proposal: Proposal,
    others: Sequence[FrozenPassage],
    *,
    lead: str,
) -> tuple[Diagnosis, ...]:
    """What can be seen, each observation with a hypothesis and a next check."""
    found = [_diagnosis("locator_elsewhere", f"[{one.index}] {one.problem}") for one in sources if not one.resolves]
    if proposal.support == "supported":
        return tuple(found)
    conflicts = [check for check in proposal.checks if check.outcome == "conflicts"]
    if conflicts:
        told = "; ".join(f"{check.check}: {check.detail}" for check in conflicts)
        found.append(_diagnosis("cited_contradicts", f"{told}. The sentence compared: {proposal.sentence}"))
    omitted = [check for check in proposal.checks if check.outcome == "omitted"]
    if omitted:
        found.append(_diagnosis("qualification_omitted", "; ".join(check.detail for check in omitted)))
    for passage in others:
        if propose(claim, [passage.text], lead=lead, answer=case.answer).support == "supported":
            place = f"rank {passage.rank}" if passage.rank else "not ranked by the search"
            seen = f"Passage {passage.chunk_id} ({place}, {passage.document_name}) agrees by rules."
            found.append(_diagnosis("retrieved_not_cited", seen))
            break
    return (*found, *_expected(case))


def _expected(case: Case) -> list[Diagnosis]:
    """Passages that a set expects and that were not retrieved."""
    if case.expected is None:
        return []
    listed = {one.name for one in case.corpus.documents}
    found = []
    for wanted in case.expected.passages:
        if any(wanted.quote in passage.text for passage in case.passages):
            continue
        if wanted.document_name in listed:
            seen = f"{wanted.document_name} is in the corpus; no retrieved passage holds: {wanted.quote}"
            found.append(_diagnosis("not_retrieved", seen))
        elif case.corpus.complete:
            seen = f"{wanted.document_name} is not among the documents of the snapshot."
            found.append(_diagnosis("not_in_corpus", seen))
    return found


def _diagnosis(cause: Cause, observation: str) -> Diagnosis:
    hypothesis, check = _HYPOTHESES[cause]
    return Diagnosis(cause=cause, observation=observation, hypothesis=hypothesis, next_check=check)
