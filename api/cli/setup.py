"""`mafteach setup`: templates, pipelines, indices."""

from __future__ import annotations

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, print_json, print_pairs


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach setup")(setup)


def setup(as_json: JsonFlag = False) -> None:
    """Prepare the engine: templates, search pipelines, indices. Safe to repeat."""
    with opened() as runtime:
        info = runtime.install()
        made = {"index": info.index, "model": info.model.identity, "analyzer": info.analyzer, "pipeline": info.pipeline}
    if as_json:
        print_json(made)
    else:
        print_pairs(made.items())
