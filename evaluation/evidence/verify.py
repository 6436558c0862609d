"""Verifying a pack: the first part that does not hold, by name. Needs no index and no settings."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.canonical import canonical_json, readable_json, sha256
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet
from evaluation.evidence.decisions import Decision
from evaluation.evidence.file import CaseFile
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.notes import Note
from evaluation.evidence.pack import CASE_PARTS, LIMITS, MANIFEST, SCHEMAS, SHEET, TABLE, Manifest, archive, whole_hash
from evaluation.evidence.rows import Row
from search_config.errors import InvalidRequest

# A pack's own bytes: headers, order, times, comment.
STRUCTURE: Final = "the archive itself"
# What reading a damaged archive may raise: it is untrusted, and every byte of it may have been changed.
DAMAGE: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    RuntimeError,  # an entry that says it is encrypted; NotImplementedError, an unknown method, is one too
    MemoryError,
    OverflowError,
)
_SETS: Final = TypeAdapter(tuple[ClaimSet, ...])
_ROWS: Final = TypeAdapter(tuple[Row, ...])
_DECISIONS: Final = TypeAdapter(tuple[Decision, ...])
_NOTES: Final = TypeAdapter(tuple[Note, ...])
_PROPOSALS: Final = TypeAdapter(tuple[ModelProposal, ...])


class Verification(EvidenceRecord):
    """Whether a pack holds; if not, its first part that does not, and why."""

    holds: bool
    part: str | None = Field(None, description="The first part that does not hold.")
    why: str | None = None
    parts: int = Field(0, description="Parts that are present.")
    missing: tuple[str, ...] = Field((), description="Parts that the manifest says are missing.")
    cases: int = 0
    sha256: str = Field(description="Of the whole file.")


class _Fails(Exception):
    """A part that does not hold."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(part)
        self.part = part
        self.why = why


def verify_file(path: Path) -> Verification:
    """Verify a pack on disk.

    Raises:
        InvalidRequest: there is no such file.
    """
    try:
        return verify_pack(path.read_bytes())
    except OSError as error:
        raise InvalidRequest(f"The pack can't be read: {error.strerror}.", where=str(path)) from error


def verify_pack(data: bytes) -> Verification:
    """Verify the bytes of a pack: manifest, every part, the records in them, and every byte between."""
    digest = sha256(data)
    try:
        manifest = _verified(data)
    except _Fails as failed:
        return Verification(holds=False, part=failed.part, why=failed.why, sha256=digest)
    return Verification(
        holds=True,
        parts=sum(part.status == "present" for part in manifest.parts) + 1,
        missing=tuple(part.path for part in manifest.parts if part.status == "missing"),
        cases=len(manifest.cases),
        sha256=digest,
    )


def _verified(data: bytes) -> Manifest:
    try:
        packed = zipfile.ZipFile(io.BytesIO(data))
        names = packed.namelist()
    except DAMAGE as error:
        raise _Fails(STRUCTURE, f"it can't be opened as a ZIP file: {error}") from error
    with packed:
        manifest = _manifest(_content(packed, MANIFEST, names))
        contents = {MANIFEST: readable_json(manifest)}
        for part in manifest.parts:
            if part.status == "missing":
                if part.path in names:
                    raise _Fails(part.path, "the manifest says that it is missing")
                continue
            content = _content(packed, part.path, names)
            if sha256(content) != part.sha256 or len(content) != part.bytes:
                raise _Fails(part.path, "its content was changed")
            contents[part.path] = content
    unknown = sorted(set(names) - set(contents))
    if unknown or len(names) != len(set(names)):
        raise _Fails(unknown[0] if unknown else STRUCTURE, "the manifest does not list it")
    _complete(manifest)
    for case_id in manifest.cases:
        _case(case_id, contents)
    if archive(contents) != data:
        raise _Fails(STRUCTURE, "bytes between the parts were changed")
    return manifest


def _content(packed: zipfile.ZipFile, path: str, names: list[str]) -> bytes:
    if path not in names:
        raise _Fails(path, "it is not in the archive")
    try:
        return packed.read(path)
    except DAMAGE as error:
        raise _Fails(path, f"it can't be read: {error}") from error


def _manifest(content: bytes) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(content)
    except (ValidationError, ValueError) as error:
        raise _Fails(MANIFEST, "it is not a manifest") from error
    if whole_hash(manifest) != manifest.whole or readable_json(manifest) != content:
        raise _Fails(MANIFEST, "it was changed")
    if any(PurePosixPath(part.path).is_absolute() or ".." in part.path.split("/") for part in manifest.parts):
        raise _Fails(MANIFEST, "a part lies outside the pack")
    return manifest


def _complete(manifest: Manifest) -> None:
    listed = {part.path for part in manifest.parts}
    expected = [LIMITS, *SCHEMAS, SHEET, TABLE]
    expected += [f"cases/{case_id}/{name}" for case_id in manifest.cases for name in CASE_PARTS]
    for path in expected:
        if path not in listed:
            raise _Fails(path, "the manifest does not list it, as present or missing")


def _case(case_id: str, contents: Mapping[str, bytes]) -> None:
    """The records of one case against each other: they may have been changed together with the manifest."""
    folder = f"cases/{case_id}"
    path = f"{folder}/case.json"
    case = _parsed(TypeAdapter(Case), contents, path)
    if case is None or canonical_json(case) != contents[path] or case.case_id != case_id:
        raise _Fails(path, "it is not the case of its id")
    file = CaseFile(
        case=case,
        sets=_parsed(_SETS, contents, f"{folder}/claims.json") or (),
        decisions=_parsed(_DECISIONS, contents, f"{folder}/decisions.json") or (),
        notes=_parsed(_NOTES, contents, f"{folder}/notes.json") or (),
        proposals=_parsed(_PROPOSALS, contents, f"{folder}/proposals.json") or (),
    )
    try:
        file.check()
    except InvalidRequest as error:
        raise _Fails(f"{folder}/claims.json", str(error)) from error
    rows = _parsed(_ROWS, contents, f"{folder}/rows.json")
    if file.sets:
        claims = [(row.claim_id, row.claim_text, row.claim_set) for row in rows or ()]
        wanted = [(one.claim_id, one.text, file.claims.claim_set_hash) for one in file.claims.material]
        current = file.current
        decided = [tuple(row.decisions) for row in rows or ()]
        if claims != wanted or decided != [current[one.claim_id] for one in file.claims.material]:
            raise _Fails(f"{folder}/rows.json", "its rows are not those of the claims and decisions")
    for name, value in (("passages.json", case.passages), ("retrieval.json", case.retrieval)):
        stored = contents.get(f"{folder}/{name}")
        if stored is not None and stored != readable_json(value):
            raise _Fails(f"{folder}/{name}", "it is not what the case holds")


def _parsed(adapter: TypeAdapter[Any], contents: Mapping[str, bytes], path: str) -> Any:
    if path not in contents:
        return None
    try:
        return adapter.validate_python(json.loads(contents[path]))
    except (ValidationError, ValueError) as error:
        raise _Fails(path, "its records do not hold") from error
