"""The Hebrew analysis as data: cutting, lists, rules, templates. The engine's side is in tests/engine."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from scripts import build_hebrew_lists as lists
from scripts import write_templates
from search_config import fields, hebrew, hebrew_inflection, hebrew_prefixes

# What a stock image has: module analysis-common and the server itself.
BUILT_IN_FILTERS = {"stemmer_override", "pattern_capture", "pattern_replace", "length", "unique", "stemmer", "stop"}
BUILT_IN_STEPS = {"lowercase", "asciifolding", "standard"}
# Settings live in the cluster state of every node; the lists were cut for this.
MAX_ANALYSIS_BYTES = 1_500_000
HEBREW_WORD = re.compile("[א-ת]{2,}")

NO_WHOLE_WORDS: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("בית", ["בית", "ית"]),
        ("ומהבית", ["ומהבית", "מהבית", "הבית", "בית"]),
        ("כשהילד", ["כשהילד", "הילד", "שהילד", "ילד"]),
        ("לכשיבוא", ["לכשיבוא", "יבוא", "כשיבוא"]),
        ("ההר", ["ההר", "הר"]),
        ("של", ["של"]),
        ("אדם", ["אדם"]),
    ],
)
def test_prefixes_are_cut_in_the_order_of_grammar(word: str, expected: list[str]) -> None:
    assert hebrew_prefixes.readings(word, NO_WHOLE_WORDS) == expected


def test_a_whole_word_stays_whole_wherever_it_comes_to_light() -> None:
    assert hebrew_prefixes.readings("שבמצב", {"מצב"}) == ["שבמצב", "במצב", "מצב"]
    assert hebrew_prefixes.readings("מצב", NO_WHOLE_WORDS) == ["מצב", "צב"]


@pytest.mark.parametrize(
    ("word", "shortened"),
    [
        ("פרויקטים", "פרויקט"),
        ("פרויקטיהם", "פרויקט"),
        ("אוניברסיטאיות", "אוניברסיטא"),
        ("תלתנים", "תלתנ"),
        ("דגים", "דגים"),
        ("CEO", "CEO"),
        ("עבד/", "עבד/"),
    ],
)
def test_one_suffix_is_cut_when_four_letters_stay(word: str, shortened: str) -> None:
    assert re.sub(hebrew_inflection.shortening_pattern(), r"\1", word) == shortened


def test_lists_hold_words_and_nothing_else() -> None:
    whole = hebrew_inflection.whole_words()
    assert len(whole) == len(set(whole)) > 5_000
    assert {word for word in whole if word[0] not in hebrew_prefixes.PREFIX_LETTERS or len(word) < 3} == set()
    forms = hebrew_inflection.inflections()
    assert len(forms) > 15_000
    words = {*whole, *forms, *(one for found in forms.values() for one in found)}
    assert {word for word in words if not HEBREW_WORD.fullmatch(word)} == set()


@pytest.mark.parametrize(
    "forms",
    [("חוזה", "חוזים", "חוזי"), ("עובד", "עובדת", "עובדות", "עובדים"), ("מטרה", "מטרת", "מטרות"), ("מצב", "מצבים")],
)
def test_forms_of_a_word_share_a_representative(forms: tuple[str, ...]) -> None:
    found = hebrew_inflection.representatives_of(forms, hebrew_inflection.inflections())
    assert set.intersection(*(set(found[form]) for form in forms))


def test_forms_of_one_word_share_one_rule() -> None:
    rules = hebrew_inflection.inflection_rules({"א1": ("א",), "א2": ("א",), "ב1": ("א", "ב")})
    assert rules == ["א1,א2=>א/", "ב1=>א/ב/"]


def test_a_word_behind_an_abbreviation_is_given_by_its_representative() -> None:
    rules = hebrew_inflection.abbreviation_rules({"משפט": ("שפט",)})
    assert "ביהמ״ש=>ביהמש/שפט/" in rules
    assert "ארה״ב=>ארהב/ארצות/" in rules


def test_every_step_is_built_in_and_defined() -> None:
    analysis = hebrew.analysis()
    assert {body["type"] for body in analysis["filter"].values()} <= BUILT_IN_FILTERS
    assert {body["type"] for body in analysis["char_filter"].values()} == {"pattern_replace"}
    used = {kind: set[str]() for kind in ("char_filter", "filter", "tokenizer")}
    for analyzer in analysis["analyzer"].values():
        used["char_filter"].update(analyzer["char_filter"])
        used["filter"].update(analyzer["filter"])
        used["tokenizer"].add(analyzer["tokenizer"])
    for kind, names in used.items():
        assert names - BUILT_IN_STEPS == set(analysis[kind])


def test_the_settings_fit_the_cluster_state() -> None:
    assert len(json.dumps(hebrew.analysis(), ensure_ascii=False).encode()) < MAX_ANALYSIS_BYTES


def test_templates_are_what_the_code_says() -> None:
    assert write_templates.stale_files().keys() == set()


def test_check_names_stale_files(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_templates, "TEMPLATES", tmp_path)
    assert write_templates.stale_files().keys() == write_templates.all_files().keys()


def test_no_template_holds_an_invisible_character() -> None:
    invisible = re.compile("[\u00a0\u00ad\u0591-\u05bd\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]")
    for path in write_templates.TEMPLATES.rglob("*.json"):
        assert invisible.search(path.read_text(encoding="utf-8")) is None, path.name


def test_every_searched_text_has_all_readings() -> None:
    properties = write_templates.chunks()["template"]["mappings"]["properties"]
    for name in (fields.TITLE, fields.SECTION, fields.CONTENT):
        assert set(properties[name]["fields"]) == {fields.EXACT, fields.INFLECTED, fields.ENGLISH}


# --- how the lists are made


def corpus(**frequency: float) -> dict[str, float]:
    """Three nouns, which every prefix makes a tenth as frequent, and the words of the test."""
    nouns = [f"{letter}ספר" for letter in "אגד"]
    prefixed = {letter + noun: 1e-4 for letter in hebrew_prefixes.PREFIX_LETTERS for noun in nouns}
    return {**dict.fromkeys(nouns, 1e-3), **prefixed, **frequency, **{"ה" + noun: 3e-4 for noun in nouns}}


def test_a_word_far_more_frequent_than_its_reading_predicts_is_whole() -> None:
    found = lists.find_whole_words(corpus(מצב=1e-3, צב=1e-8, מהר=1e-4, הר=1e-3))
    assert "מצב" in found
    assert "מהר" not in found


def test_a_word_that_takes_the_article_itself_needs_less_surprise() -> None:
    assert "מורה" not in lists.find_whole_words(corpus(מורה=1e-4, ורה=1e-4))
    assert "מורה" in lists.find_whole_words(corpus(מורה=1e-4, ורה=1e-4, המורה=1e-4))


def test_what_a_prefix_adds_is_measured_on_nouns() -> None:
    factors = lists.prefix_factors(corpus(כאשר=1e-2, אשר=1e-2))
    assert factors == pytest.approx({**dict.fromkeys(hebrew_prefixes.PREFIX_LETTERS, 0.1), "ה": 0.3})


def test_rare_words_are_left_alone() -> None:
    assert "מצב" not in lists.find_whole_words(corpus(מצב=lists.MIN_WORD_FREQUENCY / 2))


def test_participles_join_their_verb() -> None:
    joined = lists.with_participles_joined({"עובד": "עובד", "עובדת": "עבד", "עובדים": "עבד", "ספר": "ספר"})
    assert joined == {"עובד": "עבד", "עובדת": "עבד", "עובדים": "עבד", "ספר": "ספר"}


def test_what_may_be_a_construct_is_one() -> None:
    lemmas = {"ברכת": "בירך", "ברכתם": "בירך", "ברכה": "ברכה", "גרמנית": "גרמנית", "גרמניה": "גרמניה", "כתבת": "כתבת"}
    even = lists.with_constructs_preferred(lemmas, lambda _: 1e-4)
    assert even == {**lemmas, "ברכת": "ברכה", "ברכתם": "ברכה"}
    participle = {"עובד": "עבד", "עובדים": "עבד", "עובדת": "עבד", "עובדה": "עובדה"}
    assert lists.with_constructs_preferred(participle, lambda _: 1e-4) == participle
    rare_noun = {"ברכה": 1e-9}
    assert lists.with_constructs_preferred(lemmas, lambda word: rare_noun.get(word, 1e-4)) == lemmas


def test_a_plural_may_be_a_noun_and_a_participle() -> None:
    lemmas = {"עובדות": "עובדה", "עובד": "עבד", "עובדת": "עבד", "עובדים": "עבד"}
    assert lists.second_reading("עובדות", lemmas) == "עבד"
    assert lists.second_reading("עובדות", {**lemmas, "עובדים": "עובד"}) is None
    assert lists.second_reading("עובד", lemmas) is None


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("מטרת", "מטרה"),
        ("מקצועית", "מקצועי"),
        ("תעשיות", "תעשיה"),
        ("דגלים", "דגל"),
        ("גלידות", "גלידה"),
        ("אבגד", None),
    ],
)
def test_a_regular_form_finds_its_base(form: str, base: str | None) -> None:
    known = dict.fromkeys(("מטרה", "מקצועי", "תעשיה", "דגל", "גלידה"), 1e-4)
    assert lists.regular_base(form, {}, lambda word: known.get(word, 1e-6 if word == form else 0.0)) == base


def test_a_base_much_rarer_than_the_form_is_no_base() -> None:
    frequency = {"שנים": 1e-3, "שן": 1e-6, "שנה": 1e-6}
    assert lists.regular_base("שנים", {}, lambda word: frequency.get(word, 0.0)) is None


def test_inflections_lead_bases_to_themselves() -> None:
    frequency = {"מטרה": 1e-4, "מטרת": 1e-4, "מטרות": 1e-4, "נדירות": 1e-9}
    found = lists.find_inflections(frequency, {"מטרה": "מטרה", "מטרות": "מטרה", "נדירות": "נדיר"}, frozenset())
    assert found["מטרת"] == found["מטרות"] == ("מטרה",)
    assert "נדירות" not in found
