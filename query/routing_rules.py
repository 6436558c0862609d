"""The route of a question by rules over its understanding; None where they do not say. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from query.question import Understanding
from query.request import Route

ROUTES: Final[tuple[Route, ...]] = ("metadata", "semantic", "both")


# Measures that are asked of one document, which the question describes.
OF_ONE: Final = frozenset(("when", "who", "amount"))


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """What the rules say, and why, in words."""

    route: Route | None
    reason: str


def by_rules(found: Understanding) -> RuleDecision:
    """The route that the rules are sure of.

    Metadata: a measure of documents, and every word understood. Both: documents are named and narrowed, and something
    else is asked of them. Semantic: no documents are named, or all of a kind, and a question of content.
    """
    asks_part = found.part not in {None, "party"} and found.measure in {"who", "count"}
    documents = found.typed or asks_part or (found.measure == "sum" and bool(found.names))
    other = (*found.content, *found.unknown)
    if found.compares:
        if found.typed:
            return RuleDecision("both", "documents are compared")
        return RuleDecision("semantic", "things are compared, not documents")
    if not documents and found.parts and found.names and found.content and not found.asks_how:
        return RuleDecision("both", f"what was written with a party: {', '.join(found.content)}")
    if not documents:
        return RuleDecision("semantic", "no documents are counted or named")
    if found.measure and not other:
        return RuleDecision("metadata", f"asks for {found.measure}, and every word of it was understood")
    if found.measure in OF_ONE and not found.content and set(found.unknown) <= set(found.described):
        return RuleDecision("metadata", f"asks for {found.measure} of a document: {', '.join(found.described)}")
    if found.content:
        return _of_content(found)
    if found.measure is None and found.restricted and other:
        return RuleDecision("both", f"documents are narrowed, and something is asked of them: {', '.join(other)}")
    return RuleDecision(None, f"not understood: {', '.join(other) or 'what is asked'}")


def _of_content(found: Understanding) -> RuleDecision:
    words = ", ".join(found.content)
    if found.restricted:
        return RuleDecision("both", f"documents are narrowed, and their content is asked for: {words}")
    if found.filters.type and found.measure:
        return RuleDecision("both", f"asks for {found.measure} by content: {words}")
    if found.part and found.measure == "who":
        return RuleDecision("both", f"asks for a {found.part} by content: {words}")
    if found.measure is None and found.parts:
        return RuleDecision("both", f"documents of parties, and their content: {words}")
    return RuleDecision("semantic", f"documents are not narrowed, their content is asked for: {words}")
