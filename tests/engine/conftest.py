"""Contexts for tests of retrieval, over rows that the test writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Protocol

import pytest

from query.profile import Profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import install
from search_config.names import Names
from search_config.settings import Settings
from tests.conftest import remove
from tests.engine.rows import PROFILE, Row, WordEmbedder, write


class MakeContext(Protocol):
    def __call__(
        self,
        rows: Iterable[Row],
        *,
        embedder: WordEmbedder | None = None,
        profile: Profile | None = None,
        **settings: object,
    ) -> SearchContext: ...


@pytest.fixture(scope="module")
def make_context(engine: Engine, settings: Settings) -> Iterator[MakeContext]:
    """`make_context(rows)` gives a context over an index of its own; all are removed after the module."""
    made: list[Names] = []

    def make(
        rows: Iterable[Row],
        *,
        embedder: WordEmbedder | None = None,
        profile: Profile | None = None,
        **overrides: object,
    ) -> SearchContext:
        words = embedder or WordEmbedder()
        own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}", **overrides})
        made.append(Names(prefix=own.index_prefix))
        info = install(engine, own, words.description)
        write(engine, info.index, rows, words)
        return SearchContext(engine, info, words, profile or PROFILE, own)

    yield make
    for names in made:
        remove(engine, names)
