"""`mafteach migrate`: another model, another chunking, without a pause for those who search."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import Runtime, opened
from api.cli.output import JsonFlag, print_json, print_line, say
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from ingest.migration import MigrationReport, Migrator
    from search_config.install import IndexInfo
    from search_config.migration import Migration, Sample


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach migrate")(migrate)


def migrate(
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Delete the versions before, once the live one is as the settings say.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Give an unfinished migration up; the live version stays.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Build the index anew for the configured model and chunking, beside the live one, and put it in its place.

    Searches and ingests go on meanwhile, those with the settings before; start services and workers again with the new
    settings when it is done. The version before stays until --drop-old. Interrupted, the same command goes on.
    """
    if drop_old and abandon:
        raise InvalidRequest("Name one of --drop-old and --abandon.", remedy="See: mafteach migrate --help")
    with opened() as runtime:
        migrator = _migrator(runtime)
        if abandon:
            target = migrator.abandon()
            if as_json:
                print_json({"abandoned": target})
            else:
                print_line(f"{target} is given up and deleted." if target else "No migration is unfinished.")
            return
        report = migrator.run()
        if drop_old:
            report = report.model_copy(update={"dropped": tuple(migrator.drop_old())})
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(report)


def _migrator(runtime: Runtime) -> Migrator:
    from evaluation.migration_sample import sample_queries
    from ingest.migration import Migrator
    from query.profile import load_profile

    # Read for the boosts of the fields alone, which suit every model.
    profile = load_profile(runtime.settings.profile)

    def compare(source: str, target: IndexInfo) -> Sample:
        return sample_queries(runtime.engine, source, target, runtime.embedder, profile)

    return Migrator(runtime.engine, runtime.settings, runtime.embedder, compare=compare, on_step=_progress())


class _progress:  # noqa: N801  called like a function
    """One line a state where no one looks; on a terminal the counts as well."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, row: Migration) -> None:
        counts = f": {row.migrated} of {row.documents} documents" if sys.stderr.isatty() else ""
        line = f"{row.target_index}: {row.state}{counts}"
        if line != self._last:
            self._last = line
            say(line)


def _print(report: MigrationReport) -> None:
    if not report.needed:
        print_line(f"{report.source} is as the settings say; nothing is to migrate.")
    else:
        again = " (an interrupted migration, continued)" if report.resumed else ""
        print_line(f"{report.target} is live in place of {report.source}{again}.")
        print_line(
            f"{report.documents} documents; {report.chunks_before} passages before, {report.chunks_after} now; "
            f"{report.seconds:.1f} s"
        )
        if (sample := report.sample) is not None:
            print_line(
                f"Of {sample.queries} queries by words {sample.found_before} were found before, {sample.found_after} "
                f"are now; {sample.found_by_vectors} by vectors."
            )
        print_line("Start services and workers again with these settings.")
    if report.dropped:
        print_line(f"Deleted: {', '.join(report.dropped)}")
    elif report.needed:
        print_line("The version before stays until: mafteach migrate --drop-old")
