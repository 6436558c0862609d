"""Answers without a language model: the best sentences of the best passages, each with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.base import Embedder
from query.evidence import analysed_terms, content_words
from query.parts import question_parts
from query.request import Hit
from query.selection import Asked, Sentence, coverage, features, scores, shares, with_cosines
from query.sentences import Span, passage_sentences
from search_config.client import Engine

# Sentences whose vectors are made while somebody waits, about 8 ms each. Chosen among these, an answer is right as
# often as among all: the others are out of the running by their words alone (docs/answers.md).
EMBEDDED: Final = 8
# Characters of one call of the engine's analysis, which gives 10,000 terms at most, several for a word.
ANALYSED_CHARS: Final = 8_000
# An answer stops growing when its sentences hold this much of the probability: another one would be padding.
ENOUGH: Final = 0.9
# A part of a question of several parts is answered where its sentence and its document's title hold two thirds of its
# words: of two words both, since one alone may be any verb.
PART_HELD: Final = 2 / 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """One sentence of an answer: `hits[number - 1].content[span[0]:span[1]]`."""

    number: int
    span: Span
    share: float


@dataclass(frozen=True, slots=True)
class Extract:
    """Sentences, best first, and the parts of the question that they answer and do not answer."""

    chosen: tuple[Chosen, ...]
    answered: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """All sentences of the passages, analysed once for all parts of a question."""

    sentences: tuple[Sentence, ...]
    titles: tuple[frozenset[str], ...]


def extract(
    question: str, hits: Sequence[Hit], *, engine: Engine, index: str, embedder: Embedder, sentences: int
) -> Extract:
    """Choose the sentences.

    Args:
        question: as it was asked.
        hits: the passages, best first.
        engine: whose analysis of words is asked.
        index: concrete name of the index whose analysis it is.
        embedder: of the index.
        sentences: most for each part of the question.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable, ModelError
    """
    parts = question_parts(question)
    asked, candidates = analysed(parts, hits, engine=engine, index=index)
    if len(asked) == 1:
        return Extract(tuple(_best(asked[0], candidates, embedder, sentences)), parts, ())
    best = [_best(one, candidates, embedder, 1) for one in asked]
    held = [_held(one, own, candidates) >= PART_HELD for one, own in zip(asked, best, strict=True)]
    if not any(held):
        # Nothing tells the parts apart: the question is answered as one.
        (whole,), candidates = analysed((question,), hits, engine=engine, index=index)
        return Extract(tuple(_best(whole, candidates, embedder, sentences)), (question,), ())
    chosen = [choice for own, good in zip(best, held, strict=True) if good for choice in own]
    once = {(choice.number, choice.span): choice for choice in chosen}
    return Extract(
        tuple(once.values()),
        tuple(part for part, good in zip(parts, held, strict=True) if good),
        tuple(part for part, good in zip(parts, held, strict=True) if not good),
    )


def analysed(
    parts: Sequence[str], hits: Sequence[Hit], *, engine: Engine, index: str
) -> tuple[tuple[Asked, ...], Candidates]:
    """The parts of a question and the sentences of passages by the terms of the index's own analysis.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    words = [content_words(part) for part in parts]
    spans = [(number, *span) for number, hit in enumerate(hits, 1) for span in _answering(hit)]
    texts = [hits[number - 1].content[start:end] for number, start, end in spans]
    flat = [word for own in words for word in own]
    terms = iter(_terms(engine, index, [*flat, *(hit.title for hit in hits), *texts]))
    asked = tuple(Asked(part, own, tuple(next(terms) for _ in own)) for part, own in zip(parts, words, strict=True))
    titles = tuple(next(terms) for _ in hits)
    sentences = tuple(
        Sentence(number, start, end, text, next(terms)) for (number, start, end), text in zip(spans, texts, strict=True)
    )
    return asked, Candidates(sentences, titles)


def _answering(hit: Hit) -> Sequence[Span]:
    """The sentences of a passage. Its document's title, which heads the text too, holds the words of many questions
    and answers none; it is left where it is all that there is."""
    spans = passage_sentences(hit.content)
    title = _plain(hit.title)
    return [(start, end) for start, end in spans if _plain(hit.content[start:end]) != title] or spans


def _plain(text: str) -> str:
    return " ".join(text.lstrip("# ").split())


def scored(asked: Asked, found: Candidates, embedder: Embedder) -> NDArray[np.float64]:
    """Features of all sentences, `cosine` for the best `EMBEDDED` by their words; the others' is the lowest of those.

    Raises:
        ModelError
    """
    values = features(asked, found.sentences, found.titles)
    if not len(values):
        return values
    rows = [int(row) for row in np.argsort(-scores(values), kind="stable")[:EMBEDDED]]
    (question,) = embedder.embed_queries([asked.text])
    vectors = embedder.embed_passages([found.sentences[row].text for row in rows])
    with_cosines(values, rows, np.asarray(vectors @ question, dtype=np.float64))
    return values


def _best(asked: Asked, found: Candidates, embedder: Embedder, most: int) -> list[Chosen]:
    values = scored(asked, found, embedder)
    probable = shares(scores(values))
    chosen: list[Chosen] = []
    for row in np.argsort(-probable, kind="stable")[:most]:
        if sum(choice.share for choice in chosen) >= ENOUGH:
            break
        one = found.sentences[row]
        chosen.append(Chosen(one.number, (one.start, one.end), float(probable[row])))
    return chosen


def _held(asked: Asked, chosen: Sequence[Chosen], found: Candidates) -> float:
    held = set[str]()
    for choice in chosen:
        held |= found.titles[choice.number - 1]
        for one in found.sentences:
            if one.number == choice.number and (one.start, one.end) == choice.span:
                held |= one.terms
    return coverage(asked, held)


def _terms(engine: Engine, index: str, texts: Sequence[str]) -> list[frozenset[str]]:
    """Terms of each text, in as few calls as the engine's limit allows; of a text beyond it, those of its beginning."""
    # A line break parts the texts of one call, so there is none within a text.
    flat = [" ".join(text.split())[:ANALYSED_CHARS] for text in texts]
    found: list[frozenset[str]] = []
    batch: list[str] = []
    for text in flat:
        if batch and sum(map(len, batch)) + len(text) > ANALYSED_CHARS:
            found += analysed_terms(engine, index, batch)
            batch = []
        batch.append(text)
    return found + (analysed_terms(engine, index, batch) if batch else [])
