"""Reports as text tables for people. Gives rich renderables; prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.refusal_report import RefusalReport
from evaluation.report import Figures, Report
from evaluation.significance import Estimate, PairedTest
from query.profile_parts import CurvePoint, Interval

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
    if report.refusal:
        parts += refusal_tables(report.refusal)
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
        *([held_out_line(report)] if report.held_out_questions else []),
        "ms a query: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in report.ms_per_query.items()),
        f"destroyed answers (needles that no passage holds whole): {report.destroyed_answers}",
    ]
    return Text("\n".join(lines))


def held_out_line(report: Report) -> str:
    """Which figures are cross-validated."""
    return (
        f"cross-validated: the profile was learnt from {report.held_out_questions} of these questions; each was "
        "measured with weights that never saw its document"
    )


def refusal_tables(found: RefusalReport) -> list[RenderableType]:
    """The curve, the point in use by group, and the two questions to look at."""
    chosen = CurvePoint(
        threshold=found.threshold,
        answerable_refused=found.answerable_refused,
        out_of_domain_answered=found.out_of_domain_answered,
    )
    lines = [
        f"{name}: {question.query} ({question.probability:.3f})"
        for name, question in (
            ("worst answerable question", found.worst_answerable),
            ("best out-of-domain question", found.best_out_of_domain),
        )
        if question is not None
    ]
    return [
        curve_table("Refusal: the whole curve", ((f"{point.threshold:.3f}", point) for point in found.curve)),
        curve_table(
            f"Refusal at {found.threshold:.3f}, chosen by {found.chosen_by}",
            [("all", chosen), *found.by_group.items()],
        ),
        Text("\n".join(lines)),
    ]


def curve_table(title: str, points: Iterable[tuple[str, CurvePoint]]) -> Table:
    """A row a point: what is refused of the answerable questions, what is answered of the others."""
    table = Table(title=title, title_justify="left")
    for column in ("threshold", "answerable refused", "out of domain answered"):
        table.add_column(column, justify="right")
    for name, point in points:
        table.add_row(name, _share(point.answerable_refused), _share(point.out_of_domain_answered))
    return table


def _share(interval: Interval) -> str:
    return show(Estimate(value=interval.value, low=interval.low, high=interval.high))


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
