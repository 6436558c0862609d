"""`mafteach serve`: the HTTP service."""

from __future__ import annotations

import gc
import signal
import socket
import sys
from types import FrameType
from typing import Annotated, Final

import typer

from api.cli.context import opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, print_json, print_line
from search_config.errors import InvalidRequest

# How long requests that are under way may take to end when the service is asked to stop; a search takes well under one.
SHUTDOWN_S: Final = 10
# Connections that may wait while the thread pool is busy; uvicorn's own default.
BACKLOG: Final = 2048


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach serve --port 8080")(serve)


def serve(
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help="Port; 0 takes a free one. [default: MAFTEACH_PORT]"),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on. [default: MAFTEACH_HOST]")] = None,
    worker: Annotated[
        bool,
        typer.Option("--worker/--no-worker", help="Work on uploaded documents too, or leave them to other processes."),
    ] = True,
    as_json: JsonFlag = False,
) -> None:
    """Serve searches over HTTP until it is stopped (Ctrl-C, or SIGTERM)."""
    with opened() as runtime:
        listening = _listen(
            runtime.settings.host if host is None else host, runtime.settings.port if port is None else port
        )
        with listening:
            # Templates and indices of a newer version are put where they are missing.
            runtime.install()
            runtime.works = worker
            services = runtime.services
            import uvicorn

            from api import logs
            from api.app import create_app

            logs.configure()
            # What was made until now lives as long as the process: the collector need not look at it again and again,
            # in the middle of a request.
            gc.collect()
            gc.freeze()
            config = uvicorn.Config(
                create_app(services),
                log_config=None,
                # It would write everybody's queries to the log.
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_S,
            )
            address = _url(listening)
            if as_json:
                print_json({"url": address})
            else:
                print_line(f"Mafteach listens on {address} (what it can do: {address}/docs)")
            sys.stdout.flush()
            # uvicorn ends its work on a signal and raises it again afterwards: SIGTERM is then an orderly end.
            signal.signal(signal.SIGTERM, _end)
            uvicorn.Server(config).run(sockets=[listening])


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise typer.Exit(Exit.DONE)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; made before anything else, since a busy port is the most likely fault.

    Raises:
        InvalidRequest: the address can't be listened on.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidRequest(
            f"The service can't listen there: {error.strerror or error}.",
            where=f"{host}:{port}",
            remedy="Choose another --port or --host (MAFTEACH_PORT, MAFTEACH_HOST).",
        ) from error
    # Of every connection too: an answer is sent in two pieces, and the second would wait for the client to confirm the
    # first, which takes 40 ms. (asyncio sets it for sockets that name their protocol, which this one does not.)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
