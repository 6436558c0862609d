"""Where the command line composes its parts: settings → node → engine → embedder → index → search or ingest."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from api.cli.output import Say, say

if TYPE_CHECKING:
    from pathlib import Path

    from api.keys import KeyStore
    from api.services import Services
    from ingest.pipeline import Ingestor
    from ingest.registry import Registry
    from models.base import Embedder, LanguageModel
    from models.e5 import E5Embedder
    from query.profile import Profile
    from query.reranking import Reranker
    from query.routing import Router
    from query.search import SearchContext
    from search_config.client import Engine
    from search_config.install import IndexInfo
    from search_config.names import Names
    from search_config.settings import Settings


class Runtime:
    """A command's parts, each made when it is first asked for."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self.settings = settings
        self._say = say
        # Whether this process works on documents that are sent to it; `serve --no-worker` leaves them to others.
        self.works = True

    @cached_property
    def engine(self) -> Engine:
        """The engine: the cluster of MAFTEACH_OPENSEARCH_URL, or the embedded node, started where it does not run.

        Raises:
            NodeError
        """
        from search_config.client import Engine
        from search_config.connection import EngineAccess

        return Engine(self._url(), timeout_s=self.settings.request_timeout_s, access=EngineAccess.of(self.settings))

    def _url(self) -> str:
        if self.settings.opensearch_url is not None:
            return str(self.settings.opensearch_url)
        from search_config.local_node import LocalNode

        node = LocalNode(self.settings)
        status = node.status()
        if not status.running:
            self._say("The embedded OpenSearch node is not running; starting it.")
            status = node.start(self._say)
        return status.url

    @cached_property
    def names(self) -> Names:
        """Names of the indices."""
        from search_config.names import Names

        return Names(prefix=self.settings.index_prefix)

    @cached_property
    def embedder(self) -> Embedder:
        """The configured model."""
        from models.factory import load_embedder

        return load_embedder(self.settings)

    def load_ahead(self) -> None:
        """Load the embedded model beside what a search does first: most of that is work of the runtime's own, which
        leaves the interpreter to others. What fails here fails again, and is reported, where the model is used."""
        from models.e5 import E5Embedder

        if isinstance(self.embedder, E5Embedder):
            threading.Thread(target=_load, args=(self.embedder,), daemon=True).start()

    @property
    def embeddings_file(self) -> Path:
        """Where embeddings of evaluations are kept."""
        return self.settings.cache_dir / "embeddings.sqlite"

    @cached_property
    def info(self) -> IndexInfo:
        """The live index, checked against the model.

        Raises:
            IndexMissing, IndexMismatch
        """
        from search_config.install import attach

        return attach(self.engine, self.settings, self.embedder.description)

    def install(self) -> IndexInfo:
        """Set up what is missing, and attach."""
        from search_config.install import install

        # Into the place of the cached property: what was installed is what is attached to.
        self.__dict__["info"] = installed = install(self.engine, self.settings, self.embedder.description)
        return installed

    def prepared(self) -> IndexInfo:
        """The live index; set up where there is none yet.

        Raises:
            IndexMismatch
        """
        from search_config.errors import IndexMissing

        try:
            return self.info
        except IndexMissing:
            self._say("There is no index yet; setting it up.")
            return self.install()

    @cached_property
    def registry(self) -> Registry:
        """The documents."""
        from ingest.registry import Registry

        return Registry(self.engine, self.info, self.settings)

    @cached_property
    def keys(self) -> KeyStore:
        """The API keys."""
        from api.keys import KeyStore

        return KeyStore(self.engine, self.names)

    @cached_property
    def search_context(self) -> SearchContext:
        """What a search needs."""
        from query.glossary import Glossaries, GlossaryStore
        from query.search import SearchContext
        from query.word_counts import WordCounts

        return SearchContext(
            self.engine,
            self.info,
            self.embedder,
            self.profile(self.settings.profile).checked_for(self.info),
            self.settings,
            self.reranker,
            router=self.router,
            glossaries=Glossaries(GlossaryStore(self.engine, self.names)),
            counts=WordCounts(),
        )

    def profile(self, path: Path | None) -> Profile:
        """The profile of a file, or the shipped one, for the configured model; says so where none was tuned for it.

        Raises:
            InvalidProfile
        """
        from query.profile import profile_for
        from search_config.hebrew import ANALYZER_VERSION

        found = profile_for(self.embedder.description, ANALYZER_VERSION, path)
        if found.warning is not None:
            self._say(f"Warning: {found.warning}")
        return found

    @cached_property
    def router(self) -> Router:
        """What chooses the layer of a question: the rules, then the configured language model or labelled examples."""
        from query.routing import LanguageModelRouter, Router, load_examples

        examples = load_examples(self.settings.router_examples)
        model = self.language_model if self.settings.router_model else None
        return Router(examples, self.embedder, None if model is None else LanguageModelRouter(model))

    @cached_property
    def reranker(self) -> Reranker | None:
        """The configured cross-encoder; None leaves the order to the profile."""
        from models.factory import load_cross_encoder
        from query.reranking import TextReranker

        scorer = load_cross_encoder(self.settings)
        return None if scorer is None else TextReranker(scorer)

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The configured model that writes answers; None for extractive ones."""
        from models.factory import load_language_model

        return load_language_model(self.settings)

    @cached_property
    def ingestor(self) -> Ingestor:
        """What an ingest needs."""
        from ingest.compose import make_ingestor

        return make_ingestor(self.engine, self.info, self.embedder, self.settings)

    @cached_property
    def services(self) -> Services:
        """What the HTTP application needs."""
        from api.inbox import Inbox
        from api.jwt import TokenVerifier
        from api.services import Services
        from ingest.queue import Queue

        return Services(
            settings=self.settings,
            engine=self.engine,
            info=self.info,
            context=self.search_context,
            registry=self.registry,
            keys=self.keys,
            tokens=TokenVerifier.of(self.settings),
            inbox=Inbox(Queue(self.engine, self.info, self.settings), self.ingestor if self.works else None),
            language_model=self.language_model,
        )

    def known_tenant(self, tenant: str) -> str:
        """A tenant that has a document or a key.

        Raises:
            MissingTenant, InvalidTenant
            UnknownTenant: naming those that there are.
        """
        from query.tenants import known_tenants, tenant_is_known
        from search_config.errors import UnknownTenant
        from search_config.records import tenant_id

        name = tenant_id(tenant)
        # A missing index is told before a missing tenant.
        _ = self.info
        if not tenant_is_known(self.engine, self.names, name):
            known = known_tenants(self.engine, self.names)
            raise UnknownTenant(
                "There is no such tenant.",
                where=name,
                remedy=f"Known tenants: {', '.join(known)}."
                if known
                else "Ingest documents for it first: mafteach ingest",
            )
        return name

    def close(self) -> None:
        """Close what was opened; the node goes on running."""
        if "ingestor" in self.__dict__:
            self.ingestor.close()
        if "engine" in self.__dict__:
            self.engine.close()
        if (model := self.__dict__.get("language_model")) is not None:
            model.close()


def _load(embedder: E5Embedder) -> None:
    from search_config.errors import ModelError

    with suppress(ModelError):
        embedder.load()


@contextmanager
def opened(say: Say = say) -> Iterator[Runtime]:
    """A runtime over the settings of the environment, closed at the end.

    Raises:
        InvalidSettings
    """
    from search_config.settings import load_settings

    runtime = Runtime(load_settings(), say)
    try:
        yield runtime
    finally:
        runtime.close()
