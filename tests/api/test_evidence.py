"""Evidence over HTTP: frozen once, reviewed by permission alone, unreachable for another tenant by every route."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from api.caller import Permission
from evaluation.evidence.verify import verify_pack
from tests.api.conftest import OURS, THEIRS, Service

QUESTION = {"question": "כמה אישורי חניה מגיעים לתושב?"}
VERDICT = {
    "attachment": "attached",
    "attachment_reason": "הסימון נפתח בקטע",
    "support": "supported",
    "support_reason": "הקטע אומר זאת",
}
ALL = (Permission.READ, Permission.WRITE, Permission.REVIEW)


def key(service: Service, tenant: str, permissions: tuple[Permission, ...]) -> dict[str, str]:
    made = service.services.keys.create(tenant, permissions=permissions)
    return {"Authorization": f"Bearer {made.key}"}


@pytest.fixture(scope="module")
def reviewer(service: Service) -> dict[str, str]:
    return key(service, OURS, ALL)


@pytest.fixture
def case_id(service: Service, reviewer: dict[str, str]) -> str:
    """A case with its claims."""
    made = service.client.post("/evidence/cases", json=QUESTION, headers=reviewer)
    assert made.status_code == HTTPStatus.CREATED, made.text
    found = str(made.json()["case_id"])
    split = service.client.post(f"/evidence/cases/{found}/claims", json={"operation": "rules"}, headers=reviewer)
    assert split.status_code == HTTPStatus.CREATED, split.text
    return found


def sheet(service: Service, case_id: str, headers: dict[str, str]) -> dict[str, Any]:
    answer = service.client.get(f"/evidence/cases/{case_id}", headers=headers)
    assert answer.status_code == HTTPStatus.OK, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_claim_is_decided_once_and_a_changed_mind_names_the_decision_before(
    service: Service, reviewer: dict[str, str], case_id: str
) -> None:
    before = sheet(service, case_id, reviewer)
    assert next(iter(before)) == "limits"
    body = {"claim_id": before["rows"][0]["claim_id"], "verdict": VERDICT}
    path = f"/evidence/cases/{case_id}/decisions"
    first = service.client.post(path, json=body, headers=reviewer)
    assert first.status_code == HTTPStatus.CREATED, first.text
    again = {**body, "verdict": {**VERDICT, "support": "not_supported"}}
    assert service.client.post(path, json=again, headers=reviewer).status_code in (
        HTTPStatus.CONFLICT,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    )
    after = sheet(service, case_id, reviewer)
    assert [one["verdict"]["support"] for one in after["rows"][0]["decisions"]] == ["supported"]
    changed = {**again, "supersedes": first.json()["decision_id"]}
    assert service.client.post(path, json=changed, headers=reviewer).status_code == HTTPStatus.CREATED
    counts = sheet(service, case_id, reviewer)["summary"]["counts"]
    assert counts["by_verdict"]["not_supported"] == 1


def test_an_empty_reason_is_refused(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    claim = sheet(service, case_id, reviewer)["rows"][0]["claim_id"]
    body = {"claim_id": claim, "verdict": {**VERDICT, "support_reason": " "}}
    answer = service.client.post(f"/evidence/cases/{case_id}/decisions", json=body, headers=reviewer)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_reviewing_is_a_permission(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    claim = sheet(service, case_id, service.ours)["rows"][0]["claim_id"]
    for path, body in (
        ("decisions", {"claim_id": claim, "verdict": VERDICT}),
        ("claims", {"operation": "immaterial", "claim_id": claim, "reason": "ברכה"}),
    ):
        answer = service.client.post(f"/evidence/cases/{case_id}/{path}", json=body, headers=service.ours)
        assert answer.status_code == HTTPStatus.FORBIDDEN
    assert sheet(service, case_id, reviewer)["rows"][0]["decisions"] == []


def test_claims_are_split_once_by_rules(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    path = f"/evidence/cases/{case_id}/claims"
    assert service.client.post(path, json={"operation": "rules"}, headers=reviewer).status_code == HTTPStatus.CONFLICT


def test_nothing_of_a_tenant_is_there_for_another(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    theirs = key(service, THEIRS, ALL)
    claim = sheet(service, case_id, reviewer)["rows"][0]["claim_id"]
    calls = (
        ("GET", "", None),
        ("GET", "/pack", None),
        ("POST", "/claims", {"operation": "rules"}),
        ("POST", "/decisions", {"claim_id": claim, "verdict": VERDICT}),
    )
    for method, path, body in calls:
        answer = service.client.request(method, f"/evidence/cases/{case_id}{path}", json=body, headers=theirs)
        assert answer.status_code == HTTPStatus.NOT_FOUND, (method, path)
    assert service.client.get("/evidence/cases", headers=theirs).json() == []
    assert case_id in [one["case_id"] for one in service.client.get("/evidence/cases", headers=reviewer).json()]


def test_a_pack_from_the_service_holds(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    answer = service.client.get(f"/evidence/cases/{case_id}/pack", headers=reviewer)
    assert answer.headers["content-type"] == "application/zip"
    assert verify_pack(answer.content).holds
