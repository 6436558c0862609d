"""Structured logs: one JSON object a line on standard error, each with the id of the request that it is about.

No line holds a key, a token, or the words of a query.
"""

from __future__ import annotations

import logging
import logging.config
import re
import secrets
from collections.abc import MutableMapping
from typing import Any, Final

import structlog

# An id from outside is taken where it is one; anything else in a log is an attack on who reads it.
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
# 64 random bits: unique within any log that is searched.
ID_BYTES: Final = 8
# Loggers that write a line for each request of ours to somebody else, with its address.
QUIET: Final = ("opensearch", "urllib3", "httpx", "httpcore", "openai")


def configure(level: int = logging.INFO) -> None:
    """Make every logger of the process, ours and others', write JSON lines on standard error."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "json": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": shared,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        _without_colour,
                        structlog.processors.format_exc_info,
                        structlog.processors.JSONRenderer(ensure_ascii=True),
                    ],
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"level": level, "handlers": ["stderr"]},
            "loggers": {name: {"level": "ERROR"} for name in QUIET},
        }
    )


def _without_colour(_logger: Any, _name: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Without what uvicorn adds for terminals."""
    line.pop("color_message", None)
    return line


def request_id(sent: str | None) -> str:
    """The id that a request sent along, or a new one."""
    if sent is not None and REQUEST_ID.fullmatch(sent):
        return sent
    return secrets.token_hex(ID_BYTES)


def bind(request: str) -> None:
    """Put a request's id into every line that is written on its behalf, on the framework's threads too."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request)
