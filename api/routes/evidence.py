"""Evidence sheets of the key's tenant: cases, claims, decisions, notes, packs. Reviewing is a permission of its own."""

from __future__ import annotations

from http import HTTPStatus
from itertools import islice
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.auth import Reader, Reviewer, ServicesHere, Writer
from api.caller import Caller, Permission
from api.errors import described
from api.evidence_views import (
    CasesParameters,
    CaseSummary,
    ClaimsEdit,
    DecisionBody,
    DecisionMade,
    FreezeBody,
    NoteBody,
    NoteMade,
    RevisionMade,
    Sheet,
)
from api.export.files import MEDIA_TYPES, Format
from api.limits import NoParameters
from api.recent import GivenAnswer, RecentHere
from api.services import Services
from api.trail import TrailHere
from api.version import version
from evaluation.evidence.base import now
from evaluation.evidence.claim_sets import ClaimSet, first_claims, mark_claim, merge_claims, split_claim
from evaluation.evidence.export import to_csv, to_xlsx
from evaluation.evidence.file import CaseFile
from evaluation.evidence.freeze import freeze, generation_identity
from evaluation.evidence.limits import LIMITS
from evaluation.evidence.notes import Note
from evaluation.evidence.pack import build_pack
from evaluation.evidence.store import EvidenceStore
from evaluation.evidence.words import WORDS
from query.answering import answer
from search_config.errors import InvalidRequest, StateConflict

router = APIRouter(prefix="/evidence", tags=["evidence"], responses=described(400, 401, 403, 413, 422, 429, 500, 503))

CaseId = Annotated[str, Path(description="A case's id: the SHA-256 of its content.", max_length=64)]
BINARY = {"schema": {"type": "string", "format": "binary"}}


class SheetParameters(BaseModel):
    """Which file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Format = Field("xlsx", description="A workbook with limits, claims and counts, or the claims as CSV.")


@router.post("/cases", summary="Freeze an answer", status_code=HTTPStatus.CREATED, responses=described(409))
def freeze_case(
    body: FreezeBody, caller: Writer, _: NoParameters, here: ServicesHere, given: RecentHere, trail: TrailHere
) -> CaseSummary:
    """Freezes the answer that was shown, or else answers the question and freezes that; a refusal too. With everything
    that it was made from, and with the corpus as it stands at this moment."""
    found = given.find(caller, body.question, body.shown) if body.shown is not None else None
    if found is None:
        asked = answer(body.request(caller), here.context, model=here.language_model)
        found = GivenAnswer(trail.answered(asked), now())
        if body.shown is not None and found.result.answer != body.shown:
            raise StateConflict(
                "This answer is gone, and today's is another one.",
                where="body.shown",
                remedy="Ask again, and freeze what is answered then.",
            )
    case = freeze(
        found.result,
        tenant=caller.tenant,
        owner=caller.id,
        registry=here.registry,
        engine=here.engine,
        info=here.info,
        generation=generation_identity(found.result, app_version=version()),
        answered_at=found.at,
        expected=body.expected,
    )
    _store(here).add_case(case)
    return CaseSummary.of(CaseFile(case))


@router.get("/cases", summary="List cases", responses=described(404))
def list_cases(
    parameters: Annotated[CasesParameters, Query()], caller: Reader, here: ServicesHere, response: Response
) -> list[CaseSummary]:
    """The cases that show no document which the caller may not see, newest first; a page at a time. Where there are
    more, the header `Link` has the address of the next page (rel="next")."""
    files = _store(here).files(caller.tenant, groups=caller.groups, wanted=parameters.wants, after=parameters.after)
    passing = (summary for summary in map(CaseSummary.of, files) if parameters.passes(summary))
    found = list(islice(passing, parameters.size + 1))
    page = found[: parameters.size]
    if len(found) > len(page):
        following = parameters.model_dump(exclude_none=True) | {"after": page[-1].case_id}
        response.headers["Link"] = f'</evidence/cases?{urlencode(following)}>; rel="next"'
    return page


@router.get("/cases/{case_id}", summary="A case's sheet", responses=described(404))
def show_case(case_id: CaseId, caller: Reader, _: NoParameters, here: ServicesHere) -> Sheet:
    """Claims beside their passages, with decisions, and proposals apart."""
    file = _file(here, caller, case_id)
    return Sheet(
        limits={language: (title, *lines) for language, (title, lines) in LIMITS.items()},
        disagreements=file.disagreements,
        summary=CaseSummary.of(file),
        case=file.case,
        claims=file.sets[-1] if file.sets else None,
        rows=file.rows if file.sets else (),
        history=tuple(DecisionMade(decision_id=one.decision_id, decision=one) for one in file.decisions),
        revisions=tuple(RevisionMade.of(one) for one in file.sets),
        texts={claim.claim_id: claim.text for one in file.sets for claim in one.claims},
        notes=file.notes,
        words=WORDS,
        reviewer=caller.id,
        may_review=Permission.REVIEW in caller.permissions,
    )


@router.post(
    "/cases/{case_id}/claims",
    summary="Split an answer into claims, or change them",
    status_code=HTTPStatus.CREATED,
    responses=described(404, 409),
)
def edit_claims(case_id: CaseId, body: ClaimsEdit, caller: Reviewer, _: NoParameters, here: ServicesHere) -> ClaimSet:
    """A new revision; decisions on the claims that it touches count no longer, all others go on."""
    file = _file(here, caller, case_id)
    made = first_claims(file.case, at=now()) if body.operation == "rules" else _edited(file, body, caller.id)
    _store(here).add_claims(caller.tenant, made)
    return made


@router.post(
    "/cases/{case_id}/decisions",
    summary="Decide on a claim",
    status_code=HTTPStatus.CREATED,
    responses=described(404, 409),
)
def decide(case_id: CaseId, body: DecisionBody, caller: Reviewer, _: NoParameters, here: ServicesHere) -> DecisionMade:
    """Both verdicts with their reasons. Nothing is written over: a changed mind names the decision before."""
    file = _file(here, caller, case_id)
    made = file.next_decision(body.claim_id, body.verdict, reviewer=caller.id, at=now(), supersedes=body.supersedes)
    return DecisionMade(decision_id=_store(here).add_decision(caller.tenant, made), decision=made)


@router.post(
    "/cases/{case_id}/notes", summary="Write a note", status_code=HTTPStatus.CREATED, responses=described(404, 409)
)
def write_note(case_id: CaseId, body: NoteBody, caller: Reviewer, _: NoParameters, here: ServicesHere) -> NoteMade:
    """For whoever reads the case next; never a verdict, and never written over."""
    file = _file(here, caller, case_id)
    try:
        made = Note(case_id=file.case.case_id, claim_id=body.claim_id, author=caller.id, at=now(), text=body.text)
    except ValidationError as error:
        raise InvalidRequest("The note is empty.", where="body.text", remedy="Write something.") from error
    return NoteMade(note_id=_store(here).add_note(caller.tenant, made), note=made)


@router.get(
    "/cases/{case_id}/pack",
    summary="A case's audit pack",
    response_class=Response,
    responses={200: {"content": {"application/zip": BINARY}}, **described(404)},
)
def pack(case_id: CaseId, caller: Reader, _: NoParameters, here: ServicesHere) -> Response:
    """The ZIP that `mafteach evidence verify` checks."""
    file = _file(here, caller, case_id)
    return _saved(file, build_pack([file]), "application/zip", "zip")


@router.get(
    "/cases/{case_id}/sheet",
    summary="A case's sheet as XLSX or CSV",
    response_class=Response,
    responses={
        200: {"content": {media_type.partition(";")[0]: BINARY for media_type in MEDIA_TYPES.values()}},
        **described(404),
    },
)
def sheet_file(
    case_id: CaseId, parameters: Annotated[SheetParameters, Query()], caller: Reader, here: ServicesHere
) -> Response:
    """The limits first, then a line for each decision that counts, and one for each claim without any."""
    file = _file(here, caller, case_id)
    data = to_xlsx([file]) if parameters.format == "xlsx" else to_csv([file])
    return _saved(file, data, MEDIA_TYPES[parameters.format], parameters.format)


def _saved(file: CaseFile, data: bytes, media_type: str, ending: str) -> Response:
    name = f"evidence-{file.case.case_id[:12]}.{ending}"
    return Response(data, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _edited(file: CaseFile, body: ClaimsEdit, author: str) -> ClaimSet:
    claim, moment = body.claim_id or "", now()
    if body.operation == "split":
        return split_claim(file.case, file.claims, claim, body.at_word, author=author, at=moment)
    if body.operation == "merge":
        return merge_claims(file.case, file.claims, claim, body.other_claim_id or "", author=author, at=moment)
    material = body.operation == "material"
    return mark_claim(file.claims, claim, material=material, reason=body.reason, author=author, at=moment)


def _store(here: Services) -> EvidenceStore:
    return EvidenceStore(here.engine, here.info.names)


def _file(here: Services, caller: Caller, case_id: str) -> CaseFile:
    """A case of the caller's tenant that the caller may see.

    Raises:
        NotFound
    """
    return _store(here).read(caller.tenant, case_id, groups=caller.groups)
