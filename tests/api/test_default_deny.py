"""Deny by default: every route that the application has, with every kind of credential.

Routes are read from the application itself. A new one is closed without anybody's doing (`api.gate`), and is asked here
without being listed; opening one takes a line in `OPEN` below.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.caller import Permission
from api.gate import OPEN_PATHS
from api.keys import KEY_PATTERN
from api.routes.page import PAGE_PATHS
from tests.api.conftest import OURS, THEIRS, Service, bearer
from tests.api.problems import assert_problem

# Routes that anyone may ask; they tell nothing of any tenant. /metrics has a lock of its own (test_metrics.py).
OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/metrics")}
OPEN |= {("GET", path) for path in PAGE_PATHS}
QUERY = "אישור חניה לתושב"
Route = tuple[str, str]


def routes_of(service: Service) -> set[Route]:
    return set(methods_and_paths(service.client.app.routes))  # type: ignore[attr-defined]


def closed(service: Service) -> list[Route]:
    return sorted(routes_of(service) - OPEN)


def methods_and_paths(routes: Iterable[Any]) -> Iterator[Route]:
    """Of all routes, included routers' too; fails for a kind of route that has no methods or no path."""
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from methods_and_paths(route.effective_candidates())
        else:
            yield from ((method, route.path) for method in route.methods - {"HEAD", "OPTIONS"})


def ask(service: Service, route: Route, headers: Any, *, valid: bool = True, **more: Any) -> Any:
    """One request: with what the route needs, or with nothing."""
    method, path = route
    path = re.sub(r"{[^}]+}", service.our_document, path)
    sent: dict[str, Any] = {}
    if valid and route == ("GET", "/search"):
        sent["params"] = {"q": QUERY}
    elif valid and route == ("DELETE", "/glossary"):
        sent["params"] = {"term": "מוקד"}
    elif valid and method == "POST" and path == "/documents":
        sent["json"] = {"text": "טקסט של מישהו אחר", "name": "parking.md", "source": "test:parking.md"}
    elif valid and path.endswith("/release"):
        sent = {}
    elif valid and method in ("POST", "PUT", "PATCH"):
        sent["json"] = {"query": QUERY} if path == "/search" else {"question": QUERY}
    sent["params"] = {**sent.get("params", {}), **more.pop("params", {})}
    return service.client.request(method, path, headers=headers, **sent, **more)


def test_only_these_routes_are_open(service: Service) -> None:
    assert routes_of(service) >= OPEN
    assert {path for _, path in OPEN} == OPEN_PATHS
    described = service.client.get("/openapi.json").json()["paths"]
    for method, path in closed(service):
        assert described[path][method.lower()]["security"], (method, path)


def test_a_route_that_forgets_to_ask_is_closed(service: Service) -> None:
    app = create_app(service.services)

    @app.get("/forgot")
    def forgot() -> str:
        return "something"

    with TestClient(app) as client:
        assert_problem(client.get("/forgot"), 401, "not_authenticated")
        assert client.get("/forgot", headers=service.ours).status_code == 200


def revoked(service: Service) -> str:
    created = service.services.keys.create(OURS)
    service.services.keys.revoke(OURS, created.id)
    return created.key


def other_secret(service: Service) -> str:
    key = service.services.keys.create(OURS).key
    last = "0" if key[-1] != "0" else "1"
    return key[:-1] + last


CREDENTIALS: dict[str, Callable[[Service], dict[str, str]]] = {
    "none": lambda _service: {},
    "empty": lambda _service: {"Authorization": ""},
    "no key": lambda _service: {"Authorization": "Bearer"},
    "blank key": lambda _service: {"Authorization": "Bearer  "},
    "malformed": lambda _service: {"Authorization": "Bearer mk_nothing"},
    "a path": lambda _service: {"Authorization": "Bearer mk_../../_search_" + "0" * 64},
    "not ASCII": lambda _service: {"Authorization": "Bearer mk_\u00e9"},
    "unknown": lambda _service: {"Authorization": f"Bearer mk_{'0' * 12}_{'0' * 64}"},
    "another secret": lambda service: {"Authorization": f"Bearer {other_secret(service)}"},
    "revoked": lambda service: {"Authorization": f"Bearer {revoked(service)}"},
    "another scheme": lambda service: {"Authorization": service.ours["Authorization"].replace("Bearer", "Basic")},
    "no scheme": lambda service: {"Authorization": service.ours["Authorization"].removeprefix("Bearer ")},
    "only the id": lambda service: {"Authorization": service.ours["Authorization"].rpartition("_")[0]},
    "key and more": lambda service: {"Authorization": service.ours["Authorization"] + " x"},
    "a tenant's name": lambda _service: {"Authorization": f"Bearer {OURS}", "X-Tenant": OURS, "Tenant": OURS},
}


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_without_a_valid_key_nothing_is_told(service: Service, credential: str) -> None:
    headers = {name: value.encode("latin-1") for name, value in CREDENTIALS[credential](service).items()}
    for route in closed(service):
        answer = ask(service, route, headers)
        body = assert_problem(answer, 401, "not_authenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer"), route
        assert service.our_document not in answer.text, route
        assert "tenant" not in (body["where"] or ""), route


def test_two_credentials_are_none(service: Service) -> None:
    """Whoever stands before the service may have looked at another one of them."""
    sent = [("Authorization", service.ours["Authorization"]), ("Authorization", service.theirs["Authorization"])]
    for route in closed(service):
        assert_problem(ask(service, route, sent), 401, "not_authenticated")


def test_a_wrong_request_without_a_key_is_denied_first(service: Service) -> None:
    for route in closed(service):
        assert_problem(ask(service, route, {}, valid=False), 401, "not_authenticated")
        # Nothing of the body is read, however it is made.
        broken = {"Content-Type": "application/json"}
        answer = service.client.request(route[0], ask_path(service, route), content=b"{" * 1000, headers=broken)
        assert_problem(answer, 401, "not_authenticated")


def ask_path(service: Service, route: Route) -> str:
    return re.sub(r"{[^}]+}", service.our_document, route[1])


def test_another_tenants_key_does_not_reach_our_document(service: Service) -> None:
    before = service.services.registry.require(OURS, service.our_document)
    for route in closed(service):
        answer = ask(service, route, service.theirs)
        assert "אישור חניה אחד" not in answer.text, route
        if "{document_id}" in route[1]:
            assert_problem(answer, 404, "not_found")
        else:
            assert service.our_document not in answer.text, route
    assert service.services.registry.require(OURS, service.our_document) == before


def test_a_tenant_in_the_url_is_refused_on_every_route(service: Service) -> None:
    """Who sends one must not believe that it counts; without a key it is the key that is missing."""
    created = service.services.keys.create(OURS, permissions=list(Permission))
    allowed = {"Authorization": f"Bearer {created.key}"}
    for route in closed(service):
        body = assert_problem(ask(service, route, allowed, params={"tenant": THEIRS}), 422, "invalid_request")
        assert "query.tenant" in body["where"], route
        assert_problem(ask(service, route, {}, params={"tenant": THEIRS}), 401, "not_authenticated")
    assert service.services.registry.get(OURS, service.our_document) is not None


def test_headers_name_no_tenant(service: Service) -> None:
    named = {**service.ours, "X-Tenant": THEIRS, "Tenant": THEIRS, "X-Forwarded-User": THEIRS}
    answer = service.client.post("/search", json={"query": QUERY}, headers=named)
    assert {hit["document_id"] for hit in answer.json()["hits"]} == {service.our_document}


def test_reading_allows_no_writing_and_nothing_allows_nothing(service: Service) -> None:
    keys = service.services.keys
    reader = {"Authorization": f"Bearer {keys.create(OURS, permissions=[Permission.READ]).key}"}
    nobody = {"Authorization": f"Bearer {keys.create(OURS, permissions=[]).key}"}
    writes = {("DELETE", "/documents/{document_id}"), ("POST", "/documents"),
              ("POST", "/documents/{document_id}/retry"), ("POST", "/documents/{document_id}/release")}  # fmt: skip
    for route in closed(service):
        assert_problem(ask(service, route, nobody), 403, "not_permitted")
        if route in writes:
            assert_problem(ask(service, route, reader), 403, "not_permitted")
    assert service.services.registry.get(OURS, service.our_document) is not None


def test_a_row_that_has_lost_its_tenant_lets_nobody_in(service: Service) -> None:
    """Fails closed: not an error of the service, and no tenant."""
    here = service.services
    created = here.keys.create(OURS)
    for broken in ("", "*", "ours,theirs"):
        change = {"doc": {"tenant": broken}}
        here.engine.request("POST", f"/{here.info.names.keys}/_update/{created.id}", body=change)
        answer = service.client.get("/documents", headers={"Authorization": f"Bearer {created.key}"})
        assert_problem(answer, 401, "not_authenticated")


def test_the_key_is_in_no_answer(service: Service) -> None:
    secret = service.ours["Authorization"].removeprefix("Bearer ")
    assert KEY_PATTERN.fullmatch(secret)
    for route in closed(service):
        if route[0] != "DELETE":
            answer = ask(service, route, service.ours, valid=False)
            assert secret not in answer.text
            assert secret not in str(answer.headers)


def test_a_key_that_is_revoked_is_refused_at_once(service: Service) -> None:
    created = service.services.keys.create(OURS)
    headers = {"Authorization": f"Bearer {created.key}"}
    assert service.client.get("/documents", headers=headers).status_code == 200
    service.services.keys.revoke(OURS, created.id)
    assert_problem(service.client.get("/documents", headers=headers), 401, "not_authenticated")
    assert bearer(service.services.keys, OURS) != headers


def test_the_limit_of_a_key(service: Service) -> None:
    here = service.services
    limited = here.settings.model_copy(update={"rate_limit_per_minute": 3})
    with TestClient(create_app(dataclasses.replace(here, settings=limited))) as client:
        for _ in range(3):
            assert client.get("/documents", headers=service.ours).status_code == 200
        answer = client.get("/documents", headers=service.ours)
        assert_problem(answer, 429, "rate_limited")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        # Another credential, of the same tenant too, has a limit of its own.
        assert client.get("/documents", headers=bearer(here.keys, OURS)).status_code == 200
        assert client.get("/healthz").status_code == 200


def test_our_key_works(service: Service) -> None:
    """An explicit allow, so that the rest is not true of a service that denies everyone."""
    answer = ask(service, ("POST", "/search"), service.ours)
    assert answer.status_code == 200
    assert answer.json()["hits"][0]["document_id"] == service.our_document
    assert ask(service, ("GET", "/documents/{document_id}"), service.ours).status_code == 200
    for method, path in OPEN - {("GET", "/metrics")}:
        assert service.client.request(method, path).status_code == 200


def test_the_scheme_is_not_case_sensitive(service: Service) -> None:
    headers = {"Authorization": service.ours["Authorization"].replace("Bearer", "bearer")}
    assert service.client.get("/documents", headers=headers).status_code == 200
