"""The relative cut: after the first passage, by the blend's own probability."""

from __future__ import annotations

import pytest

from query.candidate import Candidate, Passage, StageScores
from query.cut import relevant


def _candidate(name: str, score: float | None) -> Candidate:
    passage = Passage(
        chunk_id=name,
        document_id=name,
        version=1,
        content_hash="0" * 64,
        ordinal=0,
        title="",
        section="",
        content="",
        language="he",
        url=None,
        place={"from": 0, "to": 0, "label": ""},
    )
    return Candidate(passage, StageScores(rerank=score))


RANKING = [_candidate("a", -3.0), _candidate("b", -4.0), _candidate("c", -9.0), _candidate("d", None)]


@pytest.mark.parametrize(
    ("least", "kept"),
    [
        (0.0, "abcd"),
        (0.001, "abc"),
        # b is better than a with a probability of 1 / (1 + e) = .269.
        (0.26, "ab"),
        (0.27, "a"),
        (0.5, "a"),
    ],
)
def test_the_cut_is_a_probability(least: float, kept: str) -> None:
    assert "".join(one.chunk_id for one in relevant(RANKING, least)) == kept


def test_equals_of_the_first_always_stay() -> None:
    assert len(relevant([_candidate("a", 2.0), _candidate("b", 2.0)], 0.5)) == 2


def test_what_was_not_reranked_is_left_as_it_is() -> None:
    plain = [_candidate("a", None), _candidate("b", None)]
    assert relevant(plain, 0.5) == tuple(plain)
    assert relevant([], 0.5) == ()
