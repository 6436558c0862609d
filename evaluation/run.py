"""One evaluation: a temporary index through the normal ingest path, the normal query path by stage, then the report."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.dataset import Dataset
from evaluation.index import TENANT, Progress, built_index
from evaluation.metrics import DEFAULT_CUTOFFS
from evaluation.summary import Evaluation, summarise
from models.base import Embedder
from query.profile import Profile
from query.request import MAX_SIZE, SearchRequest
from query.search import SearchContext, StagedRanking, rank
from search_config.client import Engine
from search_config.settings import Settings


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
    """Measure a data set stage by stage, refusal off.

    Raises:
        InvalidProfile, IndexingIncomplete, EngineError
    """
    with built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=progress) as index:
        context = SearchContext(engine, index.info, embedder, profile, index.settings)
        rankings = run_questions(dataset, context, progress)
        return summarise(dataset, index, profile, rankings, cutoffs)


def run_questions(dataset: Dataset, context: SearchContext, progress: Progress) -> dict[str, StagedRanking]:
    """The staged ranking of every retrievable question, by its id."""
    asked = [question for question in dataset.questions if question.retrievable]
    rankings = {}
    for number, question in enumerate(asked, start=1):
        request = SearchRequest(tenant=TENANT, query=question.query, size=MAX_SIZE // 2)
        rankings[question.id] = rank(request, context)
        progress(number, len(asked), "questions")
    return rankings
