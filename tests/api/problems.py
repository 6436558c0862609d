"""The one assertion on the shape of an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from api.errors import Problem


class Response(Protocol):
    """What is asked of an answer; the test client's class depends on its version."""

    @property
    def status_code(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def json(self) -> Any: ...


def assert_problem(response: Response, status: int, code: str) -> dict[str, Any]:
    """It is a problem with this status and code, and nothing else; gives its body."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert set(body) == set(Problem.model_fields)
    assert body["status"] == status
    assert body["code"] == code
    assert body["type"] == f"urn:mafteach:problem:{code}"
    assert body["detail"]
    assert "Traceback" not in response.text
    return body
