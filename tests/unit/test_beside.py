"""Requests beside each other, and tries of a request that fails."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from query.beside import beside
from search_config import client
from search_config.client import UNREACHABLE_ATTEMPTS
from search_config.errors import EngineRejected, EngineUnreachable

NAME: ContextVar[str] = ContextVar("name", default="nobody")


def test_a_request_beside_runs_on_another_thread_with_what_is_bound_here() -> None:
    token = NAME.set("request 7")
    try:
        name, thread = beside(lambda: (NAME.get(), threading.get_ident())).result()
    finally:
        NAME.reset(token)
    assert name == "request 7"
    assert thread != threading.get_ident()


def test_its_error_is_raised_where_it_is_waited_for() -> None:
    def refused() -> None:
        raise EngineRejected("no")

    waiting = beside(refused)
    with pytest.raises(EngineRejected, match="no"):
        waiting.result()


def test_the_first_try_counts_as_one() -> None:
    tries = []

    def gone() -> None:
        tries.append(1)
        raise EngineUnreachable("gone")

    with pytest.raises(EngineUnreachable):
        client._with_retries(gone)
    assert len(tries) == UNREACHABLE_ATTEMPTS


def test_a_second_try_may_answer() -> None:
    tries = []

    def once() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise EngineUnreachable("gone")
        return "here"

    assert client._with_retries(once) == "here"
    assert len(tries) == 2


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:9200", True),
        ("http://[::1]:9200", True),
        ("https://localhost", True),
        ("http://opensearch:9200", False),
        ("https://10.0.0.7:9200", False),
    ],
)
def test_only_answers_over_a_network_are_packed(url: str, near: bool) -> None:
    assert client._on_this_machine(url) is near
