"""Make models/e5_token_centres.npy: what the token vectors of all passages have in common.

    python -m scripts.build_token_centres

The mean of the unit token vectors of the passages of examples/documents under the default chunking; prompt and special
tokens have no part in it. Run it again when the model changes. Its hash is part of the identity of token codes, so that
an index written with other numbers is refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.dataset import load_dataset
from ingest.chunking import ChunkingSpec, chunk_document, embedded_text
from ingest.extract.registry import extract
from models.base import Vectors
from models.e5 import E5Embedder
from models.e5_session import E5Session
from models.e5_unpack import unpacked
from models.late_interaction import CENTRES_FILE
from search_config.settings import load_settings

ROOT = Path(__file__).parent.parent
# Digits kept: rounding in float sums differs by machine, and the file's hash must not.
DECIMALS = 4


def main() -> None:
    """Write the file."""
    settings = load_settings()
    embedder = E5Embedder(settings.cache_dir, threads=settings.embedder_threads)
    dataset = load_dataset(ROOT / "examples", max_file_bytes=settings.max_file_bytes)
    spec = ChunkingSpec(strategy=settings.chunk_strategy, target=settings.chunk_target, window=embedder.passage_window)
    passages = []
    for raw in dataset.documents:
        document = extract(raw.data, name=raw.file_name, max_bytes=settings.max_file_bytes)
        passages += [embedded_text(chunk, document) for chunk in chunk_document(document, spec, embedder)]
    session = E5Session(unpacked(settings.cache_dir), threads=settings.embedder_threads)
    own = session.text_tokens(is_query=False)
    _, sums = session.read([session.sequence(text, is_query=False) for text in passages], lambda rows: _sum(rows[own]))
    tokens = sum(count for _, count in sums)
    centre = (np.sum([total for total, _ in sums], axis=0) / tokens).round(DECIMALS).astype(np.float32)
    np.save(ROOT / "models" / CENTRES_FILE, centre)
    print(f"{CENTRES_FILE}: {len(passages)} passages, {tokens} tokens, length {np.linalg.norm(centre):.4f}")


def _sum(states: Vectors) -> tuple[Vectors, int]:
    return (states / np.linalg.norm(states, axis=1, keepdims=True)).sum(axis=0), len(states)


if __name__ == "__main__":
    main()
