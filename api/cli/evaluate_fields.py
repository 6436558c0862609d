"""`mafteach evaluate-fields DIR`: precision and recall of the fields that are read at ingest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.failures import Exit
from api.cli.output import print_line, print_report, write_json
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from evaluation.fields_labels import Split

SPLITS: tuple[Split, ...] = ("dev", "heldout")
ALL = "all"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate-fields", epilog="Example: mafteach evaluate-fields examples/fields --split dev")(
        evaluate_fields
    )


def evaluate_fields(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with labels.jsonl and documents/.")],
    split: Annotated[str, typer.Option("--split", metavar="SPLIT", help="dev, heldout or all.")] = ALL,
    show_wrong: Annotated[bool, typer.Option("--wrong", help="List what was read wrong.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the whole report to this file, as JSON.")
    ] = None,
) -> None:
    """Read the fields of labelled documents and compare; needs no node. Exits 1 where a target is missed."""
    from evaluation.fields_labels import load_field_set
    from evaluation.fields_run import fields_tables, run_fields
    from search_config.settings import load_settings

    wanted = tuple(one for one in SPLITS if split in (one, ALL))
    if not wanted:
        raise InvalidRequest("There is no such split.", where=split[:80], remedy="Splits: dev, heldout, all.")
    report = run_fields(load_field_set(folder, max_file_bytes=load_settings().max_file_bytes), wanted)
    if json_file is not None:
        write_json(json_file, report.model_dump(mode="json"))
    print_report(fields_tables(report))
    misses = [miss for one in report.splits for miss in one.misses()]
    for line in (
        *((f"{one.split} {words}" for one in report.splits for words in one.wrong) if show_wrong else ()),
        *misses,
    ):
        print_line(line)
    if misses:
        raise typer.Exit(Exit.FAILED)
