"""The generated corpus: repeatable, with the shares that it promises, near real vectors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evaluation.benchmark.corpus import (
    BLOCK,
    COMBINATIONS,
    LARGE,
    MEDIUM,
    PAGE,
    SMALL,
    Corpus,
    calibrated_spread,
    histograms,
    mixed,
    neighbour_distances,
)
from evaluation.benchmark.corpus_base import Base
from evaluation.benchmark.corpus_text import examples_folder, recombined, sentences

DIM = 48
SPREAD = 0.6


@pytest.fixture(scope="module")
def base() -> Base:
    """Vectors in a few clusters, as embeddings lie, without a model."""
    dice = np.random.default_rng(3)
    centres = dice.normal(size=(20, DIM))
    raw = centres[dice.integers(20, size=400)] + 0.7 * dice.normal(size=(400, DIM)) + 1.0
    vectors = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    source = sentences(examples_folder())
    return Base(tuple(recombined(source, dice) for _ in range(400)), vectors, ())


def test_a_page_is_the_same_whenever_it_is_made(base: Base) -> None:
    one, other = Corpus(base, spread=SPREAD), Corpus(base, spread=SPREAD)
    late = other.page(7)
    assert (one.page(3).contents, one.page(3).tenants) == (other.page(3).contents, other.page(3).tenants)
    np.testing.assert_array_equal(one.page(7).vectors, late.vectors)
    assert Corpus(base, seed=2, spread=SPREAD).page(7).contents != late.contents


def test_tenants_have_their_exact_shares_in_every_block(base: Base) -> None:
    corpus = Corpus(base, spread=SPREAD)
    for block in (0, 3):
        count = Counter(tenant for page in corpus.pages(block * BLOCK, (block + 1) * BLOCK) for tenant in page.tenants)
        assert count[LARGE] == BLOCK // 2
        assert {count[f"{MEDIUM}-{number}"] for number in range(20)} == {BLOCK // 100}
        assert {count[f"{SMALL}-{number}"] for number in range(3_000)} == {1}
        assert count.total() == BLOCK


def test_filters_pass_the_share_that_they_are_named_by(base: Base) -> None:
    corpus = Corpus(base, spread=SPREAD)
    passed = Counter[float]()
    for page in corpus.pages(0, 4 * BLOCK):
        for tenant, kind, day, group in zip(page.tenants, page.types, page.dates, page.groups, strict=True):
            for one in COMBINATIONS:
                first = one.filters.date_from
                assert first is not None
                passed[one.share] += (
                    tenant == one.tenant and kind in one.filters.type and day >= first and group in one.filters.groups
                )
    for one in COMBINATIONS:
        expected = one.share * 4 * BLOCK
        # Four standard deviations of a count.
        assert abs(passed[one.share] - expected) < 4 * expected**0.5


def test_every_real_passage_is_used_once_before_any_is_used_again(base: Base) -> None:
    page = Corpus(base, spread=SPREAD).page(0)
    size = len(base)
    assert sorted(page.parents[:size]) == list(range(size))
    assert sorted(page.parents[size : 2 * size]) == list(range(size))
    assert list(page.parents[:size]) != list(page.parents[size : 2 * size])


def test_generated_vectors_are_unit_and_lie_as_real_ones_do(base: Base) -> None:
    spread = calibrated_spread(base.vectors, 1)
    real = neighbour_distances(base.vectors, 1)
    pairs = mixed(base.vectors, np.repeat(np.arange(200), 2), spread, np.random.default_rng(9))
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=1), 1.0, atol=1e-5)
    assert np.median(neighbour_distances(pairs, 1)) == pytest.approx(np.median(real), rel=0.15)
    found = histograms(Corpus(base, spread=spread))
    assert sum(found.real) == pytest.approx(1.0)
    assert sum(found.doubled) == pytest.approx(1.0)


def test_texts_are_hebrew_mostly_and_differ(base: Base) -> None:
    page = Corpus(base, spread=SPREAD).page(0)
    assert len(set(page.contents)) == PAGE
    letters = Counter("he" if "\u05d0" <= letter <= "\u05ea" else "other" for letter in "".join(page.contents))
    assert letters["he"] > letters["other"]
