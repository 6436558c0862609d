"""The page in a real browser: Debian's Chromium, over the real application on a real node.

Documents of several formats are sent over HTTP, as people send them, so that their files are kept and open in the page.
"""

from __future__ import annotations

import dataclasses
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from api.app import create_app
from api.inbox import Inbox
from api.keys import KeyStore
from api.services import Services
from ingest.compose import make_ingestor
from ingest.queue import Queue
from ingest.registry import Registry
from models.base import Embedder
from query.glossary import Glossaries, GlossaryStore
from query.profile import load_profile
from query.routing import Router, shipped_examples
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import install, uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.browser import files

TENANT: Final = "page"
# A loaded machine needs seconds for what takes a tenth of one; nothing waits so long that works.
WAIT_S: Final = 60.0
BROWSER_MS: Final = 45_000
# A page of the tests' PDF, so that a passage stands on one page.
CHUNK_TARGET: Final = 250
PHONE: Final = {"width": 360, "height": 740}
DESK: Final = {"width": 1280, "height": 860}
# Chromium's own sandbox needs rights that containers rarely give.
ARGUMENTS: Final = ("--no-sandbox", "--disable-dev-shm-usage")


@dataclass(frozen=True)
class Site:
    """A running service: where it is, what it is made of, a key for it."""

    url: str
    services: Services
    key: str

    def documents(self) -> list[dict[str, Any]]:
        """Rows of all documents."""
        rows: list[dict[str, Any]] = self.ask("GET", "/documents").json()
        return rows

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request with the key."""
        return httpx.request(
            method, self.url + path, headers={"Authorization": f"Bearer {self.key}"}, timeout=WAIT_S, **more
        )

    def settle(self) -> None:
        """Wait until nothing is worked on."""
        ends = time.monotonic() + WAIT_S
        while any(row["state"] in {"queued", "extracting", "embedding", "indexing"} for row in self.documents()):
            assert time.monotonic() < ends, self.documents()
            threading.Event().wait(0.1)


@contextmanager
def served(services: Services) -> Iterator[str]:
    """The application of these services on a free port; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(
            uvicorn.Config(create_app(services), log_config=None, access_log=False, timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        ends = time.monotonic() + WAIT_S
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < ends
            threading.Event().wait(0.02)
        try:
            yield "http://{}:{}".format(*listening.getsockname())
        finally:
            server.should_exit = True
            thread.join(WAIT_S)


@contextmanager
def composed(engine: Engine, settings: Settings, embedder: Embedder) -> Iterator[Services]:
    """What `mafteach serve` composes: with the router, and with a worker that reads every format."""
    info = install(engine, settings, embedder.description)
    context = SearchContext(
        engine,
        info,
        embedder,
        load_profile().checked_for(info),
        settings,
        router=Router(shipped_examples(), embedder),
        glossaries=Glossaries(GlossaryStore(engine, info.names)),
    )
    ingestor = make_ingestor(engine, info, embedder, settings)
    try:
        yield Services(
            settings=settings,
            engine=engine,
            info=info,
            context=context,
            registry=Registry(engine, info, settings),
            keys=KeyStore(engine, info.names),
            inbox=Inbox(Queue(engine, info, settings), ingestor),
        )
    finally:
        ingestor.close()
        uninstall(engine, Names(prefix=settings.index_prefix))


@pytest.fixture(scope="package")
def site(
    engine: Engine, settings: Settings, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The service with documents of several formats, one of which fails and one of which waits for a person."""
    own = settings.model_copy(
        update={
            "index_prefix": f"t{uuid.uuid4().hex[:10]}",
            "rate_limit_per_minute": 0,
            "data_dir": tmp_path_factory.mktemp("page"),
            "chunk_target": CHUNK_TARGET,
        }
    )
    with composed(engine, own, embedder) as services, served(services) as url:
        there = Site(url, services, services.keys.create(TENANT).key)
        for name, data in files.CORPUS.items():
            told = {"title": files.ATTACK_TITLE} if name == files.ATTACK_NAME else {}
            sent = there.ask("POST", "/documents", files={"file": (name, data)}, data=told)
            assert sent.status_code == 202, sent.text
        there.settle()
        yield there


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    expect.set_options(timeout=BROWSER_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        yield launched
        launched.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[OpenPage]:
    """`open_page("#/documents", key=None, locale="en-GB", …)` in a context of its own.

    Fails the test for anything that the browser complains of: a script's error, or what the policy refused.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def make(
        address: str = "",
        *,
        key: str | None = "",
        url: str = "",
        locale: str = "he-IL",
        quiet: bool = False,
        **more: Any,
    ) -> Page:
        context = browser.new_context(locale=locale, viewport=more.pop("viewport", DESK), **more)
        contexts.append(context)
        context.set_default_timeout(BROWSER_MS)
        held = site.key if key == "" else key
        if held is not None:
            # Once, so that signing out lasts; not in the frames of the browser's reader of PDFs, which keep nothing.
            context.add_init_script(
                f"""if (window === top && !sessionStorage.getItem("seen")) {{
                  sessionStorage.setItem("mafteach.key", "{held}");
                  sessionStorage.setItem("seen", "1");
                }}"""
            )
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))

        def heard(text: str) -> None:
            # An answer that is no success is told in the console too; those are states that tests ask for.
            if not (quiet or text.startswith("Failed to load resource")):
                complaints.append(text)

        page.on("console", lambda message: heard(message.text) if message.type in ("error", "warning") else None)
        page.goto(f"{url or site.url}/{address}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


def until(page: Page, condition: str) -> None:
    """Wait for a condition. (Playwright's own way evaluates text in the page, which its policy refuses.)"""
    ends = time.monotonic() + BROWSER_MS / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < ends, condition
        page.wait_for_timeout(50)


def changed(services: Services, **parts: Any) -> Services:
    """The same services with other parts."""
    return dataclasses.replace(services, **parts)
