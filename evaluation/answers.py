"""Answers measured end to end, as a user gets them: search, refusal, sentences, citations.

Right is an answer one of whose citations quotes a needle whole, at its place in its document. A refusal of an
answerable question is counted apart from a wrong answer. Where the corpus has no answer, a refusal is right; questions
that look like ones it answers are reported apart.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evaluation.dataset import Dataset, Needle, Question
from evaluation.index import TENANT, Progress, built_index
from evaluation.run import held_out_contexts
from evaluation.significance import Estimate, proportion
from models.base import Embedder, LanguageModel
from query.answer_request import AnswerRequest
from query.answer_result import AnswerResult, Citation
from query.answering import answer
from query.profile import Profile
from query.request import CONTEXT_SIZE, SearchRequest
from query.search import SearchContext
from search_config.client import Engine
from search_config.records import document_id
from search_config.settings import Settings

# What an answer is worth: a refusal that should have answered helps nobody and harms nobody, a wrong answer harms.
RIGHT, REFUSED, WRONG = 1, 0, -1

# Characters of an answer that a list of failures shows.
SHOWN: Final = 160

Verdict = Literal["right", "wrong", "refused", "answered"]
# Questions of one report line: those with an answer, those that look like one, those of nothing in the corpus.
Group = Literal["answerable", "look-alike", "out of domain"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class AnswerRow(_Part):
    """What became of one question.

    Attributes:
        verdict: `answered` where the corpus has no answer and one was given.
        first: place among the answer's sentences, from 1, of the first one that holds a needle whole; None without.
        in_context: a passage of the context holds a needle whole.
        sentences: of the answer.
    """

    id: str
    group: Group
    route: str
    language: str
    query: str
    verdict: Verdict
    first: int | None
    in_context: bool
    sentences: int
    grounded: bool
    answer: str


class GroupFigures(_Part):
    """One group of questions; `right` and `in_context` are for answerable ones alone.

    Attributes:
        by_sentences: share that is right within the first 1, 2, … sentences.
    """

    questions: int
    refused: Estimate
    right: Estimate | None = None
    wrong: Estimate | None = None
    in_context: Estimate | None = None
    by_sentences: Mapping[int, Estimate] = {}


class RouteFigures(_Part):
    """Questions of one route, with an answer and without.

    Attributes:
        right: with its sentence, or refused where there is no answer.
        wrong: without its sentence, or answered where there is no answer.
        refused: though there is an answer.
        score: mean of `RIGHT`, `REFUSED` and `WRONG`.
    """

    questions: int
    right: int
    wrong: int
    refused: int
    score: float


class AnswersReport(_Part):
    """All questions of a data set."""

    dataset: str
    dataset_hash: str
    profile: str
    refuses: bool
    model: str | None
    context: int
    sentences: int
    held_out_questions: int
    grounded: Estimate
    mean_sentences: float
    ms_per_question: dict[str, float]
    groups: dict[str, GroupFigures]
    routes: dict[str, RouteFigures]
    rows: tuple[AnswerRow, ...]


def evaluate_answers(
    dataset: Dataset,
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    profile: Profile,
    model: LanguageModel | None,
    progress: Progress,
    context_size: int = CONTEXT_SIZE,
) -> AnswersReport:
    """Index the documents for the time being, ask every question, and judge.

    A question that the profile was learnt from is asked with the weights that never saw its document.

    Raises:
        InvalidProfile, IndexingIncomplete, EngineError
    """
    ids = {document_id(TENANT, document.id): document.id for document in dataset.documents}
    rows: list[AnswerRow] = []
    took: list[Mapping[str, float]] = []
    with built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=progress) as index:
        context = SearchContext(engine, index.info, embedder, profile, index.settings)
        context_of = held_out_contexts(dataset, context)
        held_out = 0
        for number, question in enumerate(dataset.questions, start=1):
            own = context_of(question)
            held_out += own is not context
            search = SearchRequest(tenant=TENANT, query=question.query)
            result = answer(AnswerRequest(search=search, context=context_size), own, model=model)
            rows.append(judged(question, result, ids))
            took.append({"search": result.search.took_ms["total"], **result.took_ms})
            progress(number, len(dataset.questions), "answers")
    return AnswersReport(
        dataset=dataset.name,
        dataset_hash=dataset.content_hash,
        profile=profile.label,
        refuses=profile.refusal is not None,
        model=None if model is None else model.description.name,
        context=context_size,
        sentences=settings.answer_sentences,
        held_out_questions=held_out,
        grounded=_share(rows, lambda row: row.grounded, among=lambda row: row.verdict != "refused"),
        mean_sentences=statistics.fmean([row.sentences for row in rows if row.sentences] or [0.0]),
        ms_per_question=_times(took),
        groups={group: figures(found) for group in _groups(rows) if (found := [r for r in rows if r.group == group])},
        routes=routes_of(rows),
        rows=tuple(rows),
    )


def judged(question: Question, result: AnswerResult, ids: Mapping[str, str]) -> AnswerRow:
    """Judge one answer.

    Args:
        question: with its needles.
        result: what it was answered with.
        ids: the data set's id of each document, by the index's.
    """
    needles = list(question.needle_places())
    group = _group(question)
    first = _first(result, needles, ids)
    hits = result.search.hits
    verdict: Verdict
    if result.refused:
        verdict = "refused"
    elif group != "answerable":
        verdict = "answered"
    else:
        verdict = "wrong" if first is None else "right"
    return AnswerRow(
        id=question.id,
        group=group,
        route=result.search.route,
        language=question.language,
        query=question.query,
        verdict=verdict,
        first=first,
        in_context=any(
            ids.get(hit.document_id) == document and hit.locator.from_ <= needle.from_ and needle.to <= hit.locator.to
            for hit in hits
            for document, needle in needles
        ),
        sentences=len(result.sentences),
        grounded=result.grounded,
        answer=" ".join(result.answer.split())[:SHOWN],
    )


def figures(rows: Sequence[AnswerRow]) -> GroupFigures:
    """Shares of one group, with intervals."""
    refused = _share(rows, lambda row: row.verdict == "refused")
    if rows[0].group != "answerable":
        return GroupFigures(questions=len(rows), refused=refused)
    most = max(row.sentences for row in rows)
    return GroupFigures(
        questions=len(rows),
        refused=refused,
        right=_share(rows, lambda row: row.verdict == "right"),
        wrong=_share(rows, lambda row: row.verdict == "wrong"),
        in_context=_share(rows, lambda row: row.in_context),
        by_sentences={
            count: proportion(sum(row.first is not None and row.first <= count for row in rows), len(rows))
            for count in range(1, most + 1)
        },
    )


def routes_of(rows: Sequence[AnswerRow]) -> dict[str, RouteFigures]:
    """Right, wrong and refused by route."""
    found: dict[str, RouteFigures] = {}
    for route in sorted({row.route for row in rows}):
        worth = [_worth(row) for row in rows if row.route == route]
        found[route] = RouteFigures(
            questions=len(worth),
            right=worth.count(RIGHT),
            wrong=worth.count(WRONG),
            refused=worth.count(REFUSED),
            score=statistics.fmean(worth),
        )
    return found


def _worth(row: AnswerRow) -> int:
    if row.verdict == "refused":
        return REFUSED if row.group == "answerable" else RIGHT
    return RIGHT if row.verdict == "right" else WRONG


def _first(result: AnswerResult, needles: Sequence[tuple[str, Needle]], ids: Mapping[str, str]) -> int | None:
    """Place of the first sentence whose source's quote holds a needle."""
    for place, sentence in enumerate(result.sentences, start=1):
        cited = [citation for citation in result.citations if citation.index in sentence.citations]
        for document, needle in needles:
            if any(_quotes(citation, ids.get(citation.document_id), document, needle) for citation in cited):
                return place
    return None


def _quotes(citation: Citation, cited: str | None, document: str, needle: Needle) -> bool:
    place = citation.locator
    return cited == document and place.from_ <= needle.from_ and needle.to <= place.to


def _group(question: Question) -> Group:
    if question.retrievable:
        return "answerable"
    return "out of domain" if question.out_of_domain else "look-alike"


def _groups(rows: Sequence[AnswerRow]) -> list[Group]:
    return list(dict.fromkeys(row.group for row in rows))


def _share(
    rows: Sequence[AnswerRow],
    holds: Callable[[AnswerRow], bool],
    among: Callable[[AnswerRow], bool] = lambda _: True,
) -> Estimate:
    counted = [row for row in rows if among(row)]
    return proportion(sum(map(holds, counted)), len(counted))


def _times(took: Sequence[Mapping[str, float]]) -> dict[str, float]:
    stages = dict.fromkeys(stage for times in took for stage in times)
    return {stage: statistics.fmean([times[stage] for times in took if stage in times]) for stage in stages}
