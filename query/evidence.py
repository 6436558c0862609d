"""What the words of a query find: how rare each is among the passages that may answer, and whether the first holds it.

Rarity is counted among the rows that pass the filters, so that another tenant's documents decide nothing. Which words
stand together in one sentence of the first passage is told by the engine's own analysis of it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Final, TypeAlias

from query import build
from query.beside import beside
from query.candidate import Candidate, Passage
from query.filters import Clause
from query.retrieve import Answer, Plan, answers_of
from search_config import fields
from search_config.client import Engine
from search_config.hebrew import ENGLISH_ANALYZER, EXACT_ANALYZER, INFLECTED_ANALYZER, QUERY_FUNCTION_WORDS

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
FORMS: Final = (fields.INFLECTED, fields.ENGLISH, fields.EXACT)
TEXTS: Final = (fields.TITLE, fields.SECTION, fields.CONTENT)
# A full stop and the like before a blank, or the end of a line.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
# The terms of a text by their positions: a word may have several at one.
Analysed: TypeAlias = tuple[frozenset[str], ...]
# The last character that one UTF-16 unit holds.
LAST_NARROW: Final = "\uffff"
# Of a word of Hebrew letters alone, the English analysis leaves nothing, and where it stands as it is written its
# inflected form stands too.
_HEBREW_WORD: Final = re.compile("[א-ת]+")
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


def counted(
    engine: Engine, header: build.Body, filters: Sequence[Clause], words: Sequence[str], passages: int | None = None
) -> Counts:
    """Count among the passages that pass the filters: one `_msearch`.

    Args:
        passages: how many there are, where that is known; counting them takes longer than counting a word's.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    bodies = [_count_body([*filters, holds(word, analyses_of(word))]) for word in words]
    if passages is None:
        bodies.append(_count_body(filters))
    totals = [_total(answer) for answer in answers_of(engine, [(header, body) for body in bodies])]
    return Counts(totals.pop() if passages is None else passages, tuple(totals))


def evidence(
    engine: Engine,
    plan: Plan,
    first: Candidate | None,
    pieces: Callable[[Sequence[str]], list[int]],
    known: Callable[[], Counts] | None = None,
) -> Evidence:
    """Look the content words up: one `_msearch` where they were not counted before, and the first passage's analyses.

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
    held = Evidence(()) if first is None else _held(engine, plan.index, words, first.passage)
    counts = known() if known is not None else counted(engine, plan.header(), plan.filters, words)
    rare = (
        # The counts are of two moments: a word may have come in between.
        Word(text=word, rarity=rarity(count, max(counts.passages, count)), pieces=max(1, tokens))
        for word, count, tokens in zip(words, counts.holding, pieces(words), strict=True)
    )
    return replace(held, words=tuple(rare))


def _total(answer: Answer) -> int:
    return int(answer["hits"]["total"]["value"])


def sentences_of(text: str) -> list[str]:
    """Sentences and lines of a text, each with something in it."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def _held(engine: Engine, index: str, words: Sequence[str], passage: Passage) -> Evidence:
    """Which words the passage holds (their rarity is not told), by the terms that the index's own analyzers give both:
    what a query of that passage alone would match, at a fraction of its cost."""
    texts = [passage.title, passage.section, *sentences_of(passage.content[:MAX_ANALYSED])]
    every = [*words, *texts]
    exact = beside(partial(analysed, engine, index, every, EXACT_ANALYZER))
    latin = any(not _HEBREW_WORD.fullmatch(word) for word in words)
    english = beside(partial(analysed, engine, index, every, ENGLISH_ANALYZER)) if latin else None
    inflected = analysed(engine, index, every, INFLECTED_ANALYZER)
    exactly = _matched(words, exact.result())
    loosely = exactly | _matched(words, inflected)
    if english is not None:
        loosely |= _matched(words, english.result())
    asked, found = ([_union(one) for one in part] for part in (inflected[: len(words)], inflected[len(words) :]))
    title, _, *sentences = (frozenset(place for place, own in enumerate(asked) if own & held) for held in found)
    return Evidence((), loosely, exactly, title, tuple(sentences))


def _matched(words: Sequence[str], analyses: Sequence[Analysed]) -> frozenset[int]:
    """Places of the words that stand whole in the title, the section or the content: each of their positions by one of
    its terms, as a `match` with `and` finds them."""
    title, section, *sentences = (_union(one) for one in analyses[len(words) :])
    parts = (title, section, frozenset[str]().union(*sentences))
    return frozenset(
        place
        for place, own in enumerate(analyses[: len(words)])
        # What a query leaves out matches nothing.
        if own and words[place].casefold() not in _FUNCTION_WORDS
        if any(all(terms & part for terms in own) for part in parts)
    )


def _union(text: Analysed) -> frozenset[str]:
    return frozenset[str]().union(*text)


def analysed_terms(engine: Engine, index: str, texts: Sequence[str]) -> list[frozenset[str]]:
    """The terms of each text in their inflected analysis, from one call; 10,000 terms in all at most."""
    return [_union(text) for text in analysed(engine, index, texts, INFLECTED_ANALYZER)]


def analysed(engine: Engine, index: str, texts: Sequence[str], analyzer: str) -> list[Analysed]:
    """The terms of each text by their positions, from one call; 10,000 terms in all at most.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    # The engine joins the texts of one call; a line break parts words for every analyzer, and offsets tell them apart.
    joined = "\n".join(texts)
    answer = engine.request("POST", f"/{index}/_analyze", body={"analyzer": analyzer, "text": joined})
    ends = list(accumulate(len(text) + 1 for text in texts))
    found: list[dict[int, set[str]]] = [{} for _ in texts]
    # Offsets count UTF-16 units; a text with a character beyond them has its own count.
    wide = _code_points(joined) if max(joined, default="") > LAST_NARROW else None
    for token in answer["tokens"]:
        offset = token["start_offset"] if wide is None else wide[token["start_offset"]]
        found[bisect_right(ends, offset)].setdefault(token["position"], set()).add(token["token"])
    return [tuple(frozenset(terms) for terms in text.values()) for text in found]


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


def analyses_of(word: str) -> tuple[str, ...]:
    """The sub-fields in which a passage may hold a word in any form."""
    return (fields.INFLECTED,) if _HEBREW_WORD.fullmatch(word) else FORMS


def _count_body(filters: Sequence[Clause]) -> build.Body:
    return {"query": {"bool": {"filter": list(filters)}}, "size": 0, "track_total_hits": True}
