"""The query as numbers: its vector, its tokens where the model compares tokens, its terms where a model gives terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.base import Embedder, Terms, Vectors, sparse_encoder, token_coder
from models.vectors import checked
from query import wording
from query.features import QueryTokens
from query.request import Degraded, Leg
from query.wording import told, tongue
from search_config.errors import ModelError


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """What the models make of a query; None where the leg is not wanted, there is no such model, or it failed."""

    vector: tuple[float, ...] | None = None
    tokens: QueryTokens | None = None
    terms: Terms | None = None


def embedded(
    query: str, weights: Mapping[Leg, float], embedder: Embedder, dim: int, notes: list[str], degraded: list[Degraded]
) -> EmbeddedQuery:
    """Run the models that the weights ask for.

    Terms are given where any leg but the lexical one is wanted: reranking may read them though the sparse leg has no
    weight.

    Raises:
        ModelError: no other leg can answer.
    """
    dense = EmbeddedQuery() if weights["knn"] == 0 else _dense(query, weights, embedder, dim, notes, degraded)
    encoder = sparse_encoder(embedder)
    wanted = weights.get("sparse", 0.0) > 0
    if encoder is None or dense.terms is not None or not (wanted or dense.vector is not None):
        return dense
    try:
        (terms,) = encoder.query_terms([query])
    except ModelError as error:
        if not wanted:
            return dense
        if weights["bm25"] == 0 and dense.vector is None:
            raise
        degraded.append(Degraded(leg="sparse", reason=str(error)))
        return dense
    return EmbeddedQuery(dense.vector, dense.tokens, terms)


def _dense(
    query: str, weights: Mapping[Leg, float], embedder: Embedder, dim: int, notes: list[str], degraded: list[Degraded]
) -> EmbeddedQuery:
    try:
        (count,) = embedder.count_tokens([query])
        made, tokens, terms = _made(query, embedder)
        vectors = checked(made, dim=dim, where=embedder.description.identity)
    except ModelError as error:
        if weights["bm25"] == 0 and weights.get("sparse", 0.0) == 0:
            raise
        degraded.append(Degraded(leg="knn", reason=str(error)))
        return EmbeddedQuery()
    if count > embedder.query_window:
        cut = wording.CUT_FOR_BOTH if weights["bm25"] > 0 else wording.CUT_FOR_ONE
        notes.append(told(cut, tongue(query), count=count, window=embedder.query_window))
    return EmbeddedQuery(tuple(vectors[0].tolist()), tokens, terms)


def _made(query: str, embedder: Embedder) -> tuple[Vectors, QueryTokens | None, Terms | None]:
    """One pass of the model."""
    coder = token_coder(embedder)
    if coder is None:
        return embedder.embed_queries([query]), None, None
    encoded = coder.encode_queries([query])
    return encoded.vectors, QueryTokens(coder, encoded.tokens[0]), encoded.terms[0] if encoded.terms else None
