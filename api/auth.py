"""Who asks: tenant and groups come from the credential in the `Authorization` header and from nowhere else.

`api.gate` checks it before a request's body is read, for every route that is not named open; the dependencies here give
routes the caller that it found, and refuse where it found none. They wait for nothing and are asynchronous all the
same: the framework would run each other function on a thread of its own, one after the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.caller import Caller, Permission
from api.jwt import TokenVerifier, refused
from api.keys import KEY_MARK
from api.services import Services
from api.verified import VerifiedKeys
from search_config.errors import AuthenticationError

SCHEME: Final = "bearer"
# Keys have 82 characters, tokens with many groups a few thousand; longer ones are not looked at.
MAX_CREDENTIAL: Final = 16_384

# `auto_error=False`: a missing header becomes our error, in our one shape. It describes the scheme in OpenAPI.
bearer: Final = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key made by `mafteach keys create --tenant T` (mk_<id>_<secret>), or a token of the issuer that the "
    "settings name.",
)


@dataclass(frozen=True)
class Authenticator:
    """Both kinds of credentials behind one header."""

    keys: VerifiedKeys
    tokens: TokenVerifier | None

    def known(self, header: str | None) -> Caller | None:
        """The caller of a key that was let in lately; None where the credential has to be looked at."""
        scheme, credential = _parts(header)
        return self.keys.known(credential) if scheme == SCHEME and len(credential) <= MAX_CREDENTIAL else None

    def authenticate(self, header: str | None) -> Caller:
        """The caller that an `Authorization` header names.

        Raises:
            AuthenticationError: no credential, another scheme, or one that does not hold.
            EngineError: keys can't be looked up.
        """
        scheme, credential = _parts(header)
        if scheme != SCHEME or not credential:
            raise AuthenticationError(
                "No key was sent.",
                where="Authorization",
                remedy="Send a key as: Authorization: Bearer KEY (mafteach keys create makes one).",
            )
        if len(credential) > MAX_CREDENTIAL:
            raise refused()
        if self.tokens is None or credential.startswith(f"{KEY_MARK}_"):
            return self.keys.authenticate(credential)
        return self.tokens.authenticate(credential)


def _parts(header: str | None) -> tuple[str, str]:
    scheme, _, credential = (header or "").partition(" ")
    return scheme.lower(), credential.strip()


async def services(request: Request) -> Services:
    """What this application was composed with."""
    composed: Services = request.app.state.services
    return composed


ServicesHere = Annotated[Services, Depends(services)]


async def caller(
    request: Request, _described: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)] = None
) -> Caller:
    """The caller that the gate let in.

    Raises:
        AuthenticationError: none, so that a route that the gate was told to leave open stays closed.
    """
    known: Any = getattr(request.state, "caller", None)
    if not isinstance(known, Caller):
        raise refused()
    return known


def permitted(permission: Permission) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller, who has this permission.

    Raises:
        NotPermitted
    """

    async def check(known: Annotated[Caller, Depends(caller)]) -> Caller:
        return known.checked_for(permission)

    return check


Reader = Annotated[Caller, Depends(permitted(Permission.READ))]
Writer = Annotated[Caller, Depends(permitted(Permission.WRITE))]
Reviewer = Annotated[Caller, Depends(permitted(Permission.REVIEW))]
