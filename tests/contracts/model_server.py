"""A small real endpoint that speaks OpenAI's chat protocol: it says what a script says, and can misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "model-key"
# Longest that a held answer waits for the test; a test that needs it fails anyway.
HELD_S = 30.0

Request = Mapping[str, Any]
Script = Callable[[Request], str]


class ModelServer(ThreadingHTTPServer):
    """Answers every chat with what `script` makes of it.

    Attributes:
        requests: bodies in their order.
        failures: statuses to answer with first.
        retry_after: sent with those.
        raw: sent instead of an answer.
        finish: the reason of an answer's end.
        hold_after: pieces of a stream after which it waits for `release`; None never waits.
        left: set when a client went away while its stream was written.
    """

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.requests: list[Request] = []
        self.failures: list[int] = []
        self.retry_after: str | None = None
        self.raw: bytes | None = None
        self.finish = "stop"
        self.hold_after: int | None = None
        self.release = threading.Event()
        self.left = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that goes away is what a test does."""


@contextmanager
def serving(script: Script) -> Iterator[ModelServer]:
    """A server in a thread of its own."""
    with ModelServer(script) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:  # the name that the base class calls
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return self._answer(401, {"error": {"message": "no such key"}})
        if self.server.failures:
            return self._answer(self.server.failures.pop(0), {"error": {"message": "try again"}})
        if self.server.raw is not None:
            return self._send(200, "application/json", self.server.raw)
        text = self.server.script(body)
        if body.get("stream"):
            return self._stream(text)
        if self.server.hold_after is not None:
            self.server.release.wait(HELD_S)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": self.server.finish}
        return self._answer(200, {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice]})

    def _stream(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        # Pieces that cut words, marks and letters with gershayim anywhere.
        pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
        try:
            for number, piece in enumerate(pieces):
                if number == self.server.hold_after:
                    self.server.release.wait(HELD_S)
                self._chunk({"content": piece}, None)
            self._chunk({}, self.server.finish)
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self.server.left.set()

    def _chunk(self, delta: dict[str, str], finish: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: int, body: dict[str, object]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, media_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        if status != 200 and self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:
            self.server.left.set()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are no output of a test."""
