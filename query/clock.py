"""Times by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MS_PER_S: Final = 1000.0


class Clock:
    """Milliseconds by stage; a stage that runs twice adds up."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.took[name] = self.took.get(name, 0.0) + (time.perf_counter() - start) * MS_PER_S
