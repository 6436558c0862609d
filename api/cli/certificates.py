"""`mafteach certificates`: a certificate for an engine of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.output import JsonFlag, print_json, print_pairs


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach certificates --out certs --host opensearch --host localhost")(certificates)


def certificates(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for ca.pem, node.pem and node-key.pem.")],
    host: Annotated[
        list[str],
        typer.Option("--host", metavar="HOST", help="A name or address of the engine; may be given several times."),
    ],
    ca: Annotated[
        Path | None,
        typer.Option(
            "--ca", metavar="FILE", help="Write the authority's certificate here too, for the engine's users."
        ),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Days that it holds.")] = 825,
    as_json: JsonFlag = False,
) -> None:
    """Make a certificate for the engine, and the authority that its users check it by. Safe to repeat.

    What is there, for the same hosts and not expired, stays. The authority's key is kept nowhere.
    """
    from search_config.certificates import certificates as make

    found = make(out, host, ca=ca, days=days)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_pairs(
            [
                ("authority", found.authority),
                ("certificate", found.certificate),
                ("key", found.key),
                ("hosts", ", ".join(found.hosts)),
                ("expires", found.expires.date()),
                ("made", "now" if found.made else "before"),
            ]
        )
