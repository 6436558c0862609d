"""Every exception class of opensearch-py becomes one of ours, by what it means."""

from __future__ import annotations

import inspect

import pytest
from opensearchpy import exceptions as foreign

from search_config.client import OVERLOADED_STATUSES, map_error, reason_of
from search_config.errors import EngineOverloaded, EngineRejected, EngineUnreachable, MafteachError

# One line a class: a new one in opensearch-py fails the test below until somebody has decided what it means.
MEANING: dict[str, type[MafteachError]] = {
    "AuthenticationException": EngineRejected,
    "AuthorizationException": EngineRejected,
    "ConflictError": EngineRejected,
    "ConnectionError": EngineUnreachable,
    "ConnectionTimeout": EngineUnreachable,
    "IllegalOperation": EngineRejected,
    "ImproperlyConfigured": EngineRejected,
    "NotFoundError": EngineRejected,
    "OpenSearchDslException": EngineRejected,
    "OpenSearchException": EngineRejected,
    "RequestError": EngineRejected,
    "SSLError": EngineUnreachable,
    "SerializationError": EngineRejected,
    "TransportError": EngineRejected,
    "UnknownDslObject": EngineRejected,
    "ValidationException": EngineRejected,
}


def _classes() -> dict[str, type[Exception]]:
    return {
        name: cls
        for name, cls in inspect.getmembers(foreign, inspect.isclass)
        if issubclass(cls, Exception) and not issubclass(cls, Warning) and cls.__module__ == foreign.__name__
    }


def test_every_class_has_a_meaning() -> None:
    assert set(_classes()) == set(MEANING)


def _made(cls: type[Exception], status: int | str) -> Exception:
    if issubclass(cls, foreign.TransportError):
        return cls(status, "reason_type", {"error": {"type": "t", "reason": "why"}})
    return cls("why")


@pytest.mark.parametrize("name", sorted(MEANING))
def test_mapping(name: str) -> None:
    cls = _classes()[name]
    error = _made(cls, "N/A" if issubclass(cls, foreign.ConnectionError) else 400)
    ours = map_error(error, "here")  # type: ignore[arg-type]
    assert type(ours) is MEANING[name]
    assert ours.where == "here"


@pytest.mark.parametrize("status", sorted(OVERLOADED_STATUSES))
def test_overload_by_status(status: int) -> None:
    ours = map_error(foreign.TransportError(status, "x", {"error": {"type": "t", "reason": "full"}}), "here")
    assert type(ours) is EngineOverloaded
    assert "full" in ours.what


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"error": {"type": "outer", "reason": "o", "caused_by": {"type": "inner", "reason": "i"}}}, "inner: i"),
        ({"error": {"type": "t", "reason": "all", "root_cause": [{"type": "r", "reason": "root"}]}}, "r: root"),
        (
            {
                "error": {
                    "type": "s",
                    "reason": "all shards failed",
                    "failed_shards": [{"reason": {"type": "x", "reason": "y"}}],
                }
            },
            "x: y",
        ),
        ({"error": "plain"}, "plain"),
        (None, "no reason given"),
        ({}, "no reason given"),
    ],
)
def test_the_innermost_reason(info: object, reason: str) -> None:
    assert reason_of(info) == reason
