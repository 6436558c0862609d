"""`mafteach ingest --ray`: the same chunks as one process makes, and what a command line without an address means."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli.ingest import with_ray_address
from search_config import fields
from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import environment, run

# Ray starts several processes before the first document, each with a model.
RAY_S = 400


@pytest.fixture
def prefixes(engine: Engine) -> Iterator[tuple[str, str]]:
    made = (f"t{uuid.uuid4().hex[:10]}", f"t{uuid.uuid4().hex[:10]}")
    yield made
    for name in made:
        # A test may need but one of them.
        if engine.exists(f"/_index_template/{Names(prefix=name).template('chunks')}"):
            uninstall(engine, Names(prefix=name))


def stored(engine: Engine, prefix: str) -> dict[str, dict[str, Any]]:
    """Everything of all chunks but the time they were written."""
    index = Names(prefix=prefix).chunks
    engine.request("POST", f"/{index}/_refresh")
    hits = engine.search(index, {"size": 1_000, "docvalue_fields": [fields.TOKEN_CODES]})["hits"]["hits"]
    return {
        hit["_id"]: {
            **{name: value for name, value in hit["_source"].items() if name != fields.INDEXED_AT},
            "codes": hit["fields"][fields.TOKEN_CODES],
        }
        for hit in hits
    }


@pytest.mark.slow
@pytest.mark.extra("ray")
def test_ray_makes_the_same_chunks_to_the_bit(
    settings: Settings, engine: Engine, prefixes: tuple[str, str], examples: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for part in ("letters", "policies", "pricelists"):
        for path in (examples / "documents" / part).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "empty.txt").write_bytes(b"")
    reports = []
    for prefix, more in zip(prefixes, ((), ("--workers", "2", "--ray")), strict=True):
        env = environment(MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url), MAFTEACH_INDEX_PREFIX=prefix)
        done = run("ingest", "files", "--tenant", "a", *more, "--json", cwd=tmp_path, env=env, timeout=RAY_S)
        assert done.returncode == 1, done.stderr
        reports.append(json.loads(done.stdout))
    alone, shared = reports
    assert (shared["ready"], shared["documents"]) == (alone["ready"], alone["documents"])
    assert [one["code"] for one in shared["failed"]] == ["empty_document"]
    made = [stored(engine, prefix) for prefix in prefixes]
    assert made[0]
    assert made[0] == made[1]


def test_what_follows_ray_is_an_address_or_not() -> None:
    assert with_ray_address(["ingest", "--ray", "files", "-t", "a"]) == ["ingest", "--ray", "local", "files", "-t", "a"]
    assert with_ray_address(["ingest", "files", "--ray"]) == ["ingest", "files", "--ray", "local"]
    for address in ("auto", "local", "ray://head:10001", "10.0.0.1:6379"):
        assert with_ray_address(["ingest", "--ray", address, "files"]) == ["ingest", "--ray", address, "files"]
    assert with_ray_address(["search", "a:1", "--tenant", "b"]) == ["search", "a:1", "--tenant", "b"]


def test_without_the_extra_it_says_what_to_install(
    settings: Settings, prefixes: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text("מסמך", encoding="utf-8")
    # Stands before an installed one, and cannot be imported.
    (tmp_path / "ray.py").write_text("raise ImportError('not installed')", encoding="utf-8")
    env = environment(
        MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url),
        MAFTEACH_INDEX_PREFIX=prefixes[0],
        PYTHONPATH=str(tmp_path),
    )
    done = run("ingest", "one.txt", "--tenant", "a", "--ray", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "mafteach[ray]" in done.stderr
