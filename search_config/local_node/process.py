"""The node's operating-system process: start it detached, know it again, end it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from search_config.errors import NodeError
from search_config.local_node.config import CONSOLE_NAME, config_argument
from search_config.local_node.placement import Account, Placement

# The shell starts the node in the background and ends, so that the node belongs to no one who could take it along or
# would have to collect it: a node outlives the command that started it.
_DETACH = 'out=$1; shift; "$@" </dev/null >"$out" 2>&1 & echo $!'
SHELL = "/bin/sh"
# The node sees nothing of the caller's environment: no key leaks, no JAVA_TOOL_OPTIONS changes it.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
# Only the owner may read what the node writes.
UMASK = 0o077
# The system derives the start time from its clock, which may be set between two readings.
START_TOLERANCE_S = 5.0
# A node flushes its indices in a second or two; 30 s is far beyond that, and then the process is killed: the
# engine's own log of operations keeps what was acknowledged.
STOP_TIMEOUT_S = 30.0
KILL_TIMEOUT_S = 10.0


class PidRecord(BaseModel):
    """Content of the pid file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    created: float
    port: int
    transport_port: int


def launch(command: list[str], placement: Placement, *, port: int, transport_port: int) -> PidRecord:
    """Start the command detached, as the placement's account, and write the pid file.

    Raises:
        NodeError: the process can't be started at all.
    """
    account = placement.account
    arguments = [SHELL, "-c", _DETACH, SHELL, str(placement.logs / CONSOLE_NAME), *command]
    try:
        started = subprocess.run(  # noqa: S603 - our own command line
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            cwd=placement.data,
            env=ENVIRONMENT,
            umask=UMASK,
            start_new_session=True,
            user=account.uid if account is not None else None,
            group=account.gid if account is not None else None,
            extra_groups=[] if account is not None else None,
        )
        pid = int(started.stdout)
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        # Gone already: the record names a process that is not there, and the caller finds the reason in the log.
        created = time.time()
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise NodeError(
            f"The node's process can't be started: {error}.",
            where=command[0],
            remedy="The account that runs the node must be able to reach the Java runtime and its folders.",
        ) from error
    record = PidRecord(pid=pid, created=created, port=port, transport_port=transport_port)
    write_file(placement.pid_file, record.model_dump_json(), None)
    return record


def running_record(placement: Placement) -> PidRecord | None:
    """The record of the node's living process; None where it never ran, has ended, or another has taken its number."""
    record = _read(placement.pid_file)
    return record if record is not None and _process(record, placement) is not None else None


def end(record: PidRecord, placement: Placement) -> None:
    """Ask the process to end, wait, and kill it where it does not.

    Raises:
        NodeError: it belongs to someone else, or can't be killed.
    """
    process = _process(record, placement)
    if process is None:
        return
    try:
        process.terminate()
        if not _gone(process, STOP_TIMEOUT_S):
            process.kill()
            if not _gone(process, KILL_TIMEOUT_S):
                raise NodeError(
                    "The node's process does not end, not even when killed.",
                    where=f"pid {record.pid}",
                    remedy="It hangs in the system, usually on a disk; restart the machine.",
                )
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied as error:
        raise NodeError(
            "The node belongs to another user and can't be stopped.",
            where=f"pid {record.pid}",
            remedy="Stop it as the user who started it.",
        ) from error
    finally:
        placement.pid_file.unlink(missing_ok=True)


def kill(record: PidRecord, placement: Placement) -> None:
    """End the process at once, as a power cut would; for tests of what survives."""
    process = _process(record, placement)
    if process is not None:
        process.kill()
        _gone(process, KILL_TIMEOUT_S)


def write_file(path: Path, text: str, owner: Account | None) -> None:
    """Write atomically, readable by the owner alone.

    The folder may belong to the node's account while root writes: a new file is renamed over whatever lies there, so
    a link put there is replaced, not followed.
    """
    handle, name = tempfile.mkstemp(prefix=".mafteach-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            if owner is not None:
                os.fchown(stream.fileno(), owner.uid, owner.gid)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _read(pid_file: Path) -> PidRecord | None:
    try:
        return PidRecord.model_validate_json(pid_file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def _process(record: PidRecord, placement: Placement) -> psutil.Process | None:
    """The living process of the record, if it is really this node."""
    try:
        process = psutil.Process(record.pid)
        if process.status() == psutil.STATUS_ZOMBIE or abs(process.create_time() - record.created) > START_TOLERANCE_S:
            return None
        return process if config_argument(placement) in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _gone(process: psutil.Process, timeout_s: float) -> bool:
    try:
        process.wait(timeout_s)
    except psutil.TimeoutExpired:
        return process.status() == psutil.STATUS_ZOMBIE
    return True
