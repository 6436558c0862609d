"""`mafteach doctor`: looks at everything that a search needs, and names what is wrong and what to do."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from api.cli import checkup
from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, print_json, print_table
from search_config.errors import InvalidSettings, MafteachError, NotEnoughDisk

if TYPE_CHECKING:
    from search_config.settings import Settings

OLDEST_PYTHON: Final = (3, 11)
# The engine's packages and home take about 300 MB, the unpacked model 500 MB; a first index needs room to grow.
DISK_WANTED: Final = 1_000_000_000


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `holds`: None where it could not be looked at yet."""

    name: str
    holds: bool | None
    detail: str
    remedy: str | None = None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach doctor")(doctor)


def doctor(as_json: JsonFlag = False) -> None:
    """Check the machine, the settings, the engine, the index, the model and the documents; say what to do.

    Starts nothing; exits 1 where one fails.
    """
    checks = list(_checks())
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    else:
        words = {True: "ok", False: "FAILS", None: "-"}
        print_table(
            ("check", "state", "detail", "what to do"),
            [(check.name, words[check.holds], check.detail, check.remedy) for check in checks],
        )
    if any(check.holds is False for check in checks):
        raise typer.Exit(Exit.FAILED)


def _checks() -> Iterator[Check]:
    found = platform.python_version()
    yield Check("python", sys.version_info >= OLDEST_PYTHON, found, None)
    try:
        with opened() as runtime:
            settings = runtime.settings
            yield Check("settings", True, "valid")
            yield from _folders(settings)
            for name, look in (
                ("connection", checkup.connection),
                ("credentials", checkup.credentials),
                ("traces", checkup.traces),
                ("uploads", checkup.spool),
            ):
                yield _tried(name, partial(look, settings))
            yield _tried("profile", partial(checkup.profile, settings.profile))
            if settings.opensearch_url is None:
                yield _tried("java", lambda: _java(settings))
                running = _node_runs(settings)
                if not running:
                    yield _tried("memory", lambda: _memory(settings))
                    yield Check("engine", None, "the embedded node is not running", "It starts when it is needed.")
            else:
                running = True
            yield _tried("model", lambda: runtime.embedder.description.identity)
            if running:
                yield from _running(runtime)
    except InvalidSettings as error:
        yield Check("settings", False, error.what, error.remedy)


def _running(runtime: Runtime) -> Iterator[Check]:
    """What only an engine that runs can tell; where it does not answer, only that."""
    answers = _tried("engine", lambda: _engine(runtime))
    yield answers
    if not answers.holds:
        return
    yield _tried("health", partial(checkup.health, runtime.engine))
    yield _tried("room", partial(checkup.room, runtime.engine))
    index = _tried("index", lambda: runtime.info.index)
    yield index
    if index.holds:
        yield _tried("query log", partial(checkup.query_log, runtime.engine, runtime.names, runtime.settings))
        yield _documents(runtime)


def _documents(runtime: Runtime) -> Check:
    try:
        detail, remedy = checkup.documents(runtime.engine, runtime.names)
    except MafteachError as error:
        return Check("documents", False, error.what, error.remedy)
    # Documents that failed are work for a person, and no fault of the installation.
    return Check("documents", True, detail, remedy)


def _tried(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except MafteachError as error:
        place = f" [{error.where}]" if error.where else ""
        return Check(name, False, f"{error.what}{place}", error.remedy or f"See docs/errors.md, {error.code}.")


def _folders(settings: Settings) -> Iterator[Check]:
    for name, folder in (("disk of the cache", settings.cache_dir), ("disk of the data", settings.data_dir)):
        yield _tried(name, lambda folder=folder: _disk(folder))  # type: ignore[misc]


def _disk(folder: Path) -> str:
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(there).free
    if free < DISK_WANTED:
        raise NotEnoughDisk(
            f"{free / 1e9:.1f} GB are free, {DISK_WANTED / 1e9:.0f} GB are wanted.",
            where=str(folder),
            remedy="Free some, or set MAFTEACH_CACHE_DIR and MAFTEACH_DATA_DIR to another disk.",
        )
    return f"{free / 1e9:.1f} GB free in {folder}"


def _java(settings: Settings) -> str:
    from search_config.local_node.runtime import choose_runtime

    runtime = choose_runtime(settings.cache_dir, None)
    return f"{runtime.java}{', with SIMD' if runtime.has_vector else ''}"


def _memory(settings: Settings) -> str:
    from search_config.local_node.resources import check_memory

    check_memory(settings.node_heap_mb)
    return f"enough for a heap of {settings.node_heap_mb} MiB"


def _node_runs(settings: Settings) -> bool:
    from search_config.local_node import LocalNode

    return LocalNode(settings).status().running


def _engine(runtime: Runtime) -> str:
    answer = runtime.engine.request("GET", "/")
    return f"OpenSearch {answer['version']['number']} at {runtime.engine.url}"
