"""Documents cut into passages: six strategies, offsets into the canonical text, nothing over the model's window."""

from ingest.chunking.base import Chunk, ChunkingSpec, embedded_text
from ingest.chunking.chunker import chunk_document

__all__ = ["Chunk", "ChunkingSpec", "chunk_document", "embedded_text"]
