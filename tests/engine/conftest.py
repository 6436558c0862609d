"""Contexts for tests of retrieval, over rows that the test writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from ingest.pipeline import Ingestor
from models.base import ModelDescription
from query.profile import Profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import IndexInfo, attach, create_chunks_index, install, uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.engine.rows import DIM, PROFILE, Row, WordEmbedder, write
from tests.engine.workers import LEASE_S, TARGET, WORDS, Start, empty


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


@pytest.fixture(scope="session")
def work_index(engine: Engine, settings: Settings) -> Iterator[IndexInfo]:
    """Templates, pipelines and indices, once, for all tests of ingest; emptied for every test."""
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    yield install(engine, own, WORDS)
    uninstall(engine, Names(prefix=own.index_prefix))


@pytest.fixture
def work_settings(engine: Engine, settings: Settings, work_index: IndexInfo, tmp_path: Path) -> Settings:
    """Settings over those indices, empty, and an empty spool."""
    made = settings.model_copy(
        update={
            "index_prefix": work_index.names.prefix,
            "chunk_target": TARGET,
            "lease_s": LEASE_S,
            "spool_dir": tmp_path / "spool",
        }
    )
    for index in (work_index.index, work_index.names.documents):
        empty(engine, index)
    return made


@pytest.fixture
def start(engine: Engine, work_settings: Settings) -> Start:
    """`start()` gives one more worker over the same index."""

    def make(embedder: WordEmbedder | None = None, **more: Any) -> Ingestor:
        words = embedder or WordEmbedder(WORDS)
        return Ingestor(engine, attach(engine, work_settings, words.description), words, work_settings, **more)

    return make
