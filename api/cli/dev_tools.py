"""`mafteach dev-tools`: a query as Dashboards' Dev Tools takes it."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.context import opened
from api.cli.output import TenantOption, print_line
from search_config.errors import InvalidRequest


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dev-tools", epilog="Example: mafteach dev-tools 'אישור חניה לתושב' --tenant demo")(dev_tools)


def dev_tools(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    tenant: TenantOption,
    rule: Annotated[
        str, typer.Option("--rule", metavar="RULE", help="How the engine joins the legs: rrf, min-max or z-score.")
    ] = "rrf",
) -> None:
    """Print the engine's own hybrid search of a query, with its vector, to be pasted into Dev Tools.

    It is not the search that Mafteach does: docs/dashboards.md says what differs.
    """
    from api.dev_tools import RULES, snippet
    from query.validation import clean_query
    from search_config.records import tenant_id

    found = next((one for one in RULES if one == rule), None)
    if found is None:
        raise InvalidRequest(
            "There is no such rule.", where=f"--rule {rule[:40]}", remedy=f"Rules: {', '.join(RULES)}."
        )
    tenant_id(tenant)
    with opened() as runtime:
        asked = clean_query(query, max_chars=runtime.settings.max_query_chars)
        (vector,) = runtime.embedder.embed_queries([asked])
        print_line(snippet(asked, [float(value) for value in vector], tenant, runtime.names, found))
