"""Ask a node how it is, and find in its log why it is not."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from search_config.local_node.config import CONSOLE_NAME, LOG_NAME, LOOPBACK

# A node under load answers this in milliseconds; one that takes longer is asked again.
ANSWER_TIMEOUT_S = 5.0
# A log's tail that surely holds the last exception with its whole trace.
TAIL_BYTES = 256 * 1024
_EXCEPTION = re.compile(
    r"""(?:Caused by: |Exception in thread "[^"]*" |^|: )((?:[\w$]+\.)+[\w$]*(?:Exception|Error|Failure)(?:: .*)?)"""
)
_ERROR_LINE = re.compile(r"\[(?:ERROR|FATAL)\s*\]|^(?:Error|ERROR|fatal error)\b|^Exception in thread", re.IGNORECASE)


class NodeHealth(BaseModel):
    """What a node says of itself and its cluster. `status`: green, yellow or red."""

    model_config = ConfigDict(frozen=True)

    version: str
    cluster: str
    status: str
    nodes: int


def ask(port: int) -> NodeHealth | None:
    """The node's answer, or None while it gives none (not up, no cluster manager yet)."""
    root = _get(port, "/")
    health = _get(port, "/_cluster/health") if root is not None else None
    if root is None or health is None:
        return None
    try:
        return NodeHealth.model_validate(
            {
                "version": root["version"]["number"],
                "cluster": health["cluster_name"],
                "status": health["status"],
                "nodes": health["number_of_nodes"],
            }
        )
    except (KeyError, TypeError, ValidationError):
        return None  # another service listens there


def _get(port: int, path: str) -> dict[str, dict[str, object]] | None:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
        parsed = json.loads(body) if answer.status == http.client.OK else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return parsed if isinstance(parsed, dict) else None


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a file, at most `TAIL_BYTES` of it; empty where there is none."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - TAIL_BYTES))
            return stream.read().decode("utf-8", errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def log_lines(logs: Path, lines: int) -> list[str]:
    """The last lines of the node's log, after those that the Java runtime printed."""
    console = tail(logs / CONSOLE_NAME, lines)
    return [*console, *tail(logs / LOG_NAME, lines)][-lines:]


def failure_reason(lines: Iterable[str]) -> str | None:
    """The line that says why a node ended: the innermost cause of the last exception, else the last error line.

    Returns:
        The exception with its message, or the error line; None where the log shows neither.
    """
    exception: str | None = None
    error: str | None = None
    for line in lines:
        if line.startswith(("\t", "    at ")):
            continue  # a frame of a stack trace
        found = _EXCEPTION.search(line)
        if found is not None:
            exception = found.group(1)
        elif _ERROR_LINE.search(line):
            error = line.strip()
    return exception or error
