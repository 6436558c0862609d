"""The service that `bench load` presses: a process of its own, with a worker, and a key for each tenant."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from api.cli.bench_service import COMMAND, END_S, PREFIX, address_of, engine_of
from api.keys import KeyStore
from evaluation.benchmark.load import Service
from search_config.names import Names

if TYPE_CHECKING:
    from search_config.settings import Settings


@contextmanager
def serve_tenants(settings: Settings, tenants: Sequence[str], groups: Sequence[str]) -> Iterator[Service]:
    """Start `mafteach serve` on a free port, with a key for each tenant.

    Args:
        settings: with the engine's address and the prefix of the installation.

    Raises:
        ModelUnavailable: it did not start.
    """
    with engine_of(settings) as engine:
        store = KeyStore(engine, Names(prefix=settings.index_prefix))
        keys = {tenant: store.create(tenant, groups=tuple(groups)).key for tenant in tenants}
    with tempfile.TemporaryDirectory(prefix="mafteach-load-") as spool:
        environment = {
            **os.environ,
            f"{PREFIX}OPENSEARCH_URL": str(settings.opensearch_url),
            f"{PREFIX}INDEX_PREFIX": settings.index_prefix,
            f"{PREFIX}SPOOL_DIR": spool,
            # What is measured is how much the service can do, not how much a key may.
            f"{PREFIX}RATE_LIMIT_PER_MINUTE": "0",
        }
        process = subprocess.Popen(  # noqa: S603 - our own command
            [COMMAND, "serve", "--port", "0", "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Service(address_of(process), keys, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
