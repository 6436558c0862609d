"""Fusion rules: one suite of properties for all of them, then each formula by hand."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.candidate import at_most
from query.fusion import Fused, FusionRule, Scored, fuse, rule_for
from query.fusion.dbsf import DistributionBased
from query.fusion.minmax import FLOOR, MinMax
from query.fusion.raw import RawScores
from query.fusion.rrf import ReciprocalRank
from query.fusion.zscore import ZScore
from query.profile import FusionSpec
from query.request import Leg

RULES: list[FusionRule] = [
    ReciprocalRank(60),
    ReciprocalRank(1),
    MinMax(),
    ZScore(),
    DistributionBased(),
    RawScores(80),
]
EQUAL: dict[Leg, float] = {"bm25": 0.5, "knn": 0.5}
LEGS: tuple[Leg, Leg] = ("bm25", "knn")

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__ + str(getattr(rule, "k", "")))


def leg(scores: Mapping[str, float]) -> list[Scored]:
    """A leg as `retrieve` orders it: by score, then id, ranks from 1."""
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Scored(name, score, rank) for rank, (name, score) in enumerate(ordered, start=1)]


names = st.sampled_from([f"c{number:02d}" for number in range(30)])
# Three decimals keep apart what must stay apart; ties are frequent enough to matter.
bm25_legs = st.dictionaries(names, st.integers(0, 40_000).map(lambda n: n / 1000), max_size=20).map(leg)
knn_legs = st.dictionaries(names, st.integers(-1000, 1000).map(lambda n: n / 1000), max_size=20).map(leg)
legs = st.fixed_dictionaries({"bm25": bm25_legs, "knn": knn_legs})
weights = st.integers(0, 10).map(lambda n: {"bm25": n / 10, "knn": 1 - n / 10})


def order(fused: Sequence[Fused]) -> list[str]:
    return [row.chunk_id for row in fused]


@every_rule
@given(legs=legs, weights=weights)
def test_every_hit_once_by_score_then_best_rank_then_id(
    rule: FusionRule, legs: dict[Leg, list[Scored]], weights: dict[Leg, float]
) -> None:
    fused = fuse(rule, legs, weights)
    asked = {hit.chunk_id for name in LEGS if weights[name] > 0 for hit in legs[name]}
    assert sorted(order(fused)) == sorted(asked)
    best: dict[str, float] = {}
    for name in LEGS:
        for hit in legs[name] if weights[name] > 0 else ():
            best[hit.chunk_id] = min(best.get(hit.chunk_id, math.inf), hit.rank or math.inf)
    assert fused == sorted(fused, key=lambda row: (-row.score, best[row.chunk_id], row.chunk_id))
    assert all(math.isfinite(row.score) and row.score >= 0 for row in fused)


@every_rule
@given(legs=legs, weights=weights)
def test_a_hit_of_one_leg_never_stands_above_a_better_hit_of_that_leg(
    rule: FusionRule, legs: dict[Leg, list[Scored]], weights: dict[Leg, float]
) -> None:
    score = {row.chunk_id: row.score for row in fuse(rule, legs, weights)}
    for this, other in (("bm25", "knn"), ("knn", "bm25")):
        elsewhere = {hit.chunk_id for hit in legs[other]}  # type: ignore[index]
        hits = [hit for hit in legs[this] if hit.chunk_id in score]  # type: ignore[index]
        for position, hit in enumerate(hits):
            if hit.chunk_id in elsewhere:
                continue
            for better in hits[:position]:
                assert score[better.chunk_id] >= score[hit.chunk_id] - 1e-12


@every_rule
@given(leg=bm25_legs, name=st.sampled_from(LEGS), weights=weights)
def test_an_empty_leg_adds_nothing(rule: FusionRule, leg: list[Scored], name: Leg, weights: dict[Leg, float]) -> None:
    other: Leg = "knn" if name == "bm25" else "bm25"
    assert fuse(rule, {name: leg, other: []}, weights) == fuse(rule, {name: leg}, weights)


@every_rule
@given(leg=st.one_of(bm25_legs, knn_legs), name=st.sampled_from(LEGS))
def test_one_leg_alone_keeps_its_order(rule: FusionRule, leg: list[Scored], name: Leg) -> None:
    assert order(fuse(rule, {name: leg}, {name: 1.0})) == [hit.chunk_id for hit in leg]


@every_rule
@given(legs=legs)
def test_a_leg_of_weight_zero_is_not_asked(rule: FusionRule, legs: dict[Leg, list[Scored]]) -> None:
    assert fuse(rule, legs, {"bm25": 1.0, "knn": 0.0}) == fuse(rule, {"bm25": legs["bm25"]}, {"bm25": 1.0})


@every_rule
@given(legs=legs, weights=weights, seed=st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_in_which_things_arrive(
    rule: FusionRule, legs: dict[Leg, list[Scored]], weights: dict[Leg, float], seed: object
) -> None:
    shuffled: dict[Leg, list[Scored]] = {}
    for name in reversed(LEGS):
        shuffled[name] = list(legs[name])
        seed.shuffle(shuffled[name])  # type: ignore[attr-defined]
    ours, theirs = fuse(rule, legs, weights), fuse(rule, shuffled, weights)
    assert {row.chunk_id: pytest.approx(row.score) for row in ours} == {row.chunk_id: row.score for row in theirs}
    if isinstance(rule, ReciprocalRank | MinMax | RawScores):  # the others sum scores, where order changes the last bit
        assert ours == theirs


@every_rule
@given(legs=legs, weights=weights)
def test_a_better_score_never_hurts(rule: FusionRule, legs: dict[Leg, list[Scored]], weights: dict[Leg, float]) -> None:
    """The hit of rank 2 changes places with the one of rank 1 by taking its score and more: it does not fall."""
    hits = legs["bm25"]
    if len(hits) < 2 or hits[0].score == hits[1].score:
        return
    before = order(fuse(rule, legs, weights))
    raised = {hit.chunk_id: hit.score for hit in hits} | {
        hits[1].chunk_id: hits[0].score,
        hits[0].chunk_id: hits[1].score,
    }
    after = order(fuse(rule, {**legs, "bm25": leg(raised)}, weights))
    if hits[1].chunk_id in before:
        assert after.index(hits[1].chunk_id) <= before.index(hits[1].chunk_id)


@every_rule
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(rule: FusionRule, bad: float) -> None:
    with pytest.raises(ValueError, match="c1"):
        fuse(rule, {"bm25": [Scored("c0", 1.0, 1), Scored("c1", bad, 2)]}, EQUAL)
    with pytest.raises(ValueError, match="weight"):
        fuse(rule, {}, {"bm25": bad})


@every_rule
def test_a_negative_weight_and_a_double_are_refused(rule: FusionRule) -> None:
    with pytest.raises(ValueError, match="weight"):
        fuse(rule, {}, {"bm25": -0.1, "knn": 1.1})
    with pytest.raises(ValueError, match="twice"):
        fuse(rule, {"knn": [Scored("c0", 1.0, 1), Scored("c0", 0.5, 2)]}, EQUAL)


@every_rule
@pytest.mark.parametrize("scores", [{}, {"c1": 3.0}, {"c1": 3.0, "c2": 3.0}, {"c1": 0.0, "c2": 0.0}])
def test_no_range_no_division(rule: FusionRule, scores: dict[str, float]) -> None:
    assert order(fuse(rule, {"bm25": leg(scores), "knn": leg(scores)}, EQUAL)) == sorted(scores)


@pytest.mark.parametrize("shared", [2, 5, 20, 60])
def test_with_k_60_agreement_beats_first_place_in_one(shared: int) -> None:
    def hits(prefix: str) -> list[Scored]:
        return [Scored("both" if rank == shared else f"{prefix}{rank}", 1.0 / rank, rank) for rank in range(1, 101)]

    assert order(fuse(ReciprocalRank(60), {"bm25": hits("l"), "knn": hits("d")}, EQUAL))[0] == "both"


@pytest.mark.parametrize("shared", [4, 5, 20])
def test_with_a_small_k_the_first_place_wins(shared: int) -> None:
    def hits(prefix: str) -> list[Scored]:
        return [Scored("both" if rank == shared else f"{prefix}{rank}", 1.0 / rank, rank) for rank in range(1, 101)]

    assert order(fuse(ReciprocalRank(1), {"bm25": hits("l"), "knn": hits("d")}, EQUAL))[:2] == ["d1", "l1"]


def test_rrf_by_hand() -> None:
    found = fuse(
        ReciprocalRank(60), {"bm25": leg({"a": 9, "b": 8}), "knn": leg({"b": 0.9, "c": 0.8})}, {"bm25": 0.3, "knn": 0.7}
    )
    assert {row.chunk_id: row.score for row in found} == {
        "a": pytest.approx(0.3 / 61),
        "b": pytest.approx(0.3 / 62 + 0.7 / 61),
        "c": pytest.approx(0.7 / 62),
    }
    assert order(found) == ["b", "c", "a"]


def test_a_score_without_a_rank_counts_where_scores_count() -> None:
    late = [Scored("a", 0.9, 1), Scored("b", 0.8, None)]
    assert ReciprocalRank(60).contributions("knn", late) == [1 / 61, 0.0]
    assert RawScores(80).contributions("knn", late) == [pytest.approx(72.0), pytest.approx(64.0)]


def test_min_max_by_hand() -> None:
    assert MinMax().contributions("bm25", leg({"a": 10, "b": 6, "c": 2})) == [
        pytest.approx(1.0),
        pytest.approx((1 + FLOOR) / 2),
        pytest.approx(FLOOR),
    ]


def test_z_scores_by_hand() -> None:
    scores = [10.0, 6.0, 2.0]
    z = [(score - statistics.mean(scores)) / statistics.pstdev(scores) for score in scores]
    found = ZScore().contributions(
        "bm25", [Scored(str(rank), score, rank) for rank, score in enumerate(scores, start=1)]
    )
    # Distances are those of plain z-scores; the last hit stands just above a missing one.
    assert [first - second for first, second in pairwise(found)] == [
        pytest.approx(first - second) for first, second in pairwise(z)
    ]
    assert found[-1] == pytest.approx(0.001)


def test_distribution_based_by_hand() -> None:
    found = DistributionBased().contributions("bm25", leg({"a": 10, "b": 6, "c": 2}))
    sigma = math.sqrt(32 / 3)
    assert found == [pytest.approx(0.5 + 4 / (6 * sigma)), pytest.approx(0.5), pytest.approx(0.5 - 4 / (6 * sigma))]


def test_distribution_based_keeps_far_ends_apart() -> None:
    far = DistributionBased().contributions(
        "bm25", leg({"z": -900, "y": -899} | {f"c{n:03d}": 1.0 for n in range(200)})
    )
    assert far[-2] > far[-1] >= 0


def test_raw_by_hand() -> None:
    found = fuse(RawScores(80), {"bm25": leg({"a": 12, "b": 3}), "knn": leg({"a": 0.5, "b": 0.8, "c": -0.2})}, EQUAL)
    assert {row.chunk_id: row.score for row in found} == {
        "a": pytest.approx((12 + 40) / 2),
        "b": pytest.approx((3 + 64) / 2),
        "c": 0.0,
    }
    assert RawScores(80).missing_as_last


def test_what_a_leg_did_not_return_has_its_last_score_where_it_may_have_more() -> None:
    legs: dict[Leg, list[Scored]] = {"bm25": leg({"a": 12, "b": 3}), "knn": leg({"c": 0.8, "a": 0.5, "d": 0.4})}
    filled = at_most(legs, "abcd", full=3)
    # Two words' hits are all that there are: the others hold none.
    assert filled["bm25"] == legs["bm25"]
    assert filled["knn"] == [*legs["knn"], Scored("b", 0.4, None)]


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        (FusionSpec(), ReciprocalRank(60)),
        (FusionSpec(rule="rrf", rrf_k=7), ReciprocalRank(7)),
        (FusionSpec(rule="minmax"), MinMax()),
        (FusionSpec(rule="zscore"), ZScore()),
        (FusionSpec(rule="dbsf"), DistributionBased()),
        (FusionSpec(rule="raw", raw_c=5), RawScores(5)),
    ],
)
def test_the_rule_of_a_profile(spec: FusionSpec, rule: FusionRule) -> None:
    assert rule_for(spec) == rule


@every_rule
@given(legs=legs, sparse=bm25_legs)
def test_a_third_leg_adds_its_own_part(rule: FusionRule, legs: dict[Leg, list[Scored]], sparse: list[Scored]) -> None:
    two = {row.chunk_id: row.score for row in fuse(rule, legs, {"bm25": 0.3, "knn": 0.3})}
    alone = {row.chunk_id: row.score for row in fuse(rule, {"sparse": sparse}, {"sparse": 0.4})}
    three = fuse(rule, {**legs, "sparse": sparse}, {"bm25": 0.3, "knn": 0.3, "sparse": 0.4})
    assert {row.chunk_id for row in three} == two.keys() | alone.keys()
    for row in three:
        assert row.score == pytest.approx(two.get(row.chunk_id, 0.0) + alone.get(row.chunk_id, 0.0))


def test_raw_scores_of_three_legs() -> None:
    hits: dict[Leg, list[Scored]] = {
        "bm25": leg({"a": 12}),
        "knn": leg({"a": 0.5, "b": 0.8}),
        "sparse": leg({"b": 7}),
    }
    found = fuse(RawScores(80, 2.0), hits, {"bm25": 0.2, "knn": 0.5, "sparse": 0.3})
    scores = {row.chunk_id: row.score for row in found}
    assert scores == pytest.approx({"a": 0.2 * 12 + 0.5 * 80 * 0.5, "b": 0.5 * 80 * 0.8 + 0.3 * 2 * 7})
