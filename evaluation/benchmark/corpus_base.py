"""The really embedded passages that all generated vectors are made of: embedded once, kept in the cache folder."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from evaluation.benchmark.corpus_text import CORPUS_VERSION, examples_folder, recombined, sentences
from models.base import Embedder, Vectors, token_coder
from search_config.settings import Settings

# The least number of real passages, and one that a quick run embeds in half a minute.
BASE, QUICK_BASE = 20_000, 2_000
# Passages of one file of the cache: what an interrupted run does not embed again.
PART: Final = 500

# Called with passages that are embedded and passages that there will be.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Base:
    """Really embedded passages.

    Attributes:
        passages: the sentences of each.
        vectors: `(passages, dim)`, of length 1.
        codes: the token code of each; empty where the embedder writes none.
    """

    passages: tuple[tuple[str, ...], ...]
    vectors: Vectors
    codes: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.passages)


def load_base(
    settings: Settings, embedder: Embedder, *, count: int = BASE, seed: int = 1, progress: Progress = lambda *_: None
) -> Base:
    """The first `count` passages of a seed; what the cache lacks is embedded and kept part by part.

    Raises:
        InvalidDataset: there are no example documents.
        ModelError: the embedder failed.
    """
    folder = settings.cache_dir.expanduser() / "bench" / _identity(embedder, seed)
    folder.mkdir(parents=True, exist_ok=True)
    passages: list[tuple[str, ...]] = []
    vectors: list[Vectors] = []
    codes: list[bytes] = []
    for number in range(-(-count // PART)):
        texts = list(_passages(seed, number))
        path = folder / f"part-{number:05d}.npz"
        # Two benchmarks may start at once: one embeds a part, the other reads it.
        with FileLock(f"{path}.lock"):
            part = _read(path) or _write(path, embedder, texts)
        passages += texts
        vectors.append(part[0])
        codes += part[1]
        progress(min(len(passages), count), count)
    return Base(tuple(passages[:count]), np.concatenate(vectors)[:count], tuple(codes[:count]))


def _identity(embedder: Embedder, seed: int) -> str:
    """A folder's name: whatever makes other vectors, codes or passages makes another folder."""
    text = "\n".join(sentences(examples_folder()))
    model = embedder.description
    said = f"{CORPUS_VERSION}\0{model.identity}\0{model.token_codes}\0{seed}\0{text}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _passages(seed: int, part: int) -> Iterator[tuple[str, ...]]:
    dice = np.random.default_rng((seed, part))
    source = sentences(examples_folder())
    for _ in range(PART):
        yield recombined(source, dice)


def _write(path: Path, embedder: Embedder, passages: list[tuple[str, ...]]) -> tuple[Vectors, list[bytes]]:
    texts = [" ".join(passage) for passage in passages]
    coder = token_coder(embedder)
    codes: list[bytes] = []
    if coder is None:
        vectors = embedder.embed_passages(texts)
    else:
        encoded = coder.encode_passages(texts)
        vectors, codes = encoded.vectors, list(encoded.codes)
    lengths = np.array([len(code) for code in codes], dtype=np.int64)
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez(file, vectors=vectors, lengths=lengths, codes=np.frombuffer(b"".join(codes), dtype=np.uint8))
    unfinished.replace(path)
    return vectors, codes


def _read(path: Path) -> tuple[Vectors, list[bytes]] | None:
    """A part of the cache; None where it is not there or is damaged, and is made again."""
    try:
        with np.load(path) as part:
            vectors, lengths, packed = part["vectors"], part["lengths"], part["codes"].tobytes()
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    ends: NDArray[np.int64] = np.cumsum(lengths)
    return vectors, [packed[end - length : end] for end, length in zip(ends, lengths, strict=True)]
