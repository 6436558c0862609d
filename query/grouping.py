"""One row a document, on request. Done here and not by the engine, whose collapse knows one leg alone. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from query.candidate import Candidate

# Passages of one document that a grouped answer shows.
PER_DOCUMENT: Final = 1


def group_by_document(hits: Sequence[Candidate], per_document: int = PER_DOCUMENT) -> tuple[Candidate, ...]:
    """The first `per_document` passages of each document, in the ranking's order: documents stand as their best
    passages do.

    How many there are is how many rows can be reached by paging: documents without a candidate are not counted.
    """
    seen: Counter[str] = Counter()
    kept = []
    for hit in hits:
        document = hit.document_id
        if seen[document] < per_document:
            seen[document] += 1
            kept.append(hit)
    return tuple(kept)
