"""Texts through the model: vectors and token codes for all chunks of several documents together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ingest.chunking import embedded_text
from ingest.work import MS, Work, share
from models.base import Embedder, Vectors, token_coder
from models.vectors import checked
from search_config.errors import InvalidVector
from search_config.install import IndexInfo

# Texts that are embedded between two reports of progress: a second or two of work for the embedded model on two cores.
# Texts are sorted by length before they are parted, so that parting costs the model nothing.
SLICE_TEXTS: Final = 64

OnEmbedded = Callable[[int], None]
"""Told the number of passages that were embedded since it was last called."""


def unwatched(_: int) -> None:
    """Told, and does nothing."""
    return


class Encoder:
    """The model, as the pipeline uses it."""

    def __init__(self, embedder: Embedder, info: IndexInfo) -> None:
        self._embedder = embedder
        self._info = info

    def embed(self, works: list[Work], on_embedded: OnEmbedded) -> None:
        """Fill the works' vectors and codes. A text that the model cannot take fails its document alone.

        Raises:
            ModelUnavailable
        """
        started = time.perf_counter()
        texts = {work.id: [embedded_text(chunk, work.document) for chunk in work.chunks] for work in works}
        try:
            vectors, codes = self._encoded([text for work in works for text in texts[work.id]], on_embedded)
            ends = np.cumsum([len(work.chunks) for work in works])
            for work, end in zip(works, ends, strict=True):
                own = slice(end - len(work.chunks), end)
                work.vectors, work.codes = vectors[own], codes[own]
        except InvalidVector:
            for work in works:
                try:
                    work.vectors, work.codes = self._encoded(texts[work.id], unwatched)
                except InvalidVector as error:
                    work.error = error
        share(works, "embed_ms", (time.perf_counter() - started) * MS)

    def _encoded(self, texts: list[str], on_embedded: OnEmbedded) -> tuple[Vectors, list[bytes | None]]:
        """Checked vectors `(n, dim)` of texts and their token codes, in their order; the longest are embedded first.

        Codes are None where the embedder writes none.
        """
        vectors = np.zeros((len(texts), self._info.model.dim), dtype=np.float32)
        codes: list[bytes | None] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(order), SLICE_TEXTS):
            part = order[start : start + SLICE_TEXTS]
            made, coded = self._made([texts[i] for i in part])
            if len(made) != len(part) or len(coded) != len(part):
                raise InvalidVector(
                    f"The model gave {len(made)} vectors for {len(part)} texts.", where=self._info.index
                )
            vectors[part] = checked(made, dim=self._info.model.dim, where=self._info.index)
            for place, code in zip(part, coded, strict=True):
                codes[place] = code
            on_embedded(len(part))
        return vectors, codes

    def _made(self, texts: list[str]) -> tuple[Vectors, Sequence[bytes | None]]:
        """One pass of the model."""
        coder = token_coder(self._embedder)
        if coder is None:
            return self._embedder.embed_passages(texts), [None] * len(texts)
        made = coder.encode_passages(texts)
        return made.vectors, made.codes
