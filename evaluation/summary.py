"""The staged rankings of all questions become a report. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from evaluation.dataset import Dataset, Question
from evaluation.index import BuiltIndex
from evaluation.metrics import Passage, StageFigures, figures, qrels, recall_name
from evaluation.refusal_report import RefusalReport
from evaluation.report import Corpus, Figures, FoundBy, Machine, QuestionRanks, Report
from evaluation.significance import PairedTest, mean, sign_test
from query.candidate import Candidate
from query.profile import Profile
from query.search import StagedRanking

# The stage that `search` answers with.
SHIPPED: Final = "reranked"
# The legs' overlap is reported among this many: what a first page and the one after it show.
FOUND_BY_CUTOFF: Final = 20
EXAMPLES_SHOWN: Final = 3
COMPARED: Final = ("recall@1", "recall@5", "recall@20", "mrr")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The report with what TREC files need."""

    report: Report
    runs: Mapping[str, Mapping[str, Sequence[str]]]
    judged: Mapping[str, Mapping[str, int]]

    def with_refusal(self, refusal: RefusalReport | None, *, held_out: int) -> Evaluation:
        """The same, with what the refusal does, and how many questions were measured with weights of their own fold."""
        return replace(self, report=self.report.model_copy(update={"refusal": refusal, "held_out_questions": held_out}))


def stages_of(ranking: StagedRanking) -> dict[str, tuple[Candidate, ...]]:
    """Every stage's order by the stage's name."""
    return {
        "lexical": ranking.lexical,
        "dense": ranking.dense,
        "sparse": ranking.sparse,
        "fused": ranking.fused,
        "reranked": ranking.reranked,
        "diversified": ranking.diversified,
    }


def summarise(
    dataset: Dataset,
    index: BuiltIndex,
    profile: Profile,
    rankings: Mapping[str, StagedRanking],
    cutoffs: Sequence[int],
) -> Evaluation:
    asked = [question for question in dataset.questions if question.retrievable]
    pointed = [question for question in asked if question.kind != "aspects"]
    aspects = [question for question in asked if question.kind == "aspects"]
    judged = qrels(pointed, index.passages)
    runs: dict[str, dict[str, list[str]]] = {}
    for question in pointed:
        ranking = rankings[question.id]
        for stage, candidates in stages_of(ranking).items():
            # Most profiles ask the sparse leg for some classes of queries or for none.
            if stage != "sparse" or ranking.weights.get("sparse", 0.0) > 0:
                runs.setdefault(stage, {})[question.id] = [candidate.chunk_id for candidate in candidates]
    stages = {
        stage: figures(run, {question: judged[question] for question in run}, cutoffs) for stage, run in runs.items()
    }
    destroyed = [question for question in pointed if not judged[question.id]]
    report = Report(
        dataset=dataset.name,
        dataset_hash=dataset.content_hash,
        snapshot_date=datetime.now(UTC).date(),
        machine=Machine.here(),
        corpus=_corpus(dataset, index),
        queries=len(pointed),
        profile=profile.label,
        destroyed_answers=len(destroyed),
        destroyed_examples=tuple(question.query for question in destroyed[:EXAMPLES_SHOWN]),
        stages={stage: result.figures for stage, result in stages.items()},
        shipped=SHIPPED,
        by_group=_by_group(pointed, runs, judged, cutoffs),
        aspects=_aspects(aspects, index.passages, rankings, cutoffs),
        found_by=_found_by(pointed, runs, judged),
        ms_per_query=_latency(rankings),
        tests=tuple(_tests(stages)),
        questions=tuple(_ranks(question, runs, judged) for question in pointed),
    )
    return Evaluation(report=report, runs=runs, judged=judged)


def _corpus(dataset: Dataset, index: BuiltIndex) -> Corpus:
    return Corpus(
        documents=len(dataset.documents),
        characters=sum(len(text) for text in dataset.canonical.values()),
        sections=index.sections,
        passages=len(index.passages),
        strategy=index.settings.chunk_strategy,
        target=index.settings.chunk_target,
        model=index.info.model.identity,
        analyzer=index.info.analyzer,
        pipeline=index.info.pipeline,
        seconds_to_index=round(index.seconds, 2),
        ms_per_passage=round(1000 * index.seconds / max(1, len(index.passages)), 2),
    )


def _by_group(
    questions: Sequence[Question],
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    judged: Mapping[str, Mapping[str, int]],
    cutoffs: Sequence[int],
) -> dict[str, dict[str, Figures]]:
    groups: dict[str, list[str]] = {}
    for question in questions:
        groups.setdefault(f"language:{question.language}", []).append(question.id)
        groups.setdefault(f"kind:{question.kind}", []).append(question.id)
        if question.phrasing:
            groups.setdefault(f"phrasing:{question.phrasing}", []).append(question.id)
    return {
        name: {
            stage: figures(
                {question: run[question] for question in asked},
                {question: judged[question] for question in asked},
                cutoffs,
            ).figures
            for stage, run in runs.items()
            if (asked := [question for question in ids if question in run])
        }
        for name, ids in groups.items()
        if len(ids) < len(questions)
    }


def _aspects(
    questions: Sequence[Question],
    passages: Sequence[Passage],
    rankings: Mapping[str, StagedRanking],
    cutoffs: Sequence[int],
) -> Figures:
    """Mean share of a question's needles that the first k passages hold, all together."""
    if not questions:
        return {}
    places = {passage.chunk_id: passage for passage in passages}
    shares: dict[int, list[float]] = {k: [] for k in cutoffs}
    for question in questions:
        needles = list(question.needle_places())
        ranking = stages_of(rankings[question.id])[SHIPPED]
        for k in cutoffs:
            top = [places[candidate.chunk_id] for candidate in ranking[:k]]
            found = sum(any(passage.holds(document, needle) for passage in top) for document, needle in needles)
            shares[k].append(found / len(needles))
    return {recall_name(k): mean(values) for k, values in shares.items()}


def _found_by(
    questions: Sequence[Question],
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    judged: Mapping[str, Mapping[str, int]],
) -> FoundBy:
    counts: dict[str, int] = {"both": 0, "lexical only": 0, "dense only": 0, "neither": 0}
    examples: dict[str, list[str]] = {}
    for question in questions:
        lexical, dense = (
            first_right(runs[leg][question.id][:FOUND_BY_CUTOFF], judged[question.id]) is not None
            for leg in ("lexical", "dense")
        )
        name = ("both" if dense else "lexical only") if lexical else ("dense only" if dense else "neither")
        counts[name] += 1
        if name != "both" and len(examples.setdefault(name, [])) < EXAMPLES_SHOWN:
            examples[name].append(question.query)
    return FoundBy(
        k=FOUND_BY_CUTOFF,
        both=counts["both"],
        lexical_only=counts["lexical only"],
        dense_only=counts["dense only"],
        neither=counts["neither"],
        examples={name: tuple(queries) for name, queries in examples.items()},
    )


def first_right(ranking: Sequence[str], right: Mapping[str, int]) -> int | None:
    """Rank, from 1, of the first right passage."""
    return next((rank for rank, chunk in enumerate(ranking, start=1) if chunk in right), None)


def _ranks(
    question: Question, runs: Mapping[str, Mapping[str, Sequence[str]]], judged: Mapping[str, Mapping[str, int]]
) -> QuestionRanks:
    return QuestionRanks(
        id=question.id,
        query=question.query,
        language=question.language,
        phrasing=question.phrasing,
        ranks={
            stage: first_right(run[question.id], judged[question.id])
            for stage, run in runs.items()
            if question.id in run
        },
    )


def _tests(stages: Mapping[str, StageFigures]) -> Iterator[PairedTest]:
    """Each stage against the one before it in the flow, and the shipped one against each leg."""
    pairs = [("lexical", "dense"), (SHIPPED, "fused"), (SHIPPED, "lexical"), (SHIPPED, "dense")]
    for a, b in pairs:
        for metric in COMPARED:
            if metric in stages[a].by_question:
                yield sign_test(
                    stages[a].by_question[metric], stages[b].by_question[metric], names=(a, b), metric=metric
                )


def _latency(rankings: Mapping[str, StagedRanking]) -> dict[str, float]:
    """Median ms by stage."""
    by_stage: dict[str, list[float]] = {}
    for ranking in rankings.values():
        for stage, ms in ranking.took_ms.items():
            by_stage.setdefault(stage, []).append(ms)
    return {stage: round(statistics.median(values), 2) for stage, values in by_stage.items()}
