"""Which cases an evidence command is about: ids in the index, or folders of frozen cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from evaluation.evidence.file import CaseFile

Targets = Annotated[
    list[str],
    typer.Argument(metavar="CASE…", help="Ids of cases (or their beginnings), or folders of frozen cases."),
]
OptionalTenant = Annotated[
    str | None,
    typer.Option("--tenant", "-t", metavar="TENANT", help="The tenant whose cases these are; not for folders."),
]


def folders_of(targets: list[str]) -> list[Path]:
    """The targets as folders, where all of them are; none where all are ids.

    Raises:
        InvalidRequest: some of both.
    """
    folders = [Path(target) for target in targets if Path(target).is_dir()]
    if folders and len(folders) < len(targets):
        raise InvalidRequest("Give ids or folders, not both.", where=" ".join(targets))
    return folders


def loaded(targets: list[str], tenant: str | None) -> list[CaseFile]:
    """The cases of a command, each once, in the order given.

    Raises:
        InvalidRequest: ids without a tenant.
        NotFound, InvalidDataset, EvidenceCorrupt
    """
    from evaluation.evidence.folder import case_folders, load_case
    from evaluation.evidence.store import EvidenceStore

    folders = folders_of(targets)
    if folders:
        files = [load_case(one) for folder in folders for one in case_folders(folder)]
    elif tenant is None:
        raise InvalidRequest(
            "There is no such folder; for ids of cases a tenant is needed.",
            where=" ".join(targets),
            remedy="Add --tenant TENANT.",
        )
    else:
        with opened() as runtime:
            store = EvidenceStore(runtime.engine, runtime.names)
            owned = runtime.known_tenant(tenant)
            files = [store.read(owned, store.find(owned, target)) for target in targets]
    return list({file.case.case_id: file for file in files}.values())
