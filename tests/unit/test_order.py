"""Weights that a class of queries with few questions takes over from the one with most."""

from __future__ import annotations

import numpy as np

from evaluation.dataset import Question
from evaluation.features import Candidates, FeatureTable
from evaluation.order import learn_order
from evaluation.tuning import FOLDS
from query.profile import load_profile
from query.request import Language

NAMES = ("bm25:content", "cosine", "maxsim", "polarity")
CANDIDATES = 8


def _questions(language: Language, count: int, seed: int, *, sided: bool) -> list[Candidates]:
    """The right one, at a random place, has more of everything; its side is told in Hebrew questions alone."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        right = np.arange(CANDIDATES) == rng.integers(CANDIDATES)
        values = rng.normal(size=(CANDIDATES, len(NAMES)))
        values[:, :3] = np.abs(values[:, :3]) + right[:, None] * 0.8
        values[:, 3] = np.where(right, 1.0, -1.0) if sided and number % 2 else 0.0
        question = Question(id=f"{language}{number}", query="x", language=language, answerable=True, document_id="d")
        ids = tuple(f"c{place}" for place in range(CANDIDATES))
        rows.append(Candidates(question, language, ids, values, right))
    return rows


def _fold(one: Candidates) -> int:
    return int(one.question.id[2:]) % FOLDS


def test_the_side_counts_in_english_as_it_does_in_hebrew() -> None:
    table = FeatureTable(NAMES, (*_questions("he", 200, 1, sided=True), *_questions("en", 60, 2, sided=False)))
    learnt = learn_order(table, _fold, load_profile(), lambda *_: None)
    he, en = learnt.profile.blends["he"], learnt.profile.blends["en"]
    assert he["polarity"] > 0
    assert en["polarity"] == he["polarity"]
    assert en["cosine"] != he["cosine"]
    for fold in learnt.profile.folds:
        assert fold.blends is not None
        assert fold.blends["en"]["polarity"] == fold.blends["he"]["polarity"]
