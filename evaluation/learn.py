"""One tuning: features through the normal path, then boosts, fusion, blend and refusal, each judged on held-out folds.

Every step is learnt once on everything, which ships, and once without each fold, which measures. The refusal's features
depend on the order, so every question is asked again under the weights of its own fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from evaluation.blend import Ablated, ablate_features, cross_validate_blend, pooled, rank_tests
from evaluation.dataset import Dataset
from evaluation.features import COSINE, Candidates, FeatureTable, collect
from evaluation.folds import Folds, content_hash, folds_of
from evaluation.index import TENANT, BuiltIndex, Progress, built_index
from evaluation.ranks import Ranked, ranked_figures
from evaluation.refusal import Asked, Calibration, Choice, calibrate, calibrated_classes, can_calibrate
from evaluation.significance import PairedTest
from evaluation.tuning import BOOSTS, COSINE_FACTORS, CrossValidated, Weights, cross_validate, objective_of
from models.base import Embedder
from query.evidence import content_words
from query.judging import refusal_features
from query.profile import FusionSpec, Profile
from query.profile_parts import DataIdentity, FoldWeights
from query.request import MAX_SIZE, Language, Leg, SearchRequest
from query.search import SearchContext, rank
from search_config import fields
from search_config.client import Engine
from search_config.language import language_of
from search_config.settings import Settings

# Under so many labelled questions a figure's interval is wider than most differences between weights.
FEW_QUESTIONS: Final = 200
# Questions of a class of queries that its own factor of the cosine is learnt from; others keep the base profile's.
LEAST_OF_A_CLASS: Final = 30
# Digits of what is written: finer ones change no order.
DIGITS: Final = 4
FUSION_START: Final = 60.0


@dataclass(frozen=True, slots=True)
class Tuned:
    """A profile with how it was found.

    Attributes:
        stages: cross-validated figures: `lexical`, `fused`, `blend`.
        tests: each stage against the one before it.
        ablation: the blend without each feature.
        calibration: None without out-of-domain questions.
        warnings: for people.
    """

    profile: Profile
    stages: Mapping[str, Ranked]
    tests: tuple[PairedTest, ...]
    ablation: tuple[Ablated, ...]
    calibration: Calibration | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    dataset: Dataset
    index: BuiltIndex


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
        engine, embedder, settings: as for an evaluation.
        base: what is not learnt, and where learning starts.
        name: of the new profile.
        choice: how the threshold of refusal is picked.
        progress: told of every part.

    Raises:
        IndexingIncomplete, EngineError
    """
    folds = folds_of(datasets)
    with ExitStack() as stack:
        sources = [
            _Source(
                dataset,
                stack.enter_context(
                    built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=progress)
                ),
            )
            for dataset in datasets
        ]
        starting = base.model_copy(update={"folds": (), "trained_on": None, "blend": None, "refusal": None})
        tables = []
        for source in sources:
            context = SearchContext(engine, source.index.info, embedder, starting, source.index.settings)
            tables.append(collect(source.dataset, source.index, context, progress))
        table, fold_of_question = _joined(tables, sources, folds)
        profile, stages, ablation = _ordered(table, fold_of_question, starting, progress)
        asked = _asked(sources, profile, folds, engine, embedder, progress)
    info = sources[0].index.info
    profile, calibration = _with_refusal(profile, asked, choice)
    profile = Profile.model_validate(
        profile.model_copy(
            update={
                "name": name,
                "version": 1,
                "model": info.model.identity,
                "analyzer": info.analyzer,
                "notes": "Learnt by `mafteach tune`; figures are cross-validated by document.",
                "figures": _figures(stages, calibration),
                "trained_on": _identity(sources, folds, asked),
            }
        ).model_dump()
    )
    names = list(stages)
    return Tuned(
        profile=profile,
        stages={stage: ranked_figures(found.ranks) for stage, found in stages.items()},
        tests=tuple(
            test
            for before, after in zip(names, names[1:], strict=False)
            for test in rank_tests(stages[after].ranks, stages[before].ranks, (after, before))
        ),
        ablation=tuple(ablation),
        calibration=calibration,
        warnings=tuple(_warnings(table, stages, calibration, asked)),
    )


def _joined(
    tables: Sequence[FeatureTable], sources: Sequence[_Source], folds: Folds
) -> tuple[FeatureTable, Mapping[str, int]]:
    """All tables as one, question ids made different, and the fold of each question."""
    questions: list[Candidates] = []
    fold_of_question: dict[str, int] = {}
    for number, (table, source) in enumerate(zip(tables, sources, strict=True)):
        for candidates in table.questions:
            own = f"{number}/{candidates.question.id}"
            fold = folds.of(candidates.question, source.dataset)
            fold_of_question[own] = 0 if fold is None else fold
            questions.append(replace(candidates, question=candidates.question.model_copy(update={"id": own})))
    return FeatureTable(names=tables[0].names, questions=tuple(questions)), fold_of_question


def _ordered(
    table: FeatureTable, folds: Mapping[str, int], base: Profile, progress: Progress
) -> tuple[Profile, dict[str, CrossValidated], list[Ablated]]:
    """Boosts, then the factor of the cosine, then the blend."""

    def fold_of(candidates: Candidates) -> int:
        return folds[candidates.question.id]

    columns = {field_of(name): name for name in table.names if field_of(name) in base.bm25}
    boosts = {columns[field]: BOOSTS for field in columns if field != fields.CONTENT}
    start = {columns[field]: boost for field, boost in base.bm25.items() if field in columns}
    progress(0, 3, "learning")
    lexical = cross_validate(table, start, boosts, fold_of)
    progress(1, 3, "learning")
    fused = _fused(table, lexical, base, fold_of)
    progress(2, 3, "learning")
    pool = pooled(table, fused.weights)
    features = [name for name in table.names if any(question.values[:, table.column(name)].any() for question in pool.questions)]
    blend = cross_validate_blend(pool, features, fold_of)
    ablation = ablate_features(pool, features, fold_of, blend.ranks)
    progress(3, 3, "learning")
    better = objective_of(blend.ranks) > objective_of(fused.ranks)
    return (
        base.model_copy(
            update={
                "bm25": _boosts(lexical.weights, columns),
                "fusion": FusionSpec(rule="raw", raw_c=base.fusion.raw_c),
                "weights": _weights(base, fused.weights),
                "blend": _rounded(blend.weights) if better else None,
                "folds": tuple(
                    FoldWeights(
                        bm25=_boosts(words, columns),
                        weights=_weights(base, both),
                        blend=_rounded(mixed) if better else None,
                    )
                    for words, both, mixed in zip(
                        lexical.fold_weights, fused.fold_weights, blend.fold_weights, strict=True
                    )
                ),
            }
        ),
        {"lexical": lexical, "fused": fused, "blend": blend},
        ablation,
    )
