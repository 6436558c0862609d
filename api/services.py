"""What the doors work with, composed once: by the command line, and by tests over a real node."""

from __future__ import annotations

from dataclasses import dataclass

from api.keys import KeyStore
from ingest.registry import Registry
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import IndexInfo, attach
from search_config.settings import Settings


@dataclass(frozen=True)
class Services:
    """Everything that a request may need; nothing here is global."""

    settings: Settings
    engine: Engine
    info: IndexInfo
    context: SearchContext
    registry: Registry
    keys: KeyStore

    def check_ready(self) -> None:
        """Ask the engine whether it answers and still holds an index of this model.

        Raises:
            EngineError, IndexMissing, IndexMismatch
        """
        attach(self.engine, self.settings, self.info.model)
