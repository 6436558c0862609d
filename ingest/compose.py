"""Where an `Ingestor` is put together, by the command line and by worker processes alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ingest.pipeline import Ingestor
from ingest.reading import DocumentReader
from models.base import Embedder
from models.factory import load_embedder, load_language_model
from search_config.client import Engine
from search_config.connection import EngineAccess
from search_config.install import IndexInfo, attach
from search_config.settings import Settings


def make_ingestor(engine: Engine, info: IndexInfo, embedder: Embedder, settings: Settings) -> Ingestor:
    """An ingestor that reads every format as the settings say, in a process of its own. Close it after use.

    Raises:
        IndexMismatch
    """
    model = load_language_model(settings) if settings.fields_model else None
    reader = DocumentReader(engine, info, settings, model=model)
    return Ingestor(engine, info, embedder, settings, extract=reader)


@contextmanager
def opened_ingestor(settings: Settings, url: str) -> Iterator[Ingestor]:
    """An ingestor of a process of its own, over an index that is set up.

    Args:
        settings: as the starting process has them.
        url: where the engine answers; the embedded node has it from its starter.

    Raises:
        EngineError, IndexMissing, IndexMismatch, ModelError
    """
    engine = Engine(url, timeout_s=settings.request_timeout_s, access=EngineAccess.of(settings))
    try:
        embedder = load_embedder(settings)
        ingestor = make_ingestor(engine, attach(engine, settings, embedder.description), embedder, settings)
        try:
            yield ingestor
        finally:
            ingestor.close()
    finally:
        engine.close()
