"""JSON Web Tokens of one issuer, as a second kind of credential: verified whole, or refused without a word on why."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any, Final, Protocol

import jwt
from pydantic import TypeAdapter, ValidationError

from api.caller import Caller, Permission
from search_config.errors import AuthenticationError, InvalidSettings, TenantError
from search_config.records import tenant_id
from search_config.settings import Settings

log = logging.getLogger(__name__)

SHARED: Final = frozenset({"HS256", "HS384", "HS512"})
# As long as the hash that signs (RFC 7518, 3.2); a shorter secret can be guessed from one token.
SECRET_BYTES: Final = {"HS256": 32, "HS384": 48, "HS512": 64}
# Seconds that keys of an issuer are kept, and that fetching them may take: a key that is withdrawn is soon refused.
JWKS_LIFESPAN_S: Final = 300
JWKS_TIMEOUT_S: Final = 5
# Seconds between two fetches for the sake of an unknown key.
JWKS_PAUSE_S: Final = 10
# What is verified is needed: a token that never ends, or is for nobody, is not accepted.
REQUIRED: Final = ("exp", "iss", "aud", "sub")
# A subject is a name in logs.
MAX_SUBJECT: Final = 200

_NAMES: Final = TypeAdapter(tuple[str, ...])


class KeySource(Protocol):
    """Gives the key that a token says it was signed with."""

    def key_for(self, token: str) -> Any:
        """Raises `jwt.PyJWTError` where there is none."""


class SharedSecret:
    """One secret for all tokens."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def key_for(self, token: str) -> Any:  # noqa: ARG002  the same for every token
        """The secret."""
        return self._secret


class KeySet:
    """Keys of one JWKS document."""

    def __init__(self, keys: jwt.PyJWKSet) -> None:
        # Keys that an issuer publishes for encryption sign nothing.
        self._keys = [key for key in keys.keys if key.public_key_use in ("sig", None)]

    def key_for(self, token: str) -> Any:
        """The key that the token's header names; the only key, where it names none."""
        name = jwt.get_unverified_header(token).get("kid")
        if name is None and len(self._keys) == 1:
            return self._keys[0].key
        for key in self._keys:
            if name is not None and key.key_id == name:
                return key.key
        raise jwt.InvalidKeyError("no key of that name")


class KeyUrl:
    """Keys that the issuer publishes, kept for some minutes."""

    def __init__(self, url: str) -> None:
        self._client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=JWKS_TIMEOUT_S)
        self._lock = threading.Lock()
        self._kept: KeySet | None = None
        self._fetched_at = 0.0

    def key_for(self, token: str) -> Any:
        """The key that the token's header names."""
        try:
            return self._keys(older_than=JWKS_LIFESPAN_S).key_for(token)
        except jwt.InvalidKeyError:
            # A new key of the issuer; or a made-up name, which must not make us ask the issuer at every request.
            return self._keys(older_than=JWKS_PAUSE_S).key_for(token)

    def _keys(self, *, older_than: float) -> KeySet:
        with self._lock:
            if self._kept is None or time.monotonic() - self._fetched_at > older_than:
                self._kept = KeySet(jwt.PyJWKSet.from_dict(self._client.fetch_data()))
                self._fetched_at = time.monotonic()
            return self._kept


class TokenVerifier:
    """Turns a token into a caller."""

    def __init__(self, settings: Settings, keys: KeySource, *, issuer: str, audience: str) -> None:
        self._settings = settings
        self._keys = keys
        self._issuer = issuer
        self._audience = audience

    @classmethod
    def of(cls, settings: Settings) -> TokenVerifier | None:
        """The verifier that the settings describe; None where tokens are not accepted.

        Raises:
            InvalidSettings: everything that is missing or contradicts, at once.
        """
        problems = _problems(settings)
        if problems:
            raise InvalidSettings(
                f"{'; '.join(problems)}.", where="MAFTEACH_JWT_…", remedy="Correct them; see docs/settings.md."
            )
        if settings.jwt_issuer is None or settings.jwt_audience is None:
            return None
        return cls(settings, _source(settings), issuer=settings.jwt_issuer, audience=settings.jwt_audience)

    def authenticate(self, token: str) -> Caller:
        """The caller that a token names.

        Raises:
            AuthenticationError: whatever is wrong with it; the reason is in the log alone.
        """
        try:
            claims = jwt.decode(
                token,
                self._keys.key_for(token),
                # One algorithm, by setting: what the token's header says chooses nothing.
                algorithms=[self._settings.jwt_algorithm],
                issuer=self._issuer,
                audience=self._audience,
                leeway=self._settings.jwt_leeway_s,
                options={"require": list(REQUIRED), "strict_aud": False},
            )
            return self._caller(claims)
        # Headers and claims are anybody's text: the decoder meets its own errors, and those of JSON and of types.
        except (jwt.PyJWTError, TenantError, ValidationError, ValueError, TypeError, RecursionError) as error:
            log.info("a token was refused: %s", type(error).__name__)
            raise refused() from error

    def _caller(self, claims: dict[str, Any]) -> Caller:
        own = self._settings
        tenant = claims.get(own.jwt_tenant_claim)
        if not isinstance(tenant, str):
            raise TypeError("the tenant is one name")
        allowed = claims.get(own.jwt_permissions_claim, [Permission.READ])
        return Caller(
            tenant=tenant_id(tenant),
            groups=_NAMES.validate_python(claims.get(own.jwt_groups_claim, []), strict=False),
            permissions=frozenset(Permission(name) for name in _NAMES.validate_python(allowed)),
            id=f"jwt:{str(claims['sub'])[:MAX_SUBJECT]}",
        )


def refused() -> AuthenticationError:
    """The one answer to every credential that does not hold."""
    return AuthenticationError(
        "This key is not valid.", where="Authorization", remedy="Send a valid key as: Authorization: Bearer KEY"
    )


def _problems(settings: Settings) -> list[str]:
    sources = {
        "JWT_JWKS_URL": settings.jwt_jwks_url,
        "JWT_JWKS_FILE": settings.jwt_jwks_file,
        "JWT_SECRET": settings.jwt_secret,
    }
    given = [name for name, value in sources.items() if value is not None]
    if settings.jwt_issuer is None and settings.jwt_audience is None and not given:
        return []
    problems = [
        f"{name} is missing"
        for name, value in (("JWT_ISSUER", settings.jwt_issuer), ("JWT_AUDIENCE", settings.jwt_audience))
        if value is None
    ]
    if len(given) != 1:
        problems.append(f"exactly one of {', '.join(sources)} is needed, given: {', '.join(given) or 'none'}")
    shared = settings.jwt_algorithm in SHARED
    if given == ["JWT_SECRET"] and not shared:
        problems.append(f"JWT_SECRET does not go with {settings.jwt_algorithm}")
    if given and "JWT_SECRET" not in given and shared:
        problems.append(f"{settings.jwt_algorithm} needs JWT_SECRET: published keys are no secrets")
    if settings.jwt_secret is not None and shared:
        needed = SECRET_BYTES[settings.jwt_algorithm]
        if len(settings.jwt_secret.get_secret_value().encode()) < needed:
            problems.append(f"JWT_SECRET needs {needed} bytes for {settings.jwt_algorithm}")
    return problems


def _source(settings: Settings) -> KeySource:
    if settings.jwt_secret is not None:
        return SharedSecret(settings.jwt_secret.get_secret_value())
    if settings.jwt_jwks_url is not None:
        return KeyUrl(str(settings.jwt_jwks_url))
    try:
        text = "" if settings.jwt_jwks_file is None else settings.jwt_jwks_file.read_text(encoding="utf-8")
        return KeySet(jwt.PyJWKSet.from_json(text))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError, jwt.PyJWTError, AttributeError) as error:
        raise InvalidSettings(
            f"The issuer's keys can't be read: {error}.",
            where=f"MAFTEACH_JWT_JWKS_FILE={settings.jwt_jwks_file}",
            remedy='Name a JSON file like {"keys": […]}.',
        ) from error
