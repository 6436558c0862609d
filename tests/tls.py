"""A certificate authority of a test's own, and a proxy that speaks TLS before a node that does not."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import threading
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BUFFER_BYTES = 65_536
HEAD_END = b"\r\n"


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


@dataclass
class Authority:
    """A certificate authority."""

    folder: Path
    name: str = "authority of a test"
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        self.certificate = (
            self._builder(self.name, self.key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        self.file = self.folder / "authority.pem"
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + dt.timedelta(days=1))
        )

    def context(self, address: str) -> ssl.SSLContext:
        """A server's context with a certificate for one IP address."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        certificate = (
            self._builder("node of a test", key)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        file = self.folder / "server.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


class TlsProxy:
    """Listens with TLS on a free port, hands bytes on to a node, and keeps the heads of the requests it saw.

    Args:
        url: the node.
        context: with the certificate.
        authorization: where given, a request with another `Authorization` is answered 401 and not handed on.
    """

    def __init__(self, url: str, context: ssl.SSLContext, *, authorization: str | None = None) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 9200)
        self._context = context
        self._authorization = authorization
        self.heads: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            try:
                client = self._context.wrap_socket(plain, server_side=True)
            except OSError:  # the client did not like the certificate
                plain.close()
                continue
            node = socket.create_connection(self._target)
            with self._lock:
                self._sockets += [client, node]
            for work in (partial(self._requests, client, node), partial(_pump, node, client)):
                thread = threading.Thread(target=work, daemon=True)
                self._threads.append(thread)
                thread.start()

    def _requests(self, client: socket.socket, node: socket.socket) -> None:
        """Requests of one connection, one after another, each with its announced body."""
        with contextlib.suppress(OSError), client.makefile("rb") as stream:
            while head := _head(stream):
                headers = _headers(head)
                body = stream.read(int(headers.get("content-length", "0")))
                self.heads.append(headers)
                if self._authorization is not None and headers.get("authorization") != self._authorization:
                    client.sendall(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 12\r\n\r\nUnauthorized")
                else:
                    node.sendall(head + HEAD_END + body)

    def close(self) -> None:
        """End."""
        with self._lock:
            for one in (self._listener, *self._sockets):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for one in (self._listener, *self._sockets):
            one.close()


def _head(stream: BinaryIO) -> bytes:
    """The lines before a body, without the empty one; nothing, where the connection ended."""
    lines = []
    while (line := stream.readline()) not in (HEAD_END, b""):
        lines.append(line)
    return b"".join(lines)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(BUFFER_BYTES):
            sink.sendall(data)


def _headers(head: bytes) -> dict[str, str]:
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, target, _ = first.split(" ")
    return {**headers, ":method": method, ":target": target}
