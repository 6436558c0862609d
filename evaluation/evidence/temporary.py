"""A temporary index of a folder's documents, for replaying a set that is kept with its corpus."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from ingest.registry import Registry
from models.base import Embedder
from query.profile import profile_for
from query.search import SearchContext
from search_config.client import Engine
from search_config.errors import IndexingIncomplete, InvalidDataset
from search_config.install import install, uninstall
from search_config.names import Names
from search_config.records import DocumentState
from search_config.settings import Settings

# Called with what is done, what there is, and what it is.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class TemporarySystem:
    """A system over a folder's documents."""

    context: SearchContext
    registry: Registry


@contextmanager
def temporary_system(
    documents: Path,
    tenant: str,
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    progress: Progress | None = None,
) -> Iterator[TemporarySystem]:
    """Ingest the files below a folder for a tenant; everything is removed at the end. A document's source is its path
    below the folder, so that its id is the same on every machine.

    Raises:
        InvalidDataset: there are no files.
        IndexingIncomplete: a document did not become ready.
    """
    paths = [path for path in sorted(documents.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    if not paths:
        raise InvalidDataset("There are no documents here.", where=str(documents))
    own = settings.model_copy(update={"index_prefix": f"evidence-{uuid.uuid4().hex[:10]}"})
    try:
        info = install(engine, own, embedder.description)
        ingestor = Ingestor(engine, info, embedder, own)
        raw = [
            RawDocument(
                tenant=tenant, source=path.relative_to(documents).as_posix(), name=path.name, data=path.read_bytes()
            )
            for path in paths
        ]
        for outcome in ingestor.ingest(raw):
            if outcome.state is not DocumentState.READY:
                raise IndexingIncomplete(
                    f"A document of the set is {outcome.state.value}: {outcome.reason}", where=outcome.name
                )
        if progress is not None:
            progress(len(paths), len(paths), "documents")
        engine.request("POST", f"/{info.index}/_refresh")
        engine.request("POST", f"/{info.names.documents}/_refresh")
        profile = profile_for(info.model, info.analyzer, own.profile)
        context = SearchContext(engine, info, embedder, profile, own)
        yield TemporarySystem(context, Registry(engine, info, own))
    finally:
        uninstall(engine, Names(prefix=own.index_prefix))
