"""An end for a whole run that starts nodes: where it stands still, the nodes are killed, and whatever waits is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

from search_config.errors import MafteachError, NodeTimeout

# Between two kills after the end: a node that was being started at that moment is found by the next one.
AGAIN_S: Final = 1.0


class Deadline:
    """Used as a context manager. Each wait has an end of its own, but many of them in a row, on a machine that is too
    small, take hours: so there is one over all. After it the nodes are killed; calls to them fail at once, and the
    first error that ends the block becomes a `NodeTimeout` that says where it stood.

    Attributes:
        place: what is done now, in words; told at the end.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.place = "the start"
        self._ends_at = time.monotonic() + limit_s
        self._killers: list[Callable[[], None]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deadline", daemon=True)

    def kills(self, killer: Callable[[], None]) -> None:
        """Call `killer` after the end, several times; it raises nothing of a node that does not run."""
        self._killers.append(killer)

    @property
    def left_s(self) -> float:
        """Seconds until the end; negative after it."""
        return self._ends_at - time.monotonic()

    def __enter__(self) -> Deadline:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        if isinstance(error, MafteachError) and self.left_s <= 0:
            raise NodeTimeout(
                f"The run did not end within {self.limit_s:.0f} s and was given up in {self.place}: {error}",
                remedy="Run it on a machine with more free cores and memory, or fewer phases of it.",
            ) from error

    def _watch(self) -> None:
        if self._done.wait(self.limit_s):
            return
        while True:
            for kill in tuple(self._killers):
                kill()
            if self._done.wait(AGAIN_S):
                return
