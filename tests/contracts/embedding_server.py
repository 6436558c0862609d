"""A small real endpoint that speaks OpenAI's embedding protocol, and can misbehave on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from models.base import Vectors

Embed = Callable[[Sequence[str]], Vectors]
KEY = "secret-key"


class EmbeddingServer(ThreadingHTTPServer):
    """Serves `embed`; the model's name in a request chooses how it misbehaves."""

    daemon_threads = True

    def __init__(self, embed: Embed) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.embed = embed
        self.batches: list[int] = []  # texts of each request answered
        self.failures_left = 0  # requests to answer with `failure_status` first
        self.failure_status = 429

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving(embed: Embed) -> Iterator[EmbeddingServer]:
    """A server in a thread of its own."""
    with EmbeddingServer(embed) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:  # the name that the base class calls
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return self._answer(401, {"error": {"message": "no such key"}})
        if self.server.failures_left > 0:
            self.server.failures_left -= 1
            return self._answer(self.server.failure_status, {"error": {"message": "try again"}})
        self.server.batches.append(len(request["input"]))
        rows = self.server.embed(request["input"]).tolist()
        model = request["model"]
        if model == "nan":
            rows[-1][0] = float("nan")
        elif model == "ragged":
            rows[-1] = rows[-1][:-1]
        elif model == "fewer":
            rows = rows[:-1]
        elif model == "no-vectors":
            return self._answer(200, {"object": "list"})
        elif model == "unknown":
            return self._answer(404, {"error": {"message": "no such model"}})
        data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        # In another order than asked for: `index` is what counts.
        return self._answer(200, {"object": "list", "model": model, "data": data[::-1], "usage": usage})

    def _answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are no output of a test."""
