"""Uploads over HTTP: a document waits, becomes searchable, or fails with a reason, and comes out as it was sent."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.inbox import Inbox
from ingest.queue import Queue
from tests.api.conftest import OURS, Service
from tests.api.problems import assert_problem

WAIT_S = 60.0
WORKING = {"queued", "extracting", "embedding", "indexing"}
TEXT = "# שעות הקבלה\n\nהמוקד העירוני פתוח בימים א עד ה, בין 8:00 ל-16:00, בכניסה {mark}.\n"


def settled(service: Service, document_id: str) -> dict[str, Any]:
    """The document's row once it is not worked on any more."""
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        row: dict[str, Any] = service.client.get(f"/documents/{document_id}", headers=service.ours).json()
        if row["state"] not in WORKING:
            return row
        threading.Event().wait(0.1)
    raise AssertionError(f"the document is still {row['state']}")


def mark() -> str:
    return f"סימן-{uuid.uuid4().hex[:8]}"


def test_a_file_becomes_searchable_and_comes_out_as_it_was_sent(service: Service) -> None:
    word = mark()
    data = TEXT.format(mark=word).encode()
    answer = service.client.post(
        "/documents",
        files={"file": ("C:\\תיקיה\\שעות קבלה.md", data, "text/markdown")},
        data={
            "source": f"intranet:{word}",
            "url": "https://intranet.example/hours",
            "title": "שעות",
            "tags": ["מוקד", "hours"],
        },
        headers=service.ours,
    )
    assert answer.status_code == 202, answer.text
    row = answer.json()
    assert (row["name"], row["state"], row["tenant"]) == ("שעות קבלה.md", "queued", OURS)
    assert answer.headers["location"] == f"/documents/{row['id']}"
    ready = settled(service, row["id"])
    assert (ready["state"], ready["reason"]) == ("ready", None)
    assert (ready["url"], ready["title"]) == ("https://intranet.example/hours", "שעות")
    assert ready["tags"] == ["מוקד", "hours"]
    asked = {"query": word, "filters": {"tags": ["מוקד"]}}
    found = service.client.post("/search", json=asked, headers=service.ours).json()
    assert row["id"] in {hit["document_id"] for hit in found["hits"]}
    file = service.client.get(f"/documents/{row['id']}/file", headers=service.ours)
    assert file.content == data
    assert file.headers["content-type"] == "application/octet-stream"
    assert file.headers["content-disposition"].startswith("attachment; filename*=UTF-8''%D7%A9")
    assert_problem(service.client.get(f"/documents/{row['id']}/file", headers=service.theirs), 404, "not_found")


def test_a_text_in_json_and_the_same_source_again(service: Service) -> None:
    first, second, source = mark(), mark(), f"note:{uuid.uuid4()}"
    sent = {"text": TEXT.format(mark=first), "name": "note.md", "source": source}
    one = service.client.post("/documents", json=sent, headers=service.ours).json()
    settled(service, one["id"])
    sent["text"] = TEXT.format(mark=second)
    two = service.client.post("/documents", json=sent, headers=service.ours).json()
    assert two["id"] == one["id"]
    assert settled(service, one["id"])["version"] == 2
    text = service.client.get(f"/documents/{one['id']}/text", headers=service.ours).text
    assert second in text
    assert first not in text
    other = service.client.post("/documents", json=sent, headers=service.theirs).json()
    assert other["id"] != one["id"]


def test_a_document_that_fails_says_why_and_can_be_retried(service: Service) -> None:
    answer = service.client.post(
        "/documents", files={"file": ("broken.md", b"\x00\x01\x02\x03" * 100)}, headers=service.ours
    )
    row = settled(service, answer.json()["id"])
    assert row["state"] == "failed"
    assert row["reason"]
    again = service.client.post(f"/documents/{row['id']}/retry", headers=service.ours)
    assert again.status_code == 202, again.text
    assert again.json()["state"] == "queued"
    assert settled(service, row["id"])["state"] == "failed"
    released = service.client.post(f"/documents/{row['id']}/release", headers=service.ours)
    assert_problem(released, 409, "state_conflict")


def test_what_is_ready_can_not_be_retried(service: Service) -> None:
    answer = service.client.post(f"/documents/{service.our_document}/retry", headers=service.ours)
    assert_problem(answer, 409, "state_conflict")
    for action in ("retry", "release"):
        assert_problem(service.client.post(f"/documents/nothing/{action}", headers=service.ours), 404, "not_found")


def test_without_a_worker_documents_wait(service: Service) -> None:
    here = service.services
    waiting = Inbox(Queue(here.engine, here.info, here.settings), None)
    waiting.start()
    waiting.close()
    row = waiting.accept(raw := _raw())
    assert row.state == "queued"
    assert waiting.original(row) == raw.data
    here.registry.delete(OURS, row.document_id)


def _raw() -> Any:
    from ingest.documents import RawDocument

    return RawDocument(tenant=OURS, source=f"wait:{uuid.uuid4()}", name="wait.md", data=b"# waits\n\ntext")


def test_a_file_that_was_not_sent_is_not_given(service: Service) -> None:
    """The documents of these tests were ingested from memory: nothing was kept."""
    answer = service.client.get(f"/documents/{service.our_document}/file", headers=service.ours)
    assert_problem(answer, 404, "not_found")


BAD_JSON: dict[str, tuple[Any, str]] = {
    "a list": ([], "body"),
    "no text": ({"name": "a.md"}, "body.text"),
    "a number as text": ({"text": 7}, "body.text"),
    "an empty name": ({"text": "a", "name": ""}, "body.name"),
    "a name of two lines": ({"text": "a", "name": "a\nb.md"}, "body.name"),
    "a NUL": ({"text": "a", "name": "a\x00.md"}, "body.name"),
    "a name that turns": ({"text": "a", "name": "fdp\u202emd.exe"}, "body.name"),
    "a long name": ({"text": "a", "name": "a" * 256}, "body.name"),
    "a long source": ({"text": "a", "source": "a" * 1001}, "body.source"),
    "a script as an address": ({"text": "a", "url": "javascript:alert(1)"}, "body.url"),
    "a file as an address": ({"text": "a", "url": "file:///etc/passwd"}, "body.url"),
    "groups as text": ({"text": "a", "groups": "legal"}, "body.groups"),
    "too many groups": ({"text": "a", "groups": [str(n) for n in range(101)]}, "body.groups"),
    "a tag of two lines": ({"text": "a", "tags": ["a\nb"]}, "body.tags.0"),
    "a tenant": ({"text": "a", "tenant": "theirs"}, "body.tenant"),
    "a payload": ({"text": "a", "payload": "file:///etc/passwd"}, "body.payload"),
}


@pytest.mark.parametrize("kind", BAD_JSON)
def test_json_that_does_not_hold(service: Service, kind: str) -> None:
    body, where = BAD_JSON[kind]
    answer = service.client.post("/documents", json=body, headers=service.ours)
    problem = assert_problem(answer, 422, "invalid_request")
    assert where in {item["where"] for item in problem["errors"]}, problem["errors"]


Post = Callable[[TestClient, dict[str, str]], Any]
FILE = ("a.md", b"# a\n\ntext")
BAD_FORMS: dict[str, tuple[Post, int, str]] = {
    "no file": (lambda c, h: c.post("/documents", files={"other": FILE}, headers=h), 422, "invalid_request"),
    "a field as a file": (lambda c, h: c.post("/documents", files={"file": FILE, "title": FILE}, headers=h), 400,
                          "bad_request"),
    "two files": (lambda c, h: c.post("/documents", files=[("file", FILE), ("file", FILE)], headers=h), 400,
                  "bad_request"),
    "an unknown field": (lambda c, h: c.post("/documents", files={"file": FILE}, data={"tenant": "theirs"}, headers=h),
                         422, "invalid_request"),
    "a title twice": (lambda c, h: c.post("/documents", files={"file": FILE}, data={"title": ["a", "b"]}, headers=h),
                      422, "invalid_request"),
    "a long field": (lambda c, h: c.post("/documents", files={"file": FILE}, data={"title": "a" * 200_000}, headers=h),
                     400, "bad_request"),
    "an empty file": (lambda c, h: c.post("/documents", files={"file": ("a.md", b"")}, headers=h), 422,
                      "empty_document"),
    "no name": (lambda c, h: c.post("/documents", files={"file": ("..\\", b"x")}, headers=h), 422, "invalid_request"),
    "another type": (lambda c, h: c.post("/documents", content=b"x", headers={**h, "Content-Type": "text/plain"}), 422,
                     "invalid_request"),
    "no type": (lambda c, h: c.post("/documents", content=b"x", headers=h), 422, "invalid_request"),
    "no boundary": (lambda c, h: c.post("/documents", content=b"x",
                                        headers={**h, "Content-Type": "multipart/form-data"}),
                    400, "bad_request"),
    "broken form": (lambda c, h: c.post("/documents", content=b"--y\r\nnonsense",
                                        headers={**h, "Content-Type": "multipart/form-data; boundary=x"}),
                    400, "bad_request"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FORMS)
def test_forms_that_do_not_hold(service: Service, kind: str) -> None:
    post, status, code = BAD_FORMS[kind]
    assert_problem(post(service.client, service.ours), status, code)


def test_uploads_have_a_limit_of_their_own(service: Service) -> None:
    import dataclasses

    here = service.services
    small = here.settings.model_copy(update={"upload_max_bytes": 2_000_000, "max_file_bytes": 1_500_000})
    with TestClient(create_app(dataclasses.replace(here, settings=small))) as client:
        headers = {**service.ours, "Content-Type": "application/json"}
        over = client.post("/documents", content=b" " * 2_000_001, headers=headers)
        assert_problem(over, 413, "body_too_large")
        body = json.dumps({"text": "a" * 1_600_000})
        assert_problem(client.post("/documents", content=body, headers=headers), 413, "document_too_large")
        assert_problem(client.post("/search", content=b" " * 1_000_001, headers=headers), 413, "body_too_large")


def test_a_listing_in_pages_sees_every_document_once(service: Service) -> None:
    client = service.client
    for number in range(4):
        client.post("/documents", json={"text": f"עמוד {number}", "source": f"p:{number}"}, headers=service.theirs)
    seen: list[str] = []
    address = "/documents?size=2"
    while address:
        answer = client.get(address, headers=service.theirs)
        page = [row["id"] for row in answer.json()]
        assert 0 < len(page) <= 2
        seen += page
        link = answer.headers.get("link", "")
        assert link == "" or link.endswith('; rel="next"')
        address = link[1 : link.index(">")] if link else ""
    everything = [row["id"] for row in client.get("/documents", headers=service.theirs).json()]
    assert seen == everything
    assert len(seen) >= 5
    for wrong in ({"size": 0}, {"size": 1001}, {"size": "x"}, {"after": ""}):
        assert_problem(client.get("/documents", params=wrong, headers=service.theirs), 422, "invalid_request")
