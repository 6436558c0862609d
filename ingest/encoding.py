"""Texts through the model: vectors, token codes and sparse terms for all chunks of several documents together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.chunking import embedded_text
from ingest.work import MS, Work, share
from models.base import Embedder, Terms, Vectors, sparse_encoder, token_coder
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


@dataclass(frozen=True, slots=True)
class _Encoded:
    """Vectors `(n, dim)`; codes and terms of the same texts, None where the model gives none."""

    vectors: Vectors
    codes: Sequence[bytes | None]
    terms: Sequence[Terms | None]

    def part(self, own: slice) -> _Encoded:
        return _Encoded(self.vectors[own], self.codes[own], self.terms[own])

    def give(self, work: Work) -> None:
        work.vectors, work.codes, work.terms = self.vectors, self.codes, self.terms


class Encoder:
    """The model, as the pipeline uses it."""

    def __init__(self, embedder: Embedder, info: IndexInfo) -> None:
        self._embedder = embedder
        self._info = info

    def embed(self, works: list[Work], on_embedded: OnEmbedded) -> None:
        """Fill the works' vectors, codes and terms. A text that the model cannot take fails its document alone.

        Raises:
            ModelUnavailable
        """
        started = time.perf_counter()
        texts = {work.id: [embedded_text(chunk, work.document) for chunk in work.chunks] for work in works}
        try:
            encoded = self._encoded([text for work in works for text in texts[work.id]], on_embedded)
            ends = np.cumsum([len(work.chunks) for work in works])
            for work, end in zip(works, ends, strict=True):
                encoded.part(slice(end - len(work.chunks), end)).give(work)
        except InvalidVector:
            for work in works:
                try:
                    self._encoded(texts[work.id], unwatched).give(work)
                except InvalidVector as error:
                    work.error = error
        share(works, "embed_ms", (time.perf_counter() - started) * MS)

    def _encoded(self, texts: list[str], on_embedded: OnEmbedded) -> _Encoded:
        """What the model makes of texts, in their order, vectors checked; the longest are embedded first."""
        vectors = np.zeros((len(texts), self._info.model.dim), dtype=np.float32)
        codes: list[bytes | None] = [None] * len(texts)
        terms: list[Terms | None] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(order), SLICE_TEXTS):
            part = order[start : start + SLICE_TEXTS]
            made = self._made([texts[i] for i in part])
            if not len(made.vectors) == len(made.codes) == len(made.terms) == len(part):
                raise InvalidVector(
                    f"The model gave {len(made.vectors)} vectors for {len(part)} texts.", where=self._info.index
                )
            vectors[part] = checked(made.vectors, dim=self._info.model.dim, where=self._info.index)
            for place, code, own in zip(part, made.codes, made.terms, strict=True):
                codes[place], terms[place] = code, own
            on_embedded(len(part))
        return _Encoded(vectors, codes, terms)

    def _made(self, texts: list[str]) -> _Encoded:
        """One pass of the model; another one for terms that this pass does not give."""
        coder, sparse = token_coder(self._embedder), sparse_encoder(self._embedder)
        none = [None] * len(texts)
        if coder is None:
            vectors: Vectors = self._embedder.embed_passages(texts)
            return _Encoded(vectors, none, none if sparse is None else sparse.passage_terms(texts))
        made = coder.encode_passages(texts)
        if sparse is None:
            return _Encoded(made.vectors, made.codes, none)
        return _Encoded(made.vectors, made.codes, made.terms or sparse.passage_terms(texts))
