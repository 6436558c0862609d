"""Any sentence-transformers SparseEncoder (the SPLADE family), by hub name or folder; prompts are the model's own.

Formal, Piwowarski and Clinchant, "SPLADE: Sparse Lexical and Expansion Model for First Stage Ranking", SIGIR 2021.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from models.base import Terms
from models.latent_terms import PASSAGE_TERMS, QUERY_TERMS
from models.loading import load_model
from models.text import encodable

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder

_BATCH: Final = 16  # half the library's default: a row is as long as the vocabulary until it is cut


class SentenceTransformerTerms:
    """Terms of a SparseEncoder: the vocabulary's numbers, for its pieces may hold dots, which a field can't. Safe for
    use by several threads. Texts beyond the window are cut at it."""

    def __init__(self, name_or_folder: str, revision: str | None = None, threads: int = 2) -> None:
        """Load the model.

        Args:
            name_or_folder: a folder, which is read without any network, or a hub's name.
            revision: branch, tag or commit at the hub.
            threads: of the computation on the processor.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            ModelUnavailable: no such model, or one that can't be loaded.
        """
        loaded = load_model(
            "SparseEncoder",
            name_or_folder,
            revision,
            threads,
            what="The sparse encoder",
            setting="MAFTEACH_SPARSE_MODEL",
        )
        self._model: SparseEncoder = loaded.model
        self._identity = f"{loaded.name}@{loaded.revision()}/{PASSAGE_TERMS}"
        self._using = threading.Lock()

    @property
    def identity(self) -> str:
        """What terms must have in common to be comparable: model, revision and number."""
        return self._identity

    def passage_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The heaviest terms of passages, in their order."""
        return self._terms(texts, self._model.encode_document, PASSAGE_TERMS)

    def query_terms(self, texts: Sequence[str]) -> list[Terms]:
        """The heaviest terms of queries, in their order."""
        return self._terms(texts, self._model.encode_query, QUERY_TERMS)

    def _terms(self, texts: Sequence[str], encode: Callable[..., Any], most: int) -> list[Terms]:
        if not texts:
            return []
        with self._using:
            rows = encode(
                [encodable(text) for text in texts],
                batch_size=_BATCH,
                show_progress_bar=False,
                convert_to_sparse_tensor=False,
                max_active_dims=most,
                save_to_cpu=True,
            ).numpy()
        return [{str(term): float(row[term]) for term in (row > 0).nonzero()[0]} for row in rows]
