"""One evaluation: a temporary index through the normal ingest path, the normal query path by stage, then the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.dataset import Dataset, Question
from evaluation.folds import learnt_from
from evaluation.index import TENANT, Progress, built_index
from evaluation.metrics import DEFAULT_CUTOFFS
from evaluation.refusal import asked_of
from evaluation.refusal_report import RefusalReport, refusal_report
from evaluation.summary import Evaluation, summarise
from models.base import Embedder
from query.judging import observe
from query.profile import Profile
from query.request import MAX_SIZE, SearchRequest
from query.search import SearchContext, StagedRanking, rank
from search_config.client import Engine
from search_config.settings import Settings

ContextOf = Callable[[Question], SearchContext]


def evaluate(
    dataset: Dataset,
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    profile: Profile,
    progress: Progress,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
) -> Evaluation:
    """Measure a data set stage by stage, refusal off; then the refusal, where the profile has one.

    A question that the profile was learnt from is measured with the weights that never saw its document.

    Raises:
        InvalidProfile, IndexingIncomplete, EngineError
    """
    with built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=progress) as index:
        context = SearchContext(engine, index.info, embedder, profile, index.settings)
        rankings = run_questions(dataset, context, progress)
        evaluation = summarise(dataset, index, profile, rankings, cutoffs)
        refusal = measure_refusal(dataset, context, rankings, progress)
    known = sum(fold_of(question, dataset, profile) is not None for question in dataset.questions)
    return evaluation.with_refusal(refusal, held_out=known)


def run_questions(dataset: Dataset, context: SearchContext, progress: Progress) -> dict[str, StagedRanking]:
    """The staged ranking of every retrievable question, by its id."""
    asked = [question for question in dataset.questions if question.retrievable]
    context_of = held_out_contexts(dataset, context)
    rankings = {}
    for number, question in enumerate(asked, start=1):
        rankings[question.id] = rank(request_of(question), context_of(question))
        progress(number, len(asked), "questions")
    return rankings


def measure_refusal(
    dataset: Dataset, context: SearchContext, rankings: dict[str, StagedRanking], progress: Progress
) -> RefusalReport | None:
    """What the profile's refusal does to the answerable and the out-of-domain questions; None where it has none."""
    if context.profile.refusal is None:
        return None
    questions = [one for one in dataset.questions if one.retrievable or one.out_of_domain]
    context_of = held_out_contexts(dataset, context)
    judged = []
    for number, question in enumerate(questions, start=1):
        own = context_of(question)
        ranking = rankings.get(question.id) or rank(request_of(question), own)
        found = observe(context.engine, ranking, context.embedder)
        judged.append((asked_of(question, ranking.language, found, fold=0), own.profile.refusal))
        progress(number, len(questions), "refusal")
    return refusal_report(judged, context.profile.refusal)


def request_of(question: Question) -> SearchRequest:
    """The search that measures a question: with as many candidates as a page may ask for."""
    return SearchRequest(tenant=TENANT, query=question.query, size=MAX_SIZE // 2)


def fold_of(question: Question, dataset: Dataset, profile: Profile) -> int | None:
    """The fold in which a profile learnt from a question's document; None where it did not."""
    return learnt_from(profile).of(question, dataset)


def held_out_contexts(dataset: Dataset, context: SearchContext) -> ContextOf:
    """For each question the context whose profile never saw its document."""
    profile = context.profile
    own = [
        SearchContext(context.engine, context.info, context.embedder, profile.of_fold(number), context.settings)
        for number in range(len(profile.folds))
    ]

    def context_of(question: Question) -> SearchContext:
        fold = fold_of(question, dataset, profile)
        return context if fold is None else own[fold]

    return context_of
