"""`/feedback` over HTTP: who marked what, when; taken back by a row; seen by whom it may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.caller import Permission
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from search_config.errors import EngineRejected
from tests.api.conftest import OURS, Service
from tests.api.problems import assert_problem

QUERY = "כמה אישורים מקבל תושב לרכב"


def passage(service: Service, query: str = QUERY) -> dict[str, Any]:
    """The first hit, as a mark names it."""
    hit = service.client.post("/search", json={"query": query}, headers=service.ours).json()["hits"][0]
    return {name: hit[name] for name in ("document_id", "content_hash", "chunk_id", "locator")}


def body(service: Service, **other: Any) -> dict[str, Any]:
    return {"query": QUERY, "kind": "passage", "verdict": "right", "passages": [passage(service)], **other}


def key(service: Service, *permissions: Permission, groups: tuple[str, ...] = ()) -> dict[str, str]:
    made = service.services.keys.create(OURS, permissions=permissions, groups=groups)
    return {"Authorization": f"Bearer {made.key}"}


def post(service: Service, headers: dict[str, str] | None = None, **other: Any) -> Any:
    return service.client.post("/feedback", json=body(service, **other), headers=headers or service.ours)


def test_a_mark_says_who_when_and_what(service: Service) -> None:
    answer = post(service, verdict="picked", request_id="abc-1")
    assert answer.status_code == 201, answer.text
    mark = answer.json()
    caller = service.ours["Authorization"].removeprefix("Bearer mk_").partition("_")[0]
    assert (mark["tenant"], mark["caller"], mark["verdict"], mark["query"]) == (OURS, caller, "picked", QUERY)
    assert mark["at"].startswith("20")
    assert mark["passages"] == [passage(service)]
    listed = service.client.get("/feedback", headers=service.ours).json()
    assert listed[0] == {**mark, "withdrawn": False}


def test_an_answer_is_marked_with_its_citations_and_a_refusal_with_none(service: Service) -> None:
    found = service.client.post("/answer", json={"question": QUERY}, headers=service.ours).json()
    citations = [
        {name: one[name] for name in ("document_id", "content_hash", "chunk_id", "locator")}
        for one in found["citations"]
    ]
    assert citations
    marked = post(service, kind="answer", passages=citations)
    assert marked.status_code == 201, marked.text
    assert post(service, kind="answer", passages=[], refused=True).status_code == 201


def test_a_mark_is_taken_back_by_a_row_and_stays(service: Service) -> None:
    here = service.services
    mark = post(service).json()
    for _ in range(2):  # again, nothing changes
        answer = service.client.delete(f"/feedback/{mark['id']}", headers=service.ours)
        assert answer.json() == {**mark, "withdrawn": True}
    listed = service.client.get("/feedback", headers=service.ours).json()
    assert [one["withdrawn"] for one in listed if one["id"] == mark["id"]] == [True]
    rows = here.engine.search(here.info.names.feedback, {"query": {"term": {"withdraws": mark["id"]}}})["hits"]["hits"]
    assert len(rows) == 1
    assert rows[0]["_source"]["caller"] == mark["caller"]


def test_the_engine_writes_nothing_over(service: Service) -> None:
    here = service.services
    mark = post(service).json()
    for method, path, change in (
        ("PUT", f"_doc/{mark['id']}", {"at": mark["at"], "verdict": "wrong"}),
        ("POST", f"_update/{mark['id']}", {"doc": {"verdict": "wrong"}}),
        ("DELETE", f"_doc/{mark['id']}", None),
    ):
        with pytest.raises(EngineRejected):
            here.engine.request(method, f"/{here.info.names.feedback}/{path}", body=change)


def test_marks_are_ones_own_unless_one_reviews(service: Service) -> None:
    mark = post(service).json()
    colleague, reviewer = key(service, Permission.READ, Permission.WRITE), key(service, *Permission)

    def listed(headers: dict[str, str]) -> set[str]:
        return {one["id"] for one in service.client.get("/feedback", headers=headers).json()}

    assert mark["id"] not in listed(colleague) | listed(service.theirs)
    assert mark["id"] in listed(reviewer)
    for stranger in (colleague, service.theirs):
        assert_problem(service.client.delete(f"/feedback/{mark['id']}", headers=stranger), 404, "not_found")
    assert service.client.delete(f"/feedback/{mark['id']}", headers=reviewer).json()["withdrawn"]


def test_reading_alone_marks_nothing(service: Service) -> None:
    reader = key(service, Permission.READ)
    mark = post(service).json()
    assert_problem(post(service, headers=reader), 403, "not_permitted")
    assert_problem(service.client.delete(f"/feedback/{mark['id']}", headers=reader), 403, "not_permitted")


def test_what_one_may_not_see_is_not_marked_and_not_listed(service: Service, embedder: Embedder) -> None:
    here = service.services
    raw = RawDocument(
        tenant=OURS,
        source="test:board.md",
        name="board.md",
        data="החלטות הדירקטוריון על מיזוג".encode(),
        groups=("board",),
    )
    (outcome,) = Ingestor(here.engine, here.info, embedder, here.settings).ingest([raw])
    record = here.registry.require(OURS, outcome.document_id)
    place = {
        "document_id": record.document_id,
        "content_hash": record.content_hash,
        "locator": {"from": 0, "to": 7},
    }
    inside, outside = key(service, *Permission, groups=("board",)), key(service, *Permission)
    assert_problem(post(service, headers=outside, passages=[place]), 404, "not_found")
    mark = post(service, headers=inside, passages=[place]).json()
    assert mark["id"] in {one["id"] for one in service.client.get("/feedback", headers=inside).json()}
    assert mark["id"] not in {one["id"] for one in service.client.get("/feedback", headers=outside).json()}
    here.registry.delete(OURS, record.document_id)


def test_a_place_must_be_there(service: Service) -> None:
    found = passage(service)
    past = {**found, "locator": {"from": 10_000, "to": 10_001}}
    assert_problem(post(service, passages=[past]), 422, "invalid_request")
    assert_problem(post(service, passages=[{**found, "content_hash": "0" * 64}]), 409, "state_conflict")
    endless = json.dumps(body(service, passages=[found])).replace('"start_s": null', '"start_s": 1e999')
    sent = {**service.ours, "Content-Type": "application/json"}
    assert "1e999" in endless
    assert_problem(service.client.post("/feedback", content=endless, headers=sent), 422, "invalid_request")
    theirs = {**found, "document_id": service.their_document}
    assert_problem(post(service, passages=[theirs]), 404, "not_found")


@pytest.mark.parametrize(
    "change",
    [
        {"passages": []},
        {"kind": "answer", "verdict": "picked", "passages": []},
        {"refused": True},
        {"verdict": "maybe"},
        {"query": "?!"},
        {"query": ""},
        {"tenant": "theirs"},
        {"caller": "somebody"},
        {"at": "2020-01-01T00:00:00Z"},
        {"request_id": "a b"},
    ],
    ids=str,
)
def test_a_mark_that_does_not_hold_is_refused(service: Service, change: dict[str, Any]) -> None:
    assert post(service, **change).status_code == 422


def test_pages_join_up(service: Service) -> None:
    reviewer = key(service, *Permission)
    for _ in range(3):
        post(service, headers=reviewer)
    whole = service.client.get("/feedback", params={"size": 500}, headers=reviewer).json()
    paged: list[Any] = []
    after: dict[str, str] = {}
    while page := service.client.get("/feedback", params={"size": 2, **after}, headers=reviewer).json():
        paged += page
        after = {"after": page[-1]["id"]}
    assert paged == whole
    assert [one["at"] for one in whole] == sorted((one["at"] for one in whole), reverse=True)
