"""Requests to the engine that do not wait for each other: one is sent on another thread while the caller sends its own.

Only single requests go here, which never wait for another task, so that tasks can't block each other however many there
are. What is bound to a request (its id in the log) is bound for its tasks too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, TypeVar

Result = TypeVar("Result")

# As many as there are connections to the engine (`search_config.client.POOL_SIZE`): a task that has a thread has a
# connection too. Threads are started when they are needed.
THREADS: Final = 40

_pool: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="engine-request")


def beside(request: Callable[[], Result]) -> Future[Result]:
    """Begin a request; `result()` waits for it, and raises what it raised."""
    return _pool.submit(copy_context().run, request)
