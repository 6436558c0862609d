"""Make models/e5_language_shift.npy: Hebrew mean less English mean, of passages and of queries.

    python -m scripts.build_language_shift

Passages are those of examples/documents, short ones, so that there are many, queries those of examples/queries.jsonl;
no answer is looked at. Run it again when the model or its prompts change.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.dataset import load_dataset
from ingest.chunking import ChunkingSpec, chunk_document, embedded_text
from ingest.extract.registry import extract
from models.alignment import FILE, PASSAGE, QUERY
from models.base import Vectors
from models.e5 import E5Embedder
from search_config.language import language_of
from search_config.settings import load_settings

ROOT = Path(__file__).parent.parent
# Characters of a passage: 346 of them.
TARGET = 512


def main() -> None:
    """Write the file."""
    settings = load_settings()
    embedder = E5Embedder(settings.cache_dir, threads=settings.embedder_threads, align=False)
    dataset = load_dataset(ROOT / "examples", max_file_bytes=settings.max_file_bytes)
    spec = ChunkingSpec(strategy=settings.chunk_strategy, target=TARGET, window=embedder.passage_window)
    passages = []
    for raw in dataset.documents:
        document = extract(raw.data, name=raw.file_name, max_bytes=settings.max_file_bytes)
        passages += [embedded_text(chunk, document) for chunk in chunk_document(document, spec, embedder)]
    queries = [question.query for question in dataset.questions]
    rows = np.zeros((2, embedder.description.dim), dtype=np.float32)
    rows[PASSAGE] = _difference(embedder.embed_passages(passages), passages)
    rows[QUERY] = _difference(embedder.embed_queries(queries), queries)
    np.save(ROOT / "models" / FILE, rows)
    print(f"{FILE}: {len(passages)} passages, {len(queries)} queries, lengths {np.linalg.norm(rows, axis=1).round(3)}")


def _difference(vectors: Vectors, texts: list[str]) -> Vectors:
    languages = np.array([language_of(text) for text in texts])
    difference: Vectors = vectors[languages == "he"].mean(axis=0) - vectors[languages == "en"].mean(axis=0)
    return difference


if __name__ == "__main__":
    main()
