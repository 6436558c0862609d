"""`/search` over HTTP: what it finds, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from api.schemas import SearchBody
from query.request import SearchRequest
from tests.api.conftest import Service
from tests.api.problems import assert_problem

RESULT_FIELDS = {
    "query", "language", "route", "filters", "refused", "reason", "profile", "index", "weights", "degraded", "notes",
    "total", "took_ms", "hits", "routed", "derived", "as_of", "metadata", "facets", "glossary", "did_you_mean", "sides",
}  # fmt: skip
HIT_FIELDS = {
    "rank", "document_id", "version", "content_hash", "chunk_id", "title", "section", "content", "language", "url",
    "locator", "confidence", "highlights", "cosine_distance", "scores", "superseded", "explanation",
}  # fmt: skip


def post(service: Service, **body: Any) -> Any:
    return service.client.post("/search", json=body, headers=service.ours)


def test_a_passage_is_found_and_stands_where_its_locator_says(service: Service) -> None:
    answer = post(service, query="כמה אישורים מקבל תושב לרכב")
    assert answer.status_code == 200, answer.text
    result = answer.json()
    assert set(result) == RESULT_FIELDS
    hit = result["hits"][0]
    assert set(hit) == HIT_FIELDS
    assert hit["document_id"] == service.our_document
    text = service.client.get(f"/documents/{service.our_document}/text", headers=service.ours).text
    assert text[hit["locator"]["from"] : hit["locator"]["to"]] == hit["content"]


def test_both_methods_give_the_same_hits(service: Service) -> None:
    posted = post(service, query="אישור חניה", size=3).json()
    got = service.client.get("/search", params={"q": "אישור חניה", "size": 3}, headers=service.ours).json()
    assert [hit["chunk_id"] for hit in posted["hits"]] == [hit["chunk_id"] for hit in got["hits"]]
    assert posted["hits"]


def test_a_body_is_a_request_without_its_tenant() -> None:
    assert set(SearchBody.model_fields) == set(SearchRequest.model_fields) - {"tenant", "groups"}


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid", "auto"])
def test_no_leg_gives_another_tenants_passages(service: Service, mode: str) -> None:
    answer = post(service, query="תוכנית אבטיח-כחול לפיתוח שכונת הפרדסים", mode=mode, size=100)
    assert answer.status_code == 200
    assert {hit["document_id"] for hit in answer.json()["hits"]} <= {service.our_document}
    assert service.their_document not in answer.text


def test_a_filter_on_another_tenants_document_finds_nothing(service: Service) -> None:
    answer = post(service, query="תוכנית", filters={"document_id": [service.their_document]})
    assert answer.status_code == 200
    assert answer.json()["hits"] == []


@pytest.mark.parametrize("field", ["tenant", "tenants", "groups"])
def test_an_unknown_field_of_a_body_is_refused(service: Service, field: str) -> None:
    body = assert_problem(post(service, query="חניה", **{field: "theirs"}), 422, "invalid_request")
    assert body["errors"] == [{"where": f"body.{field}", "what": "Extra inputs are not permitted"}]


@pytest.mark.parametrize("field", ["tenant", "tenants"])
def test_an_unknown_field_of_the_filters_is_refused(service: Service, field: str) -> None:
    answer = post(service, query="חניה", filters={field: ["theirs"]})
    body = assert_problem(answer, 422, "invalid_request")
    assert body["errors"][0]["where"] == f"body.filters.{field}"


def test_an_unknown_parameter_of_the_url_is_refused(service: Service) -> None:
    answer = service.client.get("/search", params={"q": "חניה", "tenant": "theirs"}, headers=service.ours)
    body = assert_problem(answer, 422, "invalid_request")
    assert body["errors"][0]["where"] == "query.tenant"


def test_all_problems_are_told_at_once(service: Service) -> None:
    answer = post(service, query=7, size=101, mode="fuzzy", filters={"date_from": "yesterday"})
    body = assert_problem(answer, 422, "invalid_request")
    assert {item["where"] for item in body["errors"]} == {
        "body.query",
        "body.size",
        "body.mode",
        "body.filters.date_from",
    }


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "empty_query"),
        ("   \n", "empty_query"),
        ("?!… ״ \"'", "empty_query"),
        ("\u200f\u202e", "empty_query"),
        ("א" * 100_000, "query_too_long"),
    ],
)
def test_a_query_that_is_none_is_refused(service: Service, query: str, code: str) -> None:
    assert_problem(post(service, query=query), 422, code)


def test_a_lone_surrogate_is_refused(service: Service) -> None:
    body = b'{"query": "\\ud800 \\u05d0"}'
    answer = service.client.post("/search", content=body, headers={**service.ours, "Content-Type": "application/json"})
    assert answer.status_code == 422
    assert_problem(answer, 422, "invalid_request")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b'"\xff\xfe"', 400),
        (b"[" * 100_000, 400),
        (b'{"query": "\\u05d0", "\\ud800": 1}', 422),
    ],
    ids=["nothing", "half", "list", "not UTF-8", "deep", "surrogate in a name"],
)
def test_a_body_that_is_none_is_refused(service: Service, body: bytes, status: int) -> None:
    answer = service.client.post("/search", content=body, headers={**service.ours, "Content-Type": "application/json"})
    assert_problem(answer, status, "invalid_request" if status == 422 else "bad_request")


@pytest.mark.parametrize(
    "query", ['"חניה', "(חניה", "*:* חניה", 'צה״ל צה"ל חניה', "חניה AND OR NOT", "content:חניה~2^9 {!}", "\\חניה/"]
)
def test_query_syntax_is_plain_text(service: Service, query: str) -> None:
    answer = post(service, query=query)
    assert answer.status_code == 200, answer.text
    assert answer.json()["hits"]


def test_answers_carry_the_security_headers(service: Service) -> None:
    for answer in (post(service, query="חניה"), post(service, query=""), service.client.get("/nowhere")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_one_row_a_document_in_both_doors(service: Service) -> None:
    posted = post(service, query="חניה", group=True).json()
    got = service.client.get("/search", params={"q": "חניה", "group": True}, headers=service.ours).json()
    documents = [hit["document_id"] for hit in posted["hits"]]
    every = post(service, query="חניה", size=100).json()
    assert documents == list(dict.fromkeys(hit["document_id"] for hit in every["hits"]))[: len(documents)]
    assert posted["total"] == len({hit["document_id"] for hit in every["hits"]})
    assert posted["hits"] == got["hits"]


def test_diversity_is_asked_for_within_its_limits(service: Service) -> None:
    assert "diversify" in post(service, query="חניה", mmr_lambda=0.7).json()["took_ms"]
    assert "diversify" not in post(service, query="חניה").json()["took_ms"]
    body = assert_problem(post(service, query="חניה", mmr_lambda=1.5), 422, "invalid_request")
    assert body["errors"][0]["where"] == "body.mmr_lambda"
