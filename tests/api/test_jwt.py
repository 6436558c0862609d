"""Tokens: what a good one opens, and the many ways in which one can be bad."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi.testclient import TestClient
from pydantic import SecretStr

from api.app import create_app
from api.caller import Permission
from api.jwt import TokenVerifier
from search_config.errors import AuthenticationError, InvalidSettings
from search_config.settings import Settings
from tests.api.conftest import OURS, Service
from tests.api.problems import assert_problem

ISSUER, AUDIENCE = "https://login.example", "mafteach"
KID = "first"
SECRET = "s" * 32
Claims = dict[str, Any]


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def other_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def published(key: rsa.RSAPrivateKey, kid: str = KID) -> dict[str, Any]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{**public, "kid": kid, "use": "sig"}]}


def claims(**changed: Any) -> Claims:
    now = int(time.time())
    made = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "dana", "iat": now, "exp": now + 300,
        "tenant": OURS, "groups": ["legal", "כספים"],
    }  # fmt: skip
    made.update(changed)
    return {name: value for name, value in made.items() if value is not ...}


def token(key: Any, *, algorithm: str = "RS256", headers: dict[str, Any] | None = None, **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, algorithm=algorithm, headers={"kid": KID, **(headers or {})})


@pytest.fixture
def configured(key: rsa.RSAPrivateKey, settings: Settings, tmp_path: Path) -> Settings:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(published(key)), encoding="utf-8")
    return settings.model_copy(
        update={"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_file": file, "rate_limit_per_minute": 0}
    )


@pytest.fixture
def verifier(configured: Settings) -> TokenVerifier:
    made = TokenVerifier.of(configured)
    assert made is not None
    return made


def test_a_good_token_names_tenant_groups_and_who(verifier: TokenVerifier, key: rsa.RSAPrivateKey) -> None:
    caller = verifier.authenticate(token(key))
    assert (caller.tenant, caller.groups, caller.id) == (OURS, ("legal", "כספים"), "jwt:dana")
    assert caller.permissions == {Permission.READ}
    more = verifier.authenticate(token(key, permissions=["read", "write"], groups=...))
    assert more.permissions == {Permission.READ, Permission.WRITE}
    assert more.groups == ()


def unsigned(**headers: str) -> str:
    nothing: Any = None
    return jwt.encode(claims(), nothing, algorithm="none", headers=headers or None)


def hs_with_the_public_key(key: rsa.RSAPrivateKey) -> str:
    """The classic: the published key as the secret of a shared-secret algorithm."""
    import base64
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    signed = f"{part({'alg': 'HS256', 'kid': KID, 'typ': 'JWT'})}.{part(claims())}"
    mac = hmac.new(public, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


BAD: dict[str, Callable[[Any, Any], str]] = {
    "unsigned": lambda _key, _: unsigned(),
    "unsigned with a kid": lambda _key, _: unsigned(kid=KID),
    "signature cut off": lambda key, _: token(key).rpartition(".")[0] + ".",
    "another issuer's key": lambda _, other: token(other),
    "another algorithm": lambda key, _: token(key, algorithm="RS512"),
    "the public key as a secret": lambda key, _: hs_with_the_public_key(key),
    "a key in the header": lambda _, other: token(other, headers={"jwk": published(other)["keys"][0]}),
    "an address of keys in the header": lambda _, other: token(other, headers={"jku": "http://127.0.0.1:9/keys"}),
    "an unknown key": lambda key, _: token(key, headers={"kid": "second"}),
    "a path as a key": lambda key, _: token(key, headers={"kid": "../../etc/passwd"}),
    "expired": lambda key, _: token(key, exp=int(time.time()) - 3600),
    "never expires": lambda key, _: token(key, exp=...),
    "not yet": lambda key, _: token(key, nbf=int(time.time()) + 3600),
    "another audience": lambda key, _: token(key, aud="another"),
    "no audience": lambda key, _: token(key, aud=...),
    "another issuer": lambda key, _: token(key, iss="https://evil.example"),
    "no issuer": lambda key, _: token(key, iss=...),
    "no subject": lambda key, _: token(key, sub=...),
    "no tenant": lambda key, _: token(key, tenant=...),
    "a null tenant": lambda key, _: token(key, tenant=None),
    "an empty tenant": lambda key, _: token(key, tenant=""),
    "every tenant": lambda key, _: token(key, tenant="*"),
    "two tenants": lambda key, _: token(key, tenant="ours,theirs"),
    "a list of tenants": lambda key, _: token(key, tenant=["ours"]),
    "a number as a tenant": lambda key, _: token(key, tenant=7),
    "a tenant and a line": lambda key, _: token(key, tenant="ours\n"),
    "null groups": lambda key, _: token(key, groups=None),
    "groups as text": lambda key, _: token(key, groups="legal"),
    "groups of numbers": lambda key, _: token(key, groups=[1]),
    "a group that turns the line": lambda key, _: token(key, groups=["a\u202eb"]),
    "unknown permissions": lambda key, _: token(key, permissions=["read", "root"]),
    "null permissions": lambda key, _: token(key, permissions=None),
    "no token": lambda *_: "a.b.c",
    "not ASCII": lambda *_: "\u05d0.\u05d0.\u05d0",
    "deep JSON": lambda *_: "W1tb" * 3000 + ".e30.x",
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_bad_token_is_refused(verifier: TokenVerifier, key: Any, other_key: Any, kind: str) -> None:
    with pytest.raises(AuthenticationError) as caught:
        verifier.authenticate(BAD[kind](key, other_key))
    # All are told the same.
    assert str(caught.value).startswith("This key is not valid.")


def test_clocks_may_differ_a_little(verifier: TokenVerifier, key: Any) -> None:
    assert verifier.authenticate(token(key, exp=int(time.time()) - 10)).tenant == OURS


def test_a_shared_secret(settings: Settings) -> None:
    made = TokenVerifier.of(
        settings.model_copy(
            update={
                "jwt_issuer": ISSUER,
                "jwt_audience": AUDIENCE,
                "jwt_algorithm": "HS256",
                "jwt_secret": SecretStr(SECRET),
                "jwt_tenant_claim": "https://login.example/org",
            }
        )
    )
    assert made is not None
    good = jwt.encode(claims(tenant=..., **{"https://login.example/org": "theirs"}), SECRET, algorithm="HS256")
    assert made.authenticate(good).tenant == "theirs"
    with pytest.raises(AuthenticationError):
        made.authenticate(jwt.encode(claims(), SECRET, algorithm="HS256"))
    with pytest.raises(AuthenticationError):
        made.authenticate(jwt.encode(claims(), "x" * 32, algorithm="HS256"))


class Publisher:
    """An issuer's web server: counts how often it is asked for its keys."""

    def __init__(self, keys: dict[str, Any]) -> None:
        self.keys = keys
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                body = json.dumps(outer.keys).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join(5)


@pytest.fixture
def publisher(key: rsa.RSAPrivateKey) -> Iterator[Publisher]:
    made = Publisher(published(key))
    yield made
    made.close()


def test_published_keys_are_fetched_once_and_made_up_names_do_not_ask_again(
    publisher: Publisher, settings: Settings, key: Any
) -> None:
    made = TokenVerifier.of(
        settings.model_copy(update={"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_url": publisher.url})
    )
    assert made is not None
    for _ in range(3):
        assert made.authenticate(token(key)).tenant == OURS
    for number in range(20):
        with pytest.raises(AuthenticationError):
            made.authenticate(token(key, headers={"kid": f"made up {number}"}))
    assert publisher.asked == 1


def test_an_issuer_that_is_gone_lets_nobody_in(publisher: Publisher, settings: Settings, key: Any) -> None:
    made = TokenVerifier.of(
        settings.model_copy(update={"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_url": publisher.url})
    )
    publisher.close()
    assert made is not None
    with pytest.raises(AuthenticationError):
        made.authenticate(token(key))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"jwt_issuer": ISSUER}, ["JWT_AUDIENCE is missing", "exactly one of"]),
        ({"jwt_secret": SecretStr(SECRET)}, ["JWT_ISSUER", "JWT_AUDIENCE", "does not go with RS256"]),
        (
            {
                "jwt_issuer": ISSUER,
                "jwt_audience": AUDIENCE,
                "jwt_secret": SecretStr("short"),
                "jwt_algorithm": "HS256",
            },
            ["32 bytes"],
        ),
        (
            {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_file": Path("x"), "jwt_algorithm": "HS256"},
            ["HS256 needs JWT_SECRET"],
        ),
        ({"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_file": Path("/none")}, ["can't be read"]),
    ],
)
def test_settings_that_do_not_hold_stop_the_start(settings: Settings, given: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(InvalidSettings) as caught:
        TokenVerifier.of(settings.model_copy(update=given))
    for words in told:
        assert words in caught.value.what


def test_without_settings_no_token_is_accepted(settings: Settings) -> None:
    assert TokenVerifier.of(settings) is None


def test_both_kinds_of_credentials_on_http(service: Service, configured: Settings, key: Any, other_key: Any) -> None:
    here = service.services
    app = create_app(dataclasses.replace(here, tokens=TokenVerifier.of(configured)))
    with TestClient(app) as client:

        def ask(credential: str, **more: Any) -> Any:
            return client.request("GET", "/documents", headers={"Authorization": f"Bearer {credential}"}, **more)

        assert [row["id"] for row in ask(token(key)).json()] == [service.our_document]
        assert ask(token(key, tenant="theirs")).json()[0]["id"] == service.their_document
        assert client.get("/documents", headers=service.ours).status_code == 200
        for bad in (token(other_key), token(key, tenant="*"), "x" * 20_000, unsigned()):
            assert_problem(ask(bad), 401, "not_authenticated")
        # It may read and nothing else.
        answer = client.delete(f"/documents/{service.our_document}", headers={"Authorization": f"Bearer {token(key)}"})
        assert_problem(answer, 403, "not_permitted")
