"""How many passages hold each word of a query, as searches read it: counted once for many searches.

What a word weighs when a refusal is decided is the logarithm of its rarity, and counting the words of one query takes
the engine a quarter of what a leg does. So a count is kept for as long as the passages are about as many as they were:
so many new ones as could change its rarity by more than a tenth make it be counted again, and so does time, since a
document may be replaced by one of the same length. How many passages there are is asked every few seconds.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, NamedTuple

from query.build import Body
from query.evidence import Counts, counted
from query.filters import Clause
from search_config.client import Engine

# Seconds for which the number of all passages is taken as it was.
FRESH_S: Final = 10.0
# Seconds for which a word's count is, at most.
STEADY_S: Final = 600.0
# A word's count is counted again where the passages became more or fewer by over a tenth of it: its rarity may have
# moved by .1 then, of about 2 for a common word and 9 for a rare one. Of a word that none holds, by a single one.
MOVED: Final = 10
# Counts that are kept, of all tenants and filters; some megabytes. Then all are forgotten: it costs one count each.
KEPT: Final = 50_000

Clock = Callable[[], float]
# Index and filters; with a word, what is counted.
_Place = tuple[str, str]
_Key = tuple[str, str, str]


class _Kept(NamedTuple):
    """A word's count, when it was counted, and among how many passages."""

    at: float
    passages: int
    holding: int

    def stands(self, now: float, passages: int) -> bool:
        """Whether it is still about right."""
        return now - self.at < STEADY_S and abs(passages - self.passages) * MOVED <= self.holding


class WordCounts:
    """Counts by index, filters (the tenant's first) and word. Safe for several threads."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._all: dict[_Place, tuple[float, int]] = {}
        self._kept: dict[_Key, _Kept] = {}

    def known(self, header: Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts | None:
        """The counts, where all of them stand; else None."""
        place, now = _place(header, filters), self._clock()
        with self._lock:
            at, passages = self._all.get(place, (-math.inf, 0))
        if now - at >= FRESH_S:
            return None
        standing = self._standing(place, words, passages)
        return Counts(passages, tuple(standing[word] for word in words)) if standing.keys() >= set(words) else None

    def counted(self, engine: Engine, header: Body, filters: Sequence[Clause], words: Sequence[str]) -> Counts:
        """The counts. Those that are not known are asked for in one `_msearch`, and those that turn out not to stand
        any more in another one.

        Raises:
            EngineRejected, EngineOverloaded, EngineUnreachable
        """
        place, now = _place(header, filters), self._clock()
        with self._lock:
            at, passages = self._all.get(place, (-math.inf, 0))
        found: dict[str, int] = {}
        if now - at >= FRESH_S:
            # With the words that must be asked for however many there are.
            passages, found = self._asked(
                engine, header, filters, _without(self._standing(place, words, passages), words)
            )
        known = self._standing(place, words, passages) | found
        if missing := _without(known, words):
            known |= self._asked(engine, header, filters, missing, passages)[1]
        return Counts(passages, tuple(known[word] for word in words))

    def _asked(
        self,
        engine: Engine,
        header: Body,
        filters: Sequence[Clause],
        words: Sequence[str],
        passages: int | None = None,
    ) -> tuple[int, dict[str, int]]:
        """All passages, counted where their number is not given, and those that hold each word."""
        asked = counted(engine, header, filters, words, passages)
        found = dict(zip(words, asked.holding, strict=True))
        self._keep(_place(header, filters), self._clock(), asked.passages, found, anew=passages is None)
        return asked.passages, found

    def _standing(self, place: _Place, words: Iterable[str], passages: int) -> dict[str, int]:
        """The counts that stand among so many passages, by word."""
        now = self._clock()
        with self._lock:
            kept = {word: self._kept.get((*place, word)) for word in words}
        return {
            word: entry.holding for word, entry in kept.items() if entry is not None and entry.stands(now, passages)
        }

    def _keep(self, place: _Place, now: float, passages: int, counts: Mapping[str, int], *, anew: bool) -> None:
        with self._lock:
            if len(self._kept) > KEPT:
                self._kept.clear()
                self._all.clear()
            if anew:
                self._all[place] = now, passages
            self._kept.update({(*place, word): _Kept(now, passages, count) for word, count in counts.items()})


def _without(known: Mapping[str, int], words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in known]


def _place(header: Body, filters: Sequence[Clause]) -> _Place:
    return str(header["index"]), json.dumps(list(filters), sort_keys=True)
