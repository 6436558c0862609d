"""What the words of a query find: how rare each is among the passages that may answer, and which top passages hold it.

Rarity is counted among the rows that pass the filters, so that another tenant's documents decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from query import build
from query.filters import Clause
from query.retrieve import Plan, raise_failure
from search_config import fields
from search_config.client import Engine
from search_config.hebrew import QUERY_FUNCTION_WORDS

# Words of a query that are looked up one by one; a question that is longer is told by these.
MAX_WORDS: Final = 32
# Marks of the sentence around a word.
EDGES: Final = " \t.,;:!?\"'()[]{}<>*|\u05f3\u05f4\u2018\u2019\u201c\u201d\u201e-\u2013\u2014"
# A word is held where its inflected form, its English stem or the word as it is written stands in the text.
LOOSE: Final = (fields.INFLECTED, fields.ENGLISH)
STRICT: Final = (fields.EXACT,)
TEXTS: Final = (fields.TITLE, fields.SECTION, fields.CONTENT)
_FUNCTION_WORDS: Final = frozenset(QUERY_FUNCTION_WORDS)


@dataclass(frozen=True, slots=True)
class Word:
    """One content word of a query.

    Attributes:
        rarity: BM25's inverse document frequency among the passages that may answer, above 0.
        known: whether any of them holds it.
    """

    text: str
    rarity: float
    known: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """The content words of a query, and which of them each top passage holds.

    Attributes:
        loosely: by chunk id, the places (in `words`) of the words held in any inflection.
        exactly: the same, as they are written.
    """

    words: tuple[Word, ...]
    loosely: Mapping[str, frozenset[int]]
    exactly: Mapping[str, frozenset[int]]


def content_words(query: str) -> tuple[str, ...]:
    """The words of a query that say something, each once, in their order; all words, where none does."""
    words = list(dict.fromkeys(word for token in query.split() if (word := token.strip(EDGES))))
    telling = [word for word in words if word.casefold() not in _FUNCTION_WORDS]
    return tuple((telling or words)[:MAX_WORDS])


def rarity(holding: int, passages: int) -> float:
    """Inverse document frequency as BM25 has it (Robertson and Zaragoza 2009), 1 added so that it stays above 0."""
    return math.log(1.0 + (passages - holding + 0.5) / (holding + 0.5))


def evidence(engine: Engine, plan: Plan, chunk_ids: Sequence[str]) -> Evidence:
    """Look the content words up, in one `_msearch`.

    Args:
        engine: the engine.
        plan: of the search: its index, query and filters.
        chunk_ids: the top passages.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    words = content_words(plan.query)
    bodies = [_held_body(words, chunk_ids, plan.filters), _count_body(plan.filters)]
    bodies += [_count_body([*plan.filters, holds(word, (*LOOSE, *STRICT))]) for word in words]
    answers = engine.msearch([(plan.header(), body) for body in bodies])
    for answer in answers:
        raise_failure(answer, plan.index)
    held, everything, *counts = answers
    passages = int(everything["hits"]["total"]["value"])
    loosely, exactly = dict[str, frozenset[int]](), dict[str, frozenset[int]]()
    for row in held["hits"]["hits"]:
        names = row.get("matched_queries", ())
        loosely[row["_id"]] = frozenset(place for place in range(len(words)) if f"loose {place}" in names)
        exactly[row["_id"]] = frozenset(place for place in range(len(words)) if f"strict {place}" in names)
    found = []
    for word, count in zip(words, counts, strict=True):
        holding = int(count["hits"]["total"]["value"])
        found.append(Word(text=word, rarity=rarity(holding, max(passages, holding)), known=holding > 0))
    return Evidence(words=tuple(found), loosely=loosely, exactly=exactly)


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


def _held_body(words: Sequence[str], chunk_ids: Sequence[str], filters: Sequence[Clause]) -> build.Body:
    named = [
        {"dis_max": {**holds(word, analyses)["dis_max"], "_name": f"{name} {place}"}}
        for place, word in enumerate(words)
        for name, analyses in (("loose", (*LOOSE, *STRICT)), ("strict", STRICT))
    ]
    only = {"terms": {fields.CHUNK_ID: list(chunk_ids)}}
    return {
        "query": {"bool": {"filter": [*filters, only], "should": named, "minimum_should_match": 0}},
        "size": len(chunk_ids),
        "track_total_hits": False,
        "_source": False,
    }


def _count_body(filters: Sequence[Clause]) -> build.Body:
    return {"query": {"bool": {"filter": list(filters)}}, "size": 0, "track_total_hits": True}
