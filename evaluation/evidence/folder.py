"""Cases in a folder: the same records as in the index, as files that a person can read and a repository can keep.

Layout
    ANY-NAME/case.json        the case
    ANY-NAME/claims.json      revisions of its claims, a list
    ANY-NAME/decisions.json   decisions, a list
    ANY-NAME/notes.json       notes, a list
    ANY-NAME/proposals.json   what a model proposed, a list
    ANY-NAME/labels.json      what a set says of the claims (evaluation.evidence.labels)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from evaluation.evidence.canonical import readable_json
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet
from evaluation.evidence.decisions import Decision
from evaluation.evidence.file import CaseFile
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.notes import Note
from search_config.errors import AlreadyExists, EvidenceCorrupt, InvalidDataset

CASE_FILE: Final = "case.json"
CLAIMS_FILE: Final = "claims.json"
DECISIONS_FILE: Final = "decisions.json"
NOTES_FILE: Final = "notes.json"
PROPOSALS_FILE: Final = "proposals.json"

Parsed = TypeVar("Parsed")
_SETS: Final = TypeAdapter(tuple[ClaimSet, ...])
_DECISIONS: Final = TypeAdapter(tuple[Decision, ...])
_NOTES: Final = TypeAdapter(tuple[Note, ...])
_PROPOSALS: Final = TypeAdapter(tuple[ModelProposal, ...])
_CASE: Final = TypeAdapter(Case)


def case_folders(root: Path) -> tuple[Path, ...]:
    """The folders of cases below a folder, by name; the folder itself where it is one.

    Raises:
        InvalidDataset: there is none.
    """
    found = sorted(path.parent for path in root.glob(f"*/{CASE_FILE}")) if root.is_dir() else []
    if (root / CASE_FILE).is_file():
        found = [root]
    if not found:
        raise InvalidDataset(
            "There are no frozen cases here.",
            where=str(root),
            remedy=f"Name a folder whose folders have a {CASE_FILE}.",
        )
    return tuple(found)


def load_case(folder: Path) -> CaseFile:
    """One case from its folder; files that are not there are empty.

    Raises:
        InvalidDataset: no case, or no JSON.
        EvidenceCorrupt: records that do not hold.
    """
    path = folder / CASE_FILE
    return CaseFile(
        case=parsed(_CASE, read_json(path), path),
        sets=_listed(_SETS, folder / CLAIMS_FILE),
        decisions=_listed(_DECISIONS, folder / DECISIONS_FILE),
        notes=_listed(_NOTES, folder / NOTES_FILE),
        proposals=_listed(_PROPOSALS, folder / PROPOSALS_FILE),
    )


def save_case(folder: Path, file: CaseFile) -> None:
    """Write a case into a new folder.

    Raises:
        AlreadyExists: a case is there; nothing is written over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        CASE_FILE: file.case,
        CLAIMS_FILE: file.sets,
        DECISIONS_FILE: file.decisions,
        NOTES_FILE: file.notes,
        PROPOSALS_FILE: file.proposals,
    }
    if any((folder / name).exists() for name in parts):
        raise AlreadyExists("A case is there already.", where=str(folder), remedy="Name another folder.")
    for name, value in parts.items():
        if isinstance(value, Case) or value:
            with (folder / name).open("xb") as stream:
                stream.write(readable_json(value))


def read_json(path: Path) -> Any:
    """A JSON file.

    Raises:
        InvalidDataset: it can't be read, or is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidDataset(f"This file can't be read as JSON: {error}.", where=str(path)) from error


def parsed(adapter: TypeAdapter[Parsed], value: Any, path: Path) -> Parsed:
    """Records out of JSON.

    Raises:
        EvidenceCorrupt: naming the file and the first thing that does not hold.
    """
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise EvidenceCorrupt(f"A record does not hold: {place}: {first['msg']}.", where=str(path)) from error


def _listed(adapter: TypeAdapter[tuple[Parsed, ...]], path: Path) -> tuple[Parsed, ...]:
    return parsed(adapter, read_json(path), path) if path.is_file() else ()
