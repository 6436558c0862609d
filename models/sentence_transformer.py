"""Any sentence-transformers model, by hub name or folder; prompts, window and dimension are the model's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from models.base import ModelDescription, Vectors
from models.loading import load_model
from models.text import encodable
from models.vectors import normalised
from search_config.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Names under which models keep their prompts. The library looks for them in this order too, but takes the first that
# exists, and it adds an empty `document` to every model: a model with a `passage` prompt would be used without it.
_QUERY_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("document", "passage", "corpus")

_BATCH = 32  # the library's default; it sorts by length itself
# The window of a model that reads texts of any length (static embeddings, bags of words).
_UNLIMITED = 1_000_000


class SentenceTransformerEmbedder:
    """Implements `models.base.Embedder`. Texts beyond the window are cut at it. Safe for use by several threads."""

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
            "SentenceTransformer",
            name_or_folder,
            revision,
            threads,
            what="The sentence-transformers model",
            setting="MAFTEACH_EMBEDDER_MODEL",
        )
        self._model: SentenceTransformer = loaded.model
        self._name, self._revision = loaded.name, loaded.revision()
        # One at a time: a tokenizer keeps truncation as state, which counting and embedding set differently.
        self._using = threading.Lock()
        dim = self._model.get_embedding_dimension()
        if dim is None:
            raise ModelUnavailable("The model does not say its dimension.", where=name_or_folder)
        self._dim = int(dim)
        self._window = int(self._model.max_seq_length or _UNLIMITED)

    @property
    def description(self) -> ModelDescription:
        """The revision is the hub's commit, or a hash of the folder's files."""
        card = self._model.model_card_data
        licence = str(getattr(card, "license", None) or "unknown")
        return ModelDescription(
            name=self._name, revision=self._revision, dim=self._dim, window=self._window, licence=licence
        )

    @property
    def passage_window(self) -> int:
        """Tokens left for a passage's own text."""
        return self._room(self._prompt(_PASSAGE_PROMPTS))

    @property
    def query_window(self) -> int:
        """Tokens left for a query's own text."""
        return self._room(self._prompt(_QUERY_PROMPTS))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens by the model's own tokenizer, without prompt and special tokens, never truncated."""
        with self._using:
            return self._counts([encodable(text) for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """`(n, dim)` unit vectors of passages, in their order."""
        return self._embed(texts, self._model.encode_document, self._prompt(_PASSAGE_PROMPTS))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """`(n, dim)` unit vectors of queries, in their order."""
        return self._embed(texts, self._model.encode_query, self._prompt(_QUERY_PROMPTS))

    def _embed(self, texts: Sequence[str], encode: Callable[..., Any], prompt: str) -> Vectors:
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        with self._using:
            rows = encode(
                [encodable(text) for text in texts], prompt=prompt, batch_size=_BATCH, show_progress_bar=False
            )
        return normalised(np.asarray(rows, dtype=np.float32), dim=self._dim, where=self._name)

    def _prompt(self, names: Sequence[str]) -> str:
        return next((prompt for name in names if (prompt := self._model.prompts.get(name))), "")

    def _room(self, prompt: str) -> int:
        with self._using:
            # Behind a letter, as a prompt stands before a text: alone, its final space may be a token.
            with_prompt, without = self._counts([f"{prompt}א", "א"])
        tokenizer = self._model.tokenizer
        special = tokenizer.num_special_tokens_to_add(pair=False) if callable(tokenizer) else 0
        return max(1, self._window - special - (with_prompt - without))

    def _counts(self, texts: list[str]) -> list[int]:
        if not texts:
            return []
        tokenizer = self._model.tokenizer
        if callable(tokenizer):
            encoded = tokenizer(texts, add_special_tokens=False, truncation=False, padding=False, verbose=False)
            return [len(ids) for ids in encoded["input_ids"]]
        return [len(encoding.ids) for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
