"""`mafteach evaluate-router DIR`: the router's choices on labelled questions, and their worth end to end."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.output import print_line, print_table, write_json
from api.cli.progress import progress_bar
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from evaluation.router import EndToEndReport, RouterReport
    from evaluation.significance import Estimate


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="evaluate-router", epilog="Example: mafteach evaluate-router examples/router --split heldout")(
        evaluate_router
    )


def evaluate_router(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with questions.jsonl (docs/routing.md shows the layout).")
    ],
    split: Annotated[str, typer.Option("--split", metavar="SPLIT", help="learn or heldout.")] = "heldout",
    end_to_end: Annotated[
        Path | None,
        typer.Option(
            "--end-to-end",
            metavar="DATASET",
            help="Also ask the questions of this data set and those of DIR/metadata.jsonl, by the predicted route, by "
            "the labelled one, and always by both.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Ask only the first so many questions of the data set; it stays whole."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the whole report to this file, as JSON.")
    ] = None,
) -> None:
    """Measure the router: accuracy with intervals, by class, by trait of the question, by who decided."""
    from evaluation import router as measured

    if split not in {"learn", "heldout"}:
        raise InvalidRequest("There is no such split.", where="--split", remedy="Use learn or heldout.")
    questions = measured.read_lines(folder / measured.QUESTIONS_FILE, measured.RouterQuestion)
    with opened() as runtime:
        report = measured.evaluate_router(
            questions, runtime.embedder, split="learn" if split == "learn" else "heldout", as_of=date.today()
        )
        _print(report)
        whole = None
        if end_to_end is not None:
            from evaluation.dataset import load_dataset
            from evaluation.router_run import end_to_end as run
            from models.cache import CachedEmbedder

            dataset = load_dataset(end_to_end, max_file_bytes=runtime.settings.max_file_bytes)
            if limit is not None:
                dataset = dataset.limited(limit)
            with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
                whole = run(
                    dataset,
                    questions,
                    measured.read_lines(folder / measured.DOCUMENTS_FILE, measured.StructuredDocument),
                    measured.read_lines(folder / measured.METADATA_FILE, measured.MetadataQuestion),
                    engine=runtime.engine,
                    embedder=embedder,
                    settings=runtime.settings,
                    profile=runtime.profile(runtime.settings.profile),
                    progress=progress,
                )
            _print_whole(whole)
    if json_file:
        write_json(
            json_file,
            {
                "router": report.model_dump(mode="json"),
                "end_to_end": None if whole is None else whole.model_dump(mode="json"),
            },
        )


def _print(report: RouterReport) -> None:
    rows = [("all", report.accuracy), *report.by_route.items(), *report.by_trait.items()]
    rows += [(f"by {step}", share) for step, share in report.by_step.items()]
    print_line(f"{report.questions} questions of the split {report.split}")
    print_table(("questions", "accuracy", "low", "high"), [(name, *_figures(share)) for name, share in rows])
    for choice in report.wrong:
        print_line(f"wrong: {choice.label} -> {choice.route} ({choice.by}): {choice.question} [{choice.reason}]")


def _print_whole(report: EndToEndReport) -> None:
    rows = [
        (way, kind, *_figures(share))
        for way, figures in report.routes.items()
        for kind, share in [("all", figures.right), *figures.by_kind.items()]
    ]
    print_table(("route", "questions", "right", "low", "high"), rows)
    for test in report.tests:
        print_line(f"{test.a} and {test.b}: {test.wins} to {test.losses}, p = {test.p:.3f}; {test.verdict}")


def _figures(share: Estimate) -> tuple[str, str, str]:
    return f"{share.value:.3f}", f"{share.low:.3f}", f"{share.high:.3f}"
