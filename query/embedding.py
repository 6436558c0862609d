"""The query as numbers: its vector, and its tokens where the model compares tokens."""

from __future__ import annotations

from collections.abc import Mapping

from models.base import Embedder, Vectors, token_coder
from models.vectors import checked
from query.features import QueryTokens
from query.request import Degraded, Leg
from search_config.errors import ModelError


def embedded(
    query: str, weights: Mapping[Leg, float], embedder: Embedder, dim: int, notes: list[str], degraded: list[Degraded]
) -> tuple[tuple[float, ...] | None, QueryTokens | None]:
    """The query's vector, and its tokens where the model compares tokens; None where the dense leg is not wanted, or
    cannot be asked while the lexical one can."""
    if weights["knn"] == 0:
        return None, None
    try:
        (count,) = embedder.count_tokens([query])
        made, tokens = _made(query, embedder)
        vectors = checked(made, dim=dim, where=embedder.description.identity)
    except ModelError as error:
        if weights["bm25"] == 0:
            raise
        degraded.append(Degraded(leg="knn", reason=str(error)))
        return None, None
    if count > embedder.query_window:
        rest = "the rest was used by the lexical leg only" if weights["bm25"] > 0 else "the rest was not used"
        notes.append(f"The query has {count} tokens, the model reads {embedder.query_window}: {rest}.")
    return tuple(float(value) for value in vectors[0]), tokens


def _made(query: str, embedder: Embedder) -> tuple[Vectors, QueryTokens | None]:
    """One pass of the model."""
    coder = token_coder(embedder)
    if coder is None:
        return embedder.embed_queries([query]), None
    encoded = coder.encode_queries([query])
    return encoded.vectors, QueryTokens(coder, encoded.tokens[0])
