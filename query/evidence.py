"""What the words of a query find: how rare each is among the passages that may answer, and whether the first holds it.

Rarity is counted among the rows that pass the filters, so that another tenant's documents decide nothing. Which words
stand together in one sentence of the first passage is told by the engine's own analysis of it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Final

from query import build
from query.beside import beside
from query.candidate import Candidate, Passage
from query.filters import Clause
from query.retrieve import Answer, Plan, raise_failure
from search_config import fields
from search_config.client import Engine
from search_config.hebrew import INFLECTED_ANALYZER, QUERY_FUNCTION_WORDS

# Words of a query that are looked up one by one; a question that is longer is told by these.
MAX_WORDS: Final = 32
# Characters of the first passage that are analysed: the engine gives 10,000 terms at most, several for a word.
MAX_ANALYSED: Final = 8_000
# Among fewer passages a word is as rare as it would be among these: else a word that one of two passages lacks would
# outweigh all that the other holds.
FEWEST: Final = 100
# Marks of the sentence around a word.
EDGES: Final = " \t.,;:!?\"'()[]{}<>*|\u05f3\u05f4\u2018\u2019\u201c\u201d\u201e-\u2013\u2014"
# A word is held where its inflected form, its English stem or the word as it is written stands in the text.
LOOSE: Final = (fields.INFLECTED, fields.ENGLISH)
STRICT: Final = (fields.EXACT,)
TEXTS: Final = (fields.TITLE, fields.SECTION, fields.CONTENT)
# A full stop and the like before a blank, or the end of a line.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
# The last character that one UTF-16 unit holds.
LAST_NARROW: Final = "\uffff"
# Names of clauses, so that the engine tells which of them matched.
_LOOSELY: Final = "loosely"
_EXACTLY: Final = "exactly"
_FUNCTION_WORDS: Final = frozenset(QUERY_FUNCTION_WORDS)


@dataclass(frozen=True, slots=True)
class Word:
    """One content word of a query.

    Attributes:
        rarity: BM25's inverse document frequency among the passages that may answer, above 0.
        pieces: tokens of the embedder's vocabulary, 1 or more. Whatever the corpus, a common word is one piece and a
            name falls into several.
    """

    text: str
    rarity: float
    pieces: int = 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content words of a query, and where in the first passage they stand; by their places in `words`.

    Attributes:
        loosely: held in any inflection, in title, section or content.
        exactly: as they are written.
        title: those in the title.
        sentences: those in each sentence.
    """

    words: tuple[Word, ...]
    loosely: frozenset[int] = frozenset()
    exactly: frozenset[int] = frozenset()
    title: frozenset[int] = frozenset()
    sentences: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Passages that pass the filters, and of these the ones that hold each content word of a query in any form."""

    passages: int
    holding: tuple[int, ...]


def content_words(query: str) -> tuple[str, ...]:
    """The words of a query that say something, each once, in their order; all words, where none does."""
    words = list(dict.fromkeys(word for token in query.split() if (word := token.strip(EDGES))))
    telling = [word for word in words if word.casefold() not in _FUNCTION_WORDS]
    return tuple((telling or words)[:MAX_WORDS])


def rarity(holding: int, passages: int) -> float:
    """Inverse document frequency as BM25 has it (Robertson and Zaragoza 2009), 1 added so that it stays above 0; among
    `FEWEST` passages at least."""
    return math.log(1.0 + (max(passages, FEWEST) - holding + 0.5) / (holding + 0.5))


def counted(engine: Engine, header: build.Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts:
    """Count among the passages that pass the filters: one `_msearch`.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    answers = engine.msearch([(header, body) for body in _count_bodies(words, filters)])
    for answer in answers:
        raise_failure(answer, str(header["index"]))
    return _counts(answers)


def evidence(
    engine: Engine,
    plan: Plan,
    first: Candidate | None,
    pieces: Callable[[Sequence[str]], list[int]],
    known: Callable[[], Counts] | None = None,
) -> Evidence:
    """Look the content words up: one `_msearch`, and one analysis of the first passage.

    Args:
        engine: the engine.
        plan: of the search: its index, query and filters.
        first: the passage that stands first; None where nothing was found.
        pieces: tokens of each of several texts (`models.base.TokenCounter.count_tokens`).
        known: gives the counts of the content words, where they were asked for before.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    words = content_words(plan.query)
    placed = None if first is None else beside(partial(_places, engine, plan.index, words, first.passage))
    bodies = [] if first is None else [_held_body(words, first.chunk_id, plan.filters)]
    bodies += [] if known is not None else _count_bodies(words, plan.filters)
    answers = engine.msearch([(plan.header(), body) for body in bodies]) if bodies else []
    for answer in answers:
        raise_failure(answer, plan.index)
    held = [] if first is None else answers.pop(0)["hits"]["hits"]
    names = [name for row in held for name in row.get("matched_queries", ())]
    counts = _counts(answers) if known is None else known()
    title, *sentences = [frozenset[int]()] if placed is None else placed.result()
    return Evidence(
        words=tuple(
            # The counts are of two moments: a word may have come in between.
            Word(text=word, rarity=rarity(count, max(counts.passages, count)), pieces=max(1, tokens))
            for word, count, tokens in zip(words, counts.holding, pieces(words), strict=True)
        ),
        loosely=frozenset(place for place in range(len(words)) if f"{_LOOSELY} {place}" in names),
        exactly=frozenset(place for place in range(len(words)) if f"{_EXACTLY} {place}" in names),
        title=title,
        sentences=tuple(sentences),
    )


def _counts(answers: Sequence[Answer]) -> Counts:
    everything, *holding = map(_total, answers)
    return Counts(everything, tuple(holding))


def _total(answer: Answer) -> int:
    return int(answer["hits"]["total"]["value"])


def sentences_of(text: str) -> list[str]:
    """Sentences and lines of a text, each with something in it."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def _places(engine: Engine, index: str, words: Sequence[str], passage: Passage) -> list[frozenset[int]]:
    """Which words the title, and each sentence, holds: by the terms that the index's own analyzer gives them."""
    parts = [passage.title, *sentences_of(passage.content[:MAX_ANALYSED])]
    terms = analysed_terms(engine, index, [*words, *parts])
    asked, found = terms[: len(words)], terms[len(words) :]
    return [frozenset(place for place, own in enumerate(asked) if own & part) for part in found]


def analysed_terms(engine: Engine, index: str, texts: Sequence[str]) -> list[set[str]]:
    """The terms of each text in their inflected analysis, from one call; 10,000 terms in all at most."""
    # The engine joins the texts of one call; a line break parts words for every analyzer, and offsets tell them apart.
    joined = "\n".join(texts)
    answer = engine.request("POST", f"/{index}/_analyze", body={"analyzer": INFLECTED_ANALYZER, "text": joined})
    ends = list(accumulate(len(text) + 1 for text in texts))
    terms: list[set[str]] = [set() for _ in texts]
    # Offsets count UTF-16 units; a text with a character beyond them has its own count.
    wide = _code_points(joined) if max(joined, default="") > LAST_NARROW else None
    for token in answer["tokens"]:
        offset = token["start_offset"] if wide is None else wide[token["start_offset"]]
        terms[bisect_right(ends, offset)].add(token["token"])
    return terms


def _code_points(text: str) -> list[int]:
    """The code point at each UTF-16 unit."""
    places = []
    for place, character in enumerate(text):
        places += [place] * (1 if character <= LAST_NARROW else 2)
    return places


def holds(word: str, analyses: Sequence[str]) -> Clause:
    """A clause: the passage, its title or its section holds the word in one of the analyses."""
    return {
        "dis_max": {
            "queries": [
                {"match": {fields.sub(text, analysis): {"query": word, "operator": "and"}}}
                for text in TEXTS
                for analysis in analyses
            ]
        }
    }


def _held_body(words: Sequence[str], chunk_id: str, filters: Sequence[Clause]) -> build.Body:
    named = []
    for place, word in enumerate(words):
        exact = {"dis_max": {**holds(word, STRICT)["dis_max"], "_name": f"{_EXACTLY} {place}"}}
        loose = holds(word, LOOSE)["dis_max"]["queries"]
        named.append({"dis_max": {"queries": [*loose, exact], "_name": f"{_LOOSELY} {place}"}})
    only = {"term": {fields.CHUNK_ID: chunk_id}}
    return {
        "query": {"bool": {"filter": [*filters, only], "should": named, "minimum_should_match": 0}},
        "size": 1,
        "track_total_hits": False,
        "stored_fields": "_none_",
    }


def _count_bodies(words: Sequence[str], filters: Sequence[Clause]) -> list[build.Body]:
    """All passages, then those that hold each word."""
    return [_count_body(filters), *(_count_body([*filters, holds(word, (*LOOSE, *STRICT))]) for word in words)]


def _count_body(filters: Sequence[Clause]) -> build.Body:
    return {"query": {"bool": {"filter": list(filters)}}, "size": 0, "track_total_hits": True}
