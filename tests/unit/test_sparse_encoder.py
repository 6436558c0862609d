"""Terms of a sentence-transformers SparseEncoder, on a model that the test makes: tiny, with weights nobody trained."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models.base import sparse_encoder, token_coder
from models.factory import load_embedder
from models.latent_terms import QUERY_TERMS
from models.sparse_encoder import SentenceTransformerTerms
from search_config.errors import MissingExtra, ModelUnavailable
from search_config.settings import Settings

needs_sentence_transformers = pytest.mark.extra("sentence_transformers")
WINDOW = 64
TEXTS = ["השעה שמונה", "אין שעון. בכלל", "שעון " * 500]


def make_model(folder: Path, *, seed: int = 1) -> Path:
    """A masked language model of one layer, whose vocabulary has a dot in it."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder.mkdir()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."]
    letters = [chr(code) for code in range(ord("א"), ord("ת") + 1)]
    more = [f"{one}{other}" for one in letters for other in letters[:5]]
    (folder / "vocab.txt").write_text(
        "\n".join(pieces + letters + [f"##{letter}" for letter in letters] + more), "utf-8"
    )
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=WINDOW)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=WINDOW,
        initializer_range=1.0,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> SentenceTransformerTerms:
    return SentenceTransformerTerms(str(folder))


@needs_sentence_transformers
class TestTerms:
    def test_terms_are_numbers_above_zero(self, model: SentenceTransformerTerms) -> None:
        passages = model.passage_terms(TEXTS)
        assert len(passages) == len(TEXTS)
        for terms in passages:
            assert terms
            assert all(term.isdigit() for term in terms)
            assert min(terms.values()) > 0

    def test_queries_are_cut_to_what_a_search_takes(self, model: SentenceTransformerTerms) -> None:
        (query,), (passage,) = model.query_terms(TEXTS[:1]), model.passage_terms(TEXTS[:1])
        assert len(query) == QUERY_TERMS < len(passage)
        assert query.items() <= passage.items()
        assert min(query.values()) >= max(passage[term] for term in passage.keys() - query.keys())

    def test_a_text_has_its_terms_whatever_is_beside_it(self, model: SentenceTransformerTerms) -> None:
        for text, together in zip(TEXTS, model.query_terms(TEXTS), strict=True):
            (alone,) = model.query_terms([text])
            assert alone == pytest.approx(together, abs=1e-4)

    def test_nothing_gives_nothing(self, model: SentenceTransformerTerms) -> None:
        assert model.passage_terms([]) == []
        assert len(model.query_terms(["", "\ud800"])) == 2

    def test_its_identity_is_that_of_the_files(self, folder: Path, tmp_path: Path) -> None:
        first, again = SentenceTransformerTerms(str(folder)).identity, SentenceTransformerTerms(str(folder)).identity
        assert first == again
        assert SentenceTransformerTerms(str(make_model(tmp_path / "tiny", seed=2))).identity != first

    def test_settings_put_it_beside_the_embedder(self, folder: Path) -> None:
        settings = Settings(_env_file=None, sparse="sentence-transformers", sparse_model=str(folder))
        embedder = load_embedder(settings)
        assert {id(view) for view in (embedder, sparse_encoder(embedder), token_coder(embedder))} == {id(embedder)}
        assert embedder.description.sparse_terms == SentenceTransformerTerms(str(folder)).identity

    @pytest.mark.parametrize("name", ["./no-such-folder", "/no/such/folder"])
    def test_a_missing_folder_is_said(self, name: str) -> None:
        with pytest.raises(ModelUnavailable, match="no such folder"):
            SentenceTransformerTerms(name)

    def test_a_folder_that_is_no_model_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{", encoding="utf-8")
        with pytest.raises(ModelUnavailable, match="can't be loaded"):
            SentenceTransformerTerms(str(tmp_path))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="sentence-transformers"):
        SentenceTransformerTerms("anything")
