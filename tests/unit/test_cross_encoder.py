"""The cross-encoder on a model that the test makes: tiny, with weights that nobody trained."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from models.cross_encoder import CrossEncoderScorer
from models.factory import load_cross_encoder
from search_config.errors import MissingExtra, ModelUnavailable
from search_config.settings import Settings

needs_sentence_transformers = pytest.mark.extra("sentence_transformers")
WINDOW = 64


def make_model(folder: Path, *, labels: int = 1) -> Path:
    """A BERT of one layer over single characters."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(code) for code in range(ord("א"), ord("ת") + 1)]
    (folder / "vocab.txt").write_text("\n".join(pieces + letters + [f"##{letter}" for letter in letters]), "utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=WINDOW)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=WINDOW,
        num_labels=labels,
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoderScorer:
    return CrossEncoderScorer(str(make_model(tmp_path_factory.mktemp("models") / "tiny")))


@needs_sentence_transformers
class TestScorer:
    def test_one_score_a_passage(self, scorer: CrossEncoderScorer) -> None:
        scores = scorer.score("מה השעה", ["השעה שמונה", "אין", ""])
        assert scores.shape == (3,)
        assert np.isfinite(scores).all()
        assert len(set(scores.tolist())) == 3

    def test_a_pair_has_one_score_whatever_is_beside_it(self, scorer: CrossEncoderScorer) -> None:
        passages = ["השעה שמונה", "אין", "שעון " * 9]
        together = scorer.score("מה השעה", passages)
        alone = [scorer.score("מה השעה", [passage])[0] for passage in passages]
        np.testing.assert_allclose(together, alone, atol=1e-4)

    def test_nothing_gives_nothing(self, scorer: CrossEncoderScorer) -> None:
        assert scorer.score("מה השעה", []).shape == (0,)

    def test_a_text_longer_than_the_window(self, scorer: CrossEncoderScorer) -> None:
        long = "שעון " * 5_000
        np.testing.assert_allclose(scorer.score("מה", [long]), scorer.score("מה", [long + "אחר"]), atol=1e-5)

    def test_lone_surrogates_are_no_end(self, scorer: CrossEncoderScorer) -> None:
        assert np.isfinite(scorer.score("מה \ud800", ["\udfff"])).all()

    def test_settings_name_it(self, tmp_path: Path) -> None:
        folder = make_model(tmp_path / "named")
        assert load_cross_encoder(Settings(_env_file=None, reranker_model=str(folder))) is not None

    def test_several_scores_a_pair_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match="3 scores"):
            CrossEncoderScorer(str(make_model(tmp_path / "classes", labels=3)))

    def test_a_folder_that_is_no_model_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match="can't be loaded"):
            CrossEncoderScorer(str(tmp_path))


def test_no_name_means_none() -> None:
    assert load_cross_encoder(Settings(_env_file=None)) is None


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="sentence-transformers"):
        CrossEncoderScorer("anything")
