"""`/documents` over HTTP."""

from __future__ import annotations

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from tests.api.conftest import OURS, PARKING, Service
from tests.api.problems import assert_problem


def test_a_listing_has_the_rows_that_the_architecture_names(service: Service) -> None:
    (row,) = service.client.get("/documents", headers=service.ours).json()
    assert list(row) == [
        "id",
        "name",
        "tenant",
        "state",
        "reason",
        "attempts",
        "chunks_generated",
        "chunks_indexed",
        "stamps",
    ]
    assert row["id"] == service.our_document
    assert row["name"] == "parking.md"
    assert row["tenant"] == OURS
    assert row["state"] == "ready"
    assert row["chunks_generated"] == row["chunks_indexed"] > 0


def test_a_listing_by_state(service: Service) -> None:
    ready = service.client.get("/documents", params={"state": "ready"}, headers=service.ours).json()
    assert [row["id"] for row in ready] == [service.our_document]
    assert service.client.get("/documents", params={"state": "failed"}, headers=service.ours).json() == []
    for wrong in ({"state": "lost"}, {"tenant": "theirs"}):
        assert_problem(service.client.get("/documents", params=wrong, headers=service.ours), 422, "invalid_request")


def test_one_document_and_its_text(service: Service) -> None:
    view = service.client.get(f"/documents/{service.our_document}", headers=service.ours).json()
    assert view["title"] == "נוהל אישורי חניה"
    assert "text" not in view
    text = service.client.get(f"/documents/{service.our_document}/text", headers=service.ours)
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "תושב רשאי לקבל אישור חניה אחד לכל רכב" in text.text
    assert "אבטיח" not in text.text


def test_what_is_not_there(service: Service) -> None:
    for path in ("/documents/nothing", "/documents/nothing/text", "/documents/%2e%2e", "/documents/_search"):
        answer = service.client.get(path, headers=service.ours)
        assert answer.status_code == 404, path
    assert_problem(service.client.get("/documents/nothing", headers=service.ours), 404, "not_found")
    assert_problem(service.client.delete("/documents/nothing", headers=service.ours), 404, "not_found")


def test_a_deleted_document_is_not_found_any_more(service: Service) -> None:
    here = service.services
    ingestor = Ingestor(here.engine, here.info, here.context.embedder, here.settings)
    raw = RawDocument(tenant=OURS, source="test:gone", name="gone.md", data=f"{PARKING}\nאבטיח-צהוב".encode())
    (outcome,) = ingestor.ingest([raw])
    found = service.client.post("/search", json={"query": "אבטיח-צהוב"}, headers=service.ours)
    assert outcome.document_id in found.text
    answer = service.client.delete(f"/documents/{outcome.document_id}", headers=service.ours)
    assert answer.status_code == 204
    assert answer.content == b""
    found = service.client.post("/search", json={"query": "אבטיח-צהוב", "size": 100}, headers=service.ours)
    assert found.status_code == 200
    assert outcome.document_id not in found.text
    assert_problem(service.client.get(f"/documents/{outcome.document_id}", headers=service.ours), 404, "not_found")
