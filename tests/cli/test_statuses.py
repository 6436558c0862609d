"""Exit statuses of the whole tree, and what happens when the user or the reader goes away."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import uuid
from pathlib import Path

import httpx
import pytest

from api.cli.failures import Exit, check_arguments, exit_status
from search_config import errors
from search_config.client import Engine
from search_config.errors import InvalidRequest, MafteachError
from search_config.install import uninstall
from search_config.names import Names
from tests.cli.conftest import COMMAND, TIMEOUT_S, Cli


def test_the_statuses_are_those_that_the_tree_is_drawn_with() -> None:
    drawn = re.findall(r"^    ([│ ]*)[├└]── (\w+).*?(?:\(exit (\d)\))?$", errors.__doc__ or "", re.MULTILINE)
    branch = ""
    for bars, name, status in drawn:
        branch = status or branch
        assert status or bars, f"{name}: a branch without an exit status"
        assert exit_status(getattr(errors, name)) == int(branch), name
    assert len(drawn) > 30


def test_an_unplaced_error_is_a_failure() -> None:
    assert exit_status(MafteachError("x")) == Exit.FAILED


@pytest.mark.parametrize("argument", [chr(0xDCFF), f"a{chr(0xD800)}"], ids=["a byte", "a surrogate"])
def test_surrogates_in_arguments(argument: str) -> None:
    with pytest.raises(InvalidRequest):
        check_arguments(["search", argument])


def test_arguments_that_are_text() -> None:
    check_arguments(["search", "שלום 😀 \u202e", ""])


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_trouble(installed: dict[str, str], tmp_path: Path, unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(
            [COMMAND, "documents", "list", "--tenant", "demo"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**installed, "PYTHONUNBUFFERED": unbuffered},
            timeout=TIMEOUT_S,
            check=False,
        )
    assert done.stderr == b""
    assert done.returncode == Exit.BROKEN_PIPE


def serving(installed: dict[str, str], tmp_path: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [COMMAND, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=installed,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    match = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert match, (line, process.communicate()[1] if not line else "")
    return process, match[0]


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, Exit.INTERRUPTED), (signal.SIGTERM, Exit.DONE)])
def test_a_service_answers_and_ends_in_order(
    cli: Cli, installed: dict[str, str], tmp_path: Path, sent: signal.Signals, status: Exit
) -> None:
    key = cli("keys", "create", "--tenant", "demo").stdout.split()[1]
    process, url = serving(installed, tmp_path)
    try:
        assert httpx.get(f"{url}/readyz").json() == {"status": "ready"}
        answer = httpx.post(f"{url}/search", json={"query": "אישור חניה"}, headers={"Authorization": f"Bearer {key}"})
        assert answer.json()["hits"]
        assert "server" not in answer.headers
        process.send_signal(sent)
        _, log = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == status, log
    assert "Traceback" not in log
    # Neither what was asked nor with which key stands in the log.
    assert key not in log
    assert "אישור" not in log


def test_a_service_sets_up_what_is_missing(installed: dict[str, str], engine: Engine, tmp_path: Path) -> None:
    prefix = f"t{uuid.uuid4().hex[:10]}"
    process, url = serving({**installed, "MAFTEACH_INDEX_PREFIX": prefix}, tmp_path)
    try:
        assert httpx.get(f"{url}/readyz").json() == {"status": "ready"}
    finally:
        process.kill()
        process.communicate()
        uninstall(engine, Names(prefix=prefix))


def test_a_port_that_is_taken(cli: Cli, installed: dict[str, str], tmp_path: Path) -> None:
    process, url = serving(installed, tmp_path)
    try:
        done = cli("serve", "--port", url.rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()
    assert done.returncode == Exit.USAGE
    assert "--port" in done.stderr
