"""The probes."""

from __future__ import annotations

import dataclasses

from fastapi.testclient import TestClient

from api.app import create_app
from tests.api.conftest import Service
from tests.api.problems import assert_problem


def test_alive_and_ready(service: Service) -> None:
    assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.get("/readyz").json() == {"status": "ready"}


def test_not_ready_without_an_index(service: Service) -> None:
    here = service.services
    elsewhere = here.settings.model_copy(update={"index_prefix": "nothing-here"})
    with TestClient(create_app(dataclasses.replace(here, settings=elsewhere))) as client:
        assert_problem(client.get("/readyz"), 503, "index_missing")


def test_not_ready_with_an_index_of_another_model(service: Service) -> None:
    here = service.services
    other = here.info.model_copy(update={"model": here.info.model.model_copy(update={"revision": "another"})})
    with TestClient(create_app(dataclasses.replace(here, info=other))) as client:
        assert_problem(client.get("/readyz"), 503, "index_mismatch")
