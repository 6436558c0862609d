"""Who asks: the tenant comes from the key in the `Authorization` header and from nowhere else."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.services import Services
from search_config.errors import AuthenticationError
from search_config.records import TenantId

# `auto_error=False`: a missing header becomes our error, in our one shape.
bearer: Final = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key made by `mafteach keys create --tenant T`: mk_<id>_<secret>.",
)


def services(request: Request) -> Services:
    """What this application was composed with."""
    composed: Services = request.app.state.services
    return composed


ServicesHere = Annotated[Services, Depends(services)]


def current_tenant(
    here: ServicesHere, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]
) -> TenantId:
    """The tenant of the presented key.

    Raises:
        AuthenticationError: no key, another scheme, or a key that is not valid.
    """
    if credentials is None:
        raise AuthenticationError(
            "No key was sent.",
            where="Authorization",
            remedy="Send a key as: Authorization: Bearer KEY (mafteach keys create makes one).",
        )
    return here.keys.authenticate(credentials.credentials)


CurrentTenant = Annotated[TenantId, Depends(current_tenant)]
