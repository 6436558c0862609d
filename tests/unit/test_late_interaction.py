"""Token codes: what they keep, and MaxSim against a second implementation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import late_interaction
from models.base import Vectors
from models.late_interaction import BITS, CENTRES_FILE, HEADER, NEAR, TokenCoding, e5_coding, orthogonal
from search_config.errors import IndexMismatch

DIM = 384


def states(tokens: int, seed: int = 0, dim: int = DIM) -> Vectors:
    """Token states of any length, as a model gives them."""
    return np.random.default_rng(seed).standard_normal((tokens, dim)).astype(np.float32) * 3 + 1


def plain_maxsim(query: Vectors, passage: Vectors) -> tuple[float, float]:
    """The formula, window by window."""
    products = passage @ query.T
    step = NEAR // 2
    windows = [products[start : start + NEAR] for start in range(0, max(1, len(products) - step), step)]
    return float(products.max(axis=0).sum()), float(max(window.max(axis=0).sum() for window in windows))


@pytest.fixture(params=BITS)
def coding(request: pytest.FixtureRequest) -> TokenCoding:
    return e5_coding(request.param)


class TestCodes:
    @pytest.mark.parametrize("dim", [1, 3, 8, 96, 384, 768, 1024])
    def test_the_transform_is_orthogonal(self, dim: int) -> None:
        matrix = orthogonal(dim)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(dim), atol=1e-12)

    def test_the_transform_spreads_single_dimensions(self) -> None:
        assert np.abs(orthogonal(DIM)).max() < 0.3

    def test_a_code_has_its_size(self, coding: TokenCoding) -> None:
        assert len(coding.encode(states(7))) == HEADER.size + 7 * DIM * coding.bits // 8

    def test_more_bits_are_nearer_to_the_tokens(self) -> None:
        passage = states(200)
        cosines = []
        for bits in BITS:
            coding = e5_coding(bits)
            turned = coding.query(passage)
            kept = coding.decode(coding.encode(passage))
            lengths = np.linalg.norm(turned, axis=1) * np.linalg.norm(kept, axis=1)
            cosines.append(float(((turned * kept).sum(axis=1) / lengths).mean()))
        # What the levels keep of a normal variable: sqrt(2 / pi), sqrt(.8825), sqrt(.9905).
        np.testing.assert_allclose(cosines, [0.798, 0.940, 0.995], atol=0.003)

    def test_the_common_part_says_nothing(self, coding: TokenCoding) -> None:
        centre = np.load(Path(late_interaction.__file__).parent / CENTRES_FILE)
        assert np.abs(coding.query(centre[None] / np.linalg.norm(centre))).max() < 0.2
        assert len(coding.encode(np.zeros((1, DIM), dtype=np.float32))) == HEADER.size + coding.token_bytes

    def test_bits_that_do_not_pack_are_refused(self) -> None:
        with pytest.raises(ValueError, match="3 bits"):
            TokenCoding(np.zeros(DIM, dtype=np.float32), 3)
        with pytest.raises(ValueError, match="packed"):
            TokenCoding(np.zeros(3, dtype=np.float32), 1)

    def test_another_form_has_another_identity(self) -> None:
        others = {e5_coding(bits).identity for bits in BITS}
        others.add(TokenCoding(np.zeros(DIM, dtype=np.float32), 2).identity)
        assert len(others) == len(BITS) + 1


class TestMaxSim:
    @settings(deadline=None)  # the slowest example is the first
    @given(lengths=st.lists(st.integers(1, 100), min_size=1, max_size=6), query=st.integers(1, 5))
    def test_it_is_the_formula(self, lengths: list[int], query: int) -> None:
        coding = e5_coding(2)
        asked = coding.query(states(query, seed=99))
        codes = [coding.encode(states(length, seed=length)) for length in lengths]
        found = coding.maxsim(asked, codes)
        expected = np.array([plain_maxsim(asked, coding.decode(code)) for code in codes])
        np.testing.assert_allclose(found.whole, expected[:, 0], rtol=1e-4)
        np.testing.assert_allclose(found.near, expected[:, 1], rtol=1e-4)
        np.testing.assert_allclose(found.by_token.sum(axis=1), expected[:, 0], rtol=1e-4)

    def test_a_passage_finds_itself(self, coding: TokenCoding) -> None:
        passages = [states(40, seed=seed) for seed in range(10)]
        codes = [coding.encode(passage) for passage in passages]
        for place, passage in enumerate(passages):
            found = coding.maxsim(coding.query(passage[5:9]), codes)
            assert found.whole.argmax() == found.near.argmax() == place

    def test_a_passage_scores_the_same_whatever_is_beside_it(self, coding: TokenCoding) -> None:
        asked = coding.query(states(4, seed=1))
        codes = [coding.encode(states(length, seed=length)) for length in (3, 31, 32, 33, 250)]
        together = coding.maxsim(asked, codes)
        alone = [coding.maxsim(asked, [code]) for code in codes]
        np.testing.assert_allclose(together.whole, [one.whole[0] for one in alone], rtol=1e-5)
        np.testing.assert_allclose(together.near, [one.near[0] for one in alone], rtol=1e-5)

    def test_what_has_no_tokens_is_not_a_number(self, coding: TokenCoding) -> None:
        empty = coding.encode(states(0))
        found = coding.maxsim(coding.query(states(2)), [None, coding.encode(states(3)), empty])
        assert np.isnan(found.whole).tolist() == np.isnan(found.near).tolist() == [True, False, True]
        assert np.isnan(found.by_token).all(axis=1).tolist() == [True, False, True]
        assert coding.maxsim(coding.query(states(2)), []).whole.shape == (0,)

    def test_a_query_without_tokens_is_as_far_from_all(self, coding: TokenCoding) -> None:
        found = coding.maxsim(coding.query(states(0)), [coding.encode(states(3)), coding.encode(states(40))])
        assert found.whole.tolist() == found.near.tolist() == [0.0, 0.0]

    @pytest.mark.parametrize("damage", [b"\2", b"\1\2\0\0\0\0", b"\2\2\1\0\0\0", b"\2\2\5\0\0\0abc"])
    def test_another_form_is_refused(self, damage: bytes) -> None:
        coding = e5_coding(2)
        with pytest.raises(IndexMismatch, match="not of the form"):
            coding.maxsim(coding.query(states(1)), [damage])
        with pytest.raises(IndexMismatch, match="not of the form"):
            coding.maxsim(coding.query(states(1)), [e5_coding(4).encode(states(2))])
