"""What `mafteach doctor` says of a service's settings and of its engine: what is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from api.cli import checkup
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from search_config.client import Engine
from search_config.errors import IndexMissing, InvalidSettings, MafteachError
from search_config.names import Names
from search_config.settings import Settings
from tests.conftest import MakeIndex


def changed(settings: Settings, **values: Any) -> Settings:
    return settings.model_copy(update=values)


WRONG: dict[str, tuple[dict[str, Any], Callable[[Settings], str], str]] = {
    "a password in the clear": (
        {"opensearch_url": "http://search.example:9200", "opensearch_username": "u",
         "opensearch_password": SecretStr("p")},
        checkup.connection, "in the clear",
    ),
    "a certificate that is not checked": (
        {"opensearch_url": "https://search.example", "opensearch_verify_certs": False},
        checkup.connection, "not checked",
    ),
    "an authority that is not there": (
        {"opensearch_url": "https://search.example", "opensearch_ca_file": Path("/none.pem")},
        checkup.connection, "can't be read",
    ),
    "half of the tokens": ({"jwt_issuer": "x"}, checkup.credentials, "JWT_AUDIENCE"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_settings_that_are_wrong_are_named_with_a_remedy(settings: Settings, kind: str) -> None:
    values, look, told = WRONG[kind]
    with pytest.raises(InvalidSettings, match=told) as caught:
        look(changed(settings, **values))
    assert caught.value.remedy


def test_settings_that_hold(settings: Settings, tmp_path: Path) -> None:
    local = changed(settings, opensearch_url="http://127.0.0.1:9200", data_dir=tmp_path)
    assert checkup.connection(local) == "no TLS, without a credential"
    assert checkup.connection(changed(settings, opensearch_url=None)).startswith("embedded")
    assert checkup.connection(changed(settings, opensearch_url="https://search.example")).startswith("TLS")
    assert checkup.credentials(settings) == "API keys"
    assert checkup.spool(local) == str(tmp_path / "spool")
    assert checkup.traces(settings).startswith("none")
    assert checkup.profile(None)


def test_the_engine(engine: Engine, make_index: MakeIndex, embedder: Embedder) -> None:
    info, own = make_index()
    assert "node(s)" in checkup.health(engine)
    assert "is free" in checkup.room(engine)
    assert "90 days, without the words" in checkup.query_log(engine, info.names, own)
    assert checkup.query_log(engine, info.names, changed(own, query_log=False)).startswith("off")
    assert checkup.documents(engine, info.names) == ("none", None)
    raws = [
        RawDocument(tenant="t", source="good", name="good.md", data=b"# good\n\ntext of it"),
        RawDocument(tenant="t", source="bad", name="bad.md", data=b"\x00\x01" * 50),
    ]
    Ingestor(engine, info, embedder, own).ingest(raws)
    detail, remedy = checkup.documents(engine, info.names)
    assert detail == "1 failed, 1 ready"
    assert remedy is not None
    assert "--state failed" in remedy


def test_an_installation_of_before_the_query_log(engine: Engine, settings: Settings) -> None:
    with pytest.raises(IndexMissing) as caught:
        checkup.query_log(engine, Names(prefix="never-set-up"), settings)
    assert isinstance(caught.value, MafteachError)
    assert caught.value.remedy == "Run: mafteach setup"
