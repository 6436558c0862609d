"""Passages that hold what was asked for as it is written stand before those that hold something like it. Pure.

Embeddings of E-4031 and E-4032 are nearly equal, and rank fusion lets a good place in one leg outweigh an exact match
in the other; so a question that names an identifier gets its holders first, whatever the weights are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from query.candidate import Candidate, Passage
from query.exchange import exchange
from query.language import IDENTIFIER_PATTERNS, bare, identifiers

# What parts tokens in the analyzer of the `exact` sub-fields, and what is cut from their ends.
_SEPARATORS: Final = re.compile('[\\s,;|(){}\\[\\]<>="\u201c-\u201f*?!\u2013\u2014]+|:(?!\\d)|(?<!\\d):')
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
# A date says when, not what: the passage that answers often names another one. And a short code in a question (A4, B12,
# 2nd) is a word of it: digits as many as these, or a mark inside, make a name that has neighbours.
DISTINCTIVE_DIGITS: Final = 3
_MARK_INSIDE: Final = re.compile(r"\w[-/_.:#@]\w")


def asked_exactly(query: str) -> tuple[str, ...]:
    """The identifiers of a query that its answer is expected to hold: no dates, no short codes."""
    return tuple(name for name in identifiers(query) if not _is_date(name) and _is_distinctive(name))


def held(passage: Passage, names: Sequence[str]) -> int:
    """How many of the identifiers stand in the passage, its title or its section, as the `exact` sub-fields see it."""
    wanted = {_folded(name) for name in names}
    # The cheap look first: few passages have the letters at all.
    text = "\n".join((passage.title, passage.section, passage.content))
    folded = text.casefold()
    near = {name for name in wanted if name in folded}
    return len(near & _tokens(text)) if near else 0


def holders_first(ranking: Sequence[Candidate], names: Sequence[str], query: str = "") -> tuple[Candidate, ...]:
    """The ranking with those first that hold most of the identifiers; the order among equals stays.

    Where the query asks for what was answered in a file, for what was asked there, or for what somebody said
    (`query.exchange`), sections of that side, or of that one, stand before the file's others.
    """
    if not names:
        return tuple(ranking)

    def place(candidate: Candidate) -> tuple[int, int]:
        holds = held(candidate.passage, names)
        return -holds, -exchange(query, candidate.passage.section) if holds else 0

    return tuple(sorted(ranking, key=place))


def _is_date(name: str) -> bool:
    return IDENTIFIER_PATTERNS["date"].fullmatch(name) is not None


def _is_distinctive(name: str) -> bool:
    has_no_digit = not any(character.isdigit() for character in name)  # getUserById
    return (
        has_no_digit
        or sum(character.isdigit() for character in name) >= DISTINCTIVE_DIGITS
        or _MARK_INSIDE.search(name) is not None
    )


def _tokens(text: str) -> set[str]:
    return {_folded(token) for token in _SEPARATORS.split(text) if token}


def _folded(token: str) -> str:
    return _EDGES.sub("", bare(token)).casefold()
