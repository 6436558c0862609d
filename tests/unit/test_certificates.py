"""Certificates for the stack: what they say, when they stay, and what can't be made."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from search_config.certificates import certificates
from search_config.errors import InvalidRequest


def loaded(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def test_the_authority_vouches_for_the_hosts(tmp_path: Path) -> None:
    made = certificates(tmp_path / "c", ["opensearch", "127.0.0.1"], ca=tmp_path / "ca" / "ca.pem", days=30)
    node, authority = loaded(made.certificate), loaded(tmp_path / "ca" / "ca.pem")
    node.verify_directly_issued_by(authority)
    names = node.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["opensearch"]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert node.not_valid_after_utc - datetime.now(UTC) < timedelta(days=31)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
    assert made.key.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert made.key.stat().st_mode & 0o777 == 0o600
    assert not list((tmp_path / "ca").glob("*key*"))
    # Python's own checks accept it.
    context = ssl.create_default_context(cafile=str(made.authority))
    context.load_cert_chain(made.certificate, made.key)


def test_what_will_do_stays_and_what_will_not_is_made_anew(tmp_path: Path) -> None:
    first = certificates(tmp_path, ["a.example"])
    assert first.made
    again = certificates(tmp_path, ["a.example"])
    assert not again.made
    assert again.expires == first.expires
    assert certificates(tmp_path, ["a.example", "b.example"]).made
    first.certificate.write_text("nothing", encoding="utf-8")
    assert certificates(tmp_path, ["a.example", "b.example"]).made


def test_what_can_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="host"):
        certificates(tmp_path, [])
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InvalidRequest, match="can't be written"):
        certificates(file / "c", ["a.example"])
