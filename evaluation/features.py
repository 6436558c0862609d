"""Features of every candidate of every question, read from the engine: what tuning learns from.

One row a candidate: the raw BM25 score of each searched field, the identifiers found, the cosine; and whether the
candidate is right. Weighted sums of the columns are what the lexical leg and the fusion compute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.dataset import Dataset, Question
from evaluation.index import TENANT, BuiltIndex, Progress
from evaluation.metrics import qrels
from query import build
from query.language import identifiers, query_language
from query.profile import Profile
from query.request import MAX_SIZE, Language, SearchRequest
from query.search import SearchContext, rank

COSINE: Final = "cosine"
IDENTIFIER: Final = "identifier"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one question.

    Attributes:
        chunk_ids: length n, in a fixed order.
        values: `(n, f)` float64, columns as `FeatureTable.names`.
        right: `(n,)` bool.
        reachable: whether any passage of the index is right; a question without one is lost in every ranking.
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

    Candidates are those of both legs under the context's profile; every field of `profile.bm25`, boosted or not, has a
    column, so that a weight can be found for it.
    """
    asked = [question for question in dataset.questions if question.retrievable and question.kind != "aspects"]
    judged = qrels(asked, index.passages)
    names = (*context.profile.bm25, IDENTIFIER, COSINE)
    rows = []
    for number, question in enumerate(asked, start=1):
        rows.append(_candidates(question, judged[question.id], context, names))
        progress(number, len(asked), "features")
    return FeatureTable(names=names, questions=tuple(rows))


def _candidates(
    question: Question, right: Mapping[str, int], context: SearchContext, names: Sequence[str]
) -> Candidates:
    ranking = rank(SearchRequest(tenant=TENANT, query=question.query, size=MAX_SIZE // 2), context)
    found = {candidate.chunk_id: candidate for candidate in (*ranking.lexical, *ranking.dense)}
    ids = tuple(sorted(found))
    query = _named(build.lexical_query(ranking.query, ranking.plan.filters, every_field(context.profile)), names)
    marks = identifiers(ranking.query)
    if marks:
        query["bool"]["should"].append({"bool": {**build.holds_any(marks)["bool"], "_name": IDENTIFIER}})
    # Named scores are given by `_search` alone: `_msearch` has no parameter for them.
    scored = context.engine.search(
        ranking.plan.index,
        build.bm25_body(ids, query),
        include_named_queries_score="true",
        search_type="dfs_query_then_fetch",
    )
    cosines: list[dict[str, Any]] = []
    if ranking.plan.vector is not None:
        body = build.cosines_body(ids, ranking.plan.vector, ranking.plan.filters)
        cosines = context.engine.search(ranking.plan.index, body)["hits"]["hits"]
    place = {chunk: position for position, chunk in enumerate(ids)}
    values = np.zeros((len(ids), len(names)))
    for row in scored["hits"]["hits"]:
        for name, score in row.get("matched_queries", {}).items():
            values[place[row["_id"]], names.index(name)] = score
    for row in cosines:
        values[place[row["_id"]], names.index(COSINE)] = build.cosine_of(float(row["_score"]))
    return Candidates(
        question=question,
        language=query_language(ranking.query),
        chunk_ids=ids,
        values=values,
        right=np.array([chunk in right for chunk in ids], dtype=np.bool_),
    )


def every_field(profile: Profile) -> Profile:
    """The profile with each field's boost at 1, the unused ones too."""
    return profile.model_copy(update={"bm25": dict.fromkeys(profile.bm25, 1.0), "identifier_boost": 0.0})


def _named(query: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Each field's clause with the field's name, so that the engine tells its score apart."""
    for clause in query["bool"]["should"]:
        ((field, match),) = clause["match"].items()
        if field in names:
            match["_name"] = field
    return query
