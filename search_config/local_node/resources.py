"""What the machine must have for a node: a free port and memory."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import psutil

from search_config.errors import NotEnoughMemory, PortBusy
from search_config.local_node.config import LOOPBACK

# What a node takes beside its heap: 240 MiB after a start (docs/local-node.md) for classes, compiled code and threads;
# network and index buffers under load come on top.
OVERHEAD_MB = 400
MIB = 1 << 20
# The limit of a container that psutil does not see (control groups, version 2).
CGROUP = Path("/sys/fs/cgroup")


def free_port() -> int:
    """A TCP port on loopback that nobody listened on a moment ago."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """As `free_port`, several different ones."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def is_free(port: int) -> bool:
    """Whether a server could listen on that loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: connections that have just been closed do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def check_port(port: int) -> None:
    """Raises PortBusy where another process listens on the port."""
    if not is_free(port):
        raise PortBusy(
            f"Port {port} is taken by another process.",
            where=f"{LOOPBACK}:{port}",
            remedy=f"Set MAFTEACH_NODE_PORT to a free port, for example {free_port()}.",
        )


def check_memory(heap_mb: int, available_mb: int | None = None) -> None:
    """Raises NotEnoughMemory where the heap and its overhead do not fit into what is available (MiB)."""
    available = available_memory_mb() if available_mb is None else available_mb
    needed = heap_mb + OVERHEAD_MB
    if available < needed:
        raise NotEnoughMemory(
            f"The node needs {needed} MiB of memory ({heap_mb} of heap and {OVERHEAD_MB} beside it); "
            f"{available} MiB are available.",
            where="MAFTEACH_NODE_HEAP_MB",
            remedy="End other programs, or set MAFTEACH_NODE_HEAP_MB lower (512 is enough for some 10,000 chunks).",
        )


def available_memory_mb(cgroup: Path = CGROUP) -> int:
    """MiB that a new process may take: the machine's, or the container's where that is less."""
    available = psutil.virtual_memory().available
    limit, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if limit is not None and used is not None:
        # Cached file pages count as used there, and are given up on demand.
        available = min(available, limit - used + _reclaimable(cgroup / "memory.stat"))
    return int(available // MIB)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None  # no control group, or "max"


def _reclaimable(path: Path) -> int:
    try:
        pairs = dict(line.split() for line in path.read_text(encoding="ascii").splitlines())
        return int(pairs.get("inactive_file", 0)) + int(pairs.get("active_file", 0))
    except (OSError, ValueError):
        return 0
