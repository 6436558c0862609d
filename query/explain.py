"""Why a passage stands where it does, stage by stage, in words of the query's language. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from query.candidate import Candidate
from query.highlighting import TAGS
from query.request import Expansion, Language, Leg, Replacement, Step

# Words of a passage that are named.
SHOWN: Final = 8
_MARKED: Final = re.compile(f"{re.escape(TAGS[0])}(.*?){re.escape(TAGS[1])}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stages:
    """Where each chunk stood after each stage: its place from 1, by chunk id."""

    fused: Mapping[str, int]
    reranked: Mapping[str, int]
    diversified: Mapping[str, int]
    shown: Mapping[str, int]
    weights: Mapping[Leg, float]
    language: Language
    exact: tuple[str, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    reranker: bool = False


def places(order: Sequence[Candidate]) -> dict[str, int]:
    """Places from 1 by chunk id."""
    return {candidate.chunk_id: place for place, candidate in enumerate(order, start=1)}


def explained(
    candidate: Candidate, stages: Stages, highlights: Sequence[str], superseded: Replacement | None
) -> tuple[Step, ...]:
    """The steps of one hit."""
    hebrew = stages.language == "he"
    words = list(dict.fromkeys(word for text in highlights for word in _MARKED.findall(text)))[:SHOWN]
    steps = [*_question(candidate, stages, hebrew=hebrew), _lexical(candidate, words, stages, hebrew=hebrew)]
    steps += [_dense(candidate, stages, hebrew=hebrew), *_sparse(candidate, stages, hebrew=hebrew)]
    steps += _orders(candidate, stages, hebrew=hebrew)
    if superseded is not None:
        by = superseded.title or superseded.document_id or ("מסמך אחר" if hebrew else "another document")
        text = (
            f"המסמך הוחלף על ידי {by}, ולכן הוא בא אחריו." if hebrew else f"Replaced by {by}, so it stands behind it."
        )
        steps.append(Step(stage="versions", text=text))
    place = stages.shown[candidate.chunk_id]
    steps.append(Step(stage="place", text=f"מקום {place} בתשובה." if hebrew else f"Place {place} of the answer."))
    return tuple(steps)


def _question(candidate: Candidate, stages: Stages, *, hebrew: bool) -> list[Step]:
    """What the query was widened by, or looked up as it is written."""
    steps = []
    for expansion in stages.expansions:
        others = ", ".join(expansion.equivalents)
        text = (
            f"לפי אילון המונחים חופשו ליד '{expansion.term}' גם: {others}."
            if hebrew
            else f"By the glossary, beside '{expansion.term}' these were searched: {others}."
        )
        steps.append(Step(stage="question", text=text))
    passage = candidate.passage
    held = [name for name in stages.exact if name in f"{passage.title} {passage.section} {passage.content}"]
    if held:
        names = ", ".join(held)
        text = f"מכיל את {names} ככתוב." if hebrew else f"Holds {names} as it is written."
        steps.append(Step(stage="question", text=text))
    return steps


def _lexical(candidate: Candidate, words: Sequence[str], stages: Stages, *, hebrew: bool) -> Step:
    score = candidate.scores.bm25
    named = ", ".join(words)
    if stages.weights["bm25"] == 0:
        text = "החיפוש במילים לא השתתף." if hebrew else "Words were not searched."
    elif score is None:
        text = "לא היה בין הקטעים שהחיפוש במילים החזיר." if hebrew else "Not among the passages found by words."
    elif hebrew:
        text = f"מקום {score.rank} לפי מילים (BM25 {score.score:.2f})" + (f": {named}." if named else ".")
    else:
        text = f"Place {score.rank} by words (BM25 {score.score:.2f})" + (f": {named}." if named else ".")
    return Step(stage="lexical", text=text)


def _dense(candidate: Candidate, stages: Stages, *, hebrew: bool) -> Step:
    score = candidate.scores.knn
    if stages.weights["knn"] == 0:
        text = "החיפוש לפי משמעות לא השתתף." if hebrew else "Meaning was not searched."
    elif score is not None:
        text = (
            f"מקום {score.rank} לפי משמעות (קוסינוס {score.score:.3f})."
            if hebrew
            else f"Place {score.rank} by meaning (cosine {score.score:.3f})."
        )
    else:
        text = "לא היה בין הקטעים שהחיפוש לפי משמעות החזיר." if hebrew else "Not among the passages found by meaning."
    return Step(stage="dense", text=text)


def _sparse(candidate: Candidate, stages: Stages, *, hebrew: bool) -> list[Step]:
    """Nothing where that leg was not asked: most indices have none."""
    score = candidate.scores.sparse
    if stages.weights.get("sparse", 0.0) == 0:
        return []
    if score is None:
        text = (
            "לא היה בין הקטעים שהחיפוש במונחים הנלמדים החזיר."
            if hebrew
            else "Not among the passages found by learned terms."
        )
    else:
        text = (
            f"מקום {score.rank} לפי מונחים נלמדים (ציון {score.score:.2f})."
            if hebrew
            else f"Place {score.rank} by learned terms (score {score.score:.2f})."
        )
    return [Step(stage="sparse", text=text)]


def _orders(candidate: Candidate, stages: Stages, *, hebrew: bool) -> list[Step]:
    chunk = candidate.chunk_id
    words, meaning = stages.weights["bm25"], stages.weights["knn"]
    fused, terms = stages.fused[chunk], stages.weights.get("sparse", 0.0)
    shares = f"מילים {words:.0%}, משמעות {meaning:.0%}" if hebrew else f"words {words:.0%}, meaning {meaning:.0%}"
    if terms:
        shares += f", מונחים נלמדים {terms:.0%}" if hebrew else f", learned terms {terms:.0%}"
    joined = "them" if terms else "both"
    steps = [
        Step(
            stage="fused",
            text=f"מקום {fused} אחרי שילוב ({shares})."
            if hebrew
            else f"Place {fused} after joining {joined} ({shares}).",
        )
    ]
    rerank = candidate.scores.rerank
    if stages.reranker and rerank is not None:
        place = stages.reranked[chunk]
        steps.append(
            Step(
                stage="reranked",
                text=f"מקום {place} אחרי דירוג מחדש (ציון {rerank:.3f})."
                if hebrew
                else f"Place {place} after reranking (score {rerank:.3f}).",
            )
        )
    if stages.diversified[chunk] != stages.reranked[chunk]:
        place = stages.diversified[chunk]
        steps.append(
            Step(
                stage="diversified",
                text=f"מקום {place} אחרי גיוון." if hebrew else f"Place {place} after near-duplicates were put back.",
            )
        )
    return steps
