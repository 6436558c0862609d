"""One document through one strategy."""

from __future__ import annotations

from typing import Final

from ingest.chunking.base import OVERLAP_CHARS, Chunk, ChunkingSpec, Group, embedded_text, with_header
from ingest.chunking.blind import blind_groups
from ingest.chunking.boundaries import boundary_groups
from ingest.chunking.header import headers
from ingest.chunking.overlap import overlap_start
from ingest.chunking.places import Places
from ingest.chunking.window import fit
from ingest.chunking.words import skip_space, trim_end
from ingest.extract.base import ExtractedDocument
from models.base import TokenCounter

# Where the window leaves no room for the whole overlap, half of it is tried, then none.
OVERLAP_LENGTHS: Final = (OVERLAP_CHARS, OVERLAP_CHARS // 2)


def chunk_document(document: ExtractedDocument, spec: ChunkingSpec, counter: TokenCounter) -> list[Chunk]:
    """Cut a document.

    The cuts of C, D, E and F are equal: room for the header is left whether or not it is embedded, and an overlap
    gives way to the window.

    Args:
        document: canonical text and blocks.
        spec: strategy, target length and window.
        counter: counts tokens as the model will read them.

    Returns:
        Chunks in reading order, without overlap of content; every character that is not white space is in one.
    """
    traits = spec.traits
    groups = boundary_groups(document, spec.target) if traits.boundaries else blind_groups(document, spec.target)
    sections = {group[0].section for group in groups}
    header_of: dict[tuple[str, ...], str] = {(): ""}
    if traits.boundaries:
        header_of = headers(document.title, sections, spec.window, counter)

    def measure(pending: list[Group]) -> list[int]:
        bare = [document.text[group[0].start : group[-1].end] for group in pending]
        headed = [with_header(header_of[group[0].section], text) for group, text in zip(pending, bare, strict=True)]
        counts = counter.count_tokens(headed)
        if headed == bare:
            return counts
        # A tokenizer may read the first word otherwise where no header stands before it; cuts must not differ by it.
        return [max(pair) for pair in zip(counts, counter.count_tokens(bare), strict=True)]

    groups = fit(document, groups, spec.window, measure)
    places = Places(document)
    chunks = [_chunk(places, group, header_of[group[0].section] if traits.header else "") for group in groups]
    return _with_overlap(document, chunks, spec.window, counter) if traits.overlap else chunks


def _chunk(places: Places, group: Group, header: str) -> Chunk:
    text, last = places.document.text, group[-1].end
    start = skip_space(text, group[0].start, last)
    end = trim_end(text, start, last)
    return Chunk(
        content=text[start:end],
        locator=places.of(start, end),
        confidence=places.confidence(start, end),
        section_path=group[0].section,
        header=header,
    )


def _with_overlap(document: ExtractedDocument, chunks: list[Chunk], window: int, counter: TokenCounter) -> list[Chunk]:
    final = list(chunks)
    pending = list(range(len(chunks)))
    for length in OVERLAP_LENGTHS:
        tried = {i: _overlapping(document.text, chunks[i], length) for i in pending}
        counts = counter.count_tokens([embedded_text(chunk, document) for chunk in tried.values()])
        pending = []
        for (i, chunk), tokens in zip(tried.items(), counts, strict=True):
            if tokens <= window:
                final[i] = chunk
            else:
                pending.append(i)
    return final


def _overlapping(text: str, chunk: Chunk, length: int) -> Chunk:
    return chunk.model_copy(update={"overlap_from": overlap_start(text, chunk.locator.from_, length)})
