"""The engine behind TLS, behind a password, and with signed requests: through a proxy before the real node."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from search_config.client import Engine
from search_config.connection import EngineAccess
from search_config.errors import EngineRejected, EngineUnreachable, InvalidSettings
from search_config.settings import Settings
from tests.tls import Authority, TlsProxy

USER, PASSWORD = "mafteach", "סוד-של-מבחן"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

Behind = Callable[..., TlsProxy]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def proxied(settings: Settings, authority: Authority) -> Iterator[Behind]:
    made: list[TlsProxy] = []

    def make(*, address: str = "127.0.0.1", authorization: str | None = None) -> TlsProxy:
        made.append(TlsProxy(str(settings.opensearch_url), authority.context(address), authorization=authorization))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


def version(url: str, **access: object) -> str:
    engine = Engine(url, timeout_s=10, access=EngineAccess(**access))  # type: ignore[arg-type]
    try:
        return str(engine.request("GET", "/", retry=False)["version"]["number"])
    finally:
        engine.close()


def test_tls_with_the_right_authority(proxied: Behind, authority: Authority, engine: Engine) -> None:
    known = engine.request("GET", "/")["version"]["number"]
    assert version(proxied().url, ca_file=authority.file) == known


def test_tls_with_an_unknown_authority_is_refused(proxied: Behind) -> None:
    with pytest.raises(EngineUnreachable, match="TLS") as caught:
        version(proxied().url)
    assert "MAFTEACH_OPENSEARCH_CA_FILE" in (caught.value.remedy or "")


def test_tls_with_another_authority_is_refused(proxied: Behind, tmp_path: Path) -> None:
    with pytest.raises(EngineUnreachable, match="TLS"):
        version(proxied().url, ca_file=Authority(tmp_path, name="another").file)


def test_a_certificate_for_another_address_is_refused(proxied: Behind, authority: Authority) -> None:
    with pytest.raises(EngineUnreachable, match="TLS"):
        version(proxied(address="127.0.0.9").url, ca_file=authority.file)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_checking_can_be_switched_off_by_name_alone(proxied: Behind) -> None:
    assert version(proxied(address="127.0.0.9").url, verify=False)


def test_a_password_is_sent_and_a_wrong_one_is_told_apart(proxied: Behind, authority: Authority) -> None:
    proxy = proxied(authorization=BASIC)
    assert version(proxy.url, ca_file=authority.file, basic=(USER, PASSWORD))
    for basic in (None, (USER, "wrong")):
        with pytest.raises(EngineRejected, match="does not let this service in") as caught:
            version(proxy.url, ca_file=authority.file, basic=basic)
        assert PASSWORD not in str(caught.value)


@pytest.mark.extra("botocore")
def test_requests_are_signed_as_botocore_verifies(
    proxied: Behind, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What arrived is signed again by botocore, from the request line, the headers and the hash as they arrived."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    proxy = proxied()
    access = EngineAccess(ca_file=authority.file, aws=("eu-central-1", "es"))
    engine = Engine(proxy.url, timeout_s=10, access=access)
    try:
        engine.request("GET", "/")
        engine.request("POST", "/_analyze", body={"text": "שלום לכולם", "analyzer": "standard"})
        engine.request("GET", "/_cluster/health", params={"level": "indices", "wait_for_status": "yellow"})
    finally:
        engine.close()
    assert len(proxy.heads) == 3
    for seen in proxy.heads:
        assert seen["authorization"] == signed_again(proxy.url, seen)
    assert len({seen["x-amz-content-sha256"] for seen in proxy.heads}) == 2  # two without a body
    assert engine.url not in proxy.heads[0]["authorization"]


def signed_again(url: str, seen: dict[str, str]) -> str:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    named = re.search(r"SignedHeaders=([^,]+)", seen["authorization"])
    assert named is not None
    signed = {name: seen[name] for name in named[1].split(";")}
    assert {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed)
    assert signed["host"] == url.removeprefix("https://")
    request = AWSRequest(method=seen[":method"], url=f"{url}{seen[':target']}", headers=signed)
    request.context["timestamp"] = seen["x-amz-date"]
    auth = SigV4Auth(credentials, "es", "eu-central-1")
    canonical = auth.canonical_request(request)
    signature = auth.signature(auth.string_to_sign(request, canonical), request)
    scope = auth.credential_scope(request)
    return f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={named[1]}, Signature={signature}"


@pytest.mark.extra("botocore")
def test_the_body_that_is_sent_is_the_body_that_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    sign = EngineAccess(aws=("eu-central-1", "aoss")).authorize
    assert sign is not None
    headers = sign("POST", "https://node.example/_bulk", b"packed bytes")
    assert headers["X-Amz-Content-SHA256"] == hashlib.sha256(b"packed bytes").hexdigest()
    assert "/eu-central-1/aoss/aws4_request" in headers["Authorization"]


@pytest.mark.extra("botocore")
def test_without_credentials_of_aws_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(InvalidSettings, match="no credentials"):
        Engine("https://node.example", timeout_s=1, access=EngineAccess(aws=("eu-central-1", "es")))


def test_settings_that_contradict_are_told_at_once(settings: Settings, tmp_path: Path) -> None:
    wrong = settings.model_copy(
        update={
            "opensearch_username": "a:b",
            "opensearch_aws_region": "eu-central-1",
            "opensearch_ca_file": tmp_path / "none.pem",
            "opensearch_verify_certs": False,
        }
    )
    with pytest.raises(InvalidSettings) as caught:
        EngineAccess.of(wrong)
    for name in ("OPENSEARCH_PASSWORD", "OPENSEARCH_AWS_REGION", "colon", "OPENSEARCH_CA_FILE"):
        assert name in caught.value.what


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_authorities_that_can_t_be_read(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidSettings, match="can't be read"):
        Engine("https://node.example", timeout_s=1, access=EngineAccess(ca_file=file))
