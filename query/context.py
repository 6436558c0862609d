"""What a search needs beside its request."""

from __future__ import annotations

from dataclasses import dataclass

from models.base import Embedder
from query.glossary import Glossaries
from query.profile import Profile
from query.reranking import Reranker
from query.routing import Router
from query.word_counts import WordCounts
from search_config.client import Engine
from search_config.errors import IndexMismatch
from search_config.install import IndexInfo
from search_config.settings import Settings


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Everything a search needs beside its request; made once, used by all threads.

    Attributes:
        reranker: decides the order of the pool instead of the profile's blend.
        router: chooses the layer of a question; None asks passages alone.
        glossaries: of the tenants; None widens no query.
        counts: of words, kept from search to search; None counts them for each.

    Raises:
        IndexMismatch: the embedder is not the model of the index.
        InvalidProfile: the profile was tuned for another model or analyzer.
    """

    engine: Engine
    info: IndexInfo
    embedder: Embedder
    profile: Profile
    settings: Settings
    reranker: Reranker | None = None
    router: Router | None = None
    glossaries: Glossaries | None = None
    counts: WordCounts | None = None

    def __post_init__(self) -> None:
        ours, theirs = self.embedder.description.identity, self.info.model.identity
        if ours != theirs:
            raise IndexMismatch(
                f"The index has vectors of {theirs}, the configured model is {ours}.",
                where=self.info.index,
                remedy="Configure the index's model, or choose another MAFTEACH_INDEX_PREFIX and ingest again.",
            )
        self.profile.checked_for(self.info)
