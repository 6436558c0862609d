"""What an operator sees: metrics, logs, the query log, traces; and what a request may take."""

from __future__ import annotations

import dataclasses
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from api import logs
from api.app import create_app
from api.query_log import QueryLog, QueryRow
from api.services import Services
from query.profile_parts import RefusalFeature, RefusalSpec
from search_config.client import Engine
from search_config.local_node import free_port
from tests.api.conftest import OURS, THEIRS, Service
from tests.api.problems import assert_problem

LOCAL = ("127.0.0.1", 50_000)
WORDS = "מתי מקבלים אישור חניה"
WAIT_S = 20.0


def until(holds: Callable[[], Any]) -> Any:
    """What `holds` gives, as soon as that is something; fails after some time."""
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        if found := holds():
            return found
        threading.Event().wait(0.05)
    raise AssertionError("it did not come to hold in time")


def with_settings(service: Service, **changed: Any) -> FastAPI:
    here = service.services
    return create_app(dataclasses.replace(here, settings=here.settings.model_copy(update=changed)))


def refusing(service: Service) -> Services:
    """The same services with a profile that refuses everything that it finds."""
    here = service.services
    strict = RefusalSpec(
        features={"coverage": RefusalFeature(weight=1.0, mean=0.5, deviation=0.25)},
        intercept=0.0,
        threshold=1.0,
        languages=("he",),
        chosen_by="a test",
    )
    profile = here.context.profile.model_copy(update={"refusal": strict})
    context = dataclasses.replace(here.context, profile=profile)
    return dataclasses.replace(here, context=context)


def numbers(text: str) -> dict[str, float]:
    return {
        f"{sample.name}{json.dumps(sample.labels, sort_keys=True)}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_of_routes_stages_and_states(service: Service) -> None:
    with TestClient(create_app(refusing(service)), client=LOCAL) as client:
        client.post("/search", json={"query": WORDS}, headers=service.ours)
        client.post("/search", json={"query": "חניה", "filters": {"tags": ["none"]}}, headers=service.ours)
        client.post("/search", json={"query": "מילה " * 300, "mode": "auto"}, headers=service.ours)
        client.get("/no/such/" + "x" * 50)
        answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = numbers(answer.text)
    assert found['mafteach_request_seconds_count{"method": "POST", "route": "/search", "status": "200"}'] == 3
    assert found['mafteach_request_seconds_count{"method": "GET", "route": "none", "status": "404"}'] == 1
    for stage in ("embed", "engine", "fuse", "refusal", "total"):
        assert found[f'mafteach_stage_seconds_count{{"route": "/search", "stage": "{stage}"}}'] == 3
    assert found['mafteach_refusals_total{"reason": "nothing_relevant", "route": "/search"}'] == 3
    assert found['mafteach_no_result_total{"route": "/search"}'] == 1
    # The search said in its notes that it read a part of the long query; the counter knows it by them.
    assert found['mafteach_truncations_total{"route": "/search", "what": "query"}'] == 1
    assert found['mafteach_documents{"state": "ready"}'] >= 2
    assert found["mafteach_engine_up{}"] == 1
    for secret in (OURS, THEIRS, "חניה", service.our_document, "xxxx"):
        assert secret not in answer.text


def test_metrics_count_bulk_outcomes(service: Service) -> None:
    with TestClient(with_settings(service), client=LOCAL) as client:
        wrong = json.dumps({"no_such_field": 1})
        action = json.dumps({"index": {"_index": service.services.info.names.documents, "_id": "never"}})
        service.services.engine.bulk([action, wrong])
        found = numbers(client.get("/metrics").text)
    assert found['mafteach_bulk_items_total{"action": "index", "outcome": "refused"}'] == 1


def test_metrics_are_not_for_tenants(service: Service) -> None:
    """Counts of all tenants less one's own are the others'."""
    with TestClient(with_settings(service), client=("10.1.2.3", 1)) as client:
        assert_problem(client.get("/metrics"), 401, "not_authenticated")
        assert_problem(client.get("/metrics", headers=service.ours), 401, "not_authenticated")
    with TestClient(with_settings(service), client=LOCAL) as client:
        assert client.get("/metrics").status_code == 200
        # A proxy on this machine asks for somebody else.
        assert_problem(client.get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"}), 401, "not_authenticated")
    with TestClient(with_settings(service, metrics_token=SecretStr("סוד")), client=LOCAL) as client:
        for sent in ({}, {"Authorization": "Bearer x"}, service.ours):
            assert_problem(client.get("/metrics", headers=sent), 401, "not_authenticated")
        good = {"Authorization": "Bearer סוד".encode()}
        assert client.get("/metrics", headers=good).status_code == 200  # type: ignore[arg-type]


def test_metrics_without_an_engine(service: Service) -> None:
    gone = Engine(f"http://127.0.0.1:{free_port()}", timeout_s=2)
    app = create_app(dataclasses.replace(service.services, engine=gone))
    with TestClient(app, client=LOCAL) as client:
        found = numbers(client.get("/metrics").text)
    gone.close()
    assert found["mafteach_engine_up{}"] == 0
    assert not any(name.startswith("mafteach_documents{") for name in found)


def test_every_answer_has_a_request_id(service: Service) -> None:
    client = service.client
    sent = client.post("/search", json={"query": WORDS}, headers={**service.ours, "X-Request-ID": "abc-1.2_3"})
    assert sent.headers["x-request-id"] == "abc-1.2_3"
    seen = {sent.headers["x-request-id"]}
    for wrong in ("", "a" * 65, "a b", 'a"b', "{}"):
        answer = client.get("/nowhere", headers={"X-Request-ID": wrong})
        assert logs.REQUEST_ID.fullmatch(answer.headers["x-request-id"])
        assert answer.headers["x-request-id"] not in seen | {wrong}
        seen.add(answer.headers["x-request-id"])


def test_logs_are_json_with_the_id_and_without_secrets(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    try:
        logs.configure()
        headers = {**service.ours, "X-Request-ID": "trace-me"}
        service.client.post("/search", json={"query": WORDS}, headers=headers)
        service.client.get("/documents", headers={"Authorization": "Bearer mk_wrong"})
        logging.getLogger("somebody.else").warning("a line of %s", "another library")
    finally:
        for handler in root.handlers[:]:
            root.removeHandler(handler)
        for handler in before[0]:
            root.addHandler(handler)
        root.setLevel(before[1])
    text = capsys.readouterr().err
    lines = [json.loads(line) for line in text.splitlines()]
    (ours,) = [line for line in lines if line.get("request_id") == "trace-me" and line["event"] == "request"]
    assert ours["path"] == "/search"
    assert ours["status"] == 200
    assert ours["tenant"] == OURS
    assert ours["took_ms"] > 0
    assert {"at", "level", "logger"} <= set(ours)
    assert [line["code"] for line in lines if line.get("status") == 401] == ["not_authenticated"]
    assert any(line["event"] == "a line of another library" for line in lines)
    secret = service.ours["Authorization"].rpartition("_")[2]
    assert secret not in text
    assert "חניה" not in text
    assert "mk_wrong" not in text


def rows(service: Service, tenant: str, request_id: str) -> list[QueryRow]:
    here = service.services
    here.engine.request("POST", f"/{here.info.names.queries}/_refresh")
    found = QueryLog(here.engine, here.info.names, days=1).rows(tenant)
    return [row for row in found if row.request_id == request_id]


@pytest.mark.parametrize("keeps_text", [False, True])
def test_the_query_log_says_who_asked_what_and_what_came_of_it(service: Service, keeps_text: bool) -> None:
    name = f"logged-{keeps_text}"
    here = refusing(service)
    settings = here.settings.model_copy(update={"query_log_text": keeps_text})
    with TestClient(create_app(dataclasses.replace(here, settings=settings))) as client:
        sent = {**service.ours, "X-Request-ID": name}
        body = {"query": WORDS, "filters": {"language": ["he"]}, "mode": "hybrid"}
        client.post("/search", json=body, headers=sent)
        client.post("/search", json={"query": WORDS, "filters": {"tags": ["none"]}}, headers=sent)
        client.post("/search", json={"query": ""}, headers=sent)
        client.get(f"/documents/{service.their_document}", headers=sent)
        client.get("/documents", headers={"X-Request-ID": name})
    # Closing the application has written what was left.
    found = sorted(rows(service, OURS, name), key=lambda row: row.at)
    assert [(row.path, row.status, row.code) for row in found] == [
        ("POST /search", 200, None),
        ("POST /search", 200, None),
        ("POST /search", 422, "empty_query"),
        ("GET /documents/{document_id}", 404, "not_found"),
    ]
    first, second = found[:2]
    assert first.query == (WORDS if keeps_text else None)
    assert first.filters == {"language": ["he"]}
    assert first.filter_names == ("language",)
    assert (first.mode, first.language, first.no_result) == ("hybrid", "he", False)
    assert first.hits is not None
    assert first.hits > 0
    assert {"request", "engine", "total"} <= set(first.took_ms)
    assert second.no_result is True
    assert (first.refused, first.reason) == (True, "nothing_relevant")
    assert rows(service, THEIRS, name) == []


def test_old_rows_go(service: Service) -> None:
    here = service.services
    log = QueryLog(here.engine, here.info.names, days=30)
    now = datetime.now(UTC)
    lines = []
    for days in (1, 29, 31, 400):
        at = now - timedelta(days=days)
        row = QueryRow(at=at, request_id=f"old-{days}", tenant="aged", caller="k", path="GET /x", status=200)
        lines += [json.dumps({"create": {"_index": here.info.names.queries}}), row.model_dump_json(exclude_none=True)]
    here.engine.bulk(lines, refresh="true")
    assert log.expire() == 2
    assert [row.request_id for row in log.rows("aged")] == ["old-1", "old-29"]
    assert [row.request_id for row in log.rows("aged", since=now - timedelta(days=2))] == ["old-1"]
    assert log.expire() == 0


def test_a_log_that_can_not_be_written_costs_no_request(service: Service) -> None:
    """Rows that are lost are counted: the engine of the log is gone, and then its queue is full."""
    gone = Engine(f"http://127.0.0.1:{free_port()}", timeout_s=2)
    lost: list[int] = []
    log = QueryLog(gone, service.services.info.names, days=1, rows_max=2)
    log.observe_lost(lost.append)
    row = QueryRow(at=datetime.now(UTC), request_id="r", tenant="t", caller="k", path="GET /x", status=200)
    for _ in range(5):
        log.write(row)
    assert lost == [1, 1, 1]
    log.start()
    until(lambda: sum(lost) == 5)
    log.close()
    gone.close()


def test_a_request_that_takes_too_long_is_answered(service: Service) -> None:
    release = threading.Event()
    app = with_settings(service, request_limit_s=0.3)

    @app.get("/slow")
    def slow() -> str:
        release.wait(WAIT_S)
        return "late"

    with TestClient(app) as client:
        began = time.monotonic()
        answer = client.get("/slow", headers=service.ours)
        assert time.monotonic() - began < 5
        body = assert_problem(answer, 503, "timed_out")
        assert "slow" not in body["detail"]
        assert answer.headers["retry-after"]
        assert answer.headers["x-request-id"]
        release.set()
        assert client.get("/healthz").status_code == 200


class Collector:
    """Takes what an OpenTelemetry exporter posts."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join(5)


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


@pytest.mark.extra("opentelemetry")
def test_traces_reach_a_collector(service: Service, collector: Collector) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    with TestClient(with_settings(service, otel_endpoint=collector.url)) as client:
        sent = {**service.ours, "X-Request-ID": "traced"}
        assert client.post("/search", json={"query": WORDS}, headers=sent).status_code == 200
    spans = {}
    for body in collector.bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                spans.update({span.name: span for span in scope.spans})
    whole = spans["POST /search"]
    assert "traced" in str(whole.attributes)
    assert "חניה" not in str(whole)
    for stage in ("embed", "engine", "refusal"):
        assert spans[stage].parent_span_id == whole.span_id
        assert whole.start_time_unix_nano <= spans[stage].start_time_unix_nano <= spans[stage].end_time_unix_nano
