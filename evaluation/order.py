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
    SPARSE_FACTORS,
    CrossValidated,
    FoldOf,
    Weights,
    cross_validate,
    fit,
    objective_of,
)
from query.features import BM25, COSINE, OF_TOKENS, POLARITY
from query.profile import SPARSE, Profile
from query.profile_parts import Blend, FoldWeights
from query.request import Language, Leg
from search_config import fields

# Questions of a class of queries that its own factor of the cosine is learnt from; others keep the base profile's.
LEAST_OF_A_CLASS: Final = 30
# Decimals that are written: finer ones change no order.
DECIMALS: Final = 4
# Features that compare meanings, not words.
MEANING: Final = OF_TOKENS | {COSINE, SPARSE}
# Features that say the same in every class of queries, and that few questions of a class have: its blend takes their
# weights over from the class with most questions.
LENT: Final = (POLARITY,)
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
            "fusion": base.fusion.model_copy(update={"rule": "raw"}),
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
        # Terms take part where they win: the first of equals is without them.
        words = [name for name in known if name != SPARSE]
        tried = [words, [name for name in words if name in MEANING]]
        tried += [[*choice, SPARSE] for choice in tried] if SPARSE in known else []
        found, features = _best(pool, tried, fold_of)
        found = _lent(next(iter(kept.values()), None), found, pool, fold_of)
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


def _lent(largest: CrossValidated | None, found: CrossValidated, pool: FeatureTable, fold_of: FoldOf) -> CrossValidated:
    """A class's blend with the weights of `LENT` that the largest class learnt, fold by fold."""
    if largest is None:
        return found
    weights, *folds = [
        {**own, **{name: theirs[name] for name in LENT if name in theirs}}
        for own, theirs in zip(
            (found.weights, *found.fold_weights), (largest.weights, *largest.fold_weights), strict=True
        )
    ]
    ranks: dict[str, float] = {}
    for fold, own in enumerate(folds):
        ranks |= ranks_under(pool, [one for one in pool.questions if fold_of(one) == fold], own)
    return CrossValidated(weights, tuple(folds), ranks)


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
    """Factors of each class; sparse terms weigh where they win on held-out folds."""
    whole: dict[Language, Weights] = {}
    by_fold: list[dict[Language, Weights]] = [{} for _ in range(FOLDS)]
    ranks: dict[str, float] = {}
    for language, questions in classes_of(table).items():
        factor = cosine_factor(base, language)
        found = _joined(table, questions, lexical, factor, {COSINE: COSINE_FACTORS}, fold_of)
        if SPARSE in table.names:
            more = {COSINE: COSINE_FACTORS, SPARSE: SPARSE_FACTORS}
            with_terms = _joined(table, questions, lexical, factor, more, fold_of)
            found = with_terms if objective_of(with_terms.ranks) > objective_of(found.ranks) else found
        whole[language] = found.weights
        for fold, weights in enumerate(found.fold_weights):
            by_fold[fold][language] = weights
        ranks |= found.ranks
    return _Fused(whole, tuple(by_fold), ranks)


def _joined(
    table: FeatureTable,
    questions: Sequence[Candidates],
    lexical: CrossValidated,
    factor: float,
    tried: Mapping[str, Sequence[float]],
    fold_of: FoldOf,
) -> CrossValidated:
    """The boosts with factors of the other legs, learnt from one class's questions where it has enough."""
    enough = len(questions) >= LEAST_OF_A_CLASS

    def weights_of(learnt: Sequence[Candidates], words: Weights) -> Weights:
        start = {**words, COSINE: factor}
        return fit(table, learnt, start, tried) if enough and learnt else start

    fold_weights: list[Weights] = []
    ranks: dict[str, float] = {}
    for fold, words in enumerate(lexical.fold_weights):
        fold_weights.append(weights_of([one for one in questions if fold_of(one) != fold], words))
        ranks |= ranks_under(table, [one for one in questions if fold_of(one) == fold], fold_weights[-1])
    return CrossValidated(weights_of(questions, lexical.weights), tuple(fold_weights), ranks)


def cosine_factor(profile: Profile, language: Language) -> float:
    """What a cosine counts beside BM25 in a class of queries: c of BM25 + c x cosine, the legs' weights included."""
    legs = profile.weights[language]
    most = COSINE_FACTORS[-1]
    return profile.fusion.raw_c * legs["knn"] / legs["bm25"] if legs["bm25"] else most


def _leg_weights(base: Profile, learnt: Mapping[Language, Weights]) -> dict[Language, dict[Leg, float]]:
    """The legs' weights that give each class its factors, with the profile's c and s as they are."""
    weights = dict(base.weights)
    for language, found in learnt.items():
        dense, sparse = found.get(COSINE, 0.0) / base.fusion.raw_c, found.get(SPARSE, 0.0) / base.fusion.raw_s
        total = 1.0 + dense + sparse
        others: dict[Leg, float] = {"knn": round(dense / total, DECIMALS)}
        if sparse:
            others["sparse"] = round(sparse / total, DECIMALS)
        weights[language] = {"bm25": 1.0 - sum(others.values()), **others}
    return weights


def _boosts(weights: Weights, columns: Mapping[str, str]) -> dict[str, float]:
    return {field: round(weights.get(column, 0.0), DECIMALS) for field, column in columns.items()}


def _rounded(weights: Mapping[str, float]) -> Blend:
    return {name: round(weight, DECIMALS) for name, weight in weights.items()}
