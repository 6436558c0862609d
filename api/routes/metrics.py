"""`GET /metrics`: for Prometheus. Its counts are of all tenants, so no tenant's credential opens it."""

from __future__ import annotations

import hmac
from ipaddress import ip_address
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.auth import ServicesHere
from api.errors import described
from api.limits import NoParameters
from api.metrics import Metrics
from search_config.errors import AuthenticationError

router = APIRouter(tags=["health"], responses=described(401, 422, 500, 503))

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# A proxy on this machine hands on requests of others, and says so in one of these.
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
def show_metrics(request: Request, here: ServicesHere, _: NoParameters) -> Response:
    """Latencies by route and stage, refusals, truncations, bulk outcomes, documents by state. Needs
    `MAFTEACH_METRICS_TOKEN` as a bearer token; where that is not set, it answers this machine alone."""
    token = here.settings.metrics_token
    sent = request.headers.get("authorization", "")
    if token is None:
        allowed = _is_local(request)
    else:
        # Headers arrive as bytes that are shown as Latin letters; the token may be of any.
        allowed = hmac.compare_digest(sent.encode("latin-1"), f"Bearer {token.get_secret_value()}".encode())
    if not allowed:
        raise AuthenticationError(
            "Metrics are not for tenants.",
            where="Authorization",
            remedy="Set MAFTEACH_METRICS_TOKEN, and send it as: Authorization: Bearer TOKEN",
        )
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.page(), media_type=MEDIA_TYPE)


def _is_local(request: Request) -> bool:
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
