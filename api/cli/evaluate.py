"""`mafteach evaluate DIR`: quality of every stage on a data set, with intervals and paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import opened
from api.cli.failures import Exit
from api.cli.output import print_line, print_report, write_json
from api.cli.progress import progress_bar
from search_config.errors import InvalidRequest

MAX_CUTOFF = 100


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: mafteach evaluate examples --json report.json --plots plots\n\n"
        "Compare two states of the code: mafteach evaluate examples --against report.json"
    )(evaluate)


def evaluate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with queries.jsonl and documents.jsonl, or documents/.")
    ],
    profile: Annotated[
        Path | None, typer.Option("--profile", metavar="PROFILE", help="A profile's JSON file; else the default one.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="OLD.json", help="An earlier report; exits 1 on a significant paired loss."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the whole report to this file, as JSON.")
    ] = None,
    trec: Annotated[
        Path | None, typer.Option("--trec", metavar="DIR", help="Write a TREC run a stage, and qrels, to this folder.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Write plots (PNG) to this folder.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Ask only the first so many questions; the corpus stays whole.")
    ] = None,
    cutoffs: Annotated[str, typer.Option("--at", metavar="K,K…", help="The k of recall@k.")] = "1,4,5,8,20",
) -> None:
    """Measure lexical, dense and fused retrieval on questions whose answers are known.

    The documents go into an index of their own, which is removed again; embeddings are kept in the cache folder, so
    that a second run is fast.
    """
    from evaluation.dataset import load_dataset
    from evaluation.report import compare, read_report
    from evaluation.run import evaluate as run
    from evaluation.tables import report_tables, test_table
    from evaluation.trec import write_qrels, write_run
    from models.cache import CachedEmbedder

    wanted = parsed_cutoffs(cutoffs)
    old = read_report(against) if against else None
    with opened() as runtime:
        loaded_profile = runtime.profile(profile)
        dataset = load_dataset(folder, max_file_bytes=runtime.settings.max_file_bytes)
        if limit is not None:
            dataset = dataset.limited(limit)
        with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
            evaluation = run(
                dataset,
                engine=runtime.engine,
                embedder=embedder,
                settings=runtime.settings,
                profile=loaded_profile,
                progress=progress,
                cutoffs=wanted,
            )
    report = evaluation.report
    print_report(report_tables(report))
    if json_file:
        write_json(json_file, report.model_dump(mode="json"))
    if trec:
        trec.mkdir(parents=True, exist_ok=True)
        write_qrels(trec / "qrels.txt", evaluation.judged)
        for stage, ranking in evaluation.runs.items():
            write_run(trec / f"{stage}.run", ranking)
    if plots:
        from evaluation.plots import write_plots

        for path in write_plots(report, plots):
            print_line(f"plot: {path}")
    if old:
        tests = compare(report, old)
        print_report(test_table(tests))
        if any(test.distinguishable and test.losses > test.wins for test in tests):
            print_line(f"Significantly worse than {against}.")
            raise typer.Exit(Exit.FAILED)


def parsed_cutoffs(text: str) -> tuple[int, ...]:
    """`1,5,20` as numbers, ascending.

    Raises:
        InvalidRequest: something else, or a k outside 1 to 100.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and 1 <= int(part) <= MAX_CUTOFF for part in parts):
        raise InvalidRequest(
            "These are not numbers of passages.", where=f"--at {text[:80]}", remedy=f"1 to {MAX_CUTOFF}, as in 1,5,20."
        )
    return tuple(sorted({int(part) for part in parts}))
