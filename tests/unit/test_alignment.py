"""English vectors are moved, Hebrew ones are the model's own, and an English question reaches Hebrew passages."""

from __future__ import annotations

import numpy as np
import pytest

from models.alignment import PASSAGE, STRENGTH, aligned, shifts
from models.e5 import E5Embedder
from search_config.settings import Settings

ENGLISH = "The supplier shall answer a critical call within two hours."
HEBREW = "הספק ייענה לקריאה דחופה בתוך שעתיים."


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder(Settings(_env_file=None).cache_dir)


@pytest.fixture(scope="module")
def plain() -> E5Embedder:
    return E5Embedder(Settings(_env_file=None).cache_dir, align=False)


def test_hebrew_vectors_are_the_models_own(embedder: E5Embedder, plain: E5Embedder) -> None:
    assert np.allclose(embedder.embed_passages([HEBREW]), plain.embed_passages([HEBREW]), atol=1e-6)
    assert np.allclose(embedder.embed_queries([HEBREW]), plain.embed_queries([HEBREW]), atol=1e-6)


def test_only_english_rows_move_and_by_the_stated_amount() -> None:
    vectors = np.eye(2, shifts().shape[1], dtype=np.float32)
    moved = aligned(vectors, [ENGLISH, HEBREW], is_query=False)
    assert np.allclose(moved[0] - vectors[0], STRENGTH * shifts()[PASSAGE])
    assert np.array_equal(moved[1], vectors[1])


def test_an_identity_tells_aligned_vectors_from_plain_ones(embedder: E5Embedder, plain: E5Embedder) -> None:
    assert embedder.description.identity != plain.description.identity


def test_an_english_question_is_nearer_to_its_hebrew_answer_than_to_other_english(
    embedder: E5Embedder, plain: E5Embedder
) -> None:
    question = "How soon must the supplier respond to an urgent call?"
    passages = [HEBREW, "Staff may work from home on two days a week, with the approval of their manager."]
    before = plain.embed_passages(passages) @ plain.embed_queries([question])[0]
    after = embedder.embed_passages(passages) @ embedder.embed_queries([question])[0]
    assert after[0] - after[1] > before[0] - before[1]
    assert after[0] > after[1]
