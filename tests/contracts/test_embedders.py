"""One contract, every embedder: the embedded one, sentence-transformers, an OpenAI-compatible endpoint, the caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from models.base import Embedder
from models.cache import CachedEmbedder, RecentQueries
from models.e5 import E5Embedder
from models.export import export_sentence_transformer
from models.openai_compatible import OpenAICompatibleEmbedder
from models.sentence_transformer import SentenceTransformerEmbedder
from models.vectors import checked
from search_config.errors import InvalidSettings, InvalidVector, ModelUnavailable
from search_config.settings import Settings
from tests.contracts.embedding_server import KEY, EmbeddingServer, serving

needs_sentence_transformers = pytest.mark.extra("sentence_transformers")

DIM = 384
# Vectors of one text from different batches: the order of float32 sums differs with the padding.
SAME = 1e-5
TEXTS = (
    "הספרייה העירונית פתוחה בימים א׳ עד ה׳",
    "The library opens at nine.",
    "א",
    "בְּרֵאשִׁית",
    "תיק 123-45-67, SKU-77/4",
    "😀 שלום 🎉",
    "הספרייה העירונית פתוחה בימים א׳ עד ה׳",
)
VERY_LONG = "מילה ועוד מילה, " * 4000


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(Settings(_env_file=None).cache_dir)


@pytest.fixture(scope="module")
def server(e5: E5Embedder) -> Iterator[EmbeddingServer]:
    with serving(e5.embed_passages) as server:
        yield server


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_sentence_transformer(tmp_path_factory.mktemp("exported") / "e5")


@pytest.fixture(
    scope="module",
    params=[
        "e5",
        pytest.param("sentence-transformers", marks=needs_sentence_transformers),
        "openai",
        "cached",
        "recent",
    ],
)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    inner: E5Embedder = request.getfixturevalue("e5")
    if request.param == "e5":
        yield inner
    elif request.param == "recent":
        yield RecentQueries(inner)
    elif request.param == "cached":
        with CachedEmbedder(inner, tmp_path_factory.mktemp("cache") / "vectors.sqlite") as cached:
            yield cached
    elif request.param == "openai":
        client = _client(request.getfixturevalue("server"), query_prompt="שאלה: ")
        yield client
        client.close()
    else:
        yield SentenceTransformerEmbedder(str(request.getfixturevalue("exported")))


def _client(server: EmbeddingServer, model: str = "e5", *, dim: int = DIM, **more: str) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(server.url, model, more.pop("key", KEY), dim=dim, window=512, **more)


class TestContract:
    def test_it_implements_the_protocol(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.description.dim == DIM
        assert embedder.description.identity.endswith(f"/{DIM}")
        assert 0 < embedder.passage_window < embedder.description.window
        assert 0 < embedder.query_window < embedder.description.window

    def test_nothing_gives_nothing(self, embedder: Embedder) -> None:
        assert embedder.embed_passages([]).shape == (0, DIM)
        assert embedder.embed_queries([]).shape == (0, DIM)
        assert embedder.count_tokens([]) == []

    @pytest.mark.parametrize(
        "text", ["שלום", "", " ", "\n", "...", "\0", "a\0b", "\ud800", "😀", VERY_LONG, "א" * 5000, "𐎀𐎁𐎂"]
    )
    def test_any_one_text_gives_a_unit_vector(self, embedder: Embedder, text: str) -> None:
        for vectors in (embedder.embed_passages([text]), embedder.embed_queries([text])):
            assert checked(vectors, dim=DIM, where="test").shape == (1, DIM)
            assert vectors.dtype == np.float32

    def test_order_is_kept_and_neighbours_do_not_matter(self, embedder: Embedder) -> None:
        together = embedder.embed_passages([*TEXTS, VERY_LONG])
        alone = [embedder.embed_passages([text])[0] for text in (*TEXTS, VERY_LONG)]
        np.testing.assert_allclose(together, alone, atol=SAME)
        assert len({row.tobytes() for row in together.round(3)}) == len({*TEXTS, VERY_LONG})

    def test_equal_texts_have_equal_vectors(self, embedder: Embedder) -> None:
        vectors = embedder.embed_passages(TEXTS)
        np.testing.assert_array_equal(vectors[0], vectors[-1])
        np.testing.assert_array_equal(vectors, embedder.embed_passages(TEXTS))

    def test_a_query_is_not_embedded_as_a_passage(self, embedder: Embedder) -> None:
        assert not np.allclose(embedder.embed_queries(TEXTS), embedder.embed_passages(TEXTS), atol=1e-3)

    def test_a_paraphrase_is_nearer_than_another_subject(self, embedder: Embedder) -> None:
        question = embedder.embed_queries(["מתי אפשר להיכנס לספרייה?"])[0]
        library, garden = embedder.embed_passages([TEXTS[0], "הגינון בפארק מתבצע על ידי קבלן חיצוני"])
        assert question @ library > question @ garden

    def test_token_counts_add_up(self, embedder: Embedder) -> None:
        first, second, both = embedder.count_tokens(["הספרייה פתוחה", "ביום ראשון", "הספרייה פתוחה ביום ראשון"])
        assert first > 0
        assert second > 0
        assert first + second <= both <= first + second + 1  # bytes count the space too
        assert embedder.count_tokens(["הספרייה פתוחה"]) == [first]

    def test_counts_are_not_truncated(self, embedder: Embedder) -> None:
        (count,) = embedder.count_tokens([VERY_LONG])
        assert count > 10 * embedder.description.window

    def test_what_fits_the_window_is_read_to_its_end(self, embedder: Embedder) -> None:
        words = "מילה "
        while embedder.count_tokens([words + "מילה סוף"])[0] <= embedder.passage_window:
            words += "מילה "
        one, other = embedder.embed_passages([words + "סוף", words + "אלף"])
        assert embedder.count_tokens([words + "סוף"])[0] <= embedder.passage_window
        assert not np.array_equal(one, other)

    def test_what_is_beyond_the_window_is_not_read(self, embedder: Embedder) -> None:
        one, other = embedder.embed_passages([VERY_LONG + "סוף", VERY_LONG + "אלף"])
        np.testing.assert_allclose(one, other, atol=SAME)


class TestOpenAICompatible:
    def test_its_vectors_are_the_servers(self, server: EmbeddingServer, e5: E5Embedder) -> None:
        client = _client(server)
        np.testing.assert_allclose(client.embed_passages(TEXTS), e5.embed_passages(TEXTS), atol=SAME)
        client.close()

    def test_batches_are_bounded(self, server: EmbeddingServer) -> None:
        server.batches.clear()
        client = _client(server)
        assert client.embed_queries([f"שאלה {number}" for number in range(70)]).shape == (70, DIM)
        client.close()
        assert server.batches == [32, 32, 6]

    @pytest.mark.parametrize(
        ("model", "error"),
        [
            ("nan", InvalidVector),
            ("ragged", InvalidVector),
            ("fewer", InvalidVector),
            ("no-vectors", ModelUnavailable),
            ("unknown", ModelUnavailable),
        ],
    )
    def test_a_bad_answer_is_refused(self, server: EmbeddingServer, model: str, error: type[Exception]) -> None:
        client = _client(server, model)
        with pytest.raises(error) as raised:
            client.embed_passages(["שלום", "עולם"])
        client.close()
        assert model in str(raised.value)

    def test_another_dimension_is_refused_with_the_setting_named(self, server: EmbeddingServer) -> None:
        client = _client(server, dim=512)
        with pytest.raises(InvalidVector, match="MAFTEACH_EMBEDDER_DIM"):
            client.embed_passages(["שלום"])
        client.close()

    def test_a_wrong_key_is_said_and_not_shown(self, server: EmbeddingServer) -> None:
        client = _client(server, key="wrong-key")
        with pytest.raises(ModelUnavailable, match="MAFTEACH_EMBEDDER_API_KEY") as raised:
            client.embed_passages(["שלום"])
        client.close()
        assert "wrong-key" not in str(raised.value)

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_busy_endpoint_is_asked_again(self, server: EmbeddingServer, status: int) -> None:
        server.failures_left, server.failure_status = 2, status
        client = _client(server)
        assert client.embed_passages(["שלום"]).shape == (1, DIM)
        client.close()
        assert server.failures_left == 0

    def test_a_refusal_is_not_repeated(self, server: EmbeddingServer) -> None:
        server.failures_left, server.failure_status = 2, 400
        client = _client(server)
        with pytest.raises(ModelUnavailable, match="try again"):
            client.embed_passages(["שלום"])
        client.close()
        assert server.failures_left == 1
        server.failures_left = 0

    def test_no_endpoint_is_said(self, server: EmbeddingServer) -> None:
        server.failures_left, server.failure_status = 5, 503
        client = _client(server)
        with pytest.raises(ModelUnavailable, match="MAFTEACH_EMBEDDER_URL"):
            client.embed_passages(["שלום"])
        client.close()
        assert server.failures_left == 0

    def test_prompts_are_part_of_the_identity(self, server: EmbeddingServer) -> None:
        plain, prompted = _client(server), _client(server, query_prompt="query: ")
        assert plain.description.identity != prompted.description.identity
        plain.close()
        prompted.close()

    def test_a_window_without_room_is_refused(self) -> None:
        with pytest.raises(InvalidSettings, match="MAFTEACH_EMBEDDER_WINDOW"):
            OpenAICompatibleEmbedder("http://127.0.0.1:9/v1", "m", dim=3, window=16, query_prompt="an instruction: ")


@needs_sentence_transformers
class TestSentenceTransformer:
    def test_its_vectors_are_those_of_the_embedded_model(self, exported: Path) -> None:
        # The folder holds the model alone: English vectors are not moved in it.
        e5 = E5Embedder(Settings(_env_file=None).cache_dir, align=False)
        model = SentenceTransformerEmbedder(str(exported))
        for ours, theirs in (
            (e5.embed_passages(TEXTS), model.embed_passages(TEXTS)),
            (e5.embed_queries(TEXTS), model.embed_queries(TEXTS)),
        ):
            assert float((ours * theirs).sum(axis=1).min()) > 0.99
        assert model.count_tokens(TEXTS) == e5.count_tokens(TEXTS)
        assert (model.passage_window, model.query_window) == (e5.passage_window, e5.query_window)

    def test_the_revision_is_that_of_the_files(self, exported: Path) -> None:
        before = SentenceTransformerEmbedder(str(exported)).description
        (exported / "README.md").write_text("a note", encoding="utf-8")
        assert SentenceTransformerEmbedder(str(exported)).description == before
        config = exported / "config_sentence_transformers.json"
        content = config.read_text(encoding="utf-8")
        config.write_text(content.replace("passage: ", "text: "), encoding="utf-8")
        assert SentenceTransformerEmbedder(str(exported)).description.identity != before.identity
        config.write_text(content, encoding="utf-8")

    @pytest.mark.parametrize("name", ["./no-such-folder", "/no/such/folder", "~/no-such-folder"])
    def test_a_missing_folder_is_said(self, name: str) -> None:
        with pytest.raises(ModelUnavailable, match="no such folder"):
            SentenceTransformerEmbedder(name)

    def test_a_folder_that_is_no_model_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{", encoding="utf-8")
        with pytest.raises(ModelUnavailable, match="can't be loaded"):
            SentenceTransformerEmbedder(str(tmp_path))


class Counting:
    """The embedded model, counting the texts that it is asked for."""

    def __init__(self, inner: E5Embedder) -> None:
        self.inner = inner
        self.asked: list[str] = []
        self.description = inner.description
        self.passage_window, self.query_window = inner.passage_window, inner.query_window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return self.inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return self.inner.embed_queries(texts)


class TestCaches:
    def test_nothing_is_computed_twice_across_runs(self, e5: E5Embedder, tmp_path: Path) -> None:
        inner, path = Counting(e5), tmp_path / "sub" / "vectors.sqlite"
        with CachedEmbedder(inner, path) as cached:
            first = cached.embed_passages(TEXTS)
            assert (cached.hits, cached.misses) == (1, 6)
        with CachedEmbedder(inner, path) as cached:
            np.testing.assert_array_equal(cached.embed_passages(TEXTS[::-1]), first[::-1])
            assert (cached.hits, cached.misses) == (7, 0)
            assert not np.allclose(cached.embed_queries(TEXTS[:1]), first[:1], atol=1e-3)
        assert inner.asked == [*dict.fromkeys(TEXTS), TEXTS[0]]

    def test_another_model_shares_nothing(self, e5: E5Embedder, tmp_path: Path) -> None:
        path = tmp_path / "vectors.sqlite"
        with CachedEmbedder(e5, path) as cached:
            cached.embed_passages(["שלום"])
        other = Counting(e5)
        other.description = e5.description.model_copy(update={"revision": "other"})
        with CachedEmbedder(other, path) as cached:
            cached.embed_passages(["שלום"])
        assert other.asked == ["שלום"]

    @pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
    def test_a_damaged_file_is_begun_anew(self, e5: E5Embedder, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "vectors.sqlite"
        path.write_bytes(content)
        with CachedEmbedder(e5, path) as cached:
            assert cached.embed_passages(["שלום"]).shape == (1, DIM)

    def test_a_place_that_cannot_be_written_is_said(self, e5: E5Embedder, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(ModelUnavailable, match="cache of embeddings"):
            CachedEmbedder(e5, tmp_path / "file" / "vectors.sqlite")

    def test_recent_queries_are_kept_up_to_a_number(self, e5: E5Embedder) -> None:
        inner = Counting(e5)
        recent = RecentQueries(inner, size=2)
        first = recent.embed_queries(["א", "ב"])
        np.testing.assert_array_equal(recent.embed_queries(["ב", "א"]), first[::-1])
        recent.embed_queries(["ג"])
        recent.embed_queries(["א", "ב"])
        assert inner.asked == ["א", "ב", "ג", "ב"]
        assert (recent.hits, recent.misses) == (3, 4)
