"""`mafteach tune DIR… --out PROFILE`: learn a profile from labelled questions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Runtime, opened
from api.cli.output import print_line, print_report, say, write_json
from api.cli.progress import progress_bar
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from evaluation.refusal import Choice

# Of the answerable questions, where no option says otherwise: one in twenty.
DEFAULT_MAX_LOST = 0.05


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach tune questions --out profile.json --max-lost 0.05")(tune)


def tune(
    out: Annotated[Path, typer.Option("--out", metavar="PROFILE", help="Write the profile to this JSON file.")],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR…", help="Data sets, as for `mafteach evaluate`; your own labelled queries too."),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            "-t",
            metavar="TENANT",
            help="Learn from what people of this tenant marked too (docs/feedback.md), over its ready documents.",
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option("--profile", metavar="PROFILE", help="Start from this profile; else from the default one."),
    ] = None,
    max_lost: Annotated[
        float | None,
        typer.Option(
            "--max-lost",
            metavar="SHARE",
            help="Refuse as many out-of-domain questions as possible while at most this share of the answerable ones "
            f"is refused. The default, with {DEFAULT_MAX_LOST}.",
        ),
    ] = None,
    max_bluffs: Annotated[
        float | None,
        typer.Option(
            "--max-bluffs",
            metavar="SHARE",
            help="Refuse as few answerable questions as possible while at most this share of the out-of-domain ones "
            "is answered.",
        ),
    ] = None,
    cost_ratio: Annotated[
        float | None,
        typer.Option(
            "--cost-ratio",
            metavar="RATIO",
            help="Least cost, where answering an out-of-domain question costs this many times refusing an answerable "
            "one.",
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Write plots of the refusal (PNG) to this folder.")
    ] = None,
) -> None:
    """Learn boosts, fusion, blend and refusal; all figures are cross-validated by document.

    The documents go into indices of their own, which are removed again. Under 200 labelled questions it warns.
    """
    from evaluation.dataset import load_dataset
    from evaluation.learn import tune as run
    from evaluation.learn_tables import tuned_tables
    from models.cache import CachedEmbedder
    from query.profile import profile_for
    from search_config.hebrew import ANALYZER_VERSION

    if not folders and tenant is None:
        raise InvalidRequest(
            "There is nothing to learn from.", where="DIR", remedy="Name a data set, or a tenant's marks: --tenant T."
        )
    choice = parsed_choice(max_lost=max_lost, max_bluffs=max_bluffs, cost_ratio=cost_ratio)
    with opened() as runtime, TemporaryDirectory(prefix="mafteach-") as temporary:
        starting = profile_for(runtime.embedder.description, ANALYZER_VERSION, base)
        sources = list(folders or [])
        if tenant is not None:
            sources.append(_marked(runtime, tenant, Path(temporary)))
        datasets = [load_dataset(folder, max_file_bytes=runtime.settings.max_file_bytes) for folder in sources]
        with progress_bar() as progress, CachedEmbedder(runtime.embedder, runtime.embeddings_file) as embedder:
            tuned = run(
                datasets,
                engine=runtime.engine,
                embedder=embedder,
                settings=runtime.settings,
                base=starting,
                name=out.stem,
                choice=choice,
                progress=progress,
            )
    write_json(out, tuned.profile.model_dump(mode="json", exclude_none=True))
    print_report(tuned_tables(tuned))
    for warning in tuned.warnings:
        say(f"Warning: {warning}")
    if plots and tuned.refusal is not None:
        from evaluation.plots import write_refusal_plots

        for path in write_refusal_plots(tuned.refusal, plots):
            print_line(f"plot: {path}")
    print_line(f"profile: {out} (use it with mafteach evaluate DIR --profile {out})")


def _marked(runtime: Runtime, tenant: str, parent: Path) -> Path:
    """A tenant's labelled questions and documents as a data set that is gone after the command."""
    from api.cli.feedback import warn
    from evaluation.feedback.export import export_feedback

    # The folder's name becomes the data set's, in the profile.
    folder = parent / f"feedback-{runtime.known_tenant(tenant)}"
    done = export_feedback(
        tenant,
        folder,
        engine=runtime.engine,
        names=runtime.names,
        registry=runtime.registry,
        max_file_bytes=runtime.settings.max_file_bytes,
    )
    warn(done)
    return folder


def parsed_choice(*, max_lost: float | None, max_bluffs: float | None, cost_ratio: float | None) -> Choice:
    """Which point of the curve is wanted.

    Raises:
        InvalidRequest: several options, or a share outside 0 to 1, or a ratio that is not above 0.
    """
    from evaluation.refusal import Choice, Rule

    options: dict[Rule, float | None] = {"max-lost": max_lost, "max-bluffs": max_bluffs, "cost-ratio": cost_ratio}
    given = [Choice(rule, value) for rule, value in options.items() if value is not None]
    if len(given) > 1:
        raise InvalidRequest(
            "Each of these picks a point of the curve.",
            where=", ".join(choice.label for choice in given),
            remedy="Give one of them.",
        )
    choice = given[0] if given else Choice("max-lost", DEFAULT_MAX_LOST)
    if choice.rule == "cost-ratio" and not 0 < choice.value < float("inf"):
        raise InvalidRequest("This is not a ratio of costs.", where=choice.label, remedy="Give a number above 0.")
    if choice.rule != "cost-ratio" and not 0 <= choice.value <= 1:
        raise InvalidRequest("This is not a share.", where=choice.label, remedy="Give a number from 0 to 1.")
    return choice
