"""`mafteach keys create|list|revoke`: API keys, each of which names one tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, print_json, print_line, print_pairs, print_table, say

if TYPE_CHECKING:
    from api.keys import KeyRecord

group = typer.Typer(
    help="Make, list and revoke the API keys of a tenant.",
    epilog="Example: mafteach keys create --tenant demo",
    no_args_is_help=False,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="keys")


@group.command(epilog="Example: mafteach keys create --tenant demo --group finance --permission read")
def create(
    tenant: TenantOption,
    label: Annotated[str, typer.Option("--label", help="What the key is for; shown in listings.")] = "",
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="GROUP",
            help="A group whose documents it shows, beside documents without groups; may be given several times.",
        ),
    ] = None,
    permissions: Annotated[
        list[str] | None,
        typer.Option(
            "--permission",
            metavar="PERMISSION",
            help="read, write or review; may be given several times. [default: read and write]",
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a key. It is shown once: only its hash is stored."""
    from api.caller import DEFAULT_PERMISSIONS, groups_of, permissions_of
    from search_config.records import tenant_id

    # A slip is told before a node is started and set up for it.
    tenant_id(tenant)
    allowed = DEFAULT_PERMISSIONS if permissions is None else permissions_of(permissions)
    members = groups_of(groups or [])
    with opened() as runtime:
        runtime.prepared()
        created = runtime.keys.create(tenant, label=label, groups=members, permissions=allowed)
    if as_json:
        print_json(
            {
                "key": created.key,
                "id": created.id,
                "tenant": created.tenant,
                "label": created.label,
                "groups": list(created.groups),
                "permissions": list(created.permissions),
            }
        )
    else:
        print_pairs([("key", created.key), ("id", created.id), ("tenant", created.tenant), *_rights(created)])
        say("Keep it now: it can't be shown again.")


@group.command("list", epilog="Example: mafteach keys list --tenant demo")
def list_keys(tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """List a tenant's keys, revoked ones too, without their secrets."""
    with opened() as runtime:
        found = runtime.keys.list(runtime.known_tenant(tenant))
    if as_json:
        print_json([record.model_dump(mode="json") for record in found])
    else:
        print_table(
            ("id", "label", "groups", "permissions", "created", "revoked"),
            [
                (
                    record.id,
                    record.label,
                    *(value for _, value in _rights(record)),
                    record.created_at,
                    record.revoked_at,
                )
                for record in found
            ],
        )


@group.command(epilog="Example: mafteach keys revoke 0123456789ab --tenant demo")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id: its part between mk_ and the secret.")],
    tenant: TenantOption,
    as_json: JsonFlag = False,
) -> None:
    """Make a key invalid, from the next request on."""
    with opened() as runtime:
        revoked = runtime.keys.revoke(tenant, key_id)
    if as_json:
        print_json(revoked.model_dump(mode="json"))
    else:
        print_line(f"Key {revoked.id} is revoked.")


def _rights(record: KeyRecord) -> list[tuple[str, str]]:
    return [("groups", ", ".join(record.groups) or "-"), ("permissions", ", ".join(record.permissions) or "-")]
