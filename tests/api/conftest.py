"""The application over a real node, with documents of two tenants."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.inbox import Inbox
from api.keys import KeyStore
from api.services import Services
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from ingest.queue import Queue
from ingest.registry import Registry
from models.base import Embedder
from query.profile import load_profile
from query.search import SearchContext
from search_config.client import Engine
from search_config.install import install, uninstall
from search_config.names import Names
from search_config.settings import Settings

OURS, THEIRS = "ours", "theirs"
PARKING = """# נוהל אישורי חניה

## תושבים
תושב רשאי לקבל אישור חניה אחד לכל רכב הרשום על שמו, ותוקפו שנה מיום ההנפקה.

## תקלות
בתקלה E-4031 יש לפנות למוקד העירוני לפני הגשת בקשה חוזרת.
"""
SECRET = """# תוכנית הפיתוח הסודית

הדייר השני שומר כאן תוכנית בשם אבטיח-כחול לפיתוח שכונת הפרדסים.
"""


@dataclass(frozen=True)
class Service:
    """A running application, what it is made of, and a key for each tenant."""

    client: TestClient
    services: Services
    ours: dict[str, str]
    theirs: dict[str, str]
    our_document: str
    their_document: str


@pytest.fixture(scope="module")
def service(
    engine: Engine, settings: Settings, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """One index for a module's tests, removed after them."""
    # Tests send more requests than a key may in a minute; one of their own holds the limit.
    own = settings.model_copy(
        update={
            "index_prefix": f"t{uuid.uuid4().hex[:10]}",
            "rate_limit_per_minute": 0,
            "data_dir": tmp_path_factory.mktemp("data"),
        }
    )
    info = install(engine, own, embedder.description)
    keys = KeyStore(engine, info.names)
    ingestor = Ingestor(engine, info, embedder, own)
    services = Services(
        settings=own,
        engine=engine,
        info=info,
        context=SearchContext(engine, info, embedder, load_profile().checked_for(info), own),
        registry=Registry(engine, info, own),
        keys=keys,
        inbox=Inbox(Queue(engine, info, own), ingestor),
    )
    ids = []
    for tenant, name, text in ((OURS, "parking.md", PARKING), (THEIRS, "plan.md", SECRET)):
        raw = RawDocument(tenant=tenant, source=f"test:{name}", name=name, data=text.encode())
        (outcome,) = ingestor.ingest([raw])
        assert outcome.state == "ready", outcome
        ids.append(outcome.document_id)
    app = create_app(services)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Service(client, services, bearer(keys, OURS), bearer(keys, THEIRS), *ids)
    uninstall(engine, Names(prefix=own.index_prefix))


def bearer(keys: KeyStore, tenant: str) -> dict[str, str]:
    """The header of a new key for a tenant."""
    return {"Authorization": f"Bearer {keys.create(tenant).key}"}
