"""A small server that has the two endpoints of Dashboards which an import uses, and lies where a test wants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]


class Stand:
    """What stands for Dashboards: keeps what it is sent, and answers as a test wants."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Json] = {}
        self.headers: list[dict[str, str]] = []
        self.forgets: set[str] = set()
        self.status = 200
        self.raw: bytes | None = None

    def answer(self, path: str, body: bytes, kind: str) -> Any:
        if path == "/api/saved_objects/_import?overwrite=true":
            return self._import(body, kind)
        assert path == "/api/saved_objects/_bulk_get"
        found = []
        for one in json.loads(body):
            kept = self.kept.get((one["type"], one["id"]))
            found.append(kept or {**one, "error": {"statusCode": 404, "error": "Not Found"}})
        return {"saved_objects": found}

    def _import(self, body: bytes, kind: str) -> Json:
        # A form of one file: what stands between its head and the mark that ends it.
        mark = kind.partition("boundary=")[2].encode()
        head, _, rest = body.partition(b"\r\n\r\n")
        assert b'filename="mafteach.ndjson"' in head
        text = rest.partition(b"\r\n--" + mark)[0].decode()
        objects = [json.loads(line) for line in text.splitlines()]
        there = {(one["type"], one["id"]) for one in objects} | set(self.kept)
        lost = [one for one in objects if any((r["type"], r["id"]) not in there for r in one["references"])]
        if lost:
            errors = [{"type": one["type"], "id": one["id"], "error": {"type": "missing_references"}} for one in lost]
            return {"success": False, "successCount": 0, "errors": errors}
        self.kept |= {(one["type"], one["id"]): one for one in objects if one["id"] not in self.forgets}
        return {"success": True, "successCount": len(objects)}


@contextmanager
def standing() -> Iterator[tuple[Stand, str]]:
    stand = Stand()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            stand.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = stand.answer(self.path, body, self.headers["content-type"])
            data = json.dumps(answer).encode() if stand.raw is None else stand.raw
            self.send_response(stand.status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stand, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
