"""The API's description, for machines and on the page at `/docs`."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from tests.api.conftest import Service


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()


def test_every_reference_leads_somewhere(service: Service) -> None:
    described = service.client.get("/openapi.json").json()
    known = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert references(described) <= known
    assert "HTTPValidationError" not in str(described)


def test_every_operation_says_what_it_does_and_how_it_fails(service: Service) -> None:
    described = service.client.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            assert operation["description"], (method, path)
            errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
            assert "500" in errors, (method, path)
            for status, answer in errors.items():
                assert list(answer["content"]) == ["application/problem+json"], (method, path, status)
            if operation.get("security"):
                assert {"401", "403", "503"} <= set(errors), (method, path)
    examples = described["components"]["schemas"]["SearchBody"]["examples"]
    assert service.client.post("/search", json=examples[0], headers=service.ours).status_code == 200


def test_the_page_lists_every_operation_and_loads_nothing(service: Service) -> None:
    described = service.client.get("/openapi.json").json()
    page = service.client.get("/docs").text
    for path, operations in described["paths"].items():
        assert f"<code>{path}</code>" in page
        for operation in operations.values():
            assert escape(operation["summary"]) in page
    assert not re.search(r"<script|src=|https?://", page)
