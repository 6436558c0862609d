"""Turns: bounds, order and fairness, on a clock of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from api.turns import ACTIVE_S, FULL_QUEUES, PER_CORE, TOTAL, Turns
from search_config.errors import Busy, TenantBusy

CORES = 2


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _turns(clock: Clock, *, waiting: int = 3, patience_s: float = 60.0) -> Turns:
    return Turns(cores=CORES, waiting=waiting, patience_s=patience_s, clock=clock)


def _run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 10)

    asyncio.run(bounded())


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


class Asker:
    """Requests that hold their turn until they are let go."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.begun: list[str] = []
        self._doors: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def ask(self, tenant: str, name: str) -> None:
        self._doors[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._one(tenant, name))

    async def _one(self, tenant: str, name: str) -> None:
        async with self.turns.turn(tenant):
            self.begun.append(name)
            await self._doors[name].wait()

    async def end(self, name: str) -> None:
        self._doors[name].set()
        await self.tasks[name]


def test_one_tenant_alone_has_as_many_as_the_cores_take_and_the_rest_wait() -> None:
    async def test() -> None:
        turns = _turns(Clock())
        asker = Asker(turns)
        for number in range(PER_CORE * CORES + 2):
            asker.ask("a", f"a{number}")
        await _until(lambda: turns.queued == 2)
        assert turns.running == PER_CORE * CORES
        await asker.end("a0")
        await _until(lambda: turns.queued == 1)
        assert asker.begun[-1] == f"a{PER_CORE * CORES}"
        for name in list(asker.tasks):
            await asker.end(name)
        assert (turns.running, turns.queued) == (0, 0)

    _run(test)


def test_a_tenant_at_full_blast_does_not_keep_another_waiting() -> None:
    async def test() -> None:
        clock = Clock()
        turns = _turns(clock)
        asker = Asker(turns)
        for number in range(PER_CORE * CORES + 3):
            asker.ask("a", f"a{number}")
        await _until(lambda: turns.queued == 3)
        asker.ask("b", "b0")
        await _until(lambda: "b0" in asker.begun)
        # From now on each has its part of the cores: what ends of the first is not followed until it has only that.
        for number in range(PER_CORE * CORES - 1):
            await asker.end(f"a{number}")
            assert turns.queued == 3
        await asker.end(f"a{PER_CORE * CORES - 1}")
        assert turns.queued == 2
        # The other has gone quiet.
        await asker.end("b0")
        clock.now += ACTIVE_S
        asker.ask("a", "late")
        await asker.end(f"a{PER_CORE * CORES}")
        await _until(lambda: "late" in asker.begun)
        assert turns.queued == 0

    _run(test)


def test_a_full_queue_is_429_and_says_when() -> None:
    async def test() -> None:
        turns = _turns(Clock(), waiting=1)
        asker = Asker(turns)
        for number in range(PER_CORE * CORES + 1):
            asker.ask("a", f"a{number}")
        await _until(lambda: turns.queued == 1)
        with pytest.raises(TenantBusy) as caught:
            async with turns.turn("a"):
                pass
        assert caught.value.retry_after_s >= 1
        asker.ask("b", "b0")
        await _until(lambda: "b0" in asker.begun)
        for task in asker.tasks.values():
            task.cancel()

    _run(test)


def test_a_full_service_is_503() -> None:
    async def test() -> None:
        turns = _turns(Clock(), waiting=1)
        asker = Asker(turns)
        tenants = [f"t{number}" for number in range(TOTAL + FULL_QUEUES + 1)]
        for tenant in tenants[:TOTAL]:
            asker.ask(tenant, tenant)
        await _until(lambda: turns.running == TOTAL)
        for tenant in tenants[TOTAL:-1]:
            asker.ask(tenant, tenant)
        await _until(lambda: turns.queued == FULL_QUEUES)
        with pytest.raises(Busy):
            async with turns.turn(tenants[-1]):
                pass
        await asker.end("t0")
        await _until(lambda: turns.queued == FULL_QUEUES - 1)
        for task in asker.tasks.values():
            task.cancel()

    _run(test)


def test_who_waits_too_long_is_told_so_and_leaves_no_trace() -> None:
    async def test() -> None:
        turns = _turns(Clock(), patience_s=0.01)
        async with AsyncExitStack() as stack:
            for _ in range(PER_CORE * CORES):
                await stack.enter_async_context(turns.turn("a"))
            with pytest.raises(TenantBusy):
                async with turns.turn("a"):
                    pass
            assert turns.queued == 0
        assert turns.running == 0

    _run(test)


def test_a_client_that_leaves_gives_its_place_back() -> None:
    async def test() -> None:
        turns = _turns(Clock())
        asker = Asker(turns)
        for number in range(PER_CORE * CORES + 2):
            asker.ask("a", f"a{number}")
        await _until(lambda: turns.queued == 2)
        # One leaves while it waits; one in the moment in which its turn comes.
        waits, comes = f"a{PER_CORE * CORES + 1}", f"a{PER_CORE * CORES}"
        asker.tasks[waits].cancel()
        await asyncio.gather(asker.tasks[waits], return_exceptions=True)
        assert turns.queued == 1
        asker._doors["a0"].set()
        await _until(lambda: turns.queued == 0)
        asker.tasks[comes].cancel()
        await asyncio.gather(asker.tasks[comes], return_exceptions=True)
        for number in range(1, PER_CORE * CORES):
            await asker.end(f"a{number}")
        assert (turns.running, turns.queued) == (0, 0)

    _run(test)
