"""`mafteach evaluate-answers DIR`: answers end to end, right, wrong and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import opened
from api.cli.output import print_report, write_json
from api.cli.progress import progress_bar


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="evaluate-answers", epilog="Example: mafteach evaluate-answers examples --json answers.json")(
        evaluate_answers
    )


def evaluate_answers(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with queries.jsonl and documents.jsonl, or documents/.")
    ],
    profile: Annotated[
        Path | None, typer.Option("--profile", metavar="PROFILE", help="A profile's JSON file; else the default one.")
    ] = None,
    context: Annotated[
        int, typer.Option("--context", "-c", min=4, max=10, help="Passages that an answer may be written from.")
    ] = 5,
    with_model: Annotated[
        bool, typer.Option("--with-model", help="Let the language model of MAFTEACH_LLM_URL write; else extractive.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Ask only the first so many questions; the corpus stays whole.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the whole report to this file, as JSON.")
    ] = None,
) -> None:
    """Measure answers: whether a cited sentence holds what was asked for.

    Questions without an answer are reported apart: answered or refused, as they are.
    """
    from evaluation.answers import evaluate_answers as run
    from evaluation.answers_tables import answers_tables
    from evaluation.dataset import load_dataset
    from models.cache import CachedEmbedder

    with opened() as runtime:
        loaded_profile = runtime.profile(profile)
        dataset = load_dataset(folder, max_file_bytes=runtime.settings.max_file_bytes)
        if limit is not None:
            dataset = dataset.limited(limit)
        with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
            report = run(
                dataset,
                engine=runtime.engine,
                embedder=embedder,
                settings=runtime.settings,
                profile=loaded_profile,
                model=runtime.language_model if with_model else None,
                progress=progress,
                context_size=context,
            )
    print_report(answers_tables(report))
    if json_file:
        write_json(json_file, report.model_dump(mode="json"))
