"""How far the words of a query are matched by a passage's tokens."""

from __future__ import annotations

import numpy as np
import pytest

from models.base import Vectors
from query.evidence import Evidence, Word
from query.refusal import CLOSE, STANDS_OUT, Judged, features_of
from query.word_matches import MATCHED, rarity_unmatched

WORDS = (Word("מזרקה", 4.0, pieces=2), Word("גן", 1.0))
TEXTS = ("מי", "תכנן", "מזרקה", "בגן?", "גן?")
# The third text has two tokens, all others one.
PIECES = (1, 1, 2, 1, 1)


def _tokens(*lengths: float) -> Vectors:
    return np.diag(np.array(lengths, dtype=np.float32))


def _unmatched(best: list[float], tokens: Vectors | None = None, pieces: tuple[int, ...] = PIECES) -> float:
    of = _tokens(*[1.0] * 6) if tokens is None else tokens
    return rarity_unmatched(WORDS, TEXTS, pieces, of, np.array(best, dtype=np.float32))


def test_a_word_whose_tokens_are_matched_lacks_nothing_and_one_that_is_not_lacks_its_rarity() -> None:
    assert _unmatched([0.0, 0.0, MATCHED, MATCHED, 0.0, 1.0]) == pytest.approx(0.0, abs=1e-6)
    assert _unmatched([1.0, 1.0, 0.0, 0.0, 1.0, 1.0]) == pytest.approx(4.0 * MATCHED)
    assert _unmatched([1.0, 1.0, 1.0, 1.0, 1.0, 0.1]) == pytest.approx(1.0 * (MATCHED - 0.1), abs=1e-6)


def test_tokens_of_one_word_stand_in_for_each_other_and_the_longer_one_counts_more() -> None:
    assert _unmatched([0.0, 0.0, 0.1, 0.3, 0.0, 1.0]) == pytest.approx(4.0 * (MATCHED - 0.2), abs=1e-6)
    # A product of .3 with a token of length 3 is a cosine of .1.
    longer = _tokens(1.0, 1.0, 3.0, 1.0, 1.0, 1.0)
    assert _unmatched([0.0, 0.0, 0.3, 0.3, 0.0, 1.0], longer) == pytest.approx(4.0 * (MATCHED - 0.6 / 4.0), abs=1e-6)


def test_a_passage_without_a_code_matches_nothing() -> None:
    assert _unmatched([float("nan")] * 6) == pytest.approx(5.0 * MATCHED)


def test_words_behind_the_window_of_the_model_are_not_compared() -> None:
    cut = _tokens(1.0, 1.0, 1.0, 1.0)
    assert _unmatched([1.0, 1.0, 0.0, 0.0], cut) == pytest.approx(4.0 * MATCHED)


def test_where_words_do_not_tell_the_tokens_apart_the_whole_query_counts_for_each() -> None:
    assert _unmatched([0.1] * 6, pieces=(1, 1, 1, 1, 1)) == pytest.approx(5.0 * (MATCHED - 0.1), abs=1e-6)


def test_a_query_of_no_words_lacks_nothing() -> None:
    assert rarity_unmatched((), (), (), np.zeros((0, 4), dtype=np.float32), np.zeros(0, dtype=np.float32)) == 0.0


def test_what_is_missing_says_less_where_the_passage_is_close_or_stands_out() -> None:
    found = Evidence(words=(Word("מזרקה", 4.0), Word("גן", 1.0)), loosely=frozenset({1}))

    def features(cosine: float, score: float) -> dict[str, float]:
        pool = [Judged("a", score, {"cosine": cosine, "maxsim_mean": 0.3}), Judged("b", 1.0, {"maxsim_mean": 0.2})]
        return features_of(pool, found, unmatched=2.0)

    near, far = features(CLOSE + 0.02, 1.0), features(CLOSE - 0.05, 1.0)
    assert near["missing_from_afar"] == pytest.approx(-4.0 * 0.02)
    assert far["missing_from_afar"] == pytest.approx(4.0 * 0.05)
    alone, beside_others = features(CLOSE, 6.0), features(CLOSE, 1.0)
    assert alone["rarity_unmatched"] == beside_others["rarity_unmatched"] == 2.0
    assert beside_others["unmatched_beside_others"] == pytest.approx(2.0 * STANDS_OUT)
    assert alone["unmatched_beside_others"] == pytest.approx(2.0 * (STANDS_OUT - 5.0 / 5.0))


def test_an_index_without_token_codes_has_no_such_feature() -> None:
    names = features_of([Judged("a", 1.0, {"cosine": 0.8})], Evidence(words=WORDS)).keys()
    assert "missing_from_afar" in names
    assert not {"rarity_unmatched", "unmatched_beside_others"} & names
