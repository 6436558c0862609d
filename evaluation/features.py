"""Features of every candidate of every question, read from the engine: what tuning learns from.

One row a candidate: the features of `query.features`, as reranking sees them, and whether the candidate is right.
Weighted sums of the columns are what the lexical leg, the fusion and the blend compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.dataset import Dataset, Question
from evaluation.index import TENANT, BuiltIndex, Progress
from evaluation.metrics import qrels
from query.features import collect as features_of
from query.request import MAX_SIZE, Language, SearchRequest
from query.search import SearchContext, rank


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one question.

    Attributes:
        chunk_ids: length n, in a fixed order.
        values: `(n, f)` float64, columns as `FeatureTable.names`.
        right: `(n,)` bool.
    """

    question: Question
    language: Language
    chunk_ids: tuple[str, ...]
    values: NDArray[np.float64]
    right: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """All candidates of all retrievable questions of one index."""

    names: tuple[str, ...]
    questions: tuple[Candidates, ...]

    def column(self, name: str) -> int:
        """Index of a feature's column."""
        return self.names.index(name)


def collect(dataset: Dataset, index: BuiltIndex, context: SearchContext, progress: Progress) -> FeatureTable:
    """Ask every pointed question and read its candidates' features.

    Candidates are those of all legs under the context's profile; every field of `profile.bm25`, boosted or not, has a
    column, so that a weight can be found for it.
    """
    asked = [question for question in dataset.questions if question.retrievable and question.kind != "aspects"]
    judged = qrels(asked, index.passages)
    # The order of the candidates is of no concern here: nothing is reranked.
    plain = replace(context, profile=context.profile.model_copy(update={"blend": None, "blends": {}}), reranker=None)
    rows, names = list[Candidates](), tuple[str, ...]()
    for number, question in enumerate(asked, start=1):
        names, row = _candidates(question, judged[question.id], plain)
        rows.append(row)
        progress(number, len(asked), "features")
    return FeatureTable(names=names, questions=tuple(rows))


def _candidates(
    question: Question, right: Mapping[str, int], context: SearchContext
) -> tuple[tuple[str, ...], Candidates]:
    ranking = rank(SearchRequest(tenant=TENANT, query=question.query, size=MAX_SIZE // 2), context)
    found = {candidate.chunk_id: candidate for candidate in (*ranking.lexical, *ranking.dense, *ranking.sparse)}
    ids = tuple(sorted(found))
    features = features_of(
        context.engine, ranking.plan, [found[chunk] for chunk in ids], list(context.profile.bm25), ranking.tokens
    )
    return features.names, Candidates(
        question=question,
        language=ranking.language,
        chunk_ids=ids,
        # What is not known of a passage says nothing for it.
        values=np.nan_to_num(features.values),
        right=np.array([chunk in right for chunk in ids], dtype=np.bool_),
    )
