"""Reports as text tables for people. Gives rich renderables; prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.report import Figures, Report
from evaluation.significance import Estimate, PairedTest

MILLISECONDS = "{:.1f}"


def show(estimate: Estimate) -> str:
    """`.914 (.896-.930)`."""
    return f"{_short(estimate.value)} ({_short(estimate.low)}-{_short(estimate.high)})"


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def report_tables(report: Report) -> RenderableType:
    """The whole report: head, stages, groups, who found what, tests."""
    parts: list[RenderableType] = [head(report), stage_table("Stages", report.stages)]
    parts += [stage_table(name, stages) for name, stages in report.by_group.items()]
    if report.aspects:
        parts.append(stage_table("Questions of several aspects: share of aspects found", {"shipped": report.aspects}))
    if report.found_by:
        parts.append(_found_by(report))
    parts.append(test_table(report.tests))
    return Group(*parts)


def head(report: Report) -> RenderableType:
    """Corpus, machine and times, as lines."""
    corpus, machine = report.corpus, report.machine
    lines = [
        f"{report.dataset}: {corpus.documents} documents, {corpus.characters:,} characters, "
        f"{corpus.sections} sections, {corpus.passages} passages (strategy {corpus.strategy}, {corpus.target} "
        f"characters), {report.queries} questions",
        f"model {corpus.model}, analyzer {corpus.analyzer}, profile {report.profile}, shipped stage: {report.shipped}",
        f"{report.snapshot_date} on {machine.system}, {machine.cores} cores, {machine.memory_gib} GiB, "
        f"Python {machine.python}; indexed in {corpus.seconds_to_index:.1f} s "
        f"({corpus.ms_per_passage:.1f} ms a passage)",
        "ms a query: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in report.ms_per_query.items()),
        f"destroyed answers (needles that no passage holds whole): {report.destroyed_answers}",
    ]
    return Text("\n".join(lines))


def stage_table(title: str, stages: dict[str, Figures]) -> Table:
    """A row a stage, a column a metric, each with its 95% interval."""
    metrics = list(next(iter(stages.values()), {}))
    table = Table(title=title, title_justify="left")
    table.add_column("stage")
    for metric in metrics:
        table.add_column(metric, justify="right")
    for stage, figures in stages.items():
        table.add_row(stage, *(show(figures[metric]) for metric in metrics))
    return table


def test_table(tests: Iterable[PairedTest]) -> Table:
    """A row a paired test."""
    table = Table(title="Paired sign tests (exact, two-sided)", title_justify="left")
    for column in ("a", "b", "metric", "a wins", "b wins", "p", "verdict"):
        table.add_column(column)
    for test in tests:
        table.add_row(test.a, test.b, test.metric, str(test.wins), str(test.losses), f"{test.p:.4f}", test.verdict)
    return table


def _found_by(report: Report) -> Table:
    found = report.found_by
    if found is None:
        return Table()
    table = Table(title=f"Who finds the answer among the first {found.k}", title_justify="left")
    for column in ("legs", "questions", "examples"):
        table.add_column(column)
    rows: Sequence[tuple[str, int]] = (
        ("both", found.both),
        ("lexical only", found.lexical_only),
        ("dense only", found.dense_only),
        ("neither", found.neither),
    )
    for name, count in rows:
        table.add_row(name, str(count), "\n".join(found.examples.get(name, ())))
    return table
