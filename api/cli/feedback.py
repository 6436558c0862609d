"""`mafteach feedback list|export`: what people marked, and the data set that it makes."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, print_json, print_line, print_pairs, print_table, say

if TYPE_CHECKING:
    from evaluation.feedback.export import Exported

group = typer.Typer(
    help="What people marked right, wrong or picked: listed, and as a data set to learn from.",
    epilog="Example: mafteach feedback export --tenant demo --out questions",
    no_args_is_help=False,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="feedback")


@group.command("list", epilog="Example: mafteach feedback list --tenant demo")
def list_marks(
    tenant: TenantOption,
    size: Annotated[int, typer.Option("--size", "-n", min=1, help="How many marks, the newest first.")] = 100,
    as_json: JsonFlag = False,
) -> None:
    """List a tenant's marks, those that were taken back too."""
    from evaluation.feedback.store import FeedbackStore

    with opened() as runtime:
        known = runtime.known_tenant(tenant)
        found = list(islice(FeedbackStore(runtime.engine, runtime.names).iterate(known), size))
    if as_json:
        print_json([mark.model_dump(mode="json", by_alias=True) for mark in found])
    else:
        print_table(
            ("at", "caller", "kind", "verdict", "query", "documents", "withdrawn"),
            [
                (
                    mark.at,
                    mark.caller,
                    "refusal" if mark.refused else mark.kind,
                    mark.verdict,
                    mark.query,
                    ", ".join(dict.fromkeys(passage.document_id for passage in mark.passages)),
                    "yes" if mark.withdrawn else "",
                )
                for mark in found
            ],
        )


@group.command(epilog="Example: mafteach feedback export --tenant demo --out questions")
def export(
    tenant: TenantOption,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="A new folder, for documents.jsonl and queries.jsonl.")
    ],
    as_json: JsonFlag = False,
) -> None:
    """Write a tenant's labelled questions, with its documents, as a data set.

    `mafteach evaluate DIR` and `mafteach tune DIR` read it. The folder holds the text of all ready documents.
    """
    from evaluation.feedback.export import export_feedback

    with opened() as runtime:
        known = runtime.known_tenant(tenant)
        done = export_feedback(
            known,
            out,
            engine=runtime.engine,
            names=runtime.names,
            registry=runtime.registry,
            max_file_bytes=runtime.settings.max_file_bytes,
        )
    if as_json:
        print_json(done.model_dump())
    else:
        print_pairs((name.replace("_", " "), value) for name, value in done.model_dump().items())
    warn(done)
    if not as_json:
        print_line(f"Learn from it: mafteach tune {out} --out profile.json")


def warn(done: Exported) -> None:
    """Say what was left out."""
    if done.stale:
        say(f"Left out: {done.stale} marked places in versions of documents that are not there any more.")
    if done.undecided:
        say(f"Left out: {done.undecided} questions that have no agreed answer.")
    if done.documents_left_out:
        say(f"Left out: {done.documents_left_out} documents whose text would not be read back as it is.")
