"""What the analyzers make of Hebrew on a real node: which words meet, which do not, and what a highlight marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from search_config import fields
from search_config.client import Engine
from search_config.hebrew import ENGLISH_ANALYZER, EXACT_ANALYZER, INFLECTED_ANALYZER, PREFIX_ANALYZER
from search_config.hebrew_inflection import inflections, representatives_of, whole_words
from search_config.hebrew_prefixes import readings
from search_config.install import install, uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.engine.rows import MODEL, Row, WordEmbedder, write

Analyse = Callable[[str, str], list[set[str]]]

# How many words of each list are compared with what Python makes of them; one request takes 10,000 tokens at most.
SAMPLE_STEP = 5
BATCH = 500
TEXT = "הוחלט כי חוזי השכירות והעובדות הוותיקות יידונו בביהמ״ש, לפי סעיף 12,500."


@pytest.fixture(scope="module")
def index(engine: Engine, settings: Settings) -> Iterator[str]:
    """An index of chunks with the project's own templates."""
    own = settings.model_copy(update={"index_prefix": "tanalyzer"})
    info = install(engine, own, MODEL)
    write(engine, info.index, [Row("c1", TEXT), Row("c2", "גביע העולם בכדורגל")], WordEmbedder())
    yield info.index
    uninstall(engine, Names(prefix=own.index_prefix))


@pytest.fixture(scope="module")
def analyse(engine: Engine, index: str) -> Analyse:
    """`analyse(analyzer, text)` gives the terms of each position."""

    def call(analyzer: str, text: str) -> list[set[str]]:
        answer = engine.request("POST", f"/{index}/_analyze", body={"analyzer": analyzer, "text": text})
        at: dict[int, set[str]] = {}
        for token in answer["tokens"]:
            at.setdefault(token["position"], set()).add(token["token"])
        return [at[position] for position in sorted(at)]

    return call


def meet(analyse: Analyse, analyzer: str, one: str, other: str) -> bool:
    """Whether a query for one finds a text with the other: all its positions have a term there."""
    there = set().union(*analyse(analyzer, other))
    return all(terms & there for terms in analyse(analyzer, one))


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("ומהבית", [{"ומהבית", "מהבית", "הבית", "בית"}]),
        ("שבמצב", [{"שבמצב", "במצב", "מצב"}]),
        ("בְּבֵיתוֹ", [{"בביתו", "ביתו"}]),
        ('צה"ל', [{"צהל"}]),
        ("בצה״ל", [{"בצהל", "צהל"}]),
        ("ג'ירפה", [{"גירפה"}]),
        ('ב"טלפון" החדש', [{"ב"}, {"טלפון"}, {"החדש", "חדש"}]),
        ("בית־ספר", [{"בית"}, {"ספר"}]),
        ("בWindows", [{"ב"}, {"windows"}]),
        ("12,500", [{"12500"}]),
        ("12\u00a0500", [{"12500"}]),
        ("1,234,567.5", [{"1234567.5"}]),
        ("2024,500", [{"2024,500"}]),
        ("ש\u200fלום", [{"שלום"}]),
    ],
)
def test_words_lose_their_prefixes_and_keep_themselves(analyse: Analyse, written: str, terms: list[set[str]]) -> None:
    assert analyse(PREFIX_ANALYZER, written) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("מרכב", "ומהמרכב"),
        ("ברכות", "ושברכת"),
        ("חוזה", "חוזים"),
        ("חוזי", "לחוזים"),
        ("עובדת", "והעובדים"),
        ("עובדות", "עובדים"),
        ("מטרות", "מטרת"),
        ("פרויקטים", "הפרויקט"),
        ('ביהמ"ש', "בית המשפט"),
        ("ביהמ״ש", "בית-המשפט"),
        ('לביהמ"ש', "ביהמ״ש"),
        ('עו"ד', "עורכת"),
        ("12500", "12,500"),
    ],
)
def test_inflected_words_meet(analyse: Analyse, one: str, other: str) -> None:
    assert meet(analyse, INFLECTED_ANALYZER, one, other)


@pytest.mark.parametrize("analyzer", [PREFIX_ANALYZER, INFLECTED_ANALYZER])
@pytest.mark.parametrize(
    ("one", "other"),
    [("ילד", "לד"), ("מצב", "צב"), ("שלום", "לום"), ("מכתב", "כתב"), ("ספר", "ספק"), ("12 500", "12,500")],
)
def test_other_words_do_not_meet(analyse: Analyse, analyzer: str, one: str, other: str) -> None:
    assert not meet(analyse, analyzer, one, other)


def test_prefixes_and_inflections_stay_apart(analyse: Analyse) -> None:
    assert meet(analyse, PREFIX_ANALYZER, "חוזים", "לחוזים")
    assert not meet(analyse, PREFIX_ANALYZER, "חוזה", "חוזים")


def test_identifiers_are_kept_and_english_is_stemmed(analyse: Analyse) -> None:
    assert analyse(EXACT_ANALYZER, "תקלה בE-4031.") == [{"תקלה"}, {"בe-4031", "e-4031"}]
    assert analyse(ENGLISH_ANALYZER, "The running costs של הספק") == [{"run"}, {"cost"}]


def test_the_engine_cuts_as_python_does(analyse: Analyse) -> None:
    """An independent reading of both lists: words, and words behind prefixes, through the chain of filters."""
    whole, listed = frozenset(whole_words()), inflections()
    words = sorted({*whole, *listed})[::SAMPLE_STEP]
    words += ["ושב" + word for word in words]
    for start in range(0, len(words), BATCH):
        batch = words[start : start + BATCH]
        cut = [readings(word, whole) for word in batch]
        assert analyse(PREFIX_ANALYZER, " ".join(batch)) == [set(found) for found in cut]
        ends = representatives_of({one for found in cut for one in found}, listed)
        expected = [{end for one in found for end in ends[one]} for found in cut]
        assert analyse(INFLECTED_ANALYZER, " ".join(batch)) == expected


@pytest.mark.parametrize("analyzer", [PREFIX_ANALYZER, INFLECTED_ANALYZER])
def test_every_term_keeps_the_offsets_of_its_word(engine: Engine, index: str, analyzer: str) -> None:
    answer = engine.request("POST", f"/{index}/_analyze", body={"analyzer": analyzer, "text": TEXT})
    spans = {(token["start_offset"], token["end_offset"]) for token in answer["tokens"]}
    assert spans == {match.span() for match in re.finditer(r"[\w״]+(?:,\d+)?", TEXT)}


@pytest.mark.parametrize(
    ("field", "query", "marked"),
    [
        (fields.CONTENT, "שכירות", "<em>השכירות</em>"),
        (fields.sub(fields.CONTENT, fields.INFLECTED), "חוזה", "<em>חוזי</em>"),
        (fields.sub(fields.CONTENT, fields.INFLECTED), "עובדים", "<em>והעובדות</em>"),
        (fields.sub(fields.CONTENT, fields.INFLECTED), "בית המשפט", "<em>בביהמ״ש</em>"),
        (fields.sub(fields.CONTENT, fields.INFLECTED), "12500", "<em>12,500</em>"),
    ],
)
def test_a_highlight_marks_the_whole_written_word(
    engine: Engine, index: str, field: str, query: str, marked: str
) -> None:
    body = {"query": {"match": {field: query}}, "highlight": {"number_of_fragments": 0, "fields": {field: {}}}}
    hits = engine.request("POST", f"/{index}/_search", body=body)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["c1"]
    (text,) = hits[0]["highlight"][field]
    assert marked in text
    assert text.replace("<em>", "").replace("</em>", "") == TEXT
