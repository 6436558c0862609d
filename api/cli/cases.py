"""`mafteach cases DIR`: single queries that tempt with a wrong passage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import opened
from api.cli.output import print_report, write_json
from api.cli.progress import progress_bar


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach cases examples --json cases.json")(cases)


def cases(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A data set's folder with cases/*.jsonl and cases/documents/.")
    ],
    profile: Annotated[
        Path | None, typer.Option("--profile", metavar="PROFILE", help="A profile's JSON file; else the default one.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the whole report to this file, as JSON.")
    ] = None,
) -> None:
    """Ask queries that tempt with a wrong passage, and count which stand right.

    Negation, identifiers that differ by a digit, one name for two things, words that stand verbatim without an
    answer. Right is what stands first, or a refusal where nothing answers.
    """
    from evaluation.cases import load_cases
    from evaluation.cases_run import cases_tables, run_cases
    from models.cache import CachedEmbedder

    with opened() as runtime:
        loaded_profile = runtime.profile(profile)
        loaded = load_cases(folder, max_file_bytes=runtime.settings.max_file_bytes)
        with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
            report = run_cases(
                loaded,
                engine=runtime.engine,
                embedder=embedder,
                settings=runtime.settings,
                profile=loaded_profile,
                progress=progress,
            )
    print_report(cases_tables(report))
    if json_file:
        write_json(json_file, report.model_dump(mode="json"))
