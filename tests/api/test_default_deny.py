"""Deny by default: every route, with every kind of credential. A new route fails until it is listed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from api.keys import KEY_PATTERN
from tests.api.conftest import OURS, THEIRS, Service, bearer
from tests.api.problems import assert_problem

# Routes that anyone may ask; they tell nothing of any tenant.
OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/docs"), ("GET", "/openapi.json")}
# Routes that need a key, with what the key of another tenant gets for our document.
CLOSED = {
    ("POST", "/search"): 200,
    ("GET", "/search"): 200,
    ("GET", "/documents"): 200,
    ("GET", "/documents/{document_id}"): 404,
    ("GET", "/documents/{document_id}/text"): 404,
    ("DELETE", "/documents/{document_id}"): 404,
}
QUERY = "אישור חניה לתושב"


def routes_of(service: Service) -> set[tuple[str, str]]:
    return set(methods_and_paths(service.client.app.routes))  # type: ignore[attr-defined]


def methods_and_paths(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Of all routes, included routers' too; fails for a kind of route that has no methods or no path."""
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from methods_and_paths(route.effective_candidates())
        else:
            yield from ((method, route.path) for method in route.methods - {"HEAD", "OPTIONS"})


def ask(service: Service, method: str, path: str, headers: Any, *, valid: bool = True) -> Any:
    path = path.replace("{document_id}", service.our_document)
    if path == "/search" and method == "POST":
        return service.client.request(method, path, json={"query": QUERY} if valid else {}, headers=headers)
    if path == "/search":
        return service.client.request(method, path, params={"q": QUERY} if valid else {}, headers=headers)
    return service.client.request(method, path, headers=headers)


def test_every_route_is_listed(service: Service) -> None:
    assert routes_of(service) == OPEN | set(CLOSED)


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
@pytest.mark.parametrize(("method", "path"), list(CLOSED))
def test_without_a_valid_key_nothing_is_told(service: Service, method: str, path: str, credential: str) -> None:
    headers = {name: value.encode("latin-1") for name, value in CREDENTIALS[credential](service).items()}
    answer = ask(service, method, path, headers)
    body = assert_problem(answer, 401, "not_authenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert service.our_document not in answer.text
    assert "tenant" not in (body["where"] or "")


@pytest.mark.parametrize(("method", "path"), list(CLOSED))
def test_a_wrong_request_without_a_key_is_denied_first(service: Service, method: str, path: str) -> None:
    assert_problem(ask(service, method, path, {}, valid=False), 401, "not_authenticated")


@pytest.mark.parametrize(("method", "path"), list(CLOSED))
def test_another_tenants_key_does_not_reach_our_document(service: Service, method: str, path: str) -> None:
    answer = ask(service, method, path, service.theirs)
    assert answer.status_code == CLOSED[method, path], answer.text
    assert "אישור חניה אחד" not in answer.text
    if answer.status_code == 200:
        assert service.our_document not in answer.text
    else:
        assert_problem(answer, 404, "not_found")
    assert service.services.registry.get(OURS, service.our_document) is not None


@pytest.mark.parametrize(("method", "path"), list(CLOSED))
def test_a_tenant_in_the_url_is_refused_on_every_route(service: Service, method: str, path: str) -> None:
    """Who sends one must not believe that it counts; without a key it is the key that is missing."""
    path = path.replace("{document_id}", service.our_document)
    sent: dict[str, Any] = {"params": {"q": QUERY, "tenant": THEIRS} if path == "/search" else {"tenant": THEIRS}}
    if method == "POST":
        sent["json"] = {"query": QUERY}
    body = assert_problem(service.client.request(method, path, headers=service.ours, **sent), 422, "invalid_request")
    assert "query.tenant" in body["where"]
    assert_problem(service.client.request(method, path, **sent), 401, "not_authenticated")
    assert service.services.registry.get(OURS, service.our_document) is not None


@pytest.mark.parametrize(("method", "path"), sorted(OPEN))
def test_open_routes_need_no_key(service: Service, method: str, path: str) -> None:
    assert service.client.request(method, path).status_code == 200


def test_our_key_works(service: Service) -> None:
    """An explicit allow, so that the rest is not true of a service that denies everyone."""
    answer = ask(service, "POST", "/search", service.ours)
    assert answer.status_code == 200
    assert answer.json()["hits"][0]["document_id"] == service.our_document
    assert ask(service, "GET", "/documents/{document_id}", service.ours).status_code == 200


def test_a_revocation_holds_at_once(service: Service) -> None:
    headers = bearer(service.services.keys, THEIRS)
    assert service.client.get("/documents", headers=headers).status_code == 200
    match = KEY_PATTERN.fullmatch(headers["Authorization"].removeprefix("Bearer "))
    assert match is not None
    service.services.keys.revoke(THEIRS, match["id"])
    assert_problem(service.client.get("/documents", headers=headers), 401, "not_authenticated")


def test_the_scheme_is_not_case_sensitive(service: Service) -> None:
    headers = {"Authorization": service.ours["Authorization"].replace("Bearer", "bearer")}
    assert service.client.get("/documents", headers=headers).status_code == 200
