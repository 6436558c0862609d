"""A connection that can break: forwards to a real node, and goes away at a chosen bulk request."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit

BULK = b"POST /_bulk"
BUFFER_BYTES = 65_536


class BreakingProxy:
    """Listens on a free port; from the `breaks_at`-th bulk request on, it answers nobody."""

    def __init__(self, url: str, *, breaks_at: int) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 9200)
        self._left = breaks_at
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Close the port and all connections."""
        with self._lock:
            for one in (self._listener, *self._sockets):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            node = socket.create_connection(self._target)
            with self._lock:
                self._sockets += [client, node]
            threading.Thread(target=self._pump, args=(client, node, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(node, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, requests: bool) -> None:
        try:
            while data := source.recv(BUFFER_BYTES):
                if requests and data.startswith(BULK):
                    self._left -= 1
                    if self._left <= 0:
                        self.close()
                        return
                sink.sendall(data)
        except OSError:
            return
