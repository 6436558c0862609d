"""Evidence sheets of the key's tenant: cases, claims, decisions, packs. Reviewing is a permission of its own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from api.auth import Reader, Reviewer, ServicesHere, Writer
from api.errors import described
from api.limits import NoParameters
from api.schemas import AnswerBody
from api.services import Services
from api.version import version
from evaluation.evidence.base import LONGEST_NAME, LONGEST_TEXT, now
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet, first_claims, mark_claim, merge_claims, split_claim
from evaluation.evidence.decisions import Decision, Disagreement, Verdict
from evaluation.evidence.file import CaseCounts, CaseFile
from evaluation.evidence.freeze import freeze, generation_identity
from evaluation.evidence.limits import LIMITS
from evaluation.evidence.pack import build_pack
from evaluation.evidence.rows import Row
from evaluation.evidence.store import EvidenceStore
from query.answering import answer

router = APIRouter(prefix="/evidence", tags=["evidence"], responses=described(400, 401, 403, 413, 422, 429, 500, 503))

CaseId = Annotated[str, Path(description="A case's id: the SHA-256 of its content.", max_length=64)]
ClaimId = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaseSummary(_Closed):
    """One case in a list."""

    case_id: str
    owner: str
    query: str
    outcome: str
    revision: int = Field(description="Of its claims; 0 before the answer was split.")
    counts: CaseCounts


class Sheet(_Closed):
    """One case with its rows; the limits stand first, disagreements before counts."""

    limits: dict[str, tuple[str, ...]]
    disagreements: tuple[Disagreement, ...]
    summary: CaseSummary
    case: Case
    claims: ClaimSet | None
    rows: tuple[Row, ...]


class ClaimsEdit(_Closed):
    """A change of a case's claims; `rules` splits an answer that was not split yet."""

    operation: Literal["rules", "split", "merge", "immaterial", "material"]
    claim_id: ClaimId | None = None
    other_claim_id: ClaimId | None = Field(None, description="The neighbour to merge with.")
    at_word: str = Field("", max_length=LONGEST_TEXT, description="Words of the claim before which it is split.")
    reason: str = Field("", max_length=LONGEST_TEXT, description="Why a claim is marked.")


class DecisionBody(_Closed):
    """A reviewer's verdict on a claim; the reviewer is the key's."""

    claim_id: ClaimId
    verdict: Verdict
    supersedes: str | None = Field(None, max_length=64, description="The reviewer's decision on this claim before.")


class DecisionMade(_Closed):
    """A decision as it was written."""

    decision_id: str
    decision: Decision


@router.post("/cases", summary="Ask, and freeze the answer", status_code=HTTPStatus.CREATED, responses=described(409))
def freeze_case(body: AnswerBody, caller: Writer, _: NoParameters, here: ServicesHere) -> CaseSummary:
    """Answers the question and freezes the answer, or the refusal, with everything that it was made from."""
    result = answer(body.request(caller), here.context, model=here.language_model)
    case = freeze(
        result,
        tenant=caller.tenant,
        owner=caller.id,
        registry=here.registry,
        info=here.info,
        generation=generation_identity(result, app_version=version()),
        answered_at=now(),
    )
    _store(here).add_case(case)
    return _summary(CaseFile(case))


@router.get("/cases", summary="List cases")
def list_cases(caller: Reader, _: NoParameters, here: ServicesHere) -> list[CaseSummary]:
    """The cases that show no document which the caller may not see."""
    store = _store(here)
    found = store.cases(caller.tenant, groups=caller.groups)
    return [_summary(store.read(caller.tenant, case.case_id, groups=caller.groups)) for case in found]


@router.get("/cases/{case_id}", summary="A case's sheet", responses=described(404))
def show_case(case_id: CaseId, caller: Reader, _: NoParameters, here: ServicesHere) -> Sheet:
    """Claims beside their passages, with decisions, and proposals apart."""
    file = _store(here).read(caller.tenant, case_id, groups=caller.groups)
    return Sheet(
        limits={language: (title, *lines) for language, (title, lines) in LIMITS.items()},
        disagreements=file.disagreements,
        summary=_summary(file),
        case=file.case,
        claims=file.sets[-1] if file.sets else None,
        rows=file.rows if file.sets else (),
    )


@router.post(
    "/cases/{case_id}/claims",
    summary="Split an answer into claims, or change them",
    status_code=HTTPStatus.CREATED,
    responses=described(404, 409),
)
def edit_claims(case_id: CaseId, body: ClaimsEdit, caller: Reviewer, _: NoParameters, here: ServicesHere) -> ClaimSet:
    """A new revision; decisions on the claims that it touches count no longer, all others go on."""
    store = _store(here)
    file = store.read(caller.tenant, case_id, groups=caller.groups)
    made = first_claims(file.case, at=now()) if body.operation == "rules" else _edited(file, body, caller.id)
    store.add_claims(caller.tenant, made)
    return made


@router.post(
    "/cases/{case_id}/decisions",
    summary="Decide on a claim",
    status_code=HTTPStatus.CREATED,
    responses=described(404, 409),
)
def decide(case_id: CaseId, body: DecisionBody, caller: Reviewer, _: NoParameters, here: ServicesHere) -> DecisionMade:
    """Both verdicts with their reasons. Nothing is written over: a changed mind names the decision before."""
    store = _store(here)
    file = store.read(caller.tenant, case_id, groups=caller.groups)
    made = file.next_decision(body.claim_id, body.verdict, reviewer=caller.id, at=now(), supersedes=body.supersedes)
    return DecisionMade(decision_id=store.add_decision(caller.tenant, made), decision=made)


@router.get(
    "/cases/{case_id}/pack",
    summary="A case's audit pack",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}, **described(404)},
)
def pack(case_id: CaseId, caller: Reader, _: NoParameters, here: ServicesHere) -> Response:
    """The ZIP that `mafteach evidence verify` checks."""
    file = _store(here).read(caller.tenant, case_id, groups=caller.groups)
    return Response(
        build_pack([file]),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="evidence-{file.case.case_id[:12]}.zip"'},
    )


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


def _summary(file: CaseFile) -> CaseSummary:
    case = file.case
    return CaseSummary(
        case_id=case.case_id,
        owner=case.owner,
        query=case.query,
        outcome=case.outcome,
        revision=len(file.sets),
        counts=file.counts(),
    )
