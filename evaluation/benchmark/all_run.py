"""The time of `mafteach bench all --quick`: it ends within a quarter of an hour, whatever the machine. Pure.

What would end too late is left out, and its rows are open. How long a benchmark takes is known of two idle cores; a
machine that was slower so far will be slower still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

# Some seconds less than a quarter of an hour: the last one may take longer than it is known for.
LIMIT_S: Final = 880.0
# Seconds of each quick run on two cores that do little else.
TYPICAL_S: Final[Mapping[str, float]] = {
    "search": 55,
    "peers": 85,
    "rerank": 15,
    "ingest": 60,
    "scale": 50,
    "cold": 12,
    "faults": 60,
    "cluster": 145,
    "load": 160,
    "embed": 5,
    "workers": 60,
    "mutate": 10,
}


def ends_in_time(name: str, elapsed_s: float, done: Sequence[str]) -> bool:
    """Whether one more benchmark ends within the limit.

    Args:
        name: of it; one without a known time is believed to take none.
        elapsed_s: since the beginning.
        done: those that ran until now.
    """
    known = sum(TYPICAL_S.get(one, 0.0) for one in done)
    slowness = max(1.0, elapsed_s / known) if known else 1.0
    return elapsed_s + slowness * TYPICAL_S.get(name, 0.0) <= LIMIT_S
