"""Requests to the engine that do not wait for each other: one is sent on another thread while the caller sends its own.

Only single requests go here, which never wait for another task, so that tasks can't block each other however many there
are. What is bound to a request (its id in the log) is bound for its tasks too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from threading import Lock
from typing import Final, TypeVar

Result = TypeVar("Result")

# As many as there are connections to the engine (`search_config.client.POOL_SIZE`): a task that has a thread has a
# connection too. Threads are started when they are needed.
THREADS: Final = 40

_pool: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="engine-request")


def beside(request: Callable[[], Result]) -> Future[Result]:
    """Begin a request; `result()` waits for it, and raises what it raised."""
    return _pool.submit(copy_context().run, request)


class Crowd:
    """Those who work at this moment. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    @contextmanager
    def joined(self) -> Iterator[bool]:
        """Be one of them; gives whether there is no other one."""
        with self._lock:
            self._count += 1
            alone = self._count == 1
        try:
            yield alone
        finally:
            with self._lock:
                self._count -= 1


# The searches of this process. One that is alone has cores to spare: it sends requests beside its own work that would
# else be sent later, and fewer. Many at once are answered soonest by what is least work.
searches: Final = Crowd()
