"""`mafteach glossary import|list|export|delete`: words that stand for each other in a tenant's documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, print_json, print_line, print_table
from search_config.errors import InvalidRequest, NotFound

group = typer.Typer(
    help="Edit a tenant's glossary: synonyms, acronyms, spellings of names.",
    epilog="Example: mafteach glossary import terms.jsonl --tenant demo",
    no_args_is_help=False,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="glossary")


@group.command("import", epilog="Example: mafteach glossary import terms.jsonl --tenant demo --replace")
def import_entries(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help='JSON lines: {"term": "…", "kind": "synonym", "equivalents": ["…"]}.'),
    ],
    tenant: TenantOption,
    replace: Annotated[bool, typer.Option("--replace", help="Delete all other entries.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write the entries of a file; they are searched from now on, nothing is ingested again."""
    from query.glossary import GlossaryStore, parsed_entries

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(
            "The glossary can't be read.", where=str(file), remedy="Name a file of JSON lines in UTF-8."
        ) from error
    entries = parsed_entries(text, str(file))
    with opened() as runtime:
        runtime.prepared()
        changed = GlossaryStore(runtime.engine, runtime.names).put(tenant, entries, replace=replace)
    if as_json:
        print_json({"written": changed.written, "deleted": changed.deleted})
    else:
        print_line(f"{changed.written} written, {changed.deleted} deleted")


@group.command("list", epilog="Example: mafteach glossary list --tenant demo")
def list_entries(tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """List a tenant's entries."""
    from query.glossary import GlossaryStore

    with opened() as runtime:
        entries = GlossaryStore(runtime.engine, runtime.names).entries(tenant)
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        print_table(
            ("term", "kind", "equivalents"),
            [(entry.term, entry.kind, ", ".join(entry.equivalents)) for entry in entries],
        )


@group.command("export", epilog="Example: mafteach glossary export --tenant demo")
def export_entries(tenant: TenantOption) -> None:
    """Print a tenant's entries as the lines that `import` reads."""
    import json

    from query.glossary import GlossaryStore

    with opened() as runtime:
        entries = GlossaryStore(runtime.engine, runtime.names).entries(tenant)
    for entry in entries:
        print_line(json.dumps(entry.model_dump(mode="json"), ensure_ascii=False))


@group.command("delete", epilog="Example: mafteach glossary delete 'ועדת כספים' --tenant demo")
def delete_entry(
    term: Annotated[str, typer.Argument(metavar="TERM", help="The entry's term.")], tenant: TenantOption
) -> None:
    """Delete one entry of a tenant's glossary."""
    from query.glossary import GlossaryStore

    with opened() as runtime:
        if not GlossaryStore(runtime.engine, runtime.names).delete(tenant, term):
            raise NotFound(
                "The glossary has no such term.", where=term, remedy=f"mafteach glossary list --tenant {tenant}"
            )
    print_line(f"deleted: {term}")
