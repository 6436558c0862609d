"""How many passages hold each word of a query, as searches read it: counted once for the searches of some seconds.

What a word weighs when a refusal is decided is the logarithm of its rarity, which a few new passages hardly move;
counting the words of one query takes the engine a quarter of what a leg does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from query.build import Body
from query.evidence import Counts, counted
from query.filters import Clause
from search_config.client import Engine

# Seconds for which a count is taken as it was.
FRESH_S: Final = 10.0
# Counts that are kept, of all tenants and filters; some megabytes. Then all are forgotten: it costs one count each.
KEPT: Final = 50_000

Clock = Callable[[], float]
# Index, filters, word; no word for all passages that pass the filters.
_Key = tuple[str, str, str]
_ALL: Final = ""


class WordCounts:
    """Counts of the last seconds, by index, filters (the tenant's first) and word. Safe for several threads."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[_Key, tuple[float, int]] = {}

    def known(self, header: Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts | None:
        """The counts, where none of them is older than `FRESH_S`; else None."""
        oldest = self._clock() - FRESH_S
        found = []
        with self._lock:
            for key in _keys(header, filters, words):
                counted_at, count = self._kept.get(key, (oldest, 0))
                if counted_at <= oldest:
                    return None
                found.append(count)
        everything, *holding = found
        return Counts(everything, tuple(holding))

    def counted(self, engine: Engine, header: Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts:
        """The counts; those that are not known are asked for in one `_msearch`.

        Raises:
            EngineRejected, EngineOverloaded, EngineUnreachable
        """
        missing = [word for word in words if self.known(header, filters, [word]) is None]
        new = counted(engine, header, filters, missing)
        now = self._clock()
        with self._lock:
            if len(self._kept) > KEPT:
                self._kept.clear()
            for key, count in zip(_keys(header, filters, missing), (new.passages, *new.holding), strict=True):
                self._kept[key] = (now, count)
            found = [self._kept.get(key, (now, 0))[1] for key in _keys(header, filters, words)[1:]]
        return Counts(new.passages, tuple(found))


def _keys(header: Body, filters: Sequence[Clause], words: Sequence[str]) -> list[_Key]:
    passed = json.dumps(list(filters), sort_keys=True)
    return [(str(header["index"]), passed, word) for word in (_ALL, *words)]
