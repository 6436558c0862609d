"""Features of the candidates that are reranked, by name: what each part of the search says of a passage, unscaled.

| name | what it is |
|---|---|
| `bm25:FIELD` | BM25 of one searched field, without a boost; 0 where no word of the query stands in it |
| `cosine` | of the query's and the passage's vector |
| `maxsim` | sum over the query's tokens of the best match among the passage's tokens (`models.late_interaction`) |
| `maxsim_near` | the same within the passage's best stretch of 32 tokens |
| `maxsim_mean` | `maxsim` for each token of the query |
| `sparse` | sum over the terms that query and passage share of both weights' product; of an index with sparse terms |
| `identifier` | share of the query's identifiers that stand in the passage as they are written |
| `polarity` | 1 where the passage forbids or permits as the query does, -1 where it says the contrary, else 0 |

All that the engine must be asked for comes with one `_search`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.base import TokenCoder, Vectors
from query import build
from query.base64_text import decoded
from query.candidate import Candidate, Passage, passage_of
from query.exactness import held
from query.language import identifiers
from query.polarity import agreement, side
from query.profile import SEARCHED_FIELDS, SPARSE
from query.retrieve import Plan, raise_failure
from search_config import fields
from search_config.client import Engine

BM25: Final = "bm25:"
COSINE: Final = "cosine"
MAXSIM: Final = "maxsim"
MAXSIM_NEAR: Final = "maxsim_near"
MAXSIM_MEAN: Final = "maxsim_mean"
# Features that need token codes in the index.
OF_TOKENS: Final = frozenset({MAXSIM, MAXSIM_NEAR, MAXSIM_MEAN})
IDENTIFIER: Final = "identifier"
POLARITY: Final = "polarity"
# Beside `bm25:FIELD` of every searched field.
NAMES: Final = OF_TOKENS | {COSINE, SPARSE, IDENTIFIER, POLARITY}


@dataclass(frozen=True, slots=True)
class Features:
    """Features of candidates.

    Attributes:
        names: of the columns.
        values: `(candidates, names)` float64, rows in the candidates' order. NaN where a value is not known: the
            passage was replaced since it was found, or has no token code.
        matches: `(candidates, query tokens)`, the best match of each token of the query in a passage, NaN where it has
            no token code; None where tokens were not compared.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    matches: NDArray[np.float32] | None = None

    def column(self, name: str) -> NDArray[np.float64]:
        """`(candidates,)` of one feature.

        Raises:
            ValueError: it is not among the names.
        """
        if name not in self.names:
            raise ValueError(f"{name} was not read, only {', '.join(self.names)}")
        column: NDArray[np.float64] = self.values[:, self.names.index(name)]
        return column


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """What MaxSim needs: who compares, and the query's tokens `(tokens, dim)`."""

    coder: TokenCoder
    tokens: Vectors


def is_feature(name: str) -> bool:
    """Whether there is such a feature."""
    return name in NAMES or (name.startswith(BM25) and name.removeprefix(BM25) in SEARCHED_FIELDS)


def bm25_feature(field: str) -> str:
    """`bm25:content.exact`."""
    return f"{BM25}{field}"


def collect(
    engine: Engine,
    plan: Plan,
    candidates: Sequence[Candidate],
    searched: Sequence[str],
    tokens: QueryTokens | None,
) -> Features:
    """Read the features of candidates.

    Args:
        engine: the engine.
        plan: of the search: its index, query, vector and filters.
        candidates: any number; none asks for nothing.
        searched: fields whose BM25 is wanted.
        tokens: of the query; without them there is no `maxsim`, without a vector in the plan no `cosine`, without
            terms in it no `sparse`.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
        IndexMismatch: a passage's code was written otherwise than this model writes.
    """
    names = [bm25_feature(field) for field in searched]
    names += [] if plan.vector is None else [COSINE]
    names += [] if tokens is None else [MAXSIM, MAXSIM_NEAR, MAXSIM_MEAN]
    names += [] if plan.terms is None else [SPARSE]
    names += [IDENTIFIER, POLARITY]
    if not candidates:
        return Features(tuple(names), np.zeros((0, len(names))))
    marks, sided = identifiers(plan.query), side(plan.query)
    unread = any(not isinstance(one.found, Passage) for one in candidates)
    rows = _ask(
        engine,
        plan,
        candidates,
        searched,
        with_codes=tokens is not None,
        with_texts=unread and bool(marks or sided),
    )
    columns = _scores(candidates, rows, [*map(bm25_feature, searched), *([] if plan.terms is None else [SPARSE])])
    if plan.vector is not None:
        columns[COSINE] = _cosines(candidates, rows)
    matches = None
    if tokens is not None:
        found = tokens.coder.maxsim(tokens.tokens, _codes(candidates, rows))
        columns[MAXSIM], columns[MAXSIM_NEAR], matches = found.whole, found.near, found.by_token
        columns[MAXSIM_MEAN] = columns[MAXSIM] / max(1, len(tokens.tokens))
    columns[IDENTIFIER] = np.zeros(len(candidates))
    columns[POLARITY] = np.zeros(len(candidates))
    if marks or sided:
        for place, passage in enumerate(_passages(candidates, rows)):
            if passage is not None:
                columns[IDENTIFIER][place] = held(passage, marks) / len(marks) if marks else 0.0
                columns[POLARITY][place] = agreement(plan.query, passage.content) if sided else 0.0
    return Features(tuple(names), np.stack([columns[name] for name in names], axis=1), matches)


def _ask(
    engine: Engine,
    plan: Plan,
    candidates: Sequence[Candidate],
    searched: Sequence[str],
    *,
    with_codes: bool,
    with_texts: bool,
) -> dict[str, Mapping[str, Any]]:
    """The engine's rows by chunk id."""
    text, _ = build.bounded_text(plan.query, len(searched))
    body = build.features_body(
        [one.chunk_id for one in candidates],
        plan.filters,
        {bm25_feature(field): {"match": {field: {"query": text}}} for field in searched}
        | ({SPARSE: build.sparse_query(plan.terms, [])} if plan.terms else {}),
        # Known of every candidate of the dense leg; asked for only where one is not.
        plan.vector if any(one.cosine is None for one in candidates) else None,
        with_codes=with_codes,
        with_texts=with_texts,
    )
    # Scores by name are given by `_search` alone: `_msearch` has no parameter for them.
    answer = engine.search(
        plan.index,
        body,
        compressed=not with_codes,
        include_named_queries_score="true",
        search_type="dfs_query_then_fetch",
        allow_partial_search_results="false",
        preference=plan.header()["preference"],
    )
    raise_failure(answer, plan.index)
    return {build.chunk_of(row): row for row in answer["hits"]["hits"]}


def _scores(
    candidates: Sequence[Candidate], rows: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    columns = {name: np.full(len(candidates), np.nan) for name in names}
    for place, candidate in enumerate(candidates):
        row = rows.get(candidate.chunk_id)
        if row is not None:
            matched = row.get("matched_queries", {})
            for name, column in columns.items():
                column[place] = matched.get(name, 0.0)
    return columns


def _cosines(candidates: Sequence[Candidate], rows: Mapping[str, Mapping[str, Any]]) -> NDArray[np.float64]:
    values = np.full(len(candidates), np.nan)
    for place, candidate in enumerate(candidates):
        if candidate.cosine is not None:
            values[place] = candidate.cosine
        elif COSINE in (matched := rows.get(candidate.chunk_id, {}).get("matched_queries", {})):
            values[place] = build.cosine_of(float(matched[COSINE]))
    return values


def _passages(candidates: Sequence[Candidate], rows: Mapping[str, Mapping[str, Any]]) -> list[Passage | None]:
    """The candidates' passages, read before or with these rows; None where one was replaced since it was found."""
    return [
        one.found
        if isinstance(one.found, Passage)
        else passage_of(rows[one.chunk_id]["_source"])
        if one.chunk_id in rows
        else None
        for one in candidates
    ]


def _codes(candidates: Sequence[Candidate], rows: Mapping[str, Mapping[str, Any]]) -> list[bytes | None]:
    values = [rows.get(one.chunk_id, {}).get("fields", {}).get(fields.TOKEN_CODES, ("",))[0] for one in candidates]
    return [code or None for code in decoded(values)]
