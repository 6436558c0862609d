"""A tuning as text tables for people. Gives rich renderables; prints nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.learn import Tuned
from evaluation.tables import refusal_tables, stage_table, test_table
from query.profile import Profile

# Weights that are so small, against the largest part of a score, are noise to a reader.
SHOWN_DIGITS: Final = 4


def tuned_tables(tuned: Tuned) -> RenderableType:
    """Weights, cross-validated figures, ablation and curve."""
    parts: list[RenderableType] = [
        _weights(tuned.profile),
        stage_table(
            "Cross-validated by document (each question by weights that never saw its document)", dict(tuned.stages)
        ),
        test_table(tuned.tests),
    ]
    if tuned.ablation:
        parts.append(Text("The blend without each feature, against all of them:"))
        parts.append(test_table(test for row in tuned.ablation for test in row.tests))
    if tuned.refusal is not None:
        parts += refusal_tables(tuned.refusal)
    return Group(*parts)


def _weights(profile: Profile) -> RenderableType:
    table = Table(title="Weights", title_justify="left")
    table.add_column("part")
    table.add_column("weights")
    table.add_row("fields (BM25)", _listed(profile.boosts()))
    for language, legs in profile.weights.items():
        table.add_row(
            f"legs, {language}",
            f"{_listed({str(leg): weight for leg, weight in legs.items()})}; cosine x {profile.fusion.raw_c:g}",
        )
    for language, weights in profile.blends.items():
        table.add_row(f"blend, {language} (log-odds)", _listed(weights) if weights else "none: the fused order stays")
    if profile.refusal is not None:
        for language in profile.refusal.languages:
            model = profile.refusal.model_for(language)
            weights = {name: feature.weight for name, feature in model.features.items()}
            table.add_row(f"refusal, {language} (per standard deviation)", _listed(weights))
    return table


def _listed(weights: Mapping[str, float]) -> str:
    """The heaviest first."""
    ordered = sorted(weights.items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{name} {weight:.{SHOWN_DIGITS}g}" for name, weight in ordered if weight)
