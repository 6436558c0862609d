"""How many passages hold each word of a query, as searches read it: counted once for the searches of some seconds.

What a word weighs when a refusal is decided is the logarithm of its rarity, which a few new passages hardly move;
counting the words of one query takes the engine a quarter of what a leg does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
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
# Index and filters; with a word, what is counted: no word for all passages that pass the filters.
_Place = tuple[str, str]
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
        fresh = self._fresh(_place(header, filters), (_ALL, *words))
        if len(fresh) < len({_ALL, *words}):
            return None
        return Counts(fresh[_ALL], tuple(fresh[word] for word in words))

    def counted(self, engine: Engine, header: Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts:
        """The counts; those that are not known are asked for in one `_msearch`.

        Raises:
            EngineRejected, EngineOverloaded, EngineUnreachable
        """
        place = _place(header, filters)
        known = self._fresh(place, words)
        missing = [word for word in words if word not in known]
        asked = counted(engine, header, filters, missing)
        new = {_ALL: asked.passages, **dict(zip(missing, asked.holding, strict=True))}
        now = self._clock()
        with self._lock:
            if len(self._kept) > KEPT:
                self._kept.clear()
            self._kept.update({(*place, word): (now, count) for word, count in new.items()})
        every = known | new
        return Counts(every[_ALL], tuple(every[word] for word in words))

    def _fresh(self, place: _Place, words: Iterable[str]) -> dict[str, int]:
        """The counts that are not too old, by word."""
        oldest = self._clock() - FRESH_S
        with self._lock:
            kept = {word: self._kept.get((*place, word)) for word in words}
        return {word: entry[1] for word, entry in kept.items() if entry is not None and entry[0] > oldest}


def _place(header: Body, filters: Sequence[Clause]) -> _Place:
    return str(header["index"]), json.dumps(list(filters), sort_keys=True)
