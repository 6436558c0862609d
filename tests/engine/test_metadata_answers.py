"""Exact answers over documents' fields, on several shards, against answers computed from the raw lines."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from query.aggregate import Scope, metadata_answer
from query.metadata_result import MetadataAnswer
from query.question import understand
from query.vocabulary import vocabulary
from search_config.client import Engine
from search_config.install import install, uninstall
from search_config.settings import Settings
from tests.engine.metadata_rows import Line, expected, lines, stored, write
from tests.engine.rows import MODEL

FOLDER = Path(__file__).parents[2] / "examples" / "router"
DOCUMENTS, QUESTIONS = lines(FOLDER / "documents.jsonl"), lines(FOLDER / "metadata.jsonl")
AS_OF = date(2025, 2, 15)
SHARDS = 3


@pytest.fixture(scope="module")
def index(engine: Engine, settings: Settings) -> Iterator[str]:
    """The lines as tenant a's, on three shards; the same lines, each with a hundred times the amount, as tenant b's."""
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    names = install(engine, own, MODEL).names
    engine.request("DELETE", f"/{names.documents}")
    engine.request("PUT", f"/{names.documents}", body={"settings": {"number_of_shards": SHARDS}})
    others = [
        {**line, "id": f"other-{line['id']}", "amount": line["amount"] and f"{line['amount']}00"} for line in DOCUMENTS
    ]
    write(engine, names.documents, [stored(line, "a") for line in DOCUMENTS] + [stored(line, "b") for line in others])
    yield names.documents
    uninstall(engine, names)


def answer(engine: Engine, index: str, question: str, **scope: Any) -> MetadataAnswer:
    tenant, groups = scope.get("tenant", "a"), scope.get("groups")
    found = understand(question, AS_OF, vocabulary(engine, index, tenant, groups))
    return metadata_answer(Scope(engine, index, tenant, groups, AS_OF, "he"), found, found.filters)


def test_the_set_is_what_it_claims_to_be() -> None:
    assert len(QUESTIONS) >= 40
    assert sum(not question["exact"] for question in QUESTIONS) >= 10


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_every_answer_is_exact_or_says_that_it_is_not(engine: Engine, index: str, question: Line) -> None:
    given = answer(engine, index, question["question"])
    assert given.exact is question["exact"], given
    assert given.not_understood == ()
    assert given.text
    if not question["exact"]:
        doubts = [entry for entry in given.excluded if entry.reason != "stated_none"]
        assert doubts or (given.value is None and len(given.values) > 1), given
        return
    right = expected(question, DOCUMENTS)
    assert sorted(document.id for document in given.documents) == right["ids"]
    assert given.counted == len(right["ids"])
    if right["value"] is not None:
        assert str(given.value) == str(right["value"])
    if question["measure"] in {"who", "group"} or (question["measure"] == "count" and question.get("field")):
        assert {entry.name: entry.documents for entry in given.values} == right["names"]
