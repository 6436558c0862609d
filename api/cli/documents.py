"""`mafteach documents list|show|retry|release|delete|summary`: what is stored for a tenant, and in which state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, TenantOption, print_json, print_line, print_pairs, print_table, print_text
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from api.schemas import DocumentRow
    from search_config.document_fields import DocumentFields
    from search_config.records import DocumentState

group = typer.Typer(
    help="List, show, retry, release and delete a tenant's documents. A document goes from queued over extracting, "
    "embedding and indexing to ready. One that failed says why: mend it and retry. A quarantined one can be read, but "
    "is doubtful: look at it with show, then release or delete it.",
    epilog="Example: mafteach documents list --tenant demo --state failed",
    no_args_is_help=False,
)

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="The document's id, as listings and hits give it.")]
ReasonOption = Annotated[
    str | None,
    typer.Option("--reason", metavar="CODE", help="Only documents with this code of a reason (docs/errors.md)."),
]
NoWaitFlag = Annotated[bool, typer.Option("--no-wait", help="Only queue them: a running worker does the work.")]
StateOption = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="Only documents in this state: queued, extracting, embedding, indexing, ready, failed, quarantined, "
        "deleting.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="documents")


@group.command("list", epilog="Example: mafteach documents list --tenant demo --state failed")
def list_documents(
    tenant: TenantOption,
    state: StateOption = None,
    reason: ReasonOption = None,
    issue: Annotated[
        str | None, typer.Option("--issue", metavar="CODE", help="Only documents with this code of a doubt.")
    ] = None,
    type_: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only documents of this kind: contract, invoice ….")
    ] = None,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="FOLDER", help="Only documents in this folder, or below it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List documents with their states and counts."""
    from api.schemas import DocumentRow

    wanted = _state(state)
    with opened() as runtime:
        records = runtime.registry.iterate(
            runtime.known_tenant(tenant),
            state=wanted,
            reason=reason,
            issue=issue,
            type=type_,
            folder=_folder(folder),
        )
        found = [DocumentRow.of(record) for record in records]
    _print_rows(found, as_json=as_json)


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
    view = DocumentView.of(record).model_dump(mode="json", by_alias=True)
    if as_json:
        print_json({**view, "text": text_of(record)} if text else view)
    elif text:
        print_text(text_of(record))
    else:
        print_pairs((name, "-" if value is None else value) for name, value in view.items() if name != "extracted")
        print_pairs(_read_fields(record.extracted))


@group.command(epilog="Example: mafteach documents retry --all-failed --tenant demo")
def retry(
    tenant: TenantOption,
    document_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One document's id.")] = None,
    all_failed: Annotated[
        bool,
        typer.Option("--all-failed", help="Every document that failed, waits, or was left by a worker that ended."),
    ] = False,
    reason: ReasonOption = None,
    no_wait: NoWaitFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Try documents again: one, all that failed, or all with one code of reason.

    A document that is ready, that a worker has or that is being deleted is refused (state_conflict). Exits 1 where one
    is not ready afterwards.
    """
    if sum((document_id is not None, all_failed, reason is not None)) != 1:
        raise InvalidRequest(
            "Name what to retry: an ID, --all-failed, or --reason CODE; one of them.",
            remedy="`mafteach documents list --state failed` shows ids and reasons.",
        )
    with opened() as runtime:
        name = runtime.known_tenant(tenant)
        runtime.install()
        queue = runtime.ingestor.queue
        if document_id is not None:
            ids = [queue.retry(name, document_id).document_id]
        else:
            ids = queue.retry_all(name, reason=reason)
        rows = _worked(runtime, name, ids, no_wait=no_wait)
    _print_rows(rows, as_json=as_json)
    _check(rows, no_wait=no_wait)


@group.command(epilog="Example: mafteach documents release 0123456789abcdef01234567 --tenant demo")
def release(
    document_id: DocumentId,
    tenant: TenantOption,
    fields: Annotated[
        Path | None, typer.Option("--fields", metavar="FILE", help="JSON object of the fields that you corrected.")
    ] = None,
    no_wait: NoWaitFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Let a quarantined document in, with the doubts that you looked at, and with corrected fields.

    Exits 1 where it is not ready afterwards.
    """
    corrections = None if fields is None else _read_object(fields)
    if corrections is not None:
        from ingest.fields.corrections import parse_corrections

        # Before it waits for a worker, who could only put it back into quarantine.
        parse_corrections(corrections)
    with opened() as runtime:
        name = runtime.known_tenant(tenant)
        runtime.install()
        released = runtime.ingestor.queue.release(name, document_id, corrections=corrections)
        rows = _worked(runtime, name, [released.document_id], no_wait=no_wait)
    _print_rows(rows, as_json=as_json)
    _check(rows, no_wait=no_wait)


@group.command(epilog="Example: mafteach documents delete 0123456789abcdef01234567 --tenant demo")
def delete(document_id: DocumentId, tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """Delete a document: its passages in every version of the index, its upload, its row. A file of yours stays.

    An interrupted deletion is finished by the same command, or by a worker.
    """
    with opened() as runtime:
        runtime.registry.delete(runtime.known_tenant(tenant), document_id)
    if as_json:
        print_json({"deleted": document_id})
    else:
        print_line(f"Document {document_id} is deleted.")


@group.command(epilog="Example: mafteach documents summary --tenant demo")
def summary(tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """Count a tenant's documents by state, kind, doubt and folder, and their passages.

    Passages are counted as generated and as found in the index; both agree for a document that is ready.
    """
    with opened() as runtime:
        found = runtime.registry.summary(runtime.known_tenant(tenant))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_table(("state", "documents"), found.by_state.items())
    print_line()
    print_table(
        ("type", "documents", "states"),
        [(kind or "-", sum(states.values()), _states(states)) for kind, states in found.by_type.items()],
    )
    print_line()
    if found.by_issue:
        print_table(("issue", "documents"), found.by_issue.items())
        print_line()
    print_table(
        ("folder", "documents", "states", "passages generated", "indexed"),
        [
            (
                one.folder,
                one.documents,
                _states(one.by_state),
                one.chunks_generated,
                one.chunks_indexed,
            )
            for one in found.folders
        ],
    )
    print_line(
        f"{found.documents} documents, {found.chunks_generated} passages generated, {found.chunks_indexed} indexed"
    )


def _states(counts: Mapping[DocumentState, int]) -> str:
    return ", ".join(f"{state} {count}" for state, count in counts.items())


def _read_fields(fields: DocumentFields | None) -> Iterator[tuple[str, str]]:
    """What was read from a document: each field with the words and the place that it was read from."""
    if fields is None:
        return
    for name in type(fields).model_fields:
        value = getattr(fields, name)
        for one in value if isinstance(value, tuple) else (value,):
            said = getattr(one, "reference", None) or one.model_dump(mode="json").get("value") or one.status
            if isinstance(said, dict):
                said = " · ".join(str(part) for part in said.values() if part)
            place = one.place
            where = () if place is None else (f"'{place.as_read}'", place.label or f"[{place.from_}:{place.to}]")
            yield f"read: {name}", " · ".join((str(said), str(one.origin), *where))


def _worked(runtime: Runtime, tenant: str, ids: Sequence[str], *, no_wait: bool) -> list[DocumentRow]:
    """The rows of documents that wait, after they were worked on."""
    from api.schemas import DocumentRow
    from ingest.service import take

    if not no_wait:
        records = list(runtime.registry.get_many(tenant, ids).values())
        take(runtime.ingestor, runtime.ingestor.queue, records, lambda _: None, wait=True)
    after = runtime.registry.get_many(tenant, ids)
    return [DocumentRow.of(after[id_]) for id_ in ids if id_ in after]


def _print_rows(found: Sequence[DocumentRow], *, as_json: bool) -> None:
    if as_json:
        print_json([row.model_dump(mode="json") for row in found])
        return
    print_table(
        ("id", "name", "state", "chunks", "reason"),
        [(row.id, row.name, row.state, f"{row.chunks_indexed}/{row.chunks_generated}", row.reason) for row in found],
    )


def _check(rows: Sequence[DocumentRow], *, no_wait: bool) -> None:
    if not no_wait and any(row.state != "ready" for row in rows):
        raise typer.Exit(Exit.FAILED)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"It can't be read: {error}.", where=str(path), remedy="Name a JSON file.") from error
    if not isinstance(found, dict):
        raise InvalidRequest(
            "An object of fields was expected.", where=str(path), remedy='Such as {"signed": "2024-02-15"}.'
        )
    return found


def _folder(name: str | None) -> str | None:
    """A folder as rows have it: an absolute path where it is one of this machine."""
    return None if name is None else str(Path(name).absolute()) if Path(name).is_dir() else name


def _state(name: str | None) -> DocumentState | None:
    if name is None:
        return None
    from search_config.records import DocumentState

    if name not in set(DocumentState):
        raise InvalidRequest(
            "There is no such state.", where=f"--state {name[:80]}", remedy=f"States: {', '.join(DocumentState)}."
        )
    return DocumentState(name)
