"""Raw scores on one scale: BM25 + c x cosine + s x sparse score.

    score(d) = w_bm25 BM25(d) + w_knn c max(0, cos(d)) + w_sparse s sparse(d)

With equal weights the order is that of BM25 + c x cosine. Cosines of one query differ by little and start high, so a
missing one would cost a hit more than all its words are worth. So a hit that a leg did not return counts as the leg's
last one, the most that it can have there: on the development questions the order of the first 20 is the same as with
the scores themselves, which take another round trip. A negative cosine is no evidence, not evidence against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from query.fusion.base import Scored
from query.request import Leg


@dataclass(frozen=True, slots=True)
class RawScores:
    """BM25 as it is, the cosine times `c`, the sparse score times `s`."""

    c: float
    s: float = 1.0
    missing_as_last: bool = True

    def contributions(self, leg: Leg, hits: Sequence[Scored]) -> list[float]:
        """BM25, `c * max(0, cosine)`, or `s` times the sparse score."""
        factor = {"bm25": 1.0, "knn": self.c, "sparse": self.s}[leg]
        return [factor * max(0.0, hit.score) for hit in hits]
