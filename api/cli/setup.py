"""`mafteach setup`: templates, pipelines, indices; on request the saved objects of Dashboards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Runtime, opened
from api.cli.output import JsonFlag, print_json, print_pairs
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from search_config.dashboards.client import Imported


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach setup")(setup)


def setup(
    dashboards: Annotated[
        bool,
        typer.Option(
            "--dashboards",
            help="Import data views, searches, visualisations and a dashboard into OpenSearch Dashboards too "
            "(MAFTEACH_DASHBOARDS_URL).",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Prepare the engine: templates, search pipelines, indices. Safe to repeat."""
    with opened() as runtime:
        if dashboards and runtime.settings.dashboards_url is None:
            raise InvalidRequest(
                "It is not known where Dashboards is.",
                where="MAFTEACH_DASHBOARDS_URL",
                remedy="Set it, for example to http://localhost:5601.",
            )
        info = runtime.install()
        made: dict[str, Any] = {
            "index": info.index,
            "model": info.model.identity,
            "analyzer": info.analyzer,
            "pipeline": info.pipeline,
        }
        if dashboards:
            imported = _imported(runtime)
            made["dashboards"] = imported.model_dump()
    if as_json:
        print_json(made)
    else:
        if dashboards:
            kinds = ", ".join(f"{number} {kind}" for kind, number in imported.by_type.items())
            made["dashboards"] = f"{imported.url} ({kinds})"
        print_pairs(made.items())


def _imported(runtime: Runtime) -> Imported:
    from search_config.connection import EngineAccess
    from search_config.dashboards import saved_objects
    from search_config.dashboards.client import Dashboards

    client = Dashboards(str(runtime.settings.dashboards_url), access=EngineAccess.of(runtime.settings))
    return client.import_objects(saved_objects(runtime.names))
