"""The command in this process: its parsing, output and exit status, without the start of an interpreter; for tests
where the process is not the point."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from api.cli.main import run as run_command
from tests.cli.conftest import Completed

ENCODING = "utf-8"
# Commands that wait set these; a test's process has its own.
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def inside(*arguments: str, cwd: Path, env: Mapping[str, str]) -> Completed:
    """Run one command line; what it wrote and its exit status."""
    written, said = (io.TextIOWrapper(io.BytesIO(), encoding=ENCODING) for _ in range(2))
    with _environment(env), chdir(cwd), redirect_stdout(written), redirect_stderr(said):
        status = run_command(arguments)
    return subprocess.CompletedProcess(arguments, status, _text(written), _text(said))


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before, handlers = dict(os.environ), {number: signal.getsignal(number) for number in SIGNALS}
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
