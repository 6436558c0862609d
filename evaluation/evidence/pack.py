"""Audit packs: a ZIP that holds everything about its cases, the same bytes for the same input.

Parts are stored, not compressed: compressors differ between versions, and a pack must be equal on every machine.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from evaluation.evidence.base import EvidenceRecord, Sha256
from evaluation.evidence.canonical import canonical_json, content_id, readable_json, sha256
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet
from evaluation.evidence.decisions import Decision
from evaluation.evidence.export import to_csv
from evaluation.evidence.file import CaseFile
from evaluation.evidence.limits import limits_text
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.notes import Note
from evaluation.evidence.rows import Row
from evaluation.evidence.sheet import sheet_html

PACK_FORMAT: Final = "mafteach-evidence-pack/1"
MANIFEST: Final = "manifest.json"
LIMITS: Final = "LIMITS.txt"
SHEET: Final = "sheet.html"
TABLE: Final = "sheet.csv"
SCHEMAS: Final[dict[str, type[BaseModel]]] = {
    "schema/case.json": Case,
    "schema/claims.json": ClaimSet,
    "schema/row.json": Row,
    "schema/decision.json": Decision,
    "schema/note.json": Note,
    "schema/proposal.json": ModelProposal,
}
CASE_PARTS: Final = (
    "case.json",
    "claims.json",
    "rows.json",
    "decisions.json",
    "notes.json",
    "proposals.json",
    "passages.json",
    "retrieval.json",
)
# Stands for the hash while it is taken.
NOT_HASHED: Final = "0" * 64
# ZIP's first day: every part has it, so that the time of packing is nowhere.
EPOCH: Final = (1980, 1, 1, 0, 0, 0)
# A plain file that its owner writes and all read, as Unix says it; the same on every system.
MODE: Final = 0o100644 << 16
UNIX: Final = 3


class Part(EvidenceRecord):
    """One expected part of a pack."""

    path: str
    status: Literal["present", "missing"]
    sha256: Sha256 | None = None
    bytes: int | None = Field(None, ge=0)
    why_missing: str | None = None


class Manifest(EvidenceRecord):
    """What a pack should hold, and what it holds; what is missing is not made up."""

    format: Literal["mafteach-evidence-pack/1"] = PACK_FORMAT
    limits: str
    cases: tuple[Sha256, ...]
    parts: tuple[Part, ...]
    whole: Sha256 = Field(
        description="SHA-256 of the canonical JSON of all else in this manifest, hashes of parts too."
    )


def build_pack(files: Sequence[CaseFile], *, runs: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of a pack.

    Args:
        files: its cases; their order does not matter.
        runs: records of replays, by run id.

    Raises:
        InvalidRequest: records that do not hold.
    """
    ordered = sorted(files, key=lambda one: one.case.case_id)
    parts: dict[str, bytes | str] = {LIMITS: limits_text().encode()}
    for path, kind in SCHEMAS.items():
        parts[path] = readable_json(kind.model_json_schema(by_alias=True))
    for file in ordered:
        file.check()
        for name, content in _case_parts(file).items():
            parts[f"cases/{file.case.case_id}/{name}"] = content
    for run_id, record in sorted((runs or {}).items()):
        parts[f"runs/{run_id}.json"] = readable_json(record)
    parts[SHEET] = sheet_html(ordered)
    parts[TABLE] = to_csv(ordered)
    manifest = manifest_of(parts, [file.case.case_id for file in ordered])
    present = {path: content for path, content in parts.items() if isinstance(content, bytes)}
    return archive({MANIFEST: readable_json(manifest), **present})


def manifest_of(parts: Mapping[str, bytes | str], cases: Iterable[str]) -> Manifest:
    """The manifest of parts: bytes are present, a text says why a part is missing."""
    listed = tuple(
        Part(path=path, status="present", sha256=sha256(content), bytes=len(content))
        if isinstance(content, bytes)
        else Part(path=path, status="missing", why_missing=content)
        for path, content in sorted(parts.items())
    )
    draft = Manifest(limits=limits_text(), cases=tuple(cases), parts=listed, whole=NOT_HASHED)
    return draft.model_copy(update={"whole": whole_hash(draft)})


def whole_hash(manifest: Manifest) -> str:
    """SHA-256 over everything in the manifest but the hash itself."""
    return content_id(manifest.model_dump(mode="json", by_alias=True, exclude={"whole"}))


def archive(parts: Mapping[str, bytes]) -> bytes:
    """The one ZIP file of these parts: stored, sorted with the manifest first, without any time of its own."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(parts, key=lambda one: (one != MANIFEST, one)):
            info = zipfile.ZipInfo(path, date_time=EPOCH)
            info.create_system = UNIX
            info.external_attr = MODE
            packed.writestr(info, parts[path])
    return stream.getvalue()


def _case_parts(file: CaseFile) -> dict[str, bytes | str]:
    case = file.case
    unsplit = "the answer was not split into claims"
    none_made = "a refusal asserts nothing" if case.honest_miss else "none was recorded"
    found: dict[str, bytes | str] = {
        "case.json": canonical_json(case),
        "claims.json": readable_json(file.sets) if file.sets else unsplit,
        "rows.json": readable_json(file.rows) if file.sets else unsplit,
        "decisions.json": readable_json(file.decisions) if file.decisions else none_made,
        "notes.json": readable_json(file.notes) if file.notes else "none was recorded",
        "proposals.json": readable_json(file.proposals) if file.proposals else "no model was asked",
        "passages.json": readable_json(case.passages) if case.passages else "nothing was retrieved",
        "retrieval.json": readable_json(case.retrieval) if case.retrieval else "none was recorded",
    }
    return {name: found[name] for name in CASE_PARTS}
