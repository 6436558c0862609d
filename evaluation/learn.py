"""One tuning: features through the normal path, then the order, then the refusal, each judged on held-out folds.

The refusal's features depend on the order, so every question is asked again under the weights of its own fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from evaluation.blend import Ablated, rank_tests
from evaluation.dataset import Dataset, Question
from evaluation.features import Candidates, FeatureTable, collect
from evaluation.folds import Folds, folds_of
from evaluation.index import BuiltIndex, Progress, built_index
from evaluation.order import Learnt, learn_order
from evaluation.refusal import Asked, Calibration, Choice, asked_of, calibrate, can_calibrate
from evaluation.refusal_report import RefusalReport, refusal_report
from evaluation.report import Figures
from evaluation.run import request_of
from evaluation.significance import PairedTest, mean, proportion
from models.base import Embedder
from query.judging import observe
from query.profile import Profile
from query.profile_parts import DataIdentity, FoldWeights
from query.search import SearchContext, rank
from search_config.client import Engine
from search_config.language import language_of
from search_config.settings import Settings

# Under so many labelled questions a figure's interval is wider than most differences between weights.
FEW_QUESTIONS: Final = 200
CUTOFFS: Final = (1, 5, 20)
MIX_DECIMALS: Final = 3
FIGURE_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class Tuned:
    """A profile, and how it was found.

    Attributes:
        stages: cross-validated figures of `lexical`, `fused` and `reranked`.
        tests: each stage against the one before it.
        ablation: the blend without each feature.
        refusal: held-out figures; None where there are too few out-of-domain questions.
        warnings: for people.
    """

    profile: Profile
    stages: Mapping[str, Figures]
    tests: tuple[PairedTest, ...]
    ablation: tuple[Ablated, ...]
    refusal: RefusalReport | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    dataset: Dataset
    index: BuiltIndex


@dataclass(frozen=True, slots=True)
class _Parts:
    """What every step needs."""

    engine: Engine
    embedder: Embedder
    progress: Progress

    def context(self, source: _Source, profile: Profile) -> SearchContext:
        return SearchContext(self.engine, source.index.info, self.embedder, profile, source.index.settings)


def tune(
    datasets: Sequence[Dataset],
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    base: Profile,
    name: str,
    choice: Choice,
    progress: Progress,
) -> Tuned:
    """Learn a profile.

    Args:
        datasets: one or several; each gets an index of its own.
        engine: as for an evaluation, like `embedder` and `settings`.
        embedder: of passages and queries.
        settings: the chunking is theirs.
        base: where learning starts, and what is not learnt.
        name: of the new profile.
        choice: how the threshold of refusal is picked.
        progress: told of every part.

    Raises:
        IndexingIncomplete, EngineError
    """
    folds, parts = folds_of(datasets), _Parts(engine, embedder, progress)
    with ExitStack() as stack:
        sources = [
            _Source(
                data,
                stack.enter_context(
                    built_index(data, engine=engine, embedder=embedder, settings=settings, progress=progress)
                ),
            )
            for data in datasets
        ]
        learnt_anew: dict[str, object] = {"folds": (), "trained_on": None, "blend": None, "blends": {}, "refusal": None}
        start = base.model_copy(update=learnt_anew)
        tables = [collect(one.dataset, one.index, parts.context(one, start), progress) for one in sources]
        table, fold_of = _joined(tables, sources, folds)
        learnt = learn_order(table, fold_of, start, progress)
        asked = _ask(sources, learnt.profile, folds, parts)
        calibration = calibrate(asked, choice) if can_calibrate(asked) else None
        stages = {stage: _figures(ranks) for stage, ranks in learnt.ranks.items()}
        profile = _finished(learnt, calibration, sources, folds, stages, name)
    return Tuned(
        profile=profile,
        stages=stages,
        tests=tuple(
            test
            for before, after in pairwise(learnt.ranks)
            for test in rank_tests(learnt.ranks[after], learnt.ranks[before], (after, before))
        ),
        ablation=learnt.ablation,
        refusal=None if calibration is None else _report(calibration),
        warnings=tuple(_warnings(len(table.questions), learnt, calibration)),
    )


def _joined(
    tables: Sequence[FeatureTable], sources: Sequence[_Source], folds: Folds
) -> tuple[FeatureTable, Callable[[Candidates], int]]:
    """All tables as one. Two data sets may call different questions the same: ids get the data set's number."""
    questions, numbers = list[Candidates](), dict[str, int]()
    for number, (table, source) in enumerate(zip(tables, sources, strict=True)):
        for candidates in table.questions:
            question = candidates.question.model_copy(update={"id": f"{number}/{candidates.question.id}"})
            numbers[question.id] = _fold(folds, candidates.question, source.dataset)
            questions.append(replace(candidates, question=question))
    return FeatureTable(tables[0].names, tuple(questions)), lambda candidates: numbers[candidates.question.id]


def _fold(folds: Folds, question: Question, dataset: Dataset) -> int:
    found = folds.of(question, dataset)
    if found is None:
        raise LookupError(f"question {question.id} belongs to no fold")
    return found


def _ask(sources: Sequence[_Source], profile: Profile, folds: Folds, parts: _Parts) -> list[Asked]:
    """The refusal's features of every question of the data sets that have out-of-domain ones."""
    asked = []
    for number, source in enumerate(sources):
        questions = [one for one in source.dataset.questions if one.retrievable or one.out_of_domain]
        if not any(one.out_of_domain for one in questions):
            continue
        contexts = [parts.context(source, profile.of_fold(fold)) for fold in range(len(profile.folds))]
        for place, question in enumerate(questions, start=1):
            fold = _fold(folds, question, source.dataset)
            ranking = rank(request_of(question), contexts[fold])
            found = observe(parts.engine, ranking, parts.embedder)
            asked.append(asked_of(question, ranking.language, found, fold=fold, prefix=f"{number}/"))
            parts.progress(place, len(questions), "refusal")
    return asked


def _finished(
    learnt: Learnt,
    calibration: Calibration | None,
    sources: Sequence[_Source],
    folds: Folds,
    stages: Mapping[str, Figures],
    name: str,
) -> Profile:
    """The learnt profile with its name, its refusal, and what it was learnt from; checked as one that is read."""
    info = sources[0].index.info
    figures = {
        f"{stage} {metric}": round(estimate.value, FIGURE_DECIMALS)
        for stage, found in stages.items()
        for metric, estimate in found.items()
    }
    profile = learnt.profile
    by_fold: tuple[FoldWeights, ...] = profile.folds
    if calibration is not None:
        by_fold = tuple(
            fold.model_copy(update={"refusal": spec})
            for fold, spec in zip(by_fold, calibration.fold_specs, strict=True)
        )
    changed = profile.model_copy(
        update={
            "name": name,
            "version": 1,
            "model": info.model.identity,
            "analyzer": info.analyzer,
            "sparse_terms": info.model.sparse_terms if profile.uses_sparse() else None,
            "notes": "Learnt by `mafteach tune`; figures are cross-validated by document.",
            "figures": figures,
            "refusal": None if calibration is None else calibration.spec,
            "trained_on": _identity(sources, folds),
            "folds": by_fold,
        }
    )
    return Profile.model_validate(changed.model_dump())


def _identity(sources: Sequence[_Source], folds: Folds) -> DataIdentity:
    questions = [question for source in sources for question in source.dataset.questions]
    mix = Counter(language_of(text) for source in sources for text in source.dataset.canonical.values())
    return DataIdentity(
        name=" + ".join(source.dataset.name for source in sources),
        content_hash=" ".join(source.dataset.content_hash for source in sources),
        date=datetime.now(UTC).date(),
        questions=sum(question.retrievable for question in questions),
        out_of_domain=sum(question.out_of_domain for question in questions),
        passages=sum(len(source.index.passages) for source in sources),
        language_mix={language: round(count / mix.total(), MIX_DECIMALS) for language, count in mix.items()},
        documents=dict(folds.documents),
        queries=dict(folds.queries),
    )


def _report(found: Calibration) -> RefusalReport:
    return refusal_report([(one, found.fold_specs[one.fold]) for one in found.asked], found.spec)


def _figures(ranks: Mapping[str, float]) -> Figures:
    found = {f"recall@{k}": proportion(sum(rank <= k for rank in ranks.values()), len(ranks)) for k in CUTOFFS}
    return {**found, "mrr": mean([1.0 / rank for rank in ranks.values()])}


def _warnings(questions: int, learnt: Learnt, calibration: Calibration | None) -> Iterator[str]:
    if questions < FEW_QUESTIONS:
        yield (
            f"Only {questions} labelled questions: under {FEW_QUESTIONS} the intervals are wider than most differences "
            "between weights; take the figures with care."
        )
    for language in learnt.without_blend:
        yield (
            f"Queries of class {language} keep the fused order: the blend is not better on held-out folds, or there "
            "are too few of them."
        )
    if calibration is None:
        yield (
            "Too few out-of-domain questions (answerable false, document_id null) to place a threshold: the profile "
            "never refuses, and answers say `uncalibrated`."
        )
