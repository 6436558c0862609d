"""The engine's lexical order against a short BM25 of our own, from the formula and the index's own tokens."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from query import build
from query.filters import tenant_filter
from query.profile import load_profile
from query.retrieve import Plan, retrieve
from query.search import SearchContext
from search_config import fields
from search_config.hebrew import PREFIX_ANALYZER, query_analyzer
from tests.engine.conftest import MakeContext
from tests.engine.rows import Row

K1, B = 1.2, 0.75
# Lucene keeps a text's length in one byte, exactly up to 40 positions; longer ones would differ by its rounding.
LONGEST = 40
WORDS = (
    "חוזה",
    "לחוזה",
    "בחוזה",
    "תשלום",
    "התשלום",
    "ספק",
    "לספק",
    "גינון",
    "בגינון",
    "מעלית",
    "במעלית",
    "ועדה",
    "בוועדה",
    "פארק",
    "permit",
    "fees",
    "2024",
    "12,500",
)
QUERIES = ("תשלום לספק", "מה החוזה בגינון", "ובמעלית permit", "הוועדה 12500 fees", "פארק")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    chosen = random.Random(7)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(3, LONGEST))) for _ in range(300)]


@pytest.mark.parametrize("shards", [1, 4])
def test_order_and_scores_are_those_of_the_formula(make_context: MakeContext, texts: list[str], shards: int) -> None:
    context = make_context(
        [Row(chunk_id=f"c{number:03d}", tenant="a", content=text) for number, text in enumerate(texts)], shards=shards
    )
    profile = load_profile().model_copy(update={"bm25": {fields.CONTENT: 1.0}, "identifier_boost": 0.0})
    documents = [_positions(context, PREFIX_ANALYZER, text) for text in texts]
    for query in QUERIES:
        filters = tuple(tenant_filter("a"))
        clause = build.lexical_query(query, filters, profile)
        plan = Plan(context.info.index, "a", query, clause, None, filters, len(texts))
        got = {hit.chunk_id: hit.scores.bm25.score for hit in retrieve(context.engine, plan).lexical if hit.scores.bm25}
        wanted = _bm25(_positions(context, query_analyzer(PREFIX_ANALYZER), query), documents)
        expected = {f"c{number:03d}": score for number, score in enumerate(wanted) if score > 0}
        assert got.keys() == expected.keys()
        assert got == pytest.approx(expected, rel=1e-5)


def _positions(context: SearchContext, analyzer: str, text: str) -> list[set[str]]:
    """The terms at each position; several stand at one where prefixes were cut."""
    answer = context.engine.request(
        "POST", f"/{context.info.index}/_analyze", body={"analyzer": analyzer, "text": text}
    )
    found: dict[int, set[str]] = {}
    for token in answer["tokens"]:
        found.setdefault(token["position"], set()).add(token["token"])
    return [found[position] for position in sorted(found)]


def _bm25(query: Sequence[set[str]], documents: Sequence[Sequence[set[str]]]) -> list[float]:
    """Robertson and Zaragoza 2009, as Lucene has it: no factor k1 + 1, idf = ln(1 + (N - n + .5) / (n + .5)).

    Terms at one position of the query are one term: their frequencies add up, and the most frequent one's n counts.
    """
    counts = [Counter(term for position in document for term in position) for document in documents]
    lengths = [len(document) for document in documents]
    # A text's own length counts positions, the average counts every token: so it is in Lucene.
    average = sum(count.total() for count in counts) / len(counts)
    scores = [0.0] * len(documents)
    for terms in query:
        holders = max(sum(term in count for count in counts) for term in terms)
        if not holders:
            continue
        idf = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for number, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            frequency = sum(count[term] for term in terms)
            scores[number] += idf * frequency / (frequency + K1 * (1 - B + B * length / average))
    return scores
