"""Every field of every request, with what nobody should send: a problem with a documented status, never a crash."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from models.base import Embedder
from search_config.client import Engine
from search_config.errors import ModelUnavailable
from search_config.local_node import free_port
from tests.api.conftest import Service
from tests.api.problems import assert_problem

TEN_MB = 10_000_000
# Of every kind that JSON has, and texts of every kind that people fear.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, -(2**63), 2**200, 0.5, -0.0, 1e308, "", " ", "a", "א", "\x00", "a\x00b",
    "\u202eאבג\u202c", "\u200f", "\ufeff", "\ud7ff", "\U0001f600" * 50, "a" * 5_000, "*", "?", "../../etc/passwd",
    "theirs", "ours,theirs", "{}", "tenant:theirs", "' OR 1=1 --", "<script>alert(1)</script>", "${jndi:ldap://x}",
    "1900-02-30", "9999-12-31", "0000-00-00", "-1", "NaN", "Infinity", [], [[]], [None], ["a", 1], ["*"], ["\x00"],
    ["a"] * 1_000, {}, {"a": 1}, {"query": {"match_all": {}}}, {"$gt": ""}, [{}], {"": None},
]  # fmt: skip
NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")
# What is asked right, so that one field at a time is wrong.
BODIES: dict[str, dict[str, Any]] = {
    "/search": {"query": "חניה"},
    "/answer": {"question": "כמה אישורי חניה?"},
    "/documents": {"text": "טקסט", "source": "fuzz:one"},
}


def schema_of(service: Service, path: str) -> dict[str, Any]:
    """The JSON schema of a path's body, with its references in place."""
    described = service.client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    body = described["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    found: dict[str, Any] = schemas[body["$ref"].rpartition("/")[2]] if "$ref" in body else body
    return {**found, "components": schemas}


def fields_of(service: Service, path: str) -> list[tuple[str, ...]]:
    """Every field of a body, and those of its filters."""
    schema = schema_of(service, path)
    found: list[tuple[str, ...]] = []
    for name, field in schema["properties"].items():
        found.append((name,))
        reference = field.get("$ref") or next((one.get("$ref") for one in field.get("allOf", ())), None)
        if reference:
            inner = schema["components"][reference.rpartition("/")[2]]
            found += [(name, inside) for inside in inner.get("properties", {})]
    return found


def with_field(body: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**body, path[0]: value}
    return {**body, path[0]: with_field({}, path[1:], value)}


def checked(answer: Any) -> None:
    if answer.status_code in (200, 202):
        return
    assert answer.status_code in (400, 403, 413, 422), answer.text
    assert_problem(answer, answer.status_code, answer.json()["code"])


@pytest.mark.parametrize("path", BODIES)
def test_every_field_of_a_body(service: Service, path: str) -> None:
    paths = fields_of(service, path)
    assert ("filters", "document_id") in paths or path == "/documents"
    for number, field in enumerate([*paths, ("unknown",), ("tenant",), ("filters", "tenant")]):
        # Every value for the first fields; a share of them for the many fields of filters, each value in some field.
        step = 2 if len(field) == 1 and path == "/search" else 6
        for value in VALUES[number % step :: step]:
            checked(service.client.post(path, json=with_field(BODIES[path], field, value), headers=service.ours))
        for text in NUMBERS[number % step :: step]:
            raw = json.dumps(with_field(BODIES[path], field, "@")).replace('"@"', text)
            headers = {**service.ours, "Content-Type": "application/json"}
            checked(service.client.post(path, content=raw, headers=headers))


@pytest.mark.parametrize("path", BODIES)
def test_bodies_of_every_kind(service: Service, path: str) -> None:
    headers = {**service.ours, "Content-Type": "application/json"}
    bodies: list[bytes] = [
        b"", b"null", b"[]", b'""', b"7", b"{", b"\xff\xfe", b"\x00" * 100, b"{" * 100_000, b"[" * 100_000,
        b'{"a":' * 50_000, b'{"query": "\\ud800", "question": "\\ud800", "text": "\\ud800"}',
        b'{"query": "a", "query": "b"}', b"\xef\xbb\xbf{}", json.dumps(BODIES[path]).encode("utf-16"),
    ]  # fmt: skip
    for body in bodies:
        answer = service.client.post(path, content=body, headers=headers)
        assert answer.status_code in (200, 400, 422), (body[:50], answer.text)
        if answer.status_code != 200:
            assert_problem(answer, answer.status_code, answer.json()["code"])


@pytest.mark.parametrize("path", [path for path in BODIES if path != "/documents"])
def test_ten_megabytes(service: Service, path: str) -> None:
    headers = {**service.ours, "Content-Type": "application/json"}
    body = json.dumps({**BODIES[path], "unknown": "a" * TEN_MB}).encode()
    assert_problem(service.client.post(path, content=body, headers=headers), 413, "body_too_large")
    assert_problem(service.client.post(path, content=body, headers={}), 401, "not_authenticated")


def test_parameters_of_urls(service: Service) -> None:
    client, headers = service.client, service.ours
    texts = [value for value in VALUES if isinstance(value, str)]
    for value in texts:
        for name in ("q", "size", "mode", "group", "tenant"):
            checked(client.get("/search", params={"q": "חניה", name: value}, headers=headers))
        for name in ("state", "size", "after"):
            checked(client.get("/documents", params={name: value}, headers=headers))
    for raw in ("q=%00", "q=%ff%fe", "q=%E2%80%AE", "q=a&q=b", "q", "=a", "size=1&size=2&q=a", "q=" + "a" * 5_000):
        checked(client.get(f"/search?{raw}", headers=headers))


@pytest.mark.parametrize("action", ["", "/text", "/file"])
def test_ids_of_documents(service: Service, action: str) -> None:
    ids = ["%00", "%2e%2e", "..%2f..%2fetc", "_search", "_all", "*", "%2A", "a" * 201, "%D7%90", "%ff", "%0a", "a,b",
           "%22", "-", "%F0%9F%98%80", "%E2%80%AE", "%3Fpretty"]  # fmt: skip
    for id_ in ids:
        answer = service.client.get(f"/documents/{id_}{action}", headers=service.ours)
        assert answer.status_code in (404, 422), (id_, answer.text)
        assert_problem(answer, answer.status_code, answer.json()["code"])


def test_headers(service: Service) -> None:
    for value in (
        "a" * 10_000,
        "Bearer " + "a" * 100_000,
        "Bearer \x01",
        "Bearer a,b",
        "bearer",
        "\t",
        "Bearer mk_" * 5,
    ):
        answer = service.client.get("/documents", headers={"Authorization": value})
        assert_problem(answer, 401, "not_authenticated")


@pytest.fixture
def gone() -> Iterator[Engine]:
    engine = Engine(f"http://127.0.0.1:{free_port()}", timeout_s=2)
    yield engine
    engine.close()


def test_no_route_passes_a_dead_engine_off_as_an_answer(service: Service, gone: Engine) -> None:
    """Searching, answering, listing with an engine that goes away behind the key: 503, and nothing of where it is."""
    here = service.services
    registry = type(here.registry)(gone, here.info, here.settings)
    broken = dataclasses.replace(here, context=dataclasses.replace(here.context, engine=gone), registry=registry)
    with TestClient(create_app(broken), raise_server_exceptions=False) as client:
        for path in ("/search", "/answer"):
            assert_problem(client.post(path, json=BODIES[path], headers=service.ours), 503, "engine_unreachable")
        for path in ("/documents", f"/documents/{service.our_document}", f"/documents/{service.our_document}/text"):
            answer = client.get(path, headers=service.ours)
            assert_problem(answer, 503, "engine_unreachable")
            assert "127.0.0.1" not in answer.text
            assert int(answer.headers["retry-after"]) > 0


class Broken:
    """The embedder, but for queries: they fail as a model does whose file has gone."""

    def __init__(self, real: Embedder) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        if name in ("embed_queries", "encode_queries"):
            return self._fail
        return getattr(self._real, name)

    def _fail(self, _texts: Any) -> Any:
        raise ModelUnavailable("The model's file is gone.", where="/secret/place", remedy="Unpack it again.")


def test_an_answer_of_one_leg_says_so(service: Service) -> None:
    """The other leg answers, the failed one is named, and metrics count it; alone, the failed leg is no answer."""
    here = service.services
    embedder: Any = Broken(here.context.embedder)
    one_leg = dataclasses.replace(here, context=dataclasses.replace(here.context, embedder=embedder))
    with TestClient(create_app(one_leg), client=("127.0.0.1", 1), raise_server_exceptions=False) as client:
        answer = client.post("/search", json={"query": "אישור חניה לתושב"}, headers=service.ours)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert [entry["leg"] for entry in body["degraded"]] == ["knn"]
        assert body["weights"]["knn"] == 0
        assert "secret" not in answer.text
        assert body["hits"][0]["document_id"] == service.our_document
        dense = client.post("/search", json={"query": "חניה", "mode": "dense"}, headers=service.ours)
        assert_problem(dense, 503, "model_unavailable")
        assert "secret" not in dense.text
        assert 'mafteach_degraded_total{leg="knn",route="/search"} 1.0' in client.get("/metrics").text
