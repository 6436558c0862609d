"""Contexts for tests of retrieval, over rows that the test writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Protocol

import pytest

from models.base import ModelDescription
from query.profile import Profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import IndexInfo, create_chunks_index, install, uninstall
from search_config.settings import Settings
from tests.engine.rows import DIM, PROFILE, Row, WordEmbedder, write


class MakeContext(Protocol):
    def __call__(
        self,
        rows: Iterable[Row],
        *,
        embedder: WordEmbedder | None = None,
        profile: Profile | None = None,
        **settings: object,
    ) -> SearchContext: ...


class Installations:
    """Indices of a module's own, all of vectors of one length: templates are put once for each number of shards, since
    that takes longer than most tests, and every context has a version of the chunks index to itself."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._installed: dict[str, IndexInfo] = {}
        self._versions = count(2)

    def new(self, model: ModelDescription, **overrides: object) -> tuple[IndexInfo, Settings]:
        """An empty index of chunks for a model, with the settings that it was made by."""
        key = repr(sorted(overrides.items()))
        known = self._installed.get(key)
        prefix = f"t{uuid.uuid4().hex[:10]}" if known is None else known.names.prefix
        own = self._settings.model_copy(update={"index_prefix": prefix, **overrides})
        if known is None:
            self._installed[key] = known = install(self._engine, own, model)
            assert known.model.dim == DIM
            return known, own
        name = create_chunks_index(self._engine, own, model, version=next(self._versions), live=False)
        return known.model_copy(update={"index": name, "model": model}), own

    def remove(self) -> None:
        for info in self._installed.values():
            uninstall(self._engine, info.names)


@pytest.fixture(scope="module")
def make_context(engine: Engine, settings: Settings) -> Iterator[MakeContext]:
    """`make_context(rows)` gives a context over an index of its own; all are removed after the module."""
    installations = Installations(engine, settings)

    def make(
        rows: Iterable[Row],
        *,
        embedder: WordEmbedder | None = None,
        profile: Profile | None = None,
        **overrides: object,
    ) -> SearchContext:
        words = embedder or WordEmbedder()
        info, own = installations.new(words.description, **overrides)
        write(engine, info.index, rows, words)
        return SearchContext(engine, info, words, profile or PROFILE, own)

    yield make
    installations.remove()
