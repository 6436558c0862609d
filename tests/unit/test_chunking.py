"""Every strategy on every text: exact offsets, full cover, whole units, nothing over the window."""

from __future__ import annotations

import time
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import Chunk, ChunkingSpec, chunk_document, embedded_text
from ingest.chunking.base import OVERLAP_CHARS
from ingest.extract.base import Block, BlockKind, ExtractedDocument
from ingest.extract.builder import TextBuilder
from ingest.extract.registry import extract
from search_config.records import Locator
from search_config.settings import ChunkingStrategy
from tests.unit.counters import NO_LIMIT, WordCounter
from tests.unit.reference_chunker import reference_chunks

STRATEGIES: tuple[ChunkingStrategy, ...] = get_args(ChunkingStrategy)
BY_BOUNDARIES: tuple[ChunkingStrategy, ...] = ("C", "D", "E", "F")

words = st.text(alphabet='אבגדהל.,ab1׳"', min_size=1, max_size=9)
lines = st.lists(words, min_size=1, max_size=60).map(" ".join)
blocks = st.lists(
    st.tuples(
        st.sampled_from([*BlockKind, BlockKind.PARAGRAPH, BlockKind.PARAGRAPH]),
        st.integers(1, 3),
        st.one_of(lines, st.lists(lines, min_size=1, max_size=4).map(". ".join)),
    ),
    min_size=1,
    max_size=14,
)


def built(parts: list[tuple[BlockKind, int, str]], title: str = "כותרת המסמך") -> ExtractedDocument:
    builder = TextBuilder()
    for kind, level, text in parts:
        if kind is BlockKind.HEADING:
            builder.heading(text[:60], level)
        else:
            builder.add(kind, text)
    text, made = builder.build()
    return ExtractedDocument(text=text, title=title, blocks=made, media_type="text/plain")


documents = blocks.map(built)


def spec(strategy: ChunkingStrategy, target: int, window: int) -> ChunkingSpec:
    return ChunkingSpec(strategy=strategy, target=target, window=window)


def spans(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.locator.from_, chunk.locator.to) for chunk in chunks]


def heading_only(document: ExtractedDocument, chunk: Chunk) -> bool:
    inside = [
        block.kind
        for block in document.blocks
        if block.locator.from_ < chunk.locator.to and block.locator.to > chunk.locator.from_
    ]
    return set(inside) == {BlockKind.HEADING}


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from(STRATEGIES), st.integers(20, 400), st.integers(80, 400))
def test_offsets_cover_and_window(
    document: ExtractedDocument, strategy: ChunkingStrategy, target: int, window: int
) -> None:
    counter = WordCounter(window)
    chunks = chunk_document(document, spec(strategy, target, window), counter)
    covered = [False] * len(document.text)
    end = 0
    for chunk in chunks:
        start, to = chunk.locator.from_, chunk.locator.to
        assert document.text[start:to] == chunk.content == chunk.content.strip()
        assert start >= end, "chunks overlap, or one lies in another"
        end = to
        covered[start:to] = [True] * (to - start)
    assert all(done or char.isspace() for done, char in zip(covered, document.text, strict=True))
    assert max(counter.count_tokens([embedded_text(chunk, document) for chunk in chunks])) <= window


@settings(max_examples=100, deadline=None)
@given(documents, st.integers(20, 400), st.integers(80, 400))
def test_cuts_of_c_to_f_are_equal(document: ExtractedDocument, target: int, window: int) -> None:
    counter = WordCounter(window)
    c, d, e, f = (chunk_document(document, spec(one, target, window), counter) for one in BY_BOUNDARIES)
    assert spans(c) == spans(d) == spans(e) == spans(f)
    assert [chunk.content for chunk in c] == [chunk.content for chunk in e]
    assert all(not chunk.header and chunk.overlap_from is None for chunk in c)
    assert all(chunk.header.startswith("[") and embedded_text(chunk, document).startswith(chunk.header) for chunk in e)


@settings(max_examples=100, deadline=None)
@given(documents, st.integers(20, 400))
def test_the_reference_chunker_agrees(document: ExtractedDocument, target: int) -> None:
    chunks = chunk_document(document, spec("E", target, NO_LIMIT.passage_window), NO_LIMIT)
    assert [(*span, chunk.content) for span, chunk in zip(spans(chunks), chunks, strict=True)] == reference_chunks(
        document, target
    )


@settings(max_examples=100, deadline=None)
@given(documents, st.integers(20, 400))
def test_whole_units(document: ExtractedDocument, target: int) -> None:
    """Headings go with what follows; paragraphs up to the target, code and table rows are never cut.

    Headings of a document that has nothing else are its text, and are cut as text is.
    """
    chunks = chunk_document(document, spec("C", target, NO_LIMIT.passage_window), NO_LIMIT)
    never_cut = {BlockKind.CODE, BlockKind.TABLE_ROW}
    if any(block.kind is not BlockKind.HEADING for block in document.blocks):
        never_cut.add(BlockKind.HEADING)
        assert not any(heading_only(document, chunk) for chunk in chunks)
    for block in document.blocks:
        start, end = block.locator.from_, block.locator.to
        whole = block.kind in never_cut or (block.kind is not BlockKind.HEADING and end - start <= target)
        if whole:
            assert any(a <= start and end <= b for a, b in spans(chunks)), block


@settings(max_examples=60, deadline=None)
@given(documents, st.sampled_from(["B", "D", "F"]), st.integers(20, 200))
def test_overlap_begins_at_a_word_and_is_short(
    document: ExtractedDocument, strategy: ChunkingStrategy, target: int
) -> None:
    text = document.text
    for chunk in chunk_document(document, spec(strategy, target, NO_LIMIT.passage_window), NO_LIMIT):
        start = chunk.overlap_from
        if start is None:
            continue
        assert 0 < chunk.locator.from_ - start <= OVERLAP_CHARS
        assert not text[start].isspace()
        assert start == 0 or text[start - 1].isspace()
        assert embedded_text(chunk, document).endswith(text[start : chunk.locator.to])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_examples(strategy: ChunkingStrategy, examples: Path) -> None:
    counter = WordCounter(500)
    for path in sorted((examples / "documents").rglob("*.*")):
        document = extract(path.read_bytes(), name=path.name, max_bytes=10_000_000)
        chunks = chunk_document(document, spec(strategy, 512, 500), counter)
        assert "".join("".join(chunk.content.split()) for chunk in chunks) == "".join(document.text.split())
        if strategy in BY_BOUNDARIES:
            assert all(chunk.section_path[:1] != (document.title,) for chunk in chunks)


def test_small_paragraphs_are_joined_within_their_section_only() -> None:
    kinds = BlockKind
    document = built(
        [
            (kinds.HEADING, 1, "פרק א"),
            (kinds.PARAGRAPH, 1, "פסקה ראשונה."),
            (kinds.PARAGRAPH, 1, "פסקה שנייה."),
            (kinds.HEADING, 2, "סעיף 1"),
            (kinds.PARAGRAPH, 1, "פסקה שלישית."),
            (kinds.HEADING, 1, "פרק ב"),
        ]
    )
    chunks = chunk_document(document, spec("E", 512, 100), WordCounter(100))
    assert [chunk.content for chunk in chunks] == [
        "פרק א\n\nפסקה ראשונה.\n\nפסקה שנייה.",
        "סעיף 1\n\nפסקה שלישית.\n\nפרק ב",
    ]
    assert [chunk.header for chunk in chunks] == ["[כותרת המסמך > פרק א]", "[כותרת המסמך > פרק א > סעיף 1]"]
    assert chunks[1].section == "פרק א > סעיף 1"


def test_the_last_fact_of_a_long_paragraph_is_in_a_chunk_that_the_model_reads_whole() -> None:
    fact = "קוד הכספת הוא 7731."
    paragraph = "זהו משפט שגרתי ובו כמה מילים על נוהל העירייה. " * 65 + fact
    assert len(paragraph) > 3_000
    document = built([(BlockKind.PARAGRAPH, 1, paragraph)])
    counter = WordCounter(120)
    chunks = chunk_document(document, spec("E", 20_000, 120), counter)
    assert fact in chunks[-1].content
    assert max(counter.count_tokens([embedded_text(chunk, document) for chunk in chunks])) <= 120
    assert all(chunk.content.endswith(".") for chunk in chunks)


def test_code_is_cut_at_lines_and_only_where_the_window_forces_it() -> None:
    code = "\n".join(f"statement_{i} = {i}" for i in range(200))
    document = built([(BlockKind.PARAGRAPH, 1, "מבוא."), (BlockKind.CODE, 1, code)])
    assert len(chunk_document(document, spec("C", 100, 10_000), WordCounter(10_000))) == 2
    cut = chunk_document(document, spec("C", 100, 200), WordCounter(200))
    assert len(cut) > 3
    assert all(chunk.content.startswith("statement_") for chunk in cut[1:])


def test_a_header_longer_than_the_window_is_shortened_from_its_middle() -> None:
    title = "כותרת " + "ארוכה מאוד " * 400
    document = built([(BlockKind.HEADING, 1, "סעיף"), (BlockKind.PARAGRAPH, 1, "גוף. " * 50)], title=title)
    counter = WordCounter(100)
    chunks = chunk_document(document, spec("F", 200, 100), counter)
    assert all(chunk.header.startswith("[כותרת") and "…" in chunk.header for chunk in chunks)
    assert all(chunk.header.endswith("סעיף]") for chunk in chunks)
    assert max(counter.count_tokens([chunk.header for chunk in chunks])) <= 25


def test_one_word_over_the_window_is_cut_and_loses_nothing() -> None:
    document = built([(BlockKind.PARAGRAPH, 1, "א" * 5_000)])
    for strategy in STRATEGIES:
        chunks = chunk_document(document, spec(strategy, 512, 64), WordCounter(64))
        assert "".join(chunk.content for chunk in chunks) == "א" * 5_000


def test_a_heading_over_the_window_is_cut_and_no_part_is_white_space_alone() -> None:
    # What it heads is cut first, down to single characters, of which one is a blank.
    text = f"{'מ' * 200}\n\nג ב"
    places = [(BlockKind.HEADING, Locator(from_=0, to=200)), (BlockKind.PARAGRAPH, Locator(from_=202, to=205))]
    blocks_ = tuple(Block(kind=kind, locator=place) for kind, place in places)
    document = ExtractedDocument(text=text, title="כותרת", blocks=blocks_, media_type="text/plain")
    for window in (5, 20, 49):
        chunks = chunk_document(document, spec("E", 40, window), WordCounter(window))
        assert "".join("".join(chunk.content.split()) for chunk in chunks) == "".join(text.split())


def test_nothing_but_headings_is_one_chunk() -> None:
    document = built([(BlockKind.HEADING, 1, "א"), (BlockKind.HEADING, 2, "ב")])
    assert [chunk.content for chunk in chunk_document(document, spec("E", 512, 100), WordCounter(100))] == ["א\n\nב"]


@pytest.mark.parametrize("strategy", ["A", "F"])
@pytest.mark.parametrize(
    "text", ["מילה " * 400_000, "א" * 1_000_000, "מילה" + " " * 1_000_000 + "סוף", "משפט קצר. " * 200_000]
)
def test_two_megabytes_take_no_quadratic_time(strategy: ChunkingStrategy, text: str) -> None:
    document = extract(text.encode(), name="a.txt", max_bytes=10_000_000)
    started = time.perf_counter()
    chunk_document(document, spec(strategy, 512, 200), WordCounter(200))
    # Linear time is a few seconds; quadratic time of these sizes is minutes.
    assert time.perf_counter() - started < 40
