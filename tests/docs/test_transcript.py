"""The README's session over HTTP is what a server answers: each command as printed, each answer as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.keys import KeyStore
from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import COMMAND, environment

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^### A session over HTTP\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^```sh\n(curl .*?)^```\n+```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = "http://127.0.0.1:8080"
TENANT = "demo"
# Nothing here takes so long, on however slow a machine.
PATIENCE_S = 300
PAUSE_S = 0.2

(TEXT,) = SECTION.findall((ROOT / "README.md").read_text(encoding="utf-8"))
STEPS: list[tuple[str, str]] = STEP.findall(TEXT)


def printed(shown: Any, real: Any, where: str = "answer") -> None:
    """All that the page shows is in the real answer: an object may have more members, a list more entries behind it,
    a text that ends with … goes on."""
    if isinstance(shown, dict):
        assert isinstance(real, dict), where
        for name, value in shown.items():
            assert name in real, f"{where}.{name}"
            printed(value, real[name], f"{where}.{name}")
    elif isinstance(shown, list):
        assert isinstance(real, list), where
        assert len(real) >= len(shown), where
        for place, value in enumerate(shown):
            printed(value, real[place], f"{where}[{place}]")
    elif isinstance(shown, str) and shown.endswith("…"):
        assert isinstance(real, str), where
        assert real.startswith(shown.removesuffix("…").rstrip()), f"{where}: {real}"
    else:
        assert real == shown, where


@pytest.fixture(scope="module")
def server(settings: Settings, engine: Engine) -> Iterator[dict[str, str]]:
    """`mafteach serve` over the example documents; gives its address and a key."""
    prefix = f"t{uuid.uuid4().hex[:10]}"
    env = environment(MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url), MAFTEACH_INDEX_PREFIX=prefix)
    subprocess.run([COMMAND, "ingest", "examples/documents", "--tenant", TENANT], cwd=ROOT, env=env, check=True,
                   capture_output=True, timeout=PATIENCE_S)  # fmt: skip
    key = KeyStore(engine, Names(prefix=prefix)).create(TENANT).key
    process = subprocess.Popen([COMMAND, "serve", "--port", "0", "--json"], cwd=ROOT, env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    assert process.stdout is not None
    try:
        said = b""
        while b"}" not in said:
            line = process.stdout.readline()
            assert line, "it did not start"
            said += line
        yield {"url": json.loads(said)["url"], "KEY": key}
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        process.stdout.close()
        uninstall(engine, Names(prefix=prefix))


def run(command: str, server: dict[str, str]) -> Any:
    """The answer of one command in a shell, with the key in `KEY`."""
    done = subprocess.run(
        ["bash", "-euc", command.replace(PRINTED, server["url"])],
        cwd=ROOT,
        env={**os.environ, "KEY": server["KEY"]},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_session_has_every_step() -> None:
    commands = [command for command, _ in STEPS]
    assert len(commands) >= 7
    assert all(PRINTED in command and "$KEY" in command for command in commands)
    assert sum("/search" in command for command in commands) >= 2
    assert any("filters" in command for command in commands)
    assert sum("/answer" in command for command in commands) >= 3
    assert any("-F file=@" in command for command in commands)


@pytest.mark.extra("curl", "bash")
def test_a_server_answers_as_the_session_shows(server: dict[str, str]) -> None:
    for command, answer in STEPS:
        shown = json.loads(answer)
        real = run(command, server)
        # What waits for a worker is asked for again until it is as it is shown.
        end = time.monotonic() + PATIENCE_S
        while "/documents/" in command and real["state"] != shown["state"] and time.monotonic() < end:
            time.sleep(PAUSE_S)
            real = run(command, server)
        printed(shown, real)
