"""The real command, as a subprocess, against the session's node."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings

COMMAND = Path(sys.executable).parent / "mafteach"
# The model loads in about a second; a loaded machine takes longer, but no command hangs for so long.
TIMEOUT_S = 120

Completed = subprocess.CompletedProcess[str]
Cli = Callable[..., Completed]

PARKING = """# נוהל אישורי חניה

## תושבים
תושב רשאי לקבל אישור חניה אחד לכל רכב הרשום על שמו, ותוקפו שנה מיום ההנפקה.

## תקלות
בתקלה E-4031 יש לפנות למוקד העירוני לפני הגשת בקשה חוזרת.
"""


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: ours without MAFTEACH_*, but for the cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAFTEACH_")}
    if "MAFTEACH_CACHE_DIR" in os.environ:
        kept["MAFTEACH_CACHE_DIR"] = os.environ["MAFTEACH_CACHE_DIR"]
    return {**kept, "PYTHONIOENCODING": "utf-8", **settings}


def run(
    *arguments: str | bytes, cwd: Path, env: Mapping[str, str], encoding: str = "utf-8", timeout: float = TIMEOUT_S
) -> Completed:
    """Run `mafteach` and wait; its output is decoded strictly."""
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        env=dict(env),
        capture_output=True,
        encoding=encoding,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="session")
def installed(settings: Settings, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment with a prefix of its own, where one document was ingested for tenant `demo`."""
    prefix = f"t{uuid.uuid4().hex[:10]}"
    env = environment(MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url), MAFTEACH_INDEX_PREFIX=prefix)
    folder = tmp_path_factory.mktemp("cli")
    (folder / "parking.md").write_text(PARKING, encoding="utf-8")
    done = run("ingest", "parking.md", "--tenant", "demo", "--json", cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    yield env
    uninstall(engine, Names(prefix=prefix))


@pytest.fixture
def cli(installed: dict[str, str], tmp_path: Path) -> Cli:
    """`cli("search", …)` in an empty folder."""

    def call(*arguments: str | bytes, encoding: str = "utf-8", **settings: str) -> Completed:
        return run(*arguments, cwd=tmp_path, env={**installed, **settings}, encoding=encoding)

    return call
