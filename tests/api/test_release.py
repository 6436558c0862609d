"""Quarantine over HTTP: what was read, listings by kind of doubt and of document, release with corrected fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ingest.compose import make_ingestor
from ingest.documents import RawDocument
from ingest.service import take
from tests.api.conftest import OURS, Service
from tests.api.problems import assert_problem

CONTRACT = """חוזה לאספקת ספסלים

נערך ונחתם ביום 31.2.2024 בין עיריית גבעת הדר (להלן: "המזמין") לבין נגריית האלה בע"מ (להלן: "הספק").

סך התמורה לפי החוזה הוא 8,000 ש"ח.
"""


@pytest.fixture(scope="module")
def doubtful(service: Service) -> Iterator[str]:
    """The id of a contract that was signed on a day that there is not."""
    here = service.services
    assert here.inbox is not None
    # Its worker reads no fields; these tests have one that does.
    here.inbox.close()
    ingestor = make_ingestor(here.engine, here.info, here.context.embedder, here.settings)
    raw = RawDocument(tenant=OURS, source="test:benches", name="benches.txt", data=CONTRACT.encode())
    # As an upload: its bytes are kept until somebody decides.
    row = ingestor.queue.enqueue(raw)
    take(ingestor, ingestor.queue, [row], lambda _: None, wait=True)
    row = here.registry.require(OURS, row.document_id)
    assert (row.state, row.reason_code) == ("quarantined", "doubtful_document")
    yield row.document_id
    ingestor.close()
    here.inbox.start()


def listed(service: Service, **parameters: str) -> list[dict[str, Any]]:
    answer = service.client.get("/documents", params=parameters, headers=service.ours)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def test_what_was_read_is_kept_and_shown(service: Service, doubtful: str) -> None:
    shown = service.client.get(f"/documents/{doubtful}", headers=service.ours).json()
    assert shown["issue_codes"] == ["impossible_date"]
    assert shown["type"] == "contract"
    amount = shown["extracted"]["amount"]
    assert (amount["status"], amount["origin"]) == ("value", "rules")
    place = amount["place"]
    text = service.client.get(f"/documents/{doubtful}/text", headers=service.ours).text
    assert text[place["from"] : place["to"]] == place["as_read"]


def test_listings_by_doubt_and_by_kind(service: Service, doubtful: str) -> None:
    (row,) = listed(service, state="quarantined", issue="impossible_date", type="contract")
    assert (row["id"], row["state"]) == (doubtful, "quarantined")
    assert listed(service, issue="ambiguous_date") == []
    assert listed(service, state="quarantined", type="invoice") == []
    theirs = service.client.get("/documents", params={"issue": "impossible_date"}, headers=service.theirs)
    assert theirs.json() == []
    summary = service.services.registry.summary(OURS)
    assert summary.by_issue == {"impossible_date": 1}
    assert summary.by_type["contract"] == {"quarantined": 1}
    assert sum(count for states in summary.by_type.values() for count in states.values()) == summary.documents


def test_corrections_that_do_not_hold_are_told_at_once_and_change_nothing(service: Service, doubtful: str) -> None:
    body = {"signed": "31.2.2024", "amount": -5, "colour": "red"}
    answer = service.client.post(f"/documents/{doubtful}/release", json=body, headers=service.ours)
    problem = assert_problem(answer, 422, "invalid_request")
    where = " ".join(item["where"] for item in problem["errors"])
    assert all(name in where for name in body), where
    assert [row["id"] for row in listed(service, state="quarantined")] == [doubtful]


def test_a_release_with_corrections_makes_it_ready_with_them(service: Service, doubtful: str) -> None:
    body = {"signed": "2024-02-29", "expires": "none"}
    answer = service.client.post(f"/documents/{doubtful}/release", json=body, headers=service.ours)
    assert answer.status_code == 202, answer.text
    here = service.services
    ingestor = make_ingestor(here.engine, here.info, here.context.embedder, here.settings)
    record = here.registry.require(OURS, doubtful)
    take(ingestor, ingestor.queue, [record], lambda _: None, wait=True)
    ingestor.close()
    shown = service.client.get(f"/documents/{doubtful}", headers=service.ours).json()
    assert (shown["state"], shown["issue_codes"]) == ("ready", [])
    signed = shown["extracted"]["signed"]
    assert (signed["value"], signed["origin"]) == ("2024-02-29", "person")
    assert shown["extracted"]["expires"]["status"] == "stated_none"
