"""Learns the order of candidates: boosts of the fields, the cosine's factor for each class of queries, the blend. Pure.

Each step is learnt on everything, which ships, and without each fold, which measures; a later step is learnt without a
fold from the earlier steps without the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluation.blend import Ablated, ablate_features, cross_validate_blend, pooled, ranks_under
from evaluation.features import Candidates, FeatureTable
from evaluation.index import Progress
from evaluation.tuning import (
    BOOSTS,
    COSINE_FACTORS,
    FOLDS,
    CrossValidated,
    FoldOf,
    Weights,
    cross_validate,
    fit,
    objective_of,
)
from query.features import BM25, COSINE, OF_TOKENS
from query.profile import FusionSpec, Profile
from query.profile_parts import Blend, FoldWeights
from query.request import Language, Leg
from search_config import fields

# Questions of a class of queries that its own factor of the cosine is learnt from; others keep the base profile's.
LEAST_OF_A_CLASS: Final = 30
# Decimals that are written: finer ones change no order.
DECIMALS: Final = 4
# Features that compare meanings, not words.
MEANING: Final = OF_TOKENS | {COSINE}
STEPS: Final = 3
LEARNING: Final = "learning"


@dataclass(frozen=True, slots=True)
class Learnt:
    """A profile with learnt weights, and what they are worth.

    Attributes:
        profile: with the weights of each fold.
        ranks: held-out ranks by stage (`lexical`, `fused`, `reranked`) and question.
        ablation: the blend without each feature, for the class with the most questions.
        without_blend: classes of queries that keep the fused order: the blend was not better on held-out folds.
    """

    profile: Profile
    ranks: Mapping[str, Mapping[str, float]]
    ablation: tuple[Ablated, ...]
    without_blend: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class _Fused:
    """Weights of the fusion for each class of queries."""

    whole: Mapping[Language, Weights]
    by_fold: tuple[Mapping[Language, Weights], ...]
    ranks: Mapping[str, float]


def learn_order(table: FeatureTable, fold_of: FoldOf, base: Profile, progress: Progress) -> Learnt:
    """Learn boosts, fusion and blend.

    Args:
        table: features of all candidates.
        fold_of: the fold of a question.
        base: where learning starts, and what is not learnt.
        progress: told of each step.
    """
    columns = {field_of(name): name for name in table.names if field_of(name) in base.bm25}
    tried = {column: BOOSTS for field, column in columns.items() if field != fields.CONTENT}
    progress(0, STEPS, LEARNING)
    lexical = cross_validate(table, {columns[field]: base.bm25[field] for field in columns}, tried, fold_of)
    progress(1, STEPS, LEARNING)
    fused = _fuse(table, lexical, fold_of, base)
    progress(2, STEPS, LEARNING)
    blends = _blend(table, fused, fold_of)
    progress(STEPS, STEPS, LEARNING)
    folds = tuple(
        FoldWeights(
            bm25=_boosts(lexical.fold_weights[fold], columns),
            weights=_leg_weights(base, fused.by_fold[fold]),
            blends={language: _rounded(found.fold_weights[fold]) for language, found in blends.kept.items()}
            | {language: {} for language in blends.without},
        )
        for fold in range(FOLDS)
    )
    profile = base.model_copy(
        update={
            "bm25": _boosts(lexical.weights, columns),
            "fusion": FusionSpec(rule="raw", rrf_k=base.fusion.rrf_k, raw_c=base.fusion.raw_c),
            "weights": _leg_weights(base, fused.whole),
            "blends": {language: _rounded(found.weights) for language, found in blends.kept.items()}
            | {language: {} for language in blends.without},
            "folds": folds,
        }
    )
    ranks = {"lexical": lexical.ranks, "fused": fused.ranks, "reranked": blends.ranks}
    return Learnt(profile, ranks, blends.ablation, blends.without)


@dataclass(frozen=True, slots=True)
class _Blends:
    """Blends by class of queries.

    Attributes:
        kept: those better than the fusion on held-out folds.
        without: classes that keep the fused order.
        ranks: held out; of the fusion for the classes without.
        ablation: of the class with the most questions.
    """

    kept: Mapping[Language, CrossValidated]
    without: tuple[Language, ...]
    ranks: Mapping[str, float]
    ablation: tuple[Ablated, ...]


def _blend(table: FeatureTable, fused: _Fused, fold_of: FoldOf) -> _Blends:
    """A blend of its own for each class with enough questions, where it wins."""
    kept: dict[Language, CrossValidated] = {}
    ranks = dict(fused.ranks)
    ablation: tuple[Ablated, ...] = ()
    by_class = sorted(classes_of(table).items(), key=lambda item: -len(item[1]))
    for language, questions in by_class:
        if len(questions) < LEAST_OF_A_CLASS:
            continue
        pool = replace(table, questions=tuple(pooled(table, questions, fused.whole[language])))
        known = [name for place, name in enumerate(table.names) if _differs(pool, place)]
        # Few questions, or words of another language than the texts', say nothing of words.
        found, features = _best(pool, [known, [name for name in known if name in MEANING]], fold_of)
        before = {question.question.id: fused.ranks[question.question.id] for question in questions}
        if objective_of(found.ranks) > objective_of(before):
            kept[language] = found
            ranks |= found.ranks
            # Told of the largest class alone: each feature is one more learning.
            ablation = ablation or tuple(ablate_features(pool, features, fold_of, found.ranks))
    return _Blends(kept, tuple(language for language, _ in by_class if language not in kept), ranks, ablation)


def _best(
    pool: FeatureTable, choices: Sequence[Sequence[str]], fold_of: FoldOf
) -> tuple[CrossValidated, Sequence[str]]:
    """The choice of features that is best on held-out folds; the first of equals."""
    found = [cross_validate_blend(pool, features, fold_of) for features in choices]
    best = max(range(len(choices)), key=lambda place: (objective_of(found[place].ranks), -place))
    return found[best], choices[best]


def _differs(pool: FeatureTable, column: int) -> bool:
    return any(question.values[:, column].any() for question in pool.questions)


def classes_of(table: FeatureTable) -> dict[Language, list[Candidates]]:
    """Questions by class of query."""
    found: dict[Language, list[Candidates]] = {}
    for question in table.questions:
        found.setdefault(question.language, []).append(question)
    return found


def field_of(column: str) -> str:
    """The searched field behind a column's name."""
    return column.removeprefix(BM25)


def _fuse(table: FeatureTable, lexical: CrossValidated, fold_of: FoldOf, base: Profile) -> _Fused:
    whole: dict[Language, Weights] = {}
    by_fold: list[dict[Language, Weights]] = [{} for _ in range(FOLDS)]
    ranks: dict[str, float] = {}
    for language, questions in classes_of(table).items():
        factor = cosine_factor(base, language)
        enough = len(questions) >= LEAST_OF_A_CLASS
        whole[language] = _with_cosine(table, questions if enough else (), lexical.weights, factor)
        for fold, weights in enumerate(lexical.fold_weights):
            training = [question for question in questions if fold_of(question) != fold]
            by_fold[fold][language] = _with_cosine(table, training if enough else (), weights, factor)
            held_out = [question for question in questions if fold_of(question) == fold]
            ranks |= ranks_under(table, held_out, by_fold[fold][language])
    return _Fused(whole, tuple(by_fold), ranks)


def _with_cosine(table: FeatureTable, questions: Sequence[Candidates], words: Weights, factor: float) -> Weights:
    """Boosts with the cosine's factor learnt from `questions`; as it was, where there are none."""
    start = {**words, COSINE: factor}
    return fit(table, questions, start, {COSINE: COSINE_FACTORS}) if questions else start


def cosine_factor(profile: Profile, language: Language) -> float:
    """What a cosine counts beside BM25 in a class of queries: c of BM25 + c x cosine, the legs' weights included."""
    legs = profile.weights[language]
    most = COSINE_FACTORS[-1]
    return profile.fusion.raw_c * legs["knn"] / legs["bm25"] if legs["bm25"] else most


def _leg_weights(base: Profile, learnt: Mapping[Language, Weights]) -> dict[Language, dict[Leg, float]]:
    """The legs' weights that give each class its factor, with the profile's c as it is."""
    weights = dict(base.weights)
    for language, found in learnt.items():
        dense = found.get(COSINE, 0.0) / base.fusion.raw_c
        knn = round(dense / (1.0 + dense), DECIMALS)
        weights[language] = {"bm25": 1.0 - knn, "knn": knn}
    return weights


def _boosts(weights: Weights, columns: Mapping[str, str]) -> dict[str, float]:
    return {field: round(weights.get(column, 0.0), DECIMALS) for field, column in columns.items()}


def _rounded(weights: Mapping[str, float]) -> Blend:
    return {name: round(weight, DECIMALS) for name, weight in weights.items()}
