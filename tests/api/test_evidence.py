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
        ("notes", {"text": "הערה"}),
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
        ("POST", "/notes", {"text": "שלנו?"}),
        ("GET", "/sheet", None),
        ("GET", "/sheet?format=csv", None),
    )
    for method, path, body in calls:
        answer = service.client.request(method, f"/evidence/cases/{case_id}{path}", json=body, headers=theirs)
        assert answer.status_code == HTTPStatus.NOT_FOUND, (method, path)
    assert service.client.get("/evidence/cases", headers=theirs).json() == []
    after = service.client.get("/evidence/cases", params={"after": case_id}, headers=theirs)
    assert after.status_code == HTTPStatus.NOT_FOUND
    assert case_id in [one["case_id"] for one in service.client.get("/evidence/cases", headers=reviewer).json()]


def test_a_pack_from_the_service_holds(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    answer = service.client.get(f"/evidence/cases/{case_id}/pack", headers=reviewer)
    assert answer.headers["content-type"] == "application/zip"
    assert verify_pack(answer.content).holds


def test_the_very_answer_that_was_shown_is_frozen_once(service: Service, reviewer: dict[str, str]) -> None:
    shown = service.client.post("/answer", json=QUESTION, headers=reviewer).json()
    body = {**QUESTION, "shown": shown["answer"]}
    made = service.client.post("/evidence/cases", json=body, headers=reviewer)
    assert made.status_code == HTTPStatus.CREATED, made.text
    case = sheet(service, made.json()["case_id"], reviewer)["case"]
    assert case["answer"] == shown["answer"]
    assert case["retrieval"] == shown["search"]
    # The same answer of the same moment is the same case, which is there already.
    again = service.client.post("/evidence/cases", json=body, headers=reviewer)
    assert again.status_code == HTTPStatus.CONFLICT
    # What nobody was shown is not frozen as if it had been.
    other = service.client.post("/evidence/cases", json={**QUESTION, "shown": "שני אישורים [1]."}, headers=reviewer)
    assert (other.status_code, other.json()["code"]) == (HTTPStatus.CONFLICT, "state_conflict")


def test_an_answer_that_is_gone_is_frozen_where_today_s_is_the_same(service: Service, reviewer: dict[str, str]) -> None:
    shown = service.client.post("/answer", json=QUESTION, headers=reviewer).json()["answer"]
    # Another key was not shown it: it is asked for anew, and says the same.
    other = key(service, OURS, ALL)
    made = service.client.post("/evidence/cases", json={**QUESTION, "shown": shown}, headers=other)
    assert made.status_code == HTTPStatus.CREATED, made.text


def test_an_honest_miss_is_frozen_with_the_same_data(service: Service, reviewer: dict[str, str]) -> None:
    question = {
        "question": "מהו קוטר הירח הגדול של צדק בקילומטרים",
        "expected": {"unanswerable": ["קוטר הירח"], "passages": []},
    }
    made = service.client.post("/evidence/cases", json=question, headers=reviewer)
    assert made.status_code == HTTPStatus.CREATED, made.text
    assert (made.json()["state"], made.json()["outcome"]) == ("miss", "refusal")
    case = sheet(service, made.json()["case_id"], reviewer)["case"]
    assert case["passages"]
    assert case["reason"]
    assert case["corpus"]["documents"]
    assert case["retrieval"]["hits"]
    assert case["citations"] == []
    assert case["expected"]["unanswerable"] == ["קוטר הירח"]


def test_notes_history_and_words_stand_on_the_sheet(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    path = f"/evidence/cases/{case_id}/notes"
    claim = sheet(service, case_id, reviewer)["rows"][0]["claim_id"]
    for body in ({"text": "לבדוק מול הנספח"}, {"text": "כאן", "claim_id": claim}):
        assert service.client.post(path, json=body, headers=reviewer).status_code == HTTPStatus.CREATED
    blank = service.client.post(path, json={"text": " "}, headers=reviewer)
    assert blank.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    unknown = service.client.post(path, json={"text": "x", "claim_id": "0" * 24}, headers=reviewer)
    assert unknown.status_code == HTTPStatus.NOT_FOUND
    found = sheet(service, case_id, reviewer)
    assert [one["text"] for one in found["notes"]] == ["לבדוק מול הנספח", "כאן"]
    assert [one["operation"] for one in found["revisions"]] == ["rules"]
    assert found["may_review"] is True
    assert sheet(service, case_id, service.ours)["may_review"] is False
    assert found["words"]["he"]["supported"]["meaning"]
    # Nowhere a figure over all of a case.
    assert set(found["summary"]["counts"]) == {
        "honest_miss", "claims", "immaterial", "undecided", "disagreed", "by_verdict",
    }  # fmt: skip


def test_cases_are_narrowed_and_paged(service: Service, reviewer: dict[str, str], case_id: str) -> None:
    def listed(**parameters: Any) -> list[str]:
        answer = service.client.get("/evidence/cases", params=parameters, headers=reviewer)
        assert answer.status_code == HTTPStatus.OK, answer.text
        return [one["case_id"] for one in answer.json()]

    owner = sheet(service, case_id, reviewer)["case"]["owner"]
    everything = listed()
    assert listed(owner=owner, state="open", text="אישורי לתושב")[0] == case_id
    assert listed(owner="nobody") == []
    assert listed(text="אין מילה כזאת") == []
    assert case_id not in listed(state="done")
    for row in sheet(service, case_id, reviewer)["rows"]:
        body = {"claim_id": row["claim_id"], "verdict": VERDICT}
        made = service.client.post(f"/evidence/cases/{case_id}/decisions", json=body, headers=reviewer)
        assert made.status_code == HTTPStatus.CREATED
    assert case_id in listed(state="done", verdict="supported")
    assert case_id not in listed(verdict="not_supported")
    first = service.client.get("/evidence/cases", params={"size": 1}, headers=reviewer)
    assert f"after={everything[0]}" in first.headers["link"]
    assert listed(size=1, after=everything[0]) == everything[1:2]


@pytest.mark.parametrize(("form", "begins"), [("csv", b"\xef\xbb\xbf"), ("xlsx", b"PK")])
def test_the_sheet_is_saved_as_a_table(
    service: Service, reviewer: dict[str, str], case_id: str, form: str, begins: bytes
) -> None:
    answer = service.client.get(f"/evidence/cases/{case_id}/sheet", params={"format": form}, headers=reviewer)
    assert answer.status_code == HTTPStatus.OK
    assert answer.content.startswith(begins)
    assert f"evidence-{case_id[:12]}.{form}" in answer.headers["content-disposition"]
