"""The model of words: its arithmetic, its text in a profile, and that a question is judged by what never saw it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from evaluation.refusal import Asked, Choice, calibrate, fit_refusal
from evaluation.tuning import FOLDS
from evaluation.word_model import LEAST_WORDS
from query.evidence import Word
from query.profile_parts import AS_EXPECTED, RefusalFeature, RefusalModel
from query.word_expectation import seen_words
from query.word_model import SUREST, SeenWords, WordModel, decoded, encoded

FIVE_PERCENT = Choice("max-lost", 0.05)
FEATURES = ("cosine",)
DIM = 4


def _model(answered: list[float], unanswered: list[float]) -> WordModel:
    return WordModel(answered=encoded(np.array(answered)), unanswered=encoded(np.array(unanswered)))


def _seen(values: list[list[float]], held: list[bool]) -> SeenWords:
    return SeenWords(np.array(values, dtype=np.float32), np.array(held, dtype=np.bool_))


def test_words_add_the_logarithms_of_their_ratios() -> None:
    # P(held | answered) = 1 / (1 + exp(-1)) for the first word, of the other model one half.
    model = _model([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    sure = 1 / (1 + math.exp(-1))
    assert model.as_expected(_seen([[1.0, 0.0]], [True])) == pytest.approx(math.log(sure / 0.5), abs=1e-4)
    assert model.as_expected(_seen([[1.0, 0.0]], [False])) == pytest.approx(math.log((1 - sure) / 0.5), abs=1e-4)
    both = model.as_expected(_seen([[1.0, 0.0], [1.0, 0.0]], [True, False]))
    assert both == pytest.approx(math.log(sure / 0.5) + math.log((1 - sure) / 0.5), abs=1e-4)
    assert model.as_expected(SeenWords(np.zeros((0, 2), np.float32), np.zeros(0, np.bool_))) == 0.0


def test_no_word_is_surer_than_the_surest() -> None:
    model = _model([100.0, 0.0], [0.0, 0.0])
    missing = model.as_expected(_seen([[1.0]], [False]))
    assert missing == pytest.approx(-math.log1p(math.exp(SUREST)) + math.log(2), abs=1e-4)


def test_weights_survive_their_text_and_damage_is_refused() -> None:
    assert decoded(encoded(np.array([0.5, -2.0]))).tolist() == [0.5, -2.0]
    one, two = encoded(np.array([1.0, 2.0])), encoded(np.array([1.0]))
    for answered, unanswered in ((one, two), ("?", one), ("", ""), (encoded(np.array([np.inf, 1.0])), one)):
        with pytest.raises(ValidationError):
            WordModel(answered=answered, unanswered=unanswered)


def test_the_feature_and_the_model_need_each_other() -> None:
    feature = RefusalFeature(weight=1.0, mean=0.0, deviation=1.0)
    with pytest.raises(ValidationError, match="need each other"):
        RefusalModel(features={AS_EXPECTED: feature}, intercept=0.0)
    model = RefusalModel(features={AS_EXPECTED: feature}, intercept=0.0, words=_model([1.0, 0.0], [0.0, 0.0]))
    assert model.completed({}, _seen([[1.0]], [True]))[AS_EXPECTED] > 0
    # Without vectors of this dimension the feature is missing, which a search tells.
    assert AS_EXPECTED not in model.completed({}, None)
    assert AS_EXPECTED not in model.completed({}, _seen([[1.0, 2.0]], [True]))


def test_words_have_the_mean_of_their_own_tokens() -> None:
    tokens = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]], dtype=np.float32)
    words = [Word("שלום", 2.0, 2), Word("עולם", 3.0, 1)]
    seen = seen_words(words, frozenset({1}), ["עולם", "שלום?"], [1, 2], tokens)
    assert seen.values[:, :2].tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert seen.values[:, 2].tolist() == [2.0, 3.0]
    assert seen.held.tolist() == [False, True]
    # Tokens of the whole query only: no word has its own.
    assert not seen_words(words, frozenset(), ["עולם", "שלום?"], [1, 1], tokens).values[:, :2].any()


def _questions(count: int) -> list[Asked]:
    """Words of one kind stand in answers only; the other feature says nothing."""
    rng = np.random.default_rng(5)
    asked = []
    for number in range(count):
        answerable = number % 2 == 0
        kinds = rng.random((10, DIM)) < 0.5
        held = np.where(kinds[:, 0], answerable, rng.random(10) < 0.5)
        asked.append(
            Asked(
                id=f"q{number}",
                query="",
                features={"cosine": float(rng.normal())},
                language="he",
                answerable=answerable,
                near=None,
                fold=number // 2 % FOLDS,
                words=10,
                seen=SeenWords(kinds.astype(np.float32), held.astype(np.bool_)),
            )
        )
    return asked


def test_what_words_tell_is_learnt_and_held_out() -> None:
    asked = _questions(LEAST_WORDS // 4)
    found = calibrate(asked, FIVE_PERCENT, FEATURES)
    assert found.spec.words is not None
    assert found.spec.features[AS_EXPECTED].weight > 0
    assert found.spec.chosen is not None
    assert found.spec.chosen.out_of_domain_answered.value < 0.2
    # What is learnt without a fold does not change with that fold's questions.
    turned = [
        Asked(
            one.id,
            "",
            one.features,
            "he",
            not one.answerable if one.fold == 0 else one.answerable,
            None,
            one.fold,
            10,
            one.seen,
        )
        for one in asked
    ]
    again = calibrate(turned, FIVE_PERCENT, FEATURES)
    assert again.fold_specs[0].words == found.fold_specs[0].words
    assert again.fold_specs[0].features == found.fold_specs[0].features
    assert again.fold_specs[1].words != found.fold_specs[1].words


def test_too_few_words_have_no_model() -> None:
    spec = fit_refusal(_questions(LEAST_WORDS // 5 - 20), FEATURES, FIVE_PERCENT)
    assert spec.words is None
    assert AS_EXPECTED not in spec.features
