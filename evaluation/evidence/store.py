"""Evidence in the index: a data stream, to which the engine lets nobody write a record a second time.

Every id contains the tenant, and every read filters by it: another tenant's case is not there. What is read is held
against its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, TypeVar

from pydantic import ValidationError

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.canonical import content_id
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet, check_claims
from evaluation.evidence.decisions import Decision, chain_of
from evaluation.evidence.file import CaseFile
from evaluation.evidence.model_proposal import ModelProposal
from evaluation.evidence.notes import Note
from query.filters import tenant_filter
from search_config import fields
from search_config.client import Engine
from search_config.errors import AlreadyExists, EngineRejected, EvidenceCorrupt, InvalidRequest, NotFound
from search_config.names import Names
from search_config.records import tenant_id

Kind = Literal["case", "claims", "decision", "note", "proposal"]
Order = Literal["asc", "desc"]
Record = TypeVar("Record", bound=EvidenceRecord)

# Rows of one request: a case with its passages is some tens of kilobytes.
PAGE: Final = 200
# Cases whose records are read by one request.
CASES_AT_ONCE: Final = 50
# An id in the engine has 512 bytes at most; a hash keeps the parts of a key apart and short.
KEY_DIGITS: Final = 40
# Digits of an id that tell cases apart for people.
SHOWN_DIGITS: Final = 12


class EvidenceStore:
    """Cases, claims, decisions and notes of all tenants; every call names one."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._engine = engine
        self._stream = names.evidence

    def add_case(self, case: Case) -> str:
        """Write a case; gives its id.

        Raises:
            AlreadyExists: this very case is frozen.
        """
        case_id = case.case_id
        self._create("case", case.tenant, case, case_id=case_id, key=case_id, author=case.owner, at=case.answered_at)
        return case_id

    def add_claims(self, tenant: str, claims: ClaimSet) -> None:
        """Write the next revision of a case's claims.

        Raises:
            NotFound: this tenant has no such case.
            AlreadyExists: someone was faster with this revision; read it and try again.
            InvalidRequest: it does not follow the revision before, or is not of this answer.
        """
        known = self.read(tenant, claims.case_id)
        before = known.sets[-1].revision_hash if known.sets else None
        if claims.revision <= len(known.sets):
            raise _exists(f"revision {claims.revision} of the claims")
        if claims.revision != len(known.sets) + 1 or claims.supersedes != before:
            raise InvalidRequest("The claims do not follow the revision before.", where=claims.case_id)
        check_claims(known.case, claims)
        self._create(
            "claims",
            tenant,
            claims,
            case_id=claims.case_id,
            key=f"{claims.case_id}/{claims.revision}",
            author=claims.author,
            at=claims.at,
            sequence=claims.revision,
        )

    def add_decision(self, tenant: str, decision: Decision) -> str:
        """Write a decision; gives its id. Each reviewer has a chain of their own on each claim.

        Raises:
            NotFound: this tenant has no such case, or the case no such claim.
            AlreadyExists: this place in the reviewer's chain is taken.
            InvalidRequest: made on claims that have changed, or naming another decision before it.
        """
        known = self.read(tenant, decision.case_id)
        chain = chain_of(known.decisions, decision.claim_id, decision.reviewer)
        place = next((at for at, one in enumerate(chain, 1) if one.decision_id == decision.supersedes), 0)
        if place < len(chain):
            raise _exists(f"a decision of {decision.reviewer} after this one")
        if decision.claim_set != known.claims.claim_set_hash:
            raise InvalidRequest(
                "The claims have changed since they were read.", where=decision.claim_id, remedy="Read them again."
            )
        expected = known.next_decision(
            decision.claim_id,
            decision.verdict,
            reviewer=decision.reviewer,
            at=decision.at,
            supersedes=decision.supersedes,
        )
        key = f"{decision.case_id}/{decision.claim_id}/{decision.reviewer}/{len(chain)}"
        self._create(
            "decision",
            tenant,
            expected,
            case_id=decision.case_id,
            key=key,
            author=decision.reviewer,
            at=decision.at,
            claim_id=decision.claim_id,
            sequence=len(chain),
        )
        return expected.decision_id

    def add_note(self, tenant: str, note: Note) -> str:
        """Write a note; gives its id.

        Raises:
            NotFound: this tenant has no such case, or the case never had such a claim.
            AlreadyExists
        """
        known = self.read(tenant, note.case_id)
        if note.claim_id is not None and all(
            note.claim_id != one.claim_id for set_ in known.sets for one in set_.claims
        ):
            raise NotFound("There is no such claim.", where=note.claim_id, remedy="Read the case's claims again.")
        self._create(
            "note",
            tenant,
            note,
            case_id=note.case_id,
            key=note.note_id,
            author=note.author,
            at=note.at,
            claim_id=note.claim_id,
        )
        return note.note_id

    def add_proposal(self, tenant: str, proposal: ModelProposal) -> str:
        """Write a model's proposal; gives its id.

        Raises:
            NotFound: this tenant has no such case.
            InvalidRequest: made on claims that have changed.
        """
        known = self.read(tenant, proposal.case_id)
        if proposal.claim_set != known.claims.claim_set_hash:
            raise InvalidRequest(
                "The claims have changed since they were read.", where=proposal.case_id, remedy="Ask the model again."
            )
        self._create(
            "proposal",
            tenant,
            proposal,
            case_id=proposal.case_id,
            key=proposal.proposal_id,
            author=proposal.model,
            at=proposal.at,
        )
        return proposal.proposal_id

    def read(self, tenant: str, case_id: str, *, groups: Sequence[str] | None = None) -> CaseFile:
        """One case with all its records.

        Args:
            tenant: whose.
            case_id: its hash.
            groups: of who asks; None is an operator.

        Raises:
            NotFound: this tenant has no such case, or it shows a document that these groups may not see.
            EvidenceCorrupt: a record is not what its hash says.
        """
        rows = list(self._rows(tenant, [{"term": {fields.CASE_ID: case_id}}]))
        cases = [_record(row, Case) for row in rows if row[fields.KIND] == "case"]
        if not cases or not cases[0].visible_to(groups):
            raise NotFound(
                "There is no such case.", where=case_id[:SHOWN_DIGITS], remedy="See: mafteach evidence list --tenant T"
            )
        return _file(cases[0], rows)

    def find(self, tenant: str, beginning: str) -> str:
        """The one case whose id begins so.

        Raises:
            NotFound: none.
            InvalidRequest: several.
        """
        found = [
            row[fields.CASE_ID]
            for row in self._rows(
                tenant,
                [{"term": {fields.KIND: "case"}}, {"prefix": {fields.CASE_ID: beginning}}],
                source=[fields.CASE_ID],
            )
        ]
        if len(found) > 1:
            raise InvalidRequest(f"{len(found)} cases begin so.", where=beginning, remedy="Give more of the id.")
        if not found:
            raise NotFound(
                "There is no such case.",
                where=beginning[:SHOWN_DIGITS],
                remedy="See: mafteach evidence list --tenant T",
            )
        return str(found[0])

    def cases(self, tenant: str, *, groups: Sequence[str] | None = None) -> Iterator[Case]:
        """All cases of a tenant that these groups may see, oldest first."""
        for row in self._rows(tenant, [{"term": {fields.KIND: "case"}}]):
            case = _record(row, Case)
            if case.visible_to(groups):
                yield case

    def files(
        self,
        tenant: str,
        *,
        groups: Sequence[str] | None = None,
        wanted: Callable[[Case], bool] = bool,
        after: str | None = None,
    ) -> Iterator[CaseFile]:
        """Cases with all their records, newest first; those of several cases are read by one request.

        Args:
            tenant: whose.
            groups: of who asks; None is an operator.
            wanted: chooses cases before their records are read; by default all.
            after: the id of a case; those behind it alone.

        Raises:
            NotFound: this tenant has no case `after`.
            EvidenceCorrupt: a record is not what its hash says.
        """
        behind = None if after is None else self._place_of(tenant, after)
        rows = self._rows(tenant, [{"term": {fields.KIND: "case"}}], order="desc", after=behind)
        found = (_record(row, Case) for row in rows)
        seen = (case for case in found if case.visible_to(groups) and wanted(case))
        while few := list(islice(seen, CASES_AT_ONCE)):
            records: dict[str, list[dict[str, Any]]] = {}
            ids = {"terms": {fields.CASE_ID: [case.case_id for case in few]}}
            others = {"terms": {fields.KIND: ["claims", "decision", "note", "proposal"]}}
            for row in self._rows(tenant, [ids, others]):
                records.setdefault(row[fields.CASE_ID], []).append(row)
            yield from (_file(case, records.get(case.case_id, [])) for case in few)

    def _create(
        self,
        kind: Kind,
        tenant: str,
        record: EvidenceRecord,
        *,
        case_id: str,
        key: str,
        author: str,
        at: datetime,
        claim_id: str | None = None,
        sequence: int = 0,
    ) -> None:
        owner = tenant_id(tenant)
        body: dict[str, Any] = {
            fields.AT: at.isoformat(),
            fields.TENANT: owner,
            fields.KIND: kind,
            fields.CASE_ID: case_id,
            fields.AUTHOR: author,
            fields.SEQUENCE: sequence,
            fields.HASH: content_id(record),
            fields.RECORD: record.model_dump(mode="json", by_alias=True),
        }
        if claim_id is not None:
            body[fields.CLAIM_ID] = claim_id
        row = hashlib.sha256(f"{owner}\0{kind}\0{key}".encode()).hexdigest()[:KEY_DIGITS]
        # A retry may meet its own first try as a conflict. Of records that hold their moment the hash tells; a case may
        # be frozen again with the same content, and that has to fail.
        again = kind != "case"
        try:
            self._engine.request(
                "PUT", f"/{self._stream}/_create/{row}", body=body, params={"refresh": "true"}, retry=again
            )
        except EngineRejected as error:
            there = self._hash_of(owner, row)
            if there is None:
                raise
            if not again or there != body[fields.HASH]:
                raise _exists(f"{kind} {case_id[:12]}") from error

    def _hash_of(self, tenant: str, row: str) -> str | None:
        # The write that was first may be there and not visible yet: its own refresh is still under way.
        self._engine.request("POST", f"/{self._stream}/_refresh")
        clauses = [*tenant_filter(tenant), {"ids": {"values": [row]}}]
        body = {"size": 1, "query": {"bool": {"filter": clauses}}, "_source": [fields.HASH]}
        hits = self._engine.search(self._stream, body)["hits"]["hits"]
        return str(hits[0]["_source"][fields.HASH]) if hits else None

    def _place_of(self, tenant: str, case_id: str) -> list[Any]:
        """Where a case stands among all, as the engine sorts them."""
        clauses = [*tenant_filter(tenant), {"term": {fields.KIND: "case"}}, {"term": {fields.CASE_ID: case_id}}]
        body = {"size": 1, "query": {"bool": {"filter": clauses}}, "sort": _sorted("desc"), "_source": False}
        hits = self._engine.search(self._stream, body)["hits"]["hits"]
        if not hits:
            raise NotFound("There is no such case.", where=case_id[:SHOWN_DIGITS], remedy="List from the beginning.")
        place: list[Any] = hits[0]["sort"]
        return place

    def _rows(
        self,
        tenant: str,
        clauses: Sequence[dict[str, Any]],
        *,
        source: list[str] | None = None,
        order: Order = "asc",
        after: list[Any] | None = None,
    ) -> Iterator[dict[str, Any]]:
        body: dict[str, Any] = {
            "size": PAGE,
            "query": {"bool": {"filter": [*tenant_filter(tenant), *clauses]}},
            "sort": _sorted(order),
        }
        if after is not None:
            body["search_after"] = after
        if source is not None:
            body["_source"] = source
        while True:
            hits = self._engine.search(self._stream, body)["hits"]["hits"]
            for hit in hits:
                yield dict(hit["_source"])
            if len(hits) < PAGE:
                return
            body["search_after"] = hits[-1]["sort"]


def _sorted(order: Order) -> list[dict[str, str]]:
    return [{fields.AT: order}, {fields.HASH: order}]


def _file(case: Case, rows: Sequence[dict[str, Any]]) -> CaseFile:
    """A case with its records, in the order in which they were made."""
    sets = (_record(row, ClaimSet) for row in rows if row[fields.KIND] == "claims")
    decisions = (_record(row, Decision) for row in rows if row[fields.KIND] == "decision")
    notes = (_record(row, Note) for row in rows if row[fields.KIND] == "note")
    proposals = (_record(row, ModelProposal) for row in rows if row[fields.KIND] == "proposal")
    return CaseFile(
        case=case,
        sets=tuple(sorted(sets, key=lambda one: one.revision)),
        decisions=tuple(sorted(decisions, key=lambda one: (one.at, one.decision_id))),
        notes=tuple(sorted(notes, key=lambda one: (one.at, one.note_id))),
        proposals=tuple(sorted(proposals, key=lambda one: (one.at, one.proposal_id))),
    )


def _exists(what: str) -> AlreadyExists:
    return AlreadyExists(
        "This is written already, and nothing is ever written over.", where=what, remedy="Read what is there."
    )


def _record(row: dict[str, Any], kind: type[Record]) -> Record:
    try:
        record = kind.model_validate(row[fields.RECORD])
    except ValidationError as error:
        raise EvidenceCorrupt("An evidence record is damaged.", where=row[fields.CASE_ID]) from error
    if content_id(record) != row[fields.HASH] or (
        isinstance(record, Case) and (record.case_id != row[fields.CASE_ID] or record.tenant != row[fields.TENANT])
    ):
        raise EvidenceCorrupt("An evidence record is not what its hash says.", where=row[fields.CASE_ID])
    return record
