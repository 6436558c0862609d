"""The gate gives turns: what is too much is refused in the one shape, with the word when to come again."""

from __future__ import annotations

import asyncio

import httpx
from fastapi import FastAPI

from api.caller import Caller
from api.errors import MEDIA_TYPE
from api.gate import Gate
from api.rate import RateLimit
from api.turns import PER_CORE, Turns


class Named:
    """Takes the credential for the tenant's name."""

    def known(self, _: str | None) -> None:
        return None

    def authenticate(self, header: str | None) -> Caller:
        return Caller(tenant=str(header), id="key")


def test_a_tenant_with_too_many_requests_is_refused_and_another_is_not() -> None:
    async def test() -> None:
        app, door = FastAPI(), asyncio.Event()

        @app.get("/wait")
        async def wait() -> str:
            await door.wait()
            return "done"

        @app.get("/quick")
        async def quick() -> str:
            return "done"

        turns = Turns(cores=1, waiting=1)
        gate = Gate(app, routes=app, authenticator=Named(), rate=RateLimit(0), turns=turns)  # type: ignore[arg-type]
        transport = httpx.ASGITransport(app=gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            loud, quiet = {"Authorization": "loud"}, {"Authorization": "quiet"}
            begun = [asyncio.create_task(client.get("/wait", headers=loud)) for _ in range(PER_CORE + 1)]
            while turns.queued == 0:
                await asyncio.sleep(0)
            refused = await client.get("/wait", headers=loud)
            assert refused.status_code == 429
            assert refused.headers["content-type"] == MEDIA_TYPE
            assert refused.json()["code"] == "tenant_busy"
            assert int(refused.headers["retry-after"]) >= 1
            assert (await client.get("/quick", headers=quiet)).status_code == 200
            door.set()
            assert {(await one).status_code for one in begun} == {200}
        assert (turns.running, turns.queued) == (0, 0)

    asyncio.run(asyncio.wait_for(test(), 30))
