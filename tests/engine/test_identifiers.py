"""Identifiers in the real index: each is found as it is written, with Hebrew prefixes too, and no neighbour is."""

from __future__ import annotations

import pytest

from query.exactness import held
from query.language import identifiers_alone
from query.request import SearchRequest
from query.search import SearchContext, rank, search
from search_config import fields
from tests.engine.conftest import MakeContext
from tests.engine.rows import Row

# An identifier, and one that differs from it by as little as can be.
PAIRS = [
    ("E-4031", "E-4032"),
    ("123-45-67", "123-45-68"),
    ("SKU-77/4", "SKU-77/5"),
    ("v2.3.1", "v2.3.2"),
    ("getUserById", "getUserByIds"),
    ("snake_case", "snake_cases"),
    ("max_size", "max-size"),
    ("2024-03-01", "2024-03-02"),
    ("dana.levi@example.org", "dana.levy@example.org"),
    ("report_2024.xlsx", "report_2023.xlsx"),
    ("README.md", "README.rst"),
]
# How an identifier stands in a Hebrew sentence.
FRAMES = ["תיק {} נסגר", "נקבע ב{} כי", "ראו ב-{}, שם", "({})", "«{}»:", "ול{}.", "מה־{}?", "קוד;{};סוף"]


@pytest.fixture(scope="module")
def codes(make_context: MakeContext) -> SearchContext:
    return make_context(
        Row(f"{kind}-{number}-{index}", frame.format(name))
        for number, pair in enumerate(PAIRS)
        for kind, name in zip(("one", "other"), pair, strict=True)
        for index, frame in enumerate(FRAMES)
    )


def _found(context: SearchContext, field: str, text: str) -> set[str]:
    body = {"size": 500, "query": {"match_phrase": {field: text}}, "_source": False}
    return {row["_id"] for row in context.engine.search(context.info.index, body)["hits"]["hits"]}


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=[one for one, _ in PAIRS])
@pytest.mark.parametrize("spelt", ["{}", "ב{}", "ול-{}"])
def test_it_is_found_in_every_frame_and_no_neighbour_is(codes: SearchContext, number: int, spelt: str) -> None:
    exact = fields.sub(fields.CONTENT, fields.EXACT)
    for kind, name in zip(("one", "other"), PAIRS[number], strict=True):
        bare = _found(codes, exact, name)
        assert bare == {f"{kind}-{number}-{index}" for index in range(len(FRAMES))}
        if identifiers_alone(spelt.format(name)):  # max-size is a word
            request = SearchRequest(tenant="a", query=spelt.format(name), size=50)
            assert {hit.chunk_id for hit in search(request, codes).hits} == bare


def test_what_python_calls_held_the_engine_finds(codes: SearchContext) -> None:
    """`query.exactness` reads passages as the `exact` sub-field does."""
    exact = fields.sub(fields.CONTENT, fields.EXACT)
    everything = {candidate.chunk_id: candidate.passage for candidate in _all(codes)}
    assert len(everything) == 2 * len(PAIRS) * len(FRAMES)
    for name in (name for pair in PAIRS for name in pair):
        ours = {chunk for chunk, passage in everything.items() if held(passage, [name])}
        assert ours == _found(codes, exact, name), name


def _all(context: SearchContext) -> tuple:  # type: ignore[type-arg]
    request = SearchRequest(tenant="a", query="תיק", size=100, mode="dense")
    return rank(request, context).dense
