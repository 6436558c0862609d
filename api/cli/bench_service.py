"""The service that benchmarks measure: a process of its own, as an operator starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.keys import KeyStore
from evaluation.benchmark.search import Served
from search_config.client import Engine
from search_config.connection import EngineAccess
from search_config.errors import ModelUnavailable
from search_config.names import Names

if TYPE_CHECKING:
    from search_config.settings import Settings

COMMAND: Final = Path(sys.executable).with_name("mafteach")
# How long it may take to end what it is doing.
END_S: Final = 20.0
PREFIX: Final = "MAFTEACH_"


@contextmanager
def serve(settings: Settings, tenant: str, groups: Sequence[str]) -> Iterator[Served]:
    """Start `mafteach serve` on a free port, with a key for a tenant.

    Args:
        settings: with the engine's address and the prefix of the installation.

    Raises:
        ModelUnavailable: it did not start.
    """
    with engine_of(settings) as engine:
        key = KeyStore(engine, Names(prefix=settings.index_prefix)).create(tenant, groups=tuple(groups)).key
    environment = {
        **os.environ,
        f"{PREFIX}OPENSEARCH_URL": str(settings.opensearch_url),
        f"{PREFIX}INDEX_PREFIX": settings.index_prefix,
        # A benchmark asks more than any key may.
        f"{PREFIX}RATE_LIMIT_PER_MINUTE": "0",
    }
    process = subprocess.Popen(  # noqa: S603 - our own command
        [COMMAND, "serve", "--port", "0", "--no-worker", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Served(address_of(process), key)
    finally:
        process.terminate()
        process.wait(END_S)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def engine_of(settings: Settings) -> Iterator[Engine]:
    """A client of the settings' engine, closed at the end."""
    access = EngineAccess.of(settings)
    engine = Engine(str(settings.opensearch_url), timeout_s=settings.request_timeout_s, access=access)
    try:
        yield engine
    finally:
        engine.close()


def address_of(process: subprocess.Popen[bytes]) -> str:
    """What it says when it listens: one JSON object over several lines."""
    said = b""
    for line in process.stdout or ():
        said += line
        try:
            return str(json.loads(said)["url"])
        except ValueError:
            continue
    raise ModelUnavailable("The service did not start.", where="mafteach serve", remedy="Try: mafteach serve")
