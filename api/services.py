"""What the doors work with, composed once: by the command line, and by tests over a real node."""

from __future__ import annotations

from dataclasses import dataclass

from api.inbox import Inbox
from api.jwt import TokenVerifier
from api.keys import KeyStore
from ingest.registry import Registry
from models.base import LanguageModel
from query.search import SearchContext
from search_config.client import Engine
from search_config.errors import IndexMismatch
from search_config.install import IndexInfo, attach
from search_config.settings import Settings


@dataclass(frozen=True)
class Services:
    """Everything that a request may need; nothing here is global.

    Attributes:
        tokens: verifies JSON Web Tokens; None where none are accepted.
        inbox: takes uploads; None where this process takes none.
        language_model: writes answers; None where they are extractive.
    """

    settings: Settings
    engine: Engine
    info: IndexInfo
    context: SearchContext
    registry: Registry
    keys: KeyStore
    tokens: TokenVerifier | None = None
    inbox: Inbox | None = None
    language_model: LanguageModel | None = None

    def check_ready(self) -> None:
        """Ask the engine whether it answers and still holds an index of this model.

        Raises:
            EngineError, IndexMissing, IndexMismatch
        """
        live = attach(self.engine, self.settings, self.info.model).index
        if live != self.info.index:
            raise IndexMismatch(
                f"{live} is live by now; this service goes on with {self.info.index}, which gets no new documents.",
                where=self.info.names.chunks,
                remedy="Start the service again.",
            )
