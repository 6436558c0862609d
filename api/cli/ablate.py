"""`mafteach ablate DIR`: which way of cutting documents finds most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from api.cli.context import opened
from api.cli.output import print_report, write_json
from api.cli.progress import progress_bar
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from search_config.settings import ChunkingStrategy

MIN_TARGET, MAX_TARGET = 64, 20_000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: mafteach ablate examples --strategies C,E --targets 800,1200\n\n"
        "Short documents joined into long ones: mafteach ablate DIR --joined 10000"
    )(ablate)


def ablate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A data set, as for `mafteach evaluate`.")],
    strategies: Annotated[str, typer.Option("--strategies", metavar="A,B…", help="Some of A to F.")] = "A,B,C,D,E,F",
    targets: Annotated[
        str, typer.Option("--targets", metavar="N,N…", help="Target lengths of a passage, in characters.")
    ] = "512,800,1200",
    joined: Annotated[
        int | None,
        typer.Option("--joined", min=1, metavar="N", help="Join documents until each has N characters."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Ask only the first so many questions.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all rows and tests to this file, as JSON.")
    ] = None,
) -> None:
    """Compare the six chunking strategies at several lengths, at equal k and at equal characters returned."""
    from evaluation.ablation import ablate as run
    from evaluation.ablation_tables import ablation_tables
    from evaluation.dataset import load_dataset
    from evaluation.joined import joined as join
    from models.cache import CachedEmbedder

    wanted = _strategies(strategies)
    lengths = _targets(targets)
    with opened() as runtime:
        most = runtime.settings.max_file_bytes
        dataset = load_dataset(folder, max_file_bytes=most)
        if joined is not None:
            dataset = join(dataset, joined, max_file_bytes=most)
        if limit is not None:
            dataset = dataset.limited(limit)
        with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
            ablation = run(
                dataset,
                engine=runtime.engine,
                embedder=embedder,
                settings=runtime.settings,
                profile=runtime.profile(None),
                progress=progress,
                strategies=wanted,
                targets=lengths,
            )
    print_report(ablation_tables(ablation))
    if json_file:
        write_json(json_file, ablation.model_dump(mode="json"))


def _strategies(text: str) -> tuple[ChunkingStrategy, ...]:
    from search_config.settings import ChunkingStrategy

    known: dict[str, ChunkingStrategy] = {name: name for name in get_args(ChunkingStrategy)}
    parts = [part.strip().upper() for part in text.split(",")]
    if not set(parts) <= known.keys():
        raise InvalidRequest(
            "These are not strategies.", where=f"--strategies {text[:80]}", remedy=f"Some of {','.join(known)}."
        )
    return tuple(known[part] for part in dict.fromkeys(parts))


def _targets(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and MIN_TARGET <= int(part) <= MAX_TARGET for part in parts):
        raise InvalidRequest(
            "These are not lengths.",
            where=f"--targets {text[:80]}",
            remedy=f"{MIN_TARGET} to {MAX_TARGET} characters, as in 512,800.",
        )
    return tuple(sorted({int(part) for part in parts}))
