"""Every command teaches: what it does, and an example that it would accept."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli.main import app, run

ROOT = Path(__file__).parent.parent.parent
# What `mafteach --help` may import: nothing of what makes a search slow.
HEAVY = {"numpy", "onnxruntime", "opensearchpy", "pydantic", "fastapi", "uvicorn", "tokenizers", "lxml", "scipy"}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


TREE = typer.main.get_command(app)
ALL = dict(commands(TREE))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_explains_and_shows_an_example(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Example: mafteach" in shown
    assert len(ALL[path].help.split()) >= 4


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    for parameter in ALL[path].params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_examples_are_accepted(path: tuple[str, ...]) -> None:
    lines = [line.partition(": ")[2] for line in ALL[path].epilog.splitlines() if line]
    for example in (part for line in lines for part in line.split(" && ")):
        program, *words = shlex.split(example)
        assert program == "mafteach"
        named = max((known for known in ALL if tuple(words[: len(known)]) == known), key=len)
        assert named[: len(path)] == path
        assert not hasattr(ALL[named], "commands"), "an example calls a command, not a group"
        # Parses the rest, runs nothing; raises where an option or a value is wrong.
        ALL[named].make_context(named[-1] if named else "mafteach", words[len(named) :])


def test_help_is_quick_because_it_imports_little() -> None:
    code = "import sys; from api.cli.main import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stderr.split()) == set()


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/write_reference.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_http_routes_and_codes_are_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for path in ("/search", "/documents", "/documents/{id}", "/documents/{id}/text", "/healthz", "/readyz", "/docs"):
        assert f"`{path}" in page or f" {path}`" in page, path
