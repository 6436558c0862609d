"""Probes: `/healthz` says that the process lives, `/readyz` that it can answer a search."""

from __future__ import annotations

from fastapi import APIRouter

from api.auth import ServicesHere
from api.errors import described
from api.schemas import Health

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Is the process alive?", responses=described(500))
def healthz() -> Health:
    """Asks nothing of anyone."""
    return Health(status="ok")


@router.get("/readyz", summary="Can it answer a search?", responses=described(500, 503))
def readyz(here: ServicesHere) -> Health:
    """The engine answers, and its index was made for this model; otherwise 503."""
    here.check_ready()
    return Health(status="ready")
