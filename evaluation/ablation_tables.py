"""The ablation as text tables."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table

from evaluation.ablation import BUDGETS, CUTOFFS, Ablation, budget_name
from evaluation.metrics import MRR, recall_name
from evaluation.summary import SHIPPED
from evaluation.tables import show, test_table


def ablation_tables(ablation: Ablation) -> RenderableType:
    """What each way of cutting costs, what it finds, and the paired tests."""
    title = f"{ablation.dataset}: {ablation.questions} questions, profile {ablation.profile}"
    costs = Table(title=title, title_justify="left")
    for column in ("strategy", "passages", "characters each", "tokens", "headers", "over window", "destroyed"):
        costs.add_column(column, justify="right")
    found = Table(title=f"Found ({SHIPPED})", title_justify="left")
    metrics = [*(recall_name(k) for k in CUTOFFS), MRR]
    for column in ("strategy", *metrics, *(budget_name(budget) for budget in BUDGETS)):
        found.add_column(column, justify="right")
    for row in ablation.rows:
        costs.add_row(
            row.name,
            str(row.passages),
            f"{row.mean_characters:.0f}",
            f"{row.tokens:,}",
            f"{row.header_share:.1%}",
            str(row.over_window),
            str(row.destroyed),
        )
        figures = row.stages[SHIPPED]
        found.add_row(
            row.name,
            *(show(figures[metric]) for metric in metrics),
            *(show(row.at_budget[budget_name(budget)]) for budget in BUDGETS),
        )
    return Group(costs, found, test_table(ablation.tests))
