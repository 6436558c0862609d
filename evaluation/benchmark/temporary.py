"""Installations that a benchmark makes and removes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from search_config.client import Engine
from search_config.install import IndexInfo, install, uninstall
from search_config.model_description import ModelDescription
from search_config.names import Names
from search_config.settings import Settings


@contextmanager
def temporary_index(
    engine: Engine, settings: Settings, model: ModelDescription
) -> Iterator[tuple[IndexInfo, Settings]]:
    """An installation under a prefix of its own, with the settings that name it; all of it is removed at the end.

    Raises:
        EngineError
    """
    own = settings.model_copy(update={"index_prefix": f"bench-{uuid.uuid4().hex[:10]}"})
    try:
        yield install(engine, own, model), own
    finally:
        uninstall(engine, Names(prefix=own.index_prefix))
