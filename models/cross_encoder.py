"""A cross-encoder reads query and passage together and scores the pair: the slow and thorough tier of reranking."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.loading import load_model
from models.text import encodable
from search_config.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_BATCH = 16  # pairs of a pass: half of what embedding takes, since a pair is about twice a passage


class CrossEncoderScorer:
    """Any sentence-transformers CrossEncoder with one score a pair. Safe for use by several threads."""

    def __init__(self, name_or_folder: str, revision: str | None = None, threads: int = 2) -> None:
        """Load the model.

        Args:
            name_or_folder: a folder, which is read without any network, or a hub's name (BAAI/bge-reranker-v2-m3).
            revision: branch, tag or commit at the hub.
            threads: of the computation on the processor.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            ModelUnavailable: no such model, one that can't be loaded, or one that gives several scores a pair.
        """
        self._model: CrossEncoder = load_model(
            "CrossEncoder",
            name_or_folder,
            revision,
            threads,
            what="The cross-encoder",
            setting="MAFTEACH_RERANKER_MODEL",
        ).model
        if self._model.num_labels != 1:
            raise ModelUnavailable(
                f"The model gives {self._model.num_labels} scores a pair; a reranker gives one.",
                where=name_or_folder,
                remedy="Choose a model that was trained to rerank.",
            )
        from torch.nn import Identity

        # The score before any sigmoid: in log-odds, as the blend's is, and without equal scores at its ends.
        self._as_it_is = Identity()
        self._using = threading.Lock()

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """`(len(passages),)`, the higher the better, in log-odds. A passage beyond the window is cut at it."""
        if not passages:
            return np.zeros(0)
        pairs = [(encodable(query), encodable(passage)) for passage in passages]
        with self._using:
            scores = self._model.predict(
                pairs, batch_size=_BATCH, activation_fn=self._as_it_is, show_progress_bar=False
            )
        return np.asarray(scores, dtype=np.float64).reshape(len(passages))
