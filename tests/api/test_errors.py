"""Every error, ours and the framework's, answers in the one shape, and tells nothing of what lies behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.errors import STATUSES, status_of
from api.keys import KeyStore
from api.limits import MAX_BODY_BYTES
from search_config import errors
from search_config.client import Engine
from search_config.errors import MafteachError
from search_config.local_node import free_port
from tests.api.conftest import Service
from tests.api.problems import assert_problem


def kinds(kind: type[MafteachError] = MafteachError) -> Iterator[type[MafteachError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from kinds(child)


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.code)
def test_every_error_becomes_a_problem(service: Service, kind: type[MafteachError]) -> None:
    app = create_app(service.services)

    @app.get("/fails")
    def fails() -> None:
        raise kind("It failed at 10.0.0.7.", where="GET http://10.0.0.7:9200/x \ud800", remedy="Do this.")

    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/fails", headers=service.ours)
    body = assert_problem(answer, status_of(kind), kind.code)
    if answer.status_code >= 500:
        assert "10.0.0.7" not in answer.text
        assert (answer.headers.get("retry-after") is not None) == (answer.status_code == 503)
    else:
        assert body["detail"] == "It failed at 10.0.0.7."
        assert body["remedy"] == "Do this."


def test_the_table_of_statuses() -> None:
    expected = {
        errors.EmptyQuery: 422,
        errors.QueryTooLong: 422,
        errors.InvalidSettings: 500,
        errors.InvalidProfile: 500,
        errors.UnknownTenant: 403,
        errors.AuthenticationError: 401,
        errors.NotFound: 404,
        errors.IndexMissing: 503,
        errors.IndexMismatch: 503,
        errors.EngineRejected: 500,
        errors.EngineUnreachable: 503,
        errors.EngineOverloaded: 503,
        errors.NodeDied: 503,
        errors.MissingExtra: 500,
        MafteachError: 500,
    }
    assert {kind: status_of(kind) for kind in expected} == expected
    assert set(STATUSES) <= set(kinds())


def test_an_unexpected_exception_tells_nothing(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(service.services)

    @app.get("/fails")
    def fails() -> None:
        raise ZeroDivisionError("the secret of tenant theirs")

    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/fails", headers=service.ours)
    assert_problem(answer, 500, "internal_error")
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "the secret of tenant theirs" in caplog.text


def test_no_such_route(service: Service) -> None:
    assert_problem(service.client.get("/nowhere"), 404, "no_such_route")
    assert_problem(service.client.get("/search/"), 404, "no_such_route")


def test_no_such_method(service: Service) -> None:
    answer = service.client.put("/search", json={})
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"]


def test_a_body_that_announces_too_much_is_not_read(service: Service) -> None:
    answer = service.client.post("/search", content=b" " * (MAX_BODY_BYTES + 1), headers=service.ours)
    assert_problem(answer, 413, "body_too_large")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_grows_too_large_is_refused(service: Service) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(11):
            yield b" " * (MAX_BODY_BYTES // 10)

    answer = service.client.post("/search", content=pieces(), headers=service.ours)
    assert "content-length" not in answer.request.headers
    assert_problem(answer, 413, "body_too_large")


def test_a_body_at_the_limit_is_read(service: Service) -> None:
    body = b'{"query": "\xd7\x97\xd7\xa0\xd7\x99\xd7\x94"}'
    padded = body + b" " * (MAX_BODY_BYTES - len(body))
    headers = {**service.ours, "Content-Type": "application/json"}
    assert service.client.post("/search", content=padded, headers=headers).status_code == 200


@pytest.fixture
def gone() -> Iterator[Engine]:
    """An engine that does not answer."""
    engine = Engine(f"http://127.0.0.1:{free_port()}", timeout_s=2)
    yield engine
    engine.close()


def test_the_engine_gone_between_key_and_search(service: Service, gone: Engine) -> None:
    here = service.services
    broken = dataclasses.replace(here, context=dataclasses.replace(here.context, engine=gone))
    with TestClient(create_app(broken), raise_server_exceptions=False) as client:
        answer = client.post("/search", json={"query": "חניה"}, headers=service.ours)
    assert_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "engine_unreachable")
    assert "127.0.0.1" not in answer.text
    assert int(answer.headers["retry-after"]) > 0


def test_the_engine_gone_altogether(service: Service, gone: Engine) -> None:
    here = service.services
    broken = dataclasses.replace(here, engine=gone, keys=KeyStore(gone, here.info.names))
    with TestClient(create_app(broken), raise_server_exceptions=False) as client:
        # Without an engine no key can be checked: that is no answer, and no permission either.
        search = client.post("/search", json={"query": "חניה"}, headers=service.ours)
        assert_problem(search, 503, "engine_unreachable")
        assert_problem(client.get("/readyz"), 503, "engine_unreachable")
        assert client.get("/healthz").json() == {"status": "ok"}
