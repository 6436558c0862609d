"""The OpenAPI description against the service: whatever it allows, and much that it does not, is answered as described.

`MAFTEACH_TEST_CASES=2000 pytest --timeout 0 tests/api/test_schemathesis.py` sends 2,000 cases; without the variable a
few hundred, so that the suite stays short.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.api.conftest import Service

pytest.importorskip("schemathesis")
import schemathesis
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

CASES = int(os.environ.get("MAFTEACH_TEST_CASES", "300"))
SEED = 8
# These would take away what the other cases are about.
KEPT = {("DELETE", "/documents/{document_id}")}


@pytest.mark.slow
def test_no_case_is_answered_otherwise_than_described(service: Service) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", service.client.app)
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    asked = [one for one in operations if (one.method.upper(), one.path) not in KEPT]
    assert len(asked) >= 10
    described = service.client.get("/openapi.json").json()["paths"]
    statuses: Counter[tuple[str, int]] = Counter()
    # A route that takes nothing has one case.
    with_input = [one for one in asked if _takes_something(described[one.path][one.method.lower()])]
    each = CASES // len(with_input) + 1

    for operation in asked:
        known = {int(status) for status in described[operation.path][operation.method.lower()]["responses"]}
        takes = operation in with_input
        wrong = described[operation.path][operation.method.lower()].get("requestBody") is not None
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE) if wrong else (GenerationMode.POSITIVE,):
            cases = max(1, each // 2 + 1 if wrong else each) if takes else 1
            ask(service, operation, operation.as_strategy(generation_mode=mode), known, cases, statuses)
    # As many as were asked for, and not all of them refused.
    assert sum(statuses.values()) >= CASES
    assert sum(count for (_, status), count in statuses.items() if status < 300) > 0, statuses


def _takes_something(operation: dict[str, Any]) -> bool:
    return bool(operation.get("parameters") or operation.get("requestBody"))


def ask(
    service: Service, operation: Any, cases_of: Any, known: set[int], cases: int, statuses: Counter[tuple[str, int]]
) -> None:
    """Cases of one operation; each is answered with a status that the description knows, in the one shape."""
    name = operation.label

    @seed(SEED)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases_of)
    def holds(case: Any) -> None:
        answer = sent(service, case)
        statuses[name, answer.status_code] += 1
        assert answer.status_code < 500, (name, answer.text)
        assert answer.status_code in known, (name, answer.status_code, answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == answer.status_code

    holds()


def _sendable(value: Any) -> Any:
    """A part of a form as a client can send it: numbers and the like as their text."""
    if isinstance(value, tuple):
        name, content, *rest = value
        return (name, _sendable(content), *rest)
    return value if isinstance(value, str | bytes) else str(value)


def sent(service: Service, case: Any) -> Any:
    """The case as a request with a valid key, whatever key the case made up."""
    made = case.as_transport_kwargs()
    headers = {
        str(name).encode(): str(value).encode("utf-8", "replace")
        for name, value in dict(made.get("headers") or {}).items()
        if str(name).lower() != "authorization"
    }
    headers.update({name.encode(): value.encode() for name, value in service.ours.items()})
    wanted = {name: made[name] for name in ("params", "json", "data", "files") if made.get(name) is not None}
    if isinstance(wanted.get("data"), str | bytes):
        wanted["content"] = wanted.pop("data")
    if "files" in wanted:
        parts = wanted["files"].items() if isinstance(wanted["files"], dict) else wanted["files"]
        wanted["files"] = [(part, _sendable(value)) for part, value in parts]
    return service.client.request(case.method, case.formatted_path, headers=list(headers.items()), **wanted)
