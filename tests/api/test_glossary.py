"""`/glossary`, and what it does to a search of the same tenant and of no other."""

from __future__ import annotations

import pytest

from tests.api.conftest import Service

ENTRY = {"term": "מוקד עירוני", "kind": "acronym", "equivalents": ["מו״ע"]}


def test_entries_are_written_listed_and_deleted_by_their_tenant(service: Service) -> None:
    client = service.client
    put = client.put("/glossary", json={"entries": [ENTRY]}, headers=service.ours)
    assert (put.status_code, put.json()) == (200, {"written": 1, "deleted": 0}), put.text
    assert client.get("/glossary", headers=service.ours).json() == {"entries": [ENTRY]}
    assert client.get("/glossary", headers=service.theirs).json() == {"entries": []}
    foreign = client.delete("/glossary", params={"term": ENTRY["term"]}, headers=service.theirs)
    assert foreign.status_code == 404
    gone = client.delete("/glossary", params={"term": ENTRY["term"]}, headers=service.ours)
    assert gone.json() == {"written": 0, "deleted": 1}
    assert client.get("/glossary", headers=service.ours).json() == {"entries": []}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"entries": [{"term": "x"}]},
        {"entries": [{"term": " ", "equivalents": ["y"]}]},
        {"entries": [{"term": "x", "equivalents": []}]},
        {"entries": [{"term": "x", "equivalents": ["y"], "tenant": "theirs"}]},
        {"entries": [], "tenant": "theirs"},
    ],
)
def test_a_wrong_body_is_refused(service: Service, body: dict[str, object]) -> None:
    assert service.client.put("/glossary", json=body, headers=service.ours).status_code == 422


@pytest.mark.parametrize(
    "more",
    [
        {"filters": {"signed_from": "2024-02-30"}},
        {"filters": {"amount_min": 5}},
        {"filters": {"currency": ["*"]}},
        {"filters": {"tenant": ["theirs"]}},
        {"filters": {"type": {"wildcard": "*"}}},
        {"route": "sideways"},
        {"facets": ["tenant"]},
        {"from": -1},
        {"weights": {"bm25": 0, "knn": 0}},
        {"weights": {"bm25": 2, "knn": 0}},
        {"groups": ["legal"]},
    ],
)
def test_a_search_is_closed(service: Service, more: dict[str, object]) -> None:
    answer = service.client.post("/search", json={"query": "חניה", **more}, headers=service.ours)
    assert answer.status_code == 422, answer.text
