"""`mafteach documents list|show|delete|summary`: what is stored for a tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, print_json, print_line, print_pairs, print_table, print_text
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from search_config.records import DocumentState

group = typer.Typer(
    help="List, show and delete a tenant's documents.",
    epilog="Example: mafteach documents list --tenant demo --state failed",
    no_args_is_help=False,
)

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="The document's id, as listings and hits give it.")]
StateOption = Annotated[str | None, typer.Option("--state", metavar="STATE", help="Only documents in this state.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="documents")


@group.command("list", epilog="Example: mafteach documents list --tenant demo --state failed")
def list_documents(tenant: TenantOption, state: StateOption = None, as_json: JsonFlag = False) -> None:
    """List documents with their states and counts."""
    from api.schemas import DocumentRow

    wanted = _state(state)
    with opened() as runtime:
        found = [
            DocumentRow.of(record) for record in runtime.registry.iterate(runtime.known_tenant(tenant), state=wanted)
        ]
    if as_json:
        print_json([row.model_dump(mode="json") for row in found])
    else:
        print_table(
            ("id", "name", "state", "chunks", "reason"),
            [
                (row.id, row.name, row.state, f"{row.chunks_indexed}/{row.chunks_generated}", row.reason)
                for row in found
            ],
        )


@group.command(epilog="Example: mafteach documents show 0123456789abcdef01234567 --tenant demo --text")
def show(
    document_id: DocumentId,
    tenant: TenantOption,
    text: Annotated[bool, typer.Option("--text", help="Print the canonical text, into which all offsets are.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show one document: its state and metadata, or its text."""
    from api.documents import text_of
    from api.schemas import DocumentView

    with opened() as runtime:
        record = runtime.registry.require(runtime.known_tenant(tenant), document_id)
    view = DocumentView.of(record).model_dump(mode="json")
    if as_json:
        print_json({**view, "text": text_of(record)} if text else view)
    elif text:
        print_text(text_of(record))
    else:
        print_pairs((name, "-" if value is None else value) for name, value in view.items())


@group.command(epilog="Example: mafteach documents delete 0123456789abcdef01234567 --tenant demo")
def delete(document_id: DocumentId, tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """Delete a document with all its passages."""
    with opened() as runtime:
        runtime.registry.delete(runtime.known_tenant(tenant), document_id)
    if as_json:
        print_json({"deleted": document_id})
    else:
        print_line(f"Document {document_id} is deleted.")


@group.command(epilog="Example: mafteach documents summary --tenant demo")
def summary(tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """Count a tenant's documents by state."""
    with opened() as runtime:
        found = runtime.registry.summary(runtime.known_tenant(tenant))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_table(("state", "documents"), found.by_state.items())
        print_line(f"{found.documents} documents, {found.chunks_indexed} passages")


def _state(name: str | None) -> DocumentState | None:
    if name is None:
        return None
    from search_config.records import DocumentState

    if name not in set(DocumentState):
        raise InvalidRequest(
            "There is no such state.", where=f"--state {name[:80]}", remedy=f"States: {', '.join(DocumentState)}."
        )
    return DocumentState(name)
