"""What rules say of a claim against its passages: a proposal, shown apart, that never counts as a verdict. Pure.

Numbers with their units, dates, names, negation, duty and permission, cause, and words that narrow or widen are held
against the sentence of the passage that holds most of the claim's words. The rules are made to err on one side: where a
doubt is left they do not propose *supported*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from evaluation.evidence import wording
from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.checks import (
    CheckResult,
    Findings,
    compare_cause,
    compare_dates,
    compare_duty,
    compare_exceptions,
    compare_inside,
    compare_listed,
    compare_negation,
    compare_quantities,
    compare_rates,
    compare_scope,
)
from evaluation.evidence.claims import MARK
from evaluation.evidence.decisions import Attachment, Support
from evaluation.evidence.numbers import dates, quantities
from evaluation.evidence.statements import (
    clause_of,
    nearest_sentence,
    share_of,
    share_together,
    statements_of,
    with_header,
)
from query.language import identifiers
from search_config.language import language_of

RULES_VERSION: Final = "rules/1"


# Shares of a claim's content words that its passage holds. Chosen on examples/evidence: below the first the rules can't
# tell a paraphrase from another statement, below the second the passage speaks of something else.
ENOUGH_WORDS: Final = 0.8


FEW_WORDS: Final = 0.35


# Share of a claim's words that one clause of the sentence holds: words that are spread over several statements may
# come together to a new one.
ENOUGH_IN_CLAUSE: Final = 0.7


class Proposal(EvidenceRecord):
    """What rules would say. Not a verdict."""

    by: str = RULES_VERSION
    standing: Literal["a proposal, not a verdict"] = "a proposal, not a verdict"
    support: Support
    missing: str | None = None
    checks: tuple[CheckResult, ...] = ()
    sentence: str | None = Field(None, description="The sentence of the passage that was compared.")
    words_held: float | None = Field(None, ge=0, le=1, description="Share of the claim's content words in the passage.")


# Best first: which of several passages speaks for a claim.
_ORDER: Final[tuple[Support, ...]] = ("supported", "partially_supported", "cannot_be_evaluated", "not_supported")


def propose(
    claim: str, passages: Sequence[str], *, lead: str = "", answer: str = "", attachment: Attachment = "attached"
) -> Proposal:
    """The rules' proposal for a claim.

    Args:
        claim: verbatim.
        passages: texts of the cited passages that resolve.
        lead: the part of its sentence before the claim.
        answer: the whole answer: an exception that stands in another claim of it is not omitted.
        attachment: what the marks show; without an attached passage there is nothing to compare.
    """
    if attachment != "attached" or not passages:
        return Proposal(support="cannot_be_evaluated", missing="an attached passage")
    text, before = MARK.sub(" ", claim), MARK.sub(" ", lead)
    proposals = [_against(text, before, MARK.sub(" ", answer), passage) for passage in passages]
    return min(proposals, key=lambda one: (_ORDER.index(one.support), -(one.words_held or 0.0)))


def _against(claim: str, lead: str, answer: str, passage: str) -> Proposal:
    if language_of(claim) != language_of(passage):
        return Proposal(support="cannot_be_evaluated", missing="a reading across languages; rules compare words of one")
    wanted = wording.content_words(claim)
    located = (*wanted, *(word for word in wording.content_words(lead) if word not in wanted))
    sentence = nearest_sentence(passage, located, quantities(claim))
    near = with_header(passage, sentence)
    found = Findings()
    compare_quantities(claim, sentence, passage, found)
    compare_dates(claim, sentence, found)
    compare_listed("identifiers", tuple(one for one in identifiers(claim) if not dates(one)), passage, found)
    compare_listed("names", wording.names(claim), passage, found)
    clause = clause_of(sentence, (*wanted, *located), quantities(claim))
    compare_negation(claim, lead, clause, sentence, found)
    compare_duty(claim, lead, clause, sentence, found)
    if opposed := wording.opposed(claim, clause):
        found.add("opposites", "conflicts", f"claimed '{opposed[0]}', stated '{opposed[1]}'")
    compare_cause(claim, sentence, found)
    compare_rates(claim, clause, found)
    compare_scope(claim, lead, clause, sentence, found)
    compare_inside(claim, answer, wanted, clause, sentence, found)
    compare_exceptions(claim, answer, passage, sentence, found)
    base = located if len(wanted) <= 1 else wanted
    missing = wording.missing_words(base, near)
    held = share_of(base, near)
    parts = [base] if base is located else [wording.content_words(part) for part in statements_of(claim)]
    together = min((share_together(part, sentence) for part in parts if part), default=held)
    if together < ENOUGH_IN_CLAUSE:
        held = min(held, together)
    enough = held >= ENOUGH_WORDS
    found.add("words", "agrees" if enough else "absent", "" if enough else f"not in the sentence: {', '.join(missing)}")
    support, lacks = _verdict(found, held)
    return Proposal(
        support=support,
        missing=lacks,
        checks=tuple(found.results),
        sentence=sentence.strip(),
        words_held=round(held, 4),
    )


def _verdict(found: Findings, held: float) -> tuple[Support, str | None]:
    if held < FEW_WORDS:
        return "not_supported", None
    if found.any("conflicts"):
        return "not_supported", None
    facts_absent = any(result.outcome == "absent" and result.check != "words" for result in found.results)
    if facts_absent:
        return "not_supported", None
    if held < ENOUGH_WORDS:
        return "cannot_be_evaluated", "a reading by meaning; the words differ too much for rules"
    return ("partially_supported" if found.any("omitted") else "supported"), None
