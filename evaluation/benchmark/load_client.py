"""Clients of a load test: threads with a connection each, bounded in number; every answer is recorded.

Threads and not locust: that replaces the sockets and threads of its whole process by gevent's, and a benchmark shares
its process with the engine's client and the model.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import numpy as np

# A client gives up then: later than the service does (MAFTEACH_REQUEST_LIMIT_S).
TIMEOUT_S: Final = 70.0
# What the service may answer where it has too much to do.
REFUSALS: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
# Who is refused waits as long as it is told, but no longer than a test can.
WAIT_MAX_S: Final = 2.0
MS: Final = 1000.0

Kind = Literal["search", "answer", "upload"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to be sent."""

    kind: Kind
    tenant: str
    body: Mapping[str, Any]

    @property
    def path(self) -> str:
        return {"search": "/search", "answer": "/answer", "upload": "/documents"}[self.kind]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `status` is 0 where the connection broke; `at` is when it ended, on the monotonic clock."""

    kind: Kind
    tenant: str
    status: int
    seconds: float
    at: float
    retry_after: str | None = None

    @property
    def done(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def refused(self) -> bool:
        """Refused as it should be: with the word when to come again."""
        return self.status in REFUSALS and bool(self.retry_after)


class Client:
    """One connection, kept open; not for several threads."""

    def __init__(self, url: str, keys: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), parts.port
        self._keys = keys
        self._connection: http.client.HTTPConnection | None = None

    def send(self, call: Call) -> Outcome:
        """Send, and read the whole answer."""
        begin = time.monotonic()
        status, retry_after = 0, None
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)
            headers = {"Authorization": f"Bearer {self._keys[call.tenant]}", "Content-Type": "application/json"}
            self._connection.request("POST", call.path, json.dumps(call.body), headers)
            answer = self._connection.getresponse()
            answer.read()
            status, retry_after = answer.status, answer.getheader("Retry-After")
        except (OSError, http.client.HTTPException):
            self.close()
        end = time.monotonic()
        return Outcome(call.kind, call.tenant, status, end - begin, end, retry_after)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Clients:
    """Many clients of one service."""

    def __init__(self, url: str, keys: Mapping[str, str]) -> None:
        self._url, self._keys = url, keys

    @contextmanager
    def one(self) -> Iterator[Client]:
        """A client for one thread."""
        client = Client(self._url, self._keys)
        try:
            yield client
        finally:
            client.close()

    def at_rate(self, calls: Iterator[Call], rate: float, seconds: float, *, most: int) -> list[Outcome]:
        """Send calls at a rate, whether or not earlier ones are answered, with `most` under way at once: what finds no
        free client then is sent late."""
        begin = time.monotonic()
        lock, outcomes = threading.Lock(), list[Outcome]()
        count = max(1, round(rate * seconds))
        turns = iter(enumerate(call for _, call in zip(range(count), calls, strict=False)))

        def work() -> None:
            with self.one() as client:
                while True:
                    with lock:
                        number, call = next(turns, (0, None))
                    if call is None:
                        return
                    time.sleep(max(0.0, begin + number / rate - time.monotonic()))
                    outcomes.append(client.send(call))

        with ThreadPoolExecutor(most, thread_name_prefix="load") as pool:
            for future in [pool.submit(work) for _ in range(min(most, count))]:
                future.result()
        return outcomes

    def in_turn(self, calls: Sequence[Iterator[Call]], ends: threading.Event, seconds: float) -> list[Outcome]:
        """One thread for each iterator sends its calls one after the other, until the time is over or `ends` is set;
        who is refused waits as it was told."""
        until, outcomes = time.monotonic() + seconds, list[Outcome]()

        def work(own: Iterator[Call]) -> None:
            with self.one() as client:
                while time.monotonic() < until and not ends.is_set():
                    outcome = client.send(next(own))
                    outcomes.append(outcome)
                    if outcome.refused:
                        ends.wait(min(WAIT_MAX_S, float(outcome.retry_after or 0)))

        with ThreadPoolExecutor(len(calls), thread_name_prefix="load") as pool:
            for future in [pool.submit(work, own) for own in calls]:
                future.result()
        return outcomes


def quantile_ms(outcomes: Sequence[Outcome], share: float) -> float:
    """Of the answered ones; infinite where there are none."""
    times = [outcome.seconds for outcome in outcomes if outcome.done]
    return float(np.quantile(np.array(times), share)) * MS if times else float("inf")
