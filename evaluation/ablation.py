"""The chunking ablation: every strategy at every target length on one data set, compared in pairs.

Compared at equal k, and at equal characters returned: a longer passage also costs more of a reader's or a model's
attention, so the first passages that fit into a budget of characters are judged together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.dataset import Dataset, Question
from evaluation.index import BuiltIndex, Progress, built_index
from evaluation.metrics import Passage, figures, qrels
from evaluation.report import Figures
from evaluation.run import run_questions
from evaluation.significance import Estimate, PairedTest, proportion, sign_test
from evaluation.summary import SHIPPED, first_right, stages_of
from ingest.chunking import ChunkingSpec, chunk_document, embedded_text
from ingest.extract.registry import extract
from models.base import Embedder
from query.profile import Profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.settings import ChunkingStrategy, Settings

STRATEGIES: Final[tuple[ChunkingStrategy, ...]] = ("A", "B", "C", "D", "E", "F")
TARGETS: Final = (512, 800, 1200)
# Each pair differs by one trait: overlap, all of structure, header, overlap on top of a header, overlap on boundaries.
PAIRS: Final = (("B", "A"), ("E", "A"), ("E", "C"), ("F", "E"), ("D", "C"))
CUTOFFS: Final = (1, 5, 20)
# One long passage, a page of short ones, the context of an answer with room to spare.
BUDGETS: Final = (1_200, 2_400, 6_000)
PAIRED_ON: Final = ("recall@1", "recall@5")


class AblationRow(BaseModel):
    """One strategy at one target length."""

    model_config = ConfigDict(frozen=True)

    strategy: str
    target: int
    passages: int
    mean_characters: float
    tokens: int
    header_share: float
    over_window: int
    destroyed: int
    stages: dict[str, Figures]
    at_budget: dict[str, Estimate]
    by_question: dict[str, tuple[float, ...]]

    @property
    def name(self) -> str:
        """`E/800`."""
        return f"{self.strategy}/{self.target}"


class Ablation(BaseModel):
    """All rows and the paired tests between them."""

    model_config = ConfigDict(frozen=True)

    dataset: str
    questions: int
    profile: str
    rows: tuple[AblationRow, ...]
    tests: tuple[PairedTest, ...]


class Cost(BaseModel):
    """What a way of cutting costs the model."""

    model_config = ConfigDict(frozen=True)

    tokens: int
    header_tokens: int
    over_window: int


def ablate(
    dataset: Dataset,
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    profile: Profile,
    progress: Progress,
    strategies: Sequence[ChunkingStrategy] = STRATEGIES,
    targets: Sequence[int] = TARGETS,
) -> Ablation:
    """Build and question an index for every strategy and target.

    Raises:
        as `evaluation.run.evaluate`.
    """
    asked = [question for question in dataset.questions if question.retrievable and question.kind != "aspects"]
    rows: list[AblationRow] = []
    for target in targets:
        for strategy in strategies:
            own = settings.model_copy(update={"chunk_strategy": strategy, "chunk_target": target})
            with built_index(dataset, engine=engine, embedder=embedder, settings=own, progress=progress) as index:
                context = SearchContext(engine, index.info, embedder, profile, index.settings)
                rankings = run_questions(dataset, context, progress)
                runs = {
                    stage: {
                        question.id: [hit.chunk_id for hit in stages_of(rankings[question.id])[stage]]
                        for question in asked
                    }
                    for stage in stages_of(rankings[asked[0].id])
                }
                rows.append(_row(asked, index, runs, cost(dataset, own, embedder)))
            progress(len(rows), len(targets) * len(strategies), "strategies")
    return Ablation(
        dataset=dataset.name,
        questions=len(asked),
        profile=profile.label,
        rows=tuple(rows),
        tests=tuple(_tests(rows)),
    )


def cost(dataset: Dataset, settings: Settings, embedder: Embedder) -> Cost:
    """Tokens that the model reads for a data set, and how many of them are headers."""
    spec = ChunkingSpec(strategy=settings.chunk_strategy, target=settings.chunk_target, window=embedder.passage_window)
    texts, headers = [], []
    for raw in dataset.documents:
        document = extract(raw.data, name=raw.file_name, max_bytes=settings.max_file_bytes, media_type=raw.media_type)
        if raw.title:
            document = document.model_copy(update={"title": raw.title})
        for chunk in chunk_document(document, spec, embedder):
            texts.append(embedded_text(chunk, document))
            headers.append(chunk.header)
    tokens = embedder.count_tokens(texts)
    return Cost(
        tokens=sum(tokens),
        header_tokens=sum(embedder.count_tokens([header for header in headers if header])),
        over_window=sum(count > embedder.passage_window for count in tokens),
    )


def _row(
    questions: Sequence[Question],
    index: BuiltIndex,
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    spent: Cost,
) -> AblationRow:
    judged = qrels(questions, index.passages)
    places = {passage.chunk_id: passage for passage in index.passages}
    stages = {stage: figures(run, judged, CUTOFFS) for stage, run in runs.items()}
    at_budget = {
        budget: [_within(runs[SHIPPED][question.id], judged[question.id], places, budget) for question in questions]
        for budget in BUDGETS
    }
    by_question = dict(stages[SHIPPED].by_question)
    by_question |= {budget_name(budget): tuple(map(float, found)) for budget, found in at_budget.items()}
    return AblationRow(
        strategy=index.settings.chunk_strategy,
        target=index.settings.chunk_target,
        passages=len(index.passages),
        mean_characters=sum(passage.to - passage.from_ for passage in index.passages) / max(1, len(index.passages)),
        tokens=spent.tokens,
        header_share=spent.header_tokens / max(1, spent.tokens),
        over_window=spent.over_window,
        destroyed=sum(not right for right in judged.values()),
        stages={stage: result.figures for stage, result in stages.items()},
        at_budget={budget_name(budget): proportion(sum(found), len(found)) for budget, found in at_budget.items()},
        by_question=by_question,
    )


def budget_name(budget: int) -> str:
    """`recall in 2400 characters`."""
    return f"recall in {budget} characters"


def _within(ranking: Sequence[str], right: Mapping[str, int], places: Mapping[str, Passage], budget: int) -> bool:
    """Whether the first passages that fit into `budget` characters, the first one in any case, hold the answer."""
    rank = first_right(ranking, right)
    if rank is None:
        return False
    spent = sum(places[chunk].to - places[chunk].from_ for chunk in ranking[:rank])
    return rank == 1 or spent <= budget


def _tests(rows: Sequence[AblationRow]) -> list[PairedTest]:
    by_name = {row.name: row for row in rows}
    targets = sorted({row.target for row in rows})
    pairs = [
        (f"{a}/{target}", f"{b}/{target}", metric)
        for target in targets
        for a, b in PAIRS
        for metric in (*PAIRED_ON, budget_name(BUDGETS[1]))
    ]
    # Lengths are compared at equal characters returned: equal k would favour the longer passage by itself.
    pairs += [
        (f"{strategy}/{longer}", f"{strategy}/{shorter}", budget_name(budget))
        for strategy in sorted({row.strategy for row in rows})
        for shorter, longer in pairwise(targets)
        for budget in BUDGETS
    ]
    return [
        sign_test(by_name[a].by_question[metric], by_name[b].by_question[metric], names=(a, b), metric=metric)
        for a, b, metric in pairs
        if a in by_name and b in by_name
    ]
