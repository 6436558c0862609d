"""The decision: which features tell an answer, and that the threshold is applied to the score that is shown."""

from __future__ import annotations

import math

import pytest

from query.evidence import Evidence, Word, content_words, rarity, sentences_of
from query.profile_parts import MOST_DEVIATIONS, RefusalFeature, RefusalSpec
from query.refusal import Decision, Judged, decide, features_of

RARE = Word("פרובוסט", rarity(0, 1000), pieces=3)
KNOWN = Word("חניה", rarity(10, 1000))
COMMON = Word("עיר", rarity(900, 1000))


def _pool(*scores: float) -> list[Judged]:
    return [Judged(f"c{place}", score, {"cosine": 0.8 - place / 100}) for place, score in enumerate(scores)]


def _evidence(*held: int) -> Evidence:
    return Evidence(words=(RARE, KNOWN, COMMON), loosely=frozenset(held), exactly=frozenset(held))


def _spec(threshold: float = 0.5, weight: float = 2.0) -> RefusalSpec:
    return RefusalSpec(
        features={"coverage": RefusalFeature(weight=weight, mean=0.5, deviation=0.25)},
        intercept=0.0,
        threshold=threshold,
        languages=("he",),
        chosen_by="--max-lost 0.05",
    )


def test_the_same_names_whatever_was_found() -> None:
    full, empty = features_of(_pool(3.0, 2.0, 1.0), _evidence(1)), features_of([], Evidence(words=()))
    assert full.keys() == empty.keys()
    assert all(math.isfinite(value) for value in (*full.values(), *empty.values()))
    assert features_of(_pool(1.0), _evidence(1))["lift_over_next"] == 0.0


def test_a_rare_word_counts_more_than_a_common_one_and_a_name_more_than_a_word() -> None:
    rare, common = (features_of(_pool(1.0, 0.5), _evidence(place))["coverage"] for place in (0, 2))
    assert rare > common
    whole = Evidence(words=(Word("א", 2.0), Word("ב", 2.0)), loosely=frozenset({0}))
    in_pieces = Evidence(words=(Word("א", 2.0, pieces=3), Word("ב", 2.0)), loosely=frozenset({0}))
    assert features_of(_pool(1.0), whole)["coverage"] == pytest.approx(0.5)
    assert features_of(_pool(1.0), in_pieces)["coverage"] == pytest.approx(0.75)


def test_coverage_of_all_words_is_one_and_of_none_is_nothing() -> None:
    assert features_of(_pool(1.0), _evidence(0, 1, 2))["coverage"] == pytest.approx(1.0)
    assert features_of(_pool(1.0), _evidence())["coverage"] == 0.0


def test_words_in_two_sentences_cover_less_than_in_one() -> None:
    words = (RARE, KNOWN)
    apart = Evidence(words, sentences=(frozenset({0}), frozenset({1})))
    side_by_side = Evidence(words, sentences=(frozenset({0, 1}),))
    assert features_of(_pool(1.0), apart)["coverage_by_sentence"] < 1.0
    assert features_of(_pool(1.0), side_by_side)["coverage_by_sentence"] == pytest.approx(1.0)


def test_lift_is_over_the_middle_of_the_pool() -> None:
    features = features_of(_pool(9.0, 3.0, 3.0), _evidence(1))
    assert features["lift_by_word"] == pytest.approx(6.0 / 3)
    assert features["lift_over_next"] == pytest.approx(6.0 / sum(word.rarity for word in (RARE, KNOWN, COMMON)))
    # Adding the same to all scores changes nothing: a rule's constants do not decide.
    assert features_of(_pool(109.0, 103.0, 103.0), _evidence(1)) == pytest.approx(features)


def test_ranks_of_the_first_passage_by_other_scores() -> None:
    pool = [Judged(name, 1.0, {"cosine": value, "maxsim_mean": value}) for name, value in (("a", 0.5), ("b", 0.7))]
    ahead, behind = features_of(pool[::-1], _evidence()), features_of(pool, _evidence())
    assert ahead["cosine_rank"] == ahead["maxsim_mean_rank"] == 0.0
    assert behind["cosine_rank"] == behind["maxsim_mean_rank"] == pytest.approx(math.log(2))
    assert "maxsim_mean_rank" not in features_of(_pool(1.0), _evidence())


def test_names_and_numbers_that_do_not_stand_there_are_counted() -> None:
    words = (Word("E-4031", 5.0), Word("חניה", 1.0))
    assert features_of(_pool(1.0), Evidence(words))["marks_missing"] == 0.5
    assert features_of(_pool(1.0), Evidence(words, exactly=frozenset({0})))["marks_missing"] == 0.0


def test_words_that_are_missing_count_by_their_rarity() -> None:
    assert features_of(_pool(1.0), _evidence(0, 1, 2))["rarity_missing"] == 0.0
    assert features_of(_pool(1.0), _evidence(1, 2))["rarity_missing"] == RARE.rarity


def test_an_identifier_that_does_not_stand_there() -> None:
    words = (Word("E-4031", 5.0), Word("חניה", 1.0))
    assert features_of(_pool(1.0), Evidence(words))["identifiers_missing"] == 1.0
    assert features_of(_pool(1.0), Evidence(words, exactly=frozenset({0})))["identifiers_missing"] == 0.0
    assert features_of(_pool(1.0), _evidence())["identifiers_missing"] == 0.0


def test_what_is_not_said_lowers_the_probability_however_well_the_passage_suits() -> None:
    spec = _spec().model_copy(update={"most_unsaid": 0.5})
    suits = spec.probability({"coverage": 1.0})
    assert suits == spec.probability({"coverage": 1.0, "unsaid": 0.0}) == _spec().probability({"coverage": 1.0})
    assert spec.probability({"coverage": 1.0, "unsaid": 0.25}) == pytest.approx(suits / 2)
    assert spec.probability({"coverage": 1.0, "unsaid": 0.9}) == 0.0
    refused = decide(spec, {"coverage": 1.0, "unsaid": 0.9}, "p/1", "he")
    assert refused.refused
    assert "kind it asks for" in refused.reason("en")
    assert "kind it asks for" not in decide(_spec(), {"coverage": 0.0, "unsaid": 0.9}, "p/1", "he").reason("en")


def test_the_threshold_is_applied_to_the_score_that_is_shown() -> None:
    probability = _spec().probability({"coverage": 0.4})
    for threshold in (probability - 1e-9, probability, probability + 1e-9):
        decision = decide(_spec(threshold), {"coverage": 0.4}, "p/1", "he")
        assert decision.probability == probability
        assert decision.refused == (probability < threshold)


def test_the_reason_names_score_threshold_and_profile() -> None:
    reason = Decision(probability=0.1234, threshold=0.5, profile="office/3").reason("he")
    assert "0.123" in reason
    assert "0.500" in reason
    assert "office/3" in reason


def test_the_probability_is_logistic_and_clipped() -> None:
    spec = _spec(weight=1.0)
    assert spec.probability({"coverage": 0.5}) == 0.5
    assert spec.probability({"coverage": 0.75}) == pytest.approx(1 / (1 + math.exp(-1)))
    assert spec.probability({"coverage": 1e12}) == pytest.approx(1 / (1 + math.exp(-MOST_DEVIATIONS)))
    assert _spec(weight=1e6).probability({"coverage": -1e12}) == 0.0


def test_a_missing_feature_is_no_decision() -> None:
    with pytest.raises(KeyError):
        decide(_spec(), {}, "p/1", "he")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("מהי תקלה E-4031?", ("תקלה", "E-4031")),
        ("What is the rate?", ("rate",)),
        ("מה זה?", ("מה", "זה")),
        ("חניה חניה, חניה", ("חניה",)),
        ("???", ()),
    ],
)
def test_content_words(query: str, words: tuple[str, ...]) -> None:
    assert content_words(query) == words


def test_rarity_falls_with_every_passage_that_holds_the_word_and_stays_above_zero() -> None:
    values = [rarity(holding, 100) for holding in range(101)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_sentences() -> None:
    assert sentences_of("אחת. שתיים!\nשלוש 2.5 ארבע\n\n") == ["אחת.", "שתיים!", "שלוש 2.5 ארבע"]
    assert sentences_of("") == []


def test_a_class_with_weights_of_its_own() -> None:
    own = RefusalSpec.model_validate(
        _spec().model_dump()
        | {
            "languages": ["he", "en"],
            "by_class": {"en": _spec(weight=-2.0).model_dump(include={"features", "intercept"})},
        }
    )
    values = {"coverage": 0.9}
    assert decide(own, values, "p/1", "he").probability == _spec().probability(values)
    assert decide(own, values, "p/1", "en").probability == pytest.approx(1 - _spec().probability(values))
