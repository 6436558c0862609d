"""The report of answers as text tables for people. Gives rich renderables; prints nothing."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.answers import AnswerRow, AnswersReport
from evaluation.significance import Estimate
from evaluation.tables import show

# Wrong answers that are shown; the JSON has all.
SHOWN_WRONG = 20


def answers_tables(report: AnswersReport) -> RenderableType:
    """Head, a row a group, shares by number of sentences, the first wrong answers."""
    parts: list[RenderableType] = [_head(report), _groups(report), _by_sentences(report), _routes(report)]
    wrong = [row for row in report.rows if row.verdict == "wrong"]
    return Group(*parts, _wrong(wrong)) if wrong else Group(*parts)


def _head(report: AnswersReport) -> Text:
    times = ", ".join(f"{stage} {ms:.0f}" for stage, ms in report.ms_per_question.items())
    lines = [
        f"{report.dataset}: {len(report.rows)} questions, {report.context} passages, "
        f"{'extractive, at most ' + str(report.sentences) + ' sentences' if report.model is None else report.model}",
        f"profile {report.profile}, {report.held_out_questions} question(s) with weights that never saw their document"
        + ("" if report.refuses else "; this profile never refuses"),
        f"sentences of an answer: {report.mean_sentences:.2f}; grounded: {show(report.grounded)}",
        f"ms a question: {times}",
    ]
    return Text("\n".join(lines))


def _groups(report: AnswersReport) -> Table:
    table = Table(title="Answers", title_justify="left")
    for column in ("questions", "number", "right", "wrong", "refused", "answer among the passages"):
        table.add_column(column)
    for name, row in report.groups.items():
        table.add_row(
            name, str(row.questions), _cell(row.right), _cell(row.wrong), show(row.refused), _cell(row.in_context)
        )
    return table


def _by_sentences(report: AnswersReport) -> Table:
    table = Table(title="Right within the first sentences", title_justify="left")
    table.add_column("sentences")
    table.add_column("right")
    for row in report.groups.values():
        for count, share in row.by_sentences.items():
            table.add_row(str(count), show(share))
    return table


def _routes(report: AnswersReport) -> Table:
    table = Table(title="By route: a right answer or refusal counts 1, a wrong answer -1", title_justify="left")
    for column in ("route", "questions", "right", "wrong", "refused in vain", "mean"):
        table.add_column(column)
    for route, row in report.routes.items():
        table.add_row(route, str(row.questions), str(row.right), str(row.wrong), str(row.refused), f"{row.score:.3f}")
    return table


def _wrong(rows: list[AnswerRow]) -> Table:
    table = Table(title=f"Wrong ({len(rows)}; the first {min(SHOWN_WRONG, len(rows))})", title_justify="left")
    for column in ("question", "answer among the passages", "query", "answer"):
        table.add_column(column)
    for row in rows[:SHOWN_WRONG]:
        table.add_row(row.id, "yes" if row.in_context else "no", Text(row.query), Text(row.answer))
    return table


def _cell(estimate: Estimate | None) -> str:
    return "" if estimate is None else show(estimate)
