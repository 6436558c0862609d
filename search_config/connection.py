"""What the engine asks of who connects: TLS, a user's password, or requests signed for Amazon's service."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from search_config.errors import InvalidSettings, MissingExtra

if TYPE_CHECKING:
    from search_config.settings import Settings

Authorize = Callable[[str, str, Any], dict[str, str]]

LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class EngineAccess:
    """How a connection to the engine is secured; the default asks for nothing.

    Attributes:
        ca_file: certificate authorities (PEM); None takes the system's.
        verify: whether certificate and name of an `https` address are checked.
        basic: user and password.
        aws: region and service that requests are signed for.
    """

    ca_file: Path | None = None
    verify: bool = True
    basic: tuple[str, str] | None = None
    aws: tuple[str, str] | None = None

    @classmethod
    def of(cls, settings: Settings) -> EngineAccess:
        """The access that the settings describe.

        Raises:
            InvalidSettings: settings that contradict each other, all at once.
        """
        user, password, region = (
            settings.opensearch_username,
            settings.opensearch_password,
            settings.opensearch_aws_region,
        )
        wrong = []
        if (user is None) != (password is None):
            wrong.append("OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD go together")
        if user is not None and region is not None:
            wrong.append("OPENSEARCH_USERNAME and OPENSEARCH_AWS_REGION exclude each other")
        if user is not None and ":" in user:
            wrong.append("OPENSEARCH_USERNAME has no colon: HTTP parts user and password by one")
        if settings.opensearch_ca_file is not None and not settings.opensearch_verify_certs:
            wrong.append("OPENSEARCH_CA_FILE says nothing where OPENSEARCH_VERIFY_CERTS is false")
        if wrong:
            raise InvalidSettings(
                f"{'; '.join(wrong)}.", where="MAFTEACH_OPENSEARCH_…", remedy="Correct them; see docs/settings.md."
            )
        return cls(
            ca_file=settings.opensearch_ca_file,
            verify=settings.opensearch_verify_certs,
            basic=None if user is None or password is None else (user, password.get_secret_value()),
            aws=None if region is None else (region, settings.opensearch_aws_service),
        )

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """What certificates are checked with.

        Raises:
            InvalidSettings: the file of certificate authorities is missing or holds none.
        """
        try:
            return ssl.create_default_context(cafile=None if self.ca_file is None else str(self.ca_file))
        except OSError as error:
            raise InvalidSettings(
                f"The certificate authorities can't be read: {error.strerror or error}.",
                where=f"MAFTEACH_OPENSEARCH_CA_FILE={self.ca_file}",
                remedy="Name a PEM file with the certificate of the engine's authority.",
            ) from error

    @cached_property
    def authorize(self) -> Authorize | None:
        """Gives the headers that let a request in (of its method, URL, and body as it is sent); None where none do.

        Raises:
            MissingExtra: botocore is not installed.
            InvalidSettings: AWS's own tools find no credentials.
        """
        if self.aws is not None:
            return _signer(*self.aws)
        return None if self.basic is None else _password(*self.basic)


def _password(user: str, password: str) -> Authorize:
    # UTF-8 (RFC 7617), where the client's own way takes Latin letters alone.
    header = {"authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}

    def authorize(_method: str, _url: str, _body: Any) -> dict[str, str]:
        return header

    return authorize


def _signer(region: str, service: str) -> Authorize:
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.session import get_session
    except ImportError as error:
        raise MissingExtra(
            "Signing requests for AWS needs botocore.",
            where="MAFTEACH_OPENSEARCH_AWS_REGION",
            remedy="Install it: pip install 'mafteach[aws]'",
        ) from error
    credentials = get_session().get_credentials()
    if credentials is None:
        raise InvalidSettings(
            "AWS's tools find no credentials.",
            where="MAFTEACH_OPENSEARCH_AWS_REGION",
            remedy="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role.",
        )

    def sign(method: str, url: str, body: Any) -> dict[str, str]:
        request = AWSRequest(method=method, url=url, data=body)
        # Frozen, so that key and secret are of one moment while they are renewed.
        auth = SigV4Auth(credentials.get_frozen_credentials(), service, region)
        # The serverless service wants the body's hash in a signed header; domains ignore it.
        request.headers["X-Amz-Content-SHA256"] = auth.payload(request)
        auth.add_auth(request)
        return dict(request.headers.items())

    return sign
