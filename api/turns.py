"""Turns: how many requests are worked on at once, in what order, and how many may wait.

One tenant alone may have `at_once` requests under way. As soon as others ask too, each has its part of the processor's
cores, one request at least, and what is more waits in its tenant's own queue; queues are served in turn. So a tenant at
full blast delays itself and not the others, whose first requests never wait for it to finish.

Queues are bounded. A request that finds its tenant's queue full is answered 429, one that finds the service full 503,
and so is one whose turn does not come in time; all at once, and each says when to come again.

Used on one event loop; nothing here is locked.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from search_config.errors import Busy, TenantBusy

# Requests of one tenant alone, for each core: while some wait for the engine another computes. Two leave a core idle at
# times: four answer 7% more searches of 16 clients (docs/benchmarks.md).
PER_CORE: Final = 4
# All tenants together, and as many beside them that wait for a language model; together below the 40 threads that serve
# requests, so that credentials can be looked up meanwhile.
TOTAL, TOTAL_REMOTE = 24, 12
# In place of cores where the work is another machine's.
REMOTE_CORES: Final = 6
# Queues of this many tenants may be full before the service as a whole is.
FULL_QUEUES: Final = 4
# Who asked in this time is counted among those who share the cores.
ACTIVE_S: Final = 5.0
# Whose turn has not come in this time is told to come again, long before the client gives up.
PATIENCE_S: Final = 10.0
# A new observation's part in the average time of a request.
_NEW: Final = 0.1
# Until there is an observation; a search takes less.
_FIRST_S: Final = 0.1


class Turns:
    """Who may be worked on now."""

    def __init__(
        self,
        *,
        cores: int,
        waiting: int,
        total: int = TOTAL,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make one.

        Args:
            cores: of the processor.
            waiting: requests of one tenant that may wait.
            total: requests of all tenants that may be under way.
            patience_s: seconds that a request may wait.
            clock: seconds that only rise.
        """
        self._cores = cores
        self._at_once = PER_CORE * cores
        self._waiting = waiting
        self._total = total
        self._patience_s = patience_s
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._seen: dict[str, float] = {}
        # In the order of their turns; a tenant without waiting requests is not here.
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_s = _FIRST_S

    @property
    def running(self) -> int:
        """Requests under way."""
        return self._running.total()

    @property
    def queued(self) -> int:
        """Requests that wait."""
        return sum(len(queue) for queue in self._queues.values())

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it.

        Raises:
            TenantBusy: this tenant's queue is full, or its turn did not come in time.
            Busy: the service's queues are.
        """
        await self._taken(tenant)
        begin = self._clock()
        try:
            yield
        finally:
            self._mean_s += _NEW * (self._clock() - begin - self._mean_s)
            self._release(tenant)

    async def _taken(self, tenant: str) -> None:
        now = self._clock()
        self._seen[tenant] = now
        if len(self._seen) > self._total:
            self._seen = {name: at for name, at in self._seen.items() if now - at < ACTIVE_S}
        if tenant not in self._queues and self._may_run(tenant):
            self._running[tenant] += 1
            return
        queue = self._queues.get(tenant, deque())
        if len(queue) >= self._waiting:
            raise self._tenant_busy(tenant, len(queue))
        if self.queued >= FULL_QUEUES * self._waiting:
            raise Busy("Too many requests of all tenants wait.", remedy="Try again later.")
        self._queues[tenant] = queue
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            async with asyncio.timeout(self._patience_s):
                await place
        except TimeoutError:
            if not _given(place):
                self._leave(tenant, place)
                raise self._tenant_busy(tenant, len(queue)) from None
        except asyncio.CancelledError:
            if _given(place):
                # The turn came in the moment in which the client left.
                self._release(tenant)
            else:
                self._leave(tenant, place)
            raise

    def _may_run(self, tenant: str) -> bool:
        return self._running[tenant] < self._limit(tenant) and self.running < self._total

    def _limit(self, tenant: str) -> int:
        """Requests of a tenant that may be under way now."""
        now = self._clock()
        others = sum(name != tenant and now - at < ACTIVE_S for name, at in self._seen.items())
        return max(1, self._cores // (others + 1)) if others else self._at_once

    def _release(self, tenant: str) -> None:
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._serve()

    def _serve(self) -> None:
        """Give turns, one a tenant and round, for as long as there are any."""
        served = True
        while served:
            served = False
            for tenant in list(self._queues):
                if not self._may_run(tenant):
                    continue
                queue = self._queues[tenant]
                place = queue.popleft()
                self._queues.move_to_end(tenant)
                if not queue:
                    del self._queues[tenant]
                # Who has just left is still in the queue until its own code goes on.
                if not place.done():
                    place.set_result(None)
                    self._running[tenant] += 1
                served = True

    def _leave(self, tenant: str, place: asyncio.Future[None]) -> None:
        queue = self._queues.get(tenant)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._queues[tenant]

    def _tenant_busy(self, tenant: str, ahead: int) -> TenantBusy:
        wait = max(1, math.ceil((ahead + 1) * self._mean_s / self._limit(tenant)))
        return TenantBusy(
            f"{ahead} requests of this tenant wait already.",
            retry_after_s=wait,
            where="Authorization",
            remedy=f"Send fewer at once; the next one in {wait} seconds.",
        )


def _given(place: asyncio.Future[None]) -> bool:
    return place.done() and not place.cancelled()
