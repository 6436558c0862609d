"""The comparisons of a claim with a sentence of its passage, each with an outcome and a detail. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from evaluation.evidence import wording
from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.claims import split_answer
from evaluation.evidence.connectives import Cut
from evaluation.evidence.numbers import dates, quantities, same_date
from evaluation.evidence.statements import CELLS, equal, sentences_of, stands

# An exception is told where one sentence of the answer holds more than this share of its words.
TOLD_WORDS: Final = 0.6


# Characters at the beginning of a sentence in which a condition shows that it narrows the sentence before.
OPENING: Final = 40


# Content words at its beginning that say what it is about.
SUBJECT_WORDS: Final = 4


Check = Literal[
    "numbers",
    "units",
    "dates",
    "names",
    "identifiers",
    "negation",
    "duty",
    "cause",
    "scope",
    "opposites",
    "exceptions",
    "words",
]


Outcome = Literal["agrees", "conflicts", "absent", "omitted", "not_applicable"]


class CheckResult(EvidenceRecord):
    """One comparison of the claim with the passage."""

    check: Check
    outcome: Outcome
    detail: str


@dataclass
class Findings:
    results: list[CheckResult] = field(default_factory=list)

    def add(self, check: Check, outcome: Outcome, detail: str = "") -> None:
        self.results.append(CheckResult(check=check, outcome=outcome, detail=detail))

    def any(self, outcome: Outcome) -> bool:
        return any(result.outcome == outcome for result in self.results)


def compare_quantities(claim: str, sentence: str, passage: str, found: Findings) -> None:
    """Numbers of the claim in the sentence, with their units."""
    here, anywhere = quantities(sentence), quantities(passage)
    for number in quantities(claim):
        if any(equal(number, other) for other in here):
            found.add("numbers", "agrees", str(number))
        elif other := next((one for one in here if one.value == number.value), None):
            found.add("units", "conflicts", f"claimed {number}, stated {other}")
        elif others := [one for one in here if one.unit == number.unit and number.unit is not None]:
            stated = ", ".join(map(str, others))
            found.add("numbers", "conflicts", f"claimed {number}, stated {stated}")
        else:
            elsewhere = " (elsewhere in the passage)" if any(equal(number, one) for one in anywhere) else ""
            found.add("numbers", "absent", f"{number} is not in the sentence{elsewhere}")


def compare_rates(claim: str, clause: str, found: Findings) -> None:
    """A sum counted by the hour is not one counted by the day, and not the whole sum."""
    if not quantities(claim):
        return
    claimed, stated = wording.rates(claim), wording.rates(clause)
    if claimed and stated and claimed.isdisjoint(stated):
        found.add(
            "units", "conflicts", f"claimed per {', '.join(sorted(claimed))}, stated per {', '.join(sorted(stated))}"
        )
    elif stated and not claimed:
        found.add("units", "omitted", f"counted per {', '.join(sorted(stated))}")


def compare_dates(claim: str, sentence: str, found: Findings) -> None:
    """Dates of the claim in the sentence, as far as both go."""
    stated = dates(sentence)
    for one in dates(claim):
        if any(same_date(one, other) for other in stated):
            found.add("dates", "agrees", one)
        else:
            found.add(
                "dates", "conflicts" if stated else "absent", f"claimed {one}, stated {', '.join(stated) or 'none'}"
            )


def compare_listed(check: Check, wanted: Sequence[str], passage: str, found: Findings) -> None:
    """Texts that must stand in the passage as they are."""
    for one in wanted:
        there = one.casefold() in passage.casefold()
        found.add(check, "agrees" if there else "absent", one)


def compare_negation(claim: str, lead: str, clause: str, sentence: str, found: Findings) -> None:
    """Whether claim and passage deny the same."""
    claimed_words, stated_words = wording.denied(claim), wording.denied(sentence)
    for word in wording.content_words(claim):
        stems = wording.stems(word)
        ours, theirs = not stems.isdisjoint(claimed_words), not stems.isdisjoint(stated_words)
        if ours != theirs and not wording.missing_words((word,), sentence):
            found.add("negation", "conflicts", f"'{word}' is denied in the {'claim' if ours else 'passage'} alone")
            return
    if not claimed_words.isdisjoint(stated_words):
        found.add("negation", "agrees")
        return
    if wording.LEAVE.search(claim) and wording.FORBIDDEN.search(clause):
        found.add("negation", "conflicts", "a permission is claimed, the passage forbids")
        return
    claimed, stated = wording.negated(claim), wording.negated(clause)
    if claimed == stated:
        if claimed:
            found.add("negation", "agrees")
        return
    if stated and not claimed and wording.negated(lead):
        return
    if claimed and wording.negated(sentence):
        found.add("negation", "omitted", "the sentence denies something, perhaps not this")
        return
    if claimed:
        found.add("negation", "conflicts", "the claim denies what the passage says")
    else:
        found.add("negation", "omitted", "the passage denies something that the claim leaves out")


def compare_duty(claim: str, lead: str, clause: str, sentence: str, found: Findings) -> None:
    """Duty against permission."""
    whole = f"{lead} {claim}"
    must, may = wording.DUTY.search(claim), wording.LEAVE.search(whole)
    said_may = wording.LEAVE.search(clause)
    said_must = wording.DUTY.search(clause) or (not said_may and wording.DUTY.search(sentence))
    if must and not said_must and said_may:
        found.add("duty", "conflicts", "a duty is claimed, a permission is stated")
    elif wording.LEAVE.search(claim) and said_must and not said_may:
        found.add("duty", "conflicts", "a permission is claimed, a duty is stated")
    elif must and not said_must and not may:
        found.add("duty", "omitted", "a duty is claimed, none is stated in so many words")


def compare_cause(claim: str, sentence: str, found: Findings) -> None:
    """A cause that is claimed must be stated."""
    if wording.has_cause(claim):
        stated = wording.has_cause(sentence)
        found.add("cause", "agrees" if stated else "absent", "" if stated else "the passage gives no cause")


def compare_scope(claim: str, lead: str, clause: str, sentence: str, found: Findings) -> None:
    """Words that widen the claim or narrow the passage."""
    whole = f"{lead} {claim}"
    if (wide := wording.ALWAYS.search(claim)) and not wording.ALWAYS.search(sentence):
        found.add("scope", "absent", f"'{wide.group().strip()}' is not in the passage")
    if (hedge := wording.HEDGE.search(clause)) and not wording.HEDGE.search(claim):
        found.add("scope", "omitted", f"'{hedge.group().strip()}'")
    named = {match.group().casefold() for match in wording.DAY_NAME.finditer(claim)}
    held = {match.group().casefold() for match in wording.DAY_NAME.finditer(sentence)}
    if named - held:
        found.add("dates", "absent", f"{', '.join(sorted(named - held))} is not in the sentence")
    counted = bool(quantities(claim))
    if CELLS in clause:
        cells = [cell for cell in clause.split(CELLS) if any(stands(number, cell) for number in quantities(claim))]
        clause = CELLS.join(cells)
    for name, pattern in wording.NARROWING.items():
        if name != "only" and not counted:
            continue
        stated = pattern.search(clause)
        if stated and not pattern.search(whole):
            found.add("scope", "omitted", f"{name}: '{stated.group().strip()}'")
        elif not pattern.search(sentence) and pattern.search(claim) and name != "at most":
            found.add("scope", "absent", f"{name} is not in the passage")


def compare_inside(
    claim: str, answer: str, wanted: tuple[str, ...], clause: str, sentence: str, found: Findings
) -> None:
    """A number of the statement that the answer leaves out: "employees at grade 9 and above" are not all employees.
    And another number of the same unit in its sentence, and words in another order."""
    if CELLS in clause:
        return
    if wording.reversed_order(wanted, clause):
        found.add("words", "omitted", "the words stand in another order: who does it to whom?")
    told = [*quantities(claim), *quantities(answer)]
    units = {number.unit for number in quantities(claim)} - {None}
    others = [number for number in quantities(sentence) if number.unit in units]
    for number in dict.fromkeys([*quantities(clause), *others]):
        if not any(equal(number, one) for one in told):
            found.add("scope", "omitted", f"{number} is left out")


def compare_exceptions(claim: str, answer: str, passage: str, sentence: str, found: Findings) -> None:
    """A condition or exception of the sentence, or of the one behind it, that the answer does not mention."""
    sentences = sentences_of(passage)
    at = sentences.index(sentence) if sentence in sentences else 0
    following = sentences[at + 1] if at + 1 < len(sentences) else ""
    table = CELLS in sentence
    told = [*sentences_of(answer), claim]
    for text in (sentence,) if table else (sentence, following):
        for span in split_answer(text):
            part = text[span.start : span.end]
            if text is following and not _carries_on(following, claim):
                continue
            if not _qualifies(span.cut, part) or wording.EVEN.search(part):
                continue
            words = wording.content_words(part)
            share = max(1 - len(wording.missing_words(words, one)) / len(words) for one in told) if words else 1.0
            if share <= TOLD_WORDS:
                found.add("exceptions", "omitted", part)


def _qualifies(cut: Cut, part: str) -> bool:
    """Whether a part of a sentence narrows what the rest of it says."""
    turns = wording.CONTRAST.match(part) is not None and wording.negated(part)
    return cut == "exception" or turns or wording.CONDITION.search(part) is not None


def _carries_on(sentence: str, claim: str) -> bool:
    """Whether a sentence begins by narrowing what the claim took from the one before it."""
    first = sentence.lstrip()[:OPENING]
    about = wording.content_words(sentence)[:SUBJECT_WORDS]
    same = len(wording.missing_words(about, claim)) < len(about)
    return (same and wording.CONDITION.search(first) is not None) or first.startswith(
        ("However", "But ", "This does not", "The exception", "אולם", "ואולם", "אך ", "אבל ", "הדבר אינו", "האמור אינו")
    )
