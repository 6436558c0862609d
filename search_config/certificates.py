"""A certificate for an engine of one's own: an authority that signs it and is then forgotten; it signs no other.

For a cluster whose certificates an organisation issues itself this is not needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import rsa

CA_FILE: Final = "ca.pem"
CERTIFICATE_FILE: Final = "node.pem"
KEY_FILE: Final = "node-key.pem"
# NIST's lifetime of 3,072 bits reaches beyond 2030; the engine's security plugin reads RSA keys in PKCS #8.
KEY_BITS: Final = 3_072
EXPONENT: Final = 65_537
# What the large platforms accept at most of a server's certificate.
DAYS: Final = 825
# Clocks differ.
SKEW: Final = timedelta(minutes=10)
PRIVATE: Final = 0o600
PUBLIC: Final = 0o644


class Certificates(BaseModel):
    """What is there now.

    Attributes:
        made: False where a valid one was there already.
    """

    model_config = ConfigDict(frozen=True)

    authority: Path
    certificate: Path
    key: Path
    hosts: tuple[str, ...]
    expires: datetime
    made: bool


def certificates(folder: Path, hosts: Sequence[str], *, ca: Path | None = None, days: int = DAYS) -> Certificates:
    """Write authority, certificate and key; leave them alone where they are there, for these hosts, and not expired.

    Args:
        folder: of all three files.
        hosts: names and addresses by which the engine is asked, at least one.
        ca: a second place for the authority's certificate alone.
        days: how long it holds.

    Raises:
        InvalidRequest: no host, or the files can't be written or read.
    """
    if not hosts:
        raise InvalidRequest("A certificate needs a host.", where="--host", remedy="Name one: --host opensearch")
    names = tuple(dict.fromkeys(hosts))
    try:
        there = _expiry(folder, names)
        if there is None:
            folder.mkdir(parents=True, exist_ok=True)
            there = _make(folder, names, days)
            made = True
        else:
            made = False
        if ca is not None:
            ca.parent.mkdir(parents=True, exist_ok=True)
            _write(ca, (folder / CA_FILE).read_bytes(), PUBLIC)
    except OSError as error:
        raise InvalidRequest(
            f"The certificates can't be written: {error.strerror}.",
            where=str(error.filename or folder),
            remedy="Name a folder that can be written.",
        ) from error
    return Certificates(
        authority=folder / CA_FILE,
        certificate=folder / CERTIFICATE_FILE,
        key=folder / KEY_FILE,
        hosts=names,
        expires=there,
        made=made,
    )


def _expiry(folder: Path, hosts: Sequence[str]) -> datetime | None:
    """When the certificate that is there expires; None where there is none that will do."""
    from cryptography import x509

    files = [folder / name for name in (CA_FILE, CERTIFICATE_FILE, KEY_FILE)]
    if not all(file.is_file() for file in files):
        return None
    try:
        found = x509.load_pem_x509_certificate(files[1].read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return None
    if set(names) != {_general_name(host) for host in hosts} or found.not_valid_after_utc <= datetime.now(UTC):
        return None
    return found.not_valid_after_utc


def _make(folder: Path, hosts: Sequence[str], days: int) -> datetime:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.x509.oid import ExtendedKeyUsageOID

    authority_key, node_key = _key(), _key()
    # A certificate counts whole seconds.
    now = datetime.now(UTC).replace(microsecond=0)
    expires = now + timedelta(days=days)
    issuer = _name("Mafteach, an authority of one certificate")
    authority = (
        _builder(issuer, issuer, authority_key, now, expires)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False)
    )
    uses = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    node = (
        _builder(_name(hosts[0]), issuer, node_key, now, expires)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
    )
    private = node_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(folder / KEY_FILE, private, PRIVATE)
    for name, made in ((CERTIFICATE_FILE, _signed(node, authority_key)), (CA_FILE, _signed(authority, authority_key))):
        _write(folder / name, made, PUBLIC)
    return expires


def _key() -> rsa.RSAPrivateKey:
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=EXPONENT, key_size=KEY_BITS)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: rsa.RSAPrivateKey, now: datetime, expires: datetime
) -> x509.CertificateBuilder:
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(expires)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _signed(builder: x509.CertificateBuilder, key: rsa.RSAPrivateKey) -> bytes:
    from cryptography.hazmat.primitives import hashes, serialization

    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(common: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_name(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(path: Path, data: bytes, mode: int) -> None:
    """A file that is whole or not there, and never readable by more than it may be."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as stream:
        stream.write(data)
    temporary.chmod(mode)
    temporary.replace(path)
