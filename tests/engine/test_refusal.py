"""Refusing on a real index: what the words find, which searches are judged, and what an answer says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.refusal import Asked, Choice, fit_refusal
from query import wording
from query.drift import corpus_of, drift
from query.evidence import Evidence, evidence, rarity
from query.judging import observe
from query.profile import FusionSpec, Profile
from query.request import SearchRequest, SearchResult
from query.reranking import Pool
from query.search import SearchContext, rank, search
from query.wording import told
from tests.engine.conftest import MakeContext
from tests.engine.rows import PROFILE, Row, WordEmbedder

TEXTS = (
    "תושב רשאי לקבל תו חניה אחד. אגרת התו שלושים שקלים.",
    "הקבלן ישקה את הגן המרכזי שלוש פעמים בשבוע.",
    "הטכנאי יגיע אל המעלית בתוך עשרים דקות.",
    "ועדת הכספים תאשר את התקציב בחודש ינואר.",
    "בתקלה E-4031 יש לפנות אל המוקד העירוני.",
    "הספרייה העירונית פתוחה בימי שלישי בערב.",
)
ROWS = [Row(f"c{number}", text) for number, text in enumerate(TEXTS)]
ANSWERABLE = ("מהי אגרת תו חניה?", "מתי פתוחה הספרייה העירונית?", "מתי תאשר הוועדה את התקציב?", "מתי יגיע הטכנאי?")
NONSENSE = ("מי גילה פנצילין?", "מתי שוגר הלוויין הסובייטי?", "כמה גבעולים לפרחי נרקיס?", "איזה צבע לשוקולד שוויצרי?")
# The embedder of these tests knows no meaning: words decide.
RAW = PROFILE.model_copy(update={"fusion": FusionSpec(rule="raw", raw_c=1.0)})


def _ask(context: SearchContext, query: str, **request: object) -> SearchResult:
    return search(SearchRequest.model_validate({"tenant": "a", "query": query, **request}), context)


def _rows(context: SearchContext, queries: Sequence[str], *, answerable: bool) -> list[Asked]:
    rows = []
    for number, query in enumerate(queries):
        ranking = rank(SearchRequest(tenant="a", query=query), context)
        features = observe(context.engine, ranking, context.embedder).features
        rows.append(
            Asked(
                f"{answerable}{number}", query, features, ranking.language, answerable, None, number, len(query.split())
            )
        )
    return rows


@pytest.fixture(scope="module")
def plain(make_context: MakeContext) -> SearchContext:
    return make_context([*ROWS, Row("b1", "פנצילין לוויין נרקיס שוקולד", tenant="b")], profile=RAW)


@pytest.fixture(scope="module")
def calibrated(plain: SearchContext) -> SearchContext:
    """The same index with a profile learnt from eight questions."""
    asked = [*_rows(plain, ANSWERABLE, answerable=True), *_rows(plain, NONSENSE, answerable=False)]
    spec = fit_refusal(asked, ("coverage", "coverage_by_sentence"), Choice("max-lost", 0.0))
    profile = Profile.model_validate(RAW.model_dump() | {"name": "small", "refusal": spec.model_dump()})
    return SearchContext(plain.engine, plain.info, plain.embedder, profile, plain.settings)


def test_nonsense_is_refused_and_the_answer_says_why(calibrated: SearchContext) -> None:
    result = _ask(calibrated, "מי המציא את הטלסקופ הקוונטי?")
    assert result.refused
    assert result.reason is not None
    assert "small/1" in result.reason
    assert "0.500" in result.reason
    assert result.hits, "the nearest are shown all the same"


def test_what_the_corpus_answers_is_answered(calibrated: SearchContext) -> None:
    result = _ask(calibrated, "כמה שקלים אגרת התו?")
    assert not result.refused
    assert result.reason is None
    assert result.hits[0].chunk_id == "c0"


def test_without_a_threshold_answers_say_so(plain: SearchContext) -> None:
    result = _ask(plain, "מי המציא את הטלסקופ הקוונטי?")
    assert not result.refused
    assert any(note.startswith("uncalibrated") and "test/1" in note for note in result.notes)


@pytest.mark.parametrize("mode", ["lexical", "dense"])
def test_one_leg_is_not_judged_by_the_threshold_of_both(calibrated: SearchContext, mode: str) -> None:
    result = _ask(calibrated, "מי המציא את הטלסקופ הקוונטי?", mode=mode)
    assert not result.refused
    assert any("uncalibrated" in note for note in result.notes)


def test_a_class_of_queries_that_was_not_learnt_is_not_judged(calibrated: SearchContext) -> None:
    result = _ask(calibrated, "Who invented the telescope?")
    assert not result.refused
    assert any("uncalibrated" in note and "class en" in note for note in result.notes)


class ByLength:
    """Stands for a cross-encoder: reads texts, and scores them on a scale of its own."""

    needs: frozenset[str] = frozenset()

    def scores(self, pool: Pool) -> NDArray[np.float64]:
        return np.array([float(len(one.passage.content)) for one in pool.candidates])


def test_another_rerankers_order_is_not_judged(calibrated: SearchContext) -> None:
    result = _ask(replace(calibrated, reranker=ByLength()), "מי המציא את הטלסקופ הקוונטי?")
    assert not result.refused
    assert any("uncalibrated" in note and "cross-encoder" in note for note in result.notes)


def test_a_feature_that_the_index_cannot_give_is_no_decision(calibrated: SearchContext) -> None:
    spec = calibrated.profile.refusal
    assert spec is not None
    more = {**spec.features, "maxsim_mean_rank": spec.features["coverage"]}
    profile = calibrated.profile.model_copy(update={"refusal": spec.model_copy(update={"features": more})})
    context = SearchContext(calibrated.engine, calibrated.info, WordEmbedder(), profile, calibrated.settings)
    result = _ask(context, "מי המציא את הטלסקופ הקוונטי?")
    assert not result.refused
    assert any("maxsim_mean_rank" in note for note in result.notes)


def test_what_has_all_the_words_and_no_answer_is_refused(calibrated: SearchContext) -> None:
    spec = calibrated.profile.refusal
    assert spec is not None
    query = "מה הטלפון של הקבלן, שישקה את הגן המרכזי שלוש פעמים?"
    lenient = spec.model_copy(update={"threshold": 0.001, "most_unsaid": None})
    context = replace(calibrated, profile=calibrated.profile.model_copy(update={"refusal": lenient}))
    assert not _ask(context, query).refused
    strict = lenient.model_copy(update={"most_unsaid": 0.5})
    context = replace(calibrated, profile=calibrated.profile.model_copy(update={"refusal": strict}))
    result = _ask(context, query)
    assert result.refused
    assert result.hits[0].chunk_id == "c1"
    assert result.reason is not None
    assert told(wording.KIND_MISSING, "he") in result.reason
    assert not _ask(context, "כמה פעמים בשבוע ישקה הקבלן את הגן המרכזי?").refused


def test_an_empty_index_is_refused(make_context: MakeContext, calibrated: SearchContext) -> None:
    empty = make_context([], profile=calibrated.profile)
    result = _ask(empty, "מהי אגרת תו חניה?")
    assert result.refused
    assert not result.hits


def _evidence(context: SearchContext, query: str) -> Evidence:
    ranking = rank(SearchRequest(tenant="a", query=query), context)
    return evidence(context.engine, ranking.plan, ranking.reranked[0], context.embedder.count_tokens)


def test_words_are_found_by_the_index_s_own_analysis(plain: SearchContext) -> None:
    found = _evidence(plain, "כמה שקלים לתושבים בירושלים?")
    assert [word.text for word in found.words] == ["שקלים", "לתושבים", "בירושלים"]
    assert found.words[2].rarity == rarity(0, len(ROWS))
    assert found.words[0].rarity == rarity(1, len(ROWS))
    assert found.loosely == {0, 1}
    assert found.exactly == {0}
    assert list(found.sentences) == [{1}, {0}]


def test_another_tenant_s_words_make_nothing_known(plain: SearchContext) -> None:
    (word,) = _evidence(plain, "מהו פנצילין?").words
    assert word.rarity == rarity(0, len(ROWS))


def test_characters_of_two_units_do_not_move_the_sentences(make_context: MakeContext) -> None:
    context = make_context([Row("c0", "😀😀😀 סמל 😀. תו חניה לתושב. גן.")])
    found = _evidence(context, "תו חניה")
    assert list(found.sentences) == [set(), {0, 1}, set()]


def test_a_corpus_that_changed_is_told(plain: SearchContext) -> None:
    data = {"name": "d", "content_hash": "h", "date": "2026-01-01", "questions": 300, "language_mix": {"he": 1.0}}

    def changes(passages: int, mix: dict[str, float]) -> tuple[str, ...]:
        trained_on = data | {"passages": passages, "language_mix": mix}
        profile = Profile.model_validate(RAW.model_dump() | {"trained_on": trained_on})
        return drift(profile, corpus_of(plain.engine, plain.info))

    assert changes(len(ROWS) + 1, {"he": 1.0}) == ()
    assert "mafteach tune" in changes(100, {"he": 1.0})[0]
    assert "in he" in changes(len(ROWS) + 1, {"he": 0.5, "en": 0.5})[0]
    assert drift(RAW, corpus_of(plain.engine, plain.info)) == ()
