"""`mafteach migrate` and `mafteach status --stale`: another model, in the command's own words, killed in the middle."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from models.base import ModelDescription, Vectors
from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import COMMAND, TIMEOUT_S, Completed, environment
from tests.cli.inside import inside
from tests.contracts.embedding_server import KEY, EmbeddingServer, serving
from tests.engine.rows import WordEmbedder

FILES = 24
DIM = 16
TEXT = "מסמך מספר {i} עוסק בנושא{i} של העיר."


class Model:
    """An endpoint whose model can be held in the middle of a text."""

    def __init__(self, dim: int) -> None:
        self._words = WordEmbedder(ModelDescription(name="words", revision="1", dim=dim, window=10_000, licence="MIT"))
        self.held, self.reached, self.open = 0, threading.Event(), threading.Event()
        self.open.set()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        if self.held:
            self.held -= 1
            if self.held == 0:
                self.reached.set()
                self.open.wait(TIMEOUT_S)
        return self._words.embed_passages(texts)


def settings_of(server: EmbeddingServer, name: str, dim: int) -> dict[str, str]:
    return {
        "MAFTEACH_EMBEDDER": "openai",
        "MAFTEACH_EMBEDDER_URL": server.url,
        "MAFTEACH_EMBEDDER_MODEL": name,
        "MAFTEACH_EMBEDDER_API_KEY": KEY,
        "MAFTEACH_EMBEDDER_DIM": str(dim),
        "MAFTEACH_EMBEDDER_WINDOW": "4000",
    }


@pytest.fixture
def prefix(engine: Engine) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex[:10]}"
    yield name
    uninstall(engine, Names(prefix=name))


def test_a_migration_that_is_killed_is_seen_and_goes_on(settings: Settings, prefix: str, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for i in range(FILES):
        (folder / f"{i:02}.txt").write_text(TEXT.format(i=i), encoding="utf-8")
    base = environment(
        MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url),
        MAFTEACH_INDEX_PREFIX=prefix,
    )
    model = Model(DIM)
    with serving(Model(DIM)) as old, serving(model) as new:
        before, after = base | settings_of(old, "first", DIM), base | settings_of(new, "second", DIM)

        def call(env: dict[str, str], *arguments: str) -> Completed:
            return inside(*arguments, cwd=tmp_path, env=env)

        def told(env: dict[str, str], *arguments: str) -> Any:
            done = call(env, *arguments, "--json")
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        assert told(before, "ingest", "files", "--tenant", "a")["ready"] == FILES
        (group,) = told(after, "status", "--stale")["documents"]
        assert (group["documents"], group["differs"], group["remedy"]) == (FILES, ["model"], "mafteach migrate")

        refused = call(after, "search", TEXT.format(i=7), "--tenant", "a")
        assert refused.returncode == 1
        assert "mafteach migrate" in refused.stderr

        # The second batch of documents is held, and the process killed there.
        model.held = 2
        model.open.clear()
        killed = subprocess.Popen([COMMAND, "migrate"], cwd=tmp_path, env=after, stderr=subprocess.DEVNULL)
        try:
            assert model.reached.wait(TIMEOUT_S)
            busy = call(after, "migrate", "--json")
            assert busy.returncode == 1
            assert json.loads(busy.stderr)["error"]["code"] == "state_conflict"
        finally:
            killed.send_signal(signal.SIGKILL)
            killed.wait(TIMEOUT_S)
            model.open.set()
        shown = told(before, "status")
        assert shown["migration"]["state"] == "building"
        assert 0 < shown["migration"]["migrated"] < shown["migration"]["documents"] == FILES
        assert "building" in call(before, "status").stdout
        found = told(before, "search", TEXT.format(i=7), "--tenant", "a")
        assert found["hits"][0]["content"] == TEXT.format(i=7)

        embedded = sum(new.batches)
        report = told(after, "migrate")
        assert (report["needed"], report["resumed"], report["documents"]) == (True, True, FILES)
        assert report["chunks_before"] == report["chunks_after"] == FILES
        assert report["sample"]["found_after"] == report["sample"]["found_before"] == report["sample"]["queries"] > 0
        assert embedded + FILES > sum(new.batches) - report["sample"]["queries"]

        assert call(before, "status").returncode == 1
        # Nobody tuned a profile for this model, and nobody named one.
        searched = call(after, "search", TEXT.format(i=7), "--tenant", "a", "--json")
        assert (searched.returncode, "mafteach tune" in searched.stderr) == (0, True)
        result = json.loads(searched.stdout)
        assert (result["index"]["name"], result["refused"]) == (report["target"], False)
        assert result["hits"][0]["content"] == TEXT.format(i=7)
        assert any(note.startswith("uncalibrated") and "mafteach tune" in note for note in result["notes"])
        (group,) = told(after, "status", "--stale")["documents"]
        assert (group["documents"], group["differs"]) == (FILES, [])
        assert told(after, "ingest", "files", "--tenant", "a")["unchanged"] == FILES
        assert "--drop-old" in call(after, "status").stdout
        dropped = told(after, "migrate", "--drop-old")
        assert (dropped["needed"], dropped["dropped"]) == (False, [report["source"]])
        assert told(after, "status")["migration"] is None


def test_nothing_to_migrate_and_nothing_to_abandon(installed: dict[str, str], tmp_path: Path) -> None:
    env = installed
    missing = inside("migrate", cwd=tmp_path, env=env | {"MAFTEACH_INDEX_PREFIX": "t-nothing"})
    assert missing.returncode == 1
    assert "mafteach setup" in missing.stderr
    assert "nothing is to migrate" in inside("migrate", cwd=tmp_path, env=env).stdout
    assert "No migration" in inside("migrate", "--abandon", cwd=tmp_path, env=env).stdout
    both = inside("migrate", "--abandon", "--drop-old", cwd=tmp_path, env=env)
    assert both.returncode == 2


def test_watch_follows_until_it_is_stopped(installed: dict[str, str], tmp_path: Path) -> None:
    env = installed | {"MAFTEACH_DATA_DIR": str(tmp_path / "data")}
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "one.txt").write_text("מסמך ראשון", encoding="utf-8")
    watching = subprocess.Popen(
        [COMMAND, "ingest", "files", "--tenant", "watched", "--watch"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert watching.stdout is not None
    try:
        assert watching.stdout.readline().startswith("ready\t")
        (folder / "two.txt").write_text("מסמך שני", encoding="utf-8")
        assert "1 documents" in watching.stdout.readline()
        (folder / "one.txt").unlink()
        assert watching.stdout.readline().startswith("deleted\t")
    finally:
        watching.terminate()
        watching.communicate(timeout=TIMEOUT_S)
    assert watching.returncode == 0
    listed = json.loads(inside("documents", "list", "--tenant", "watched", "--json", cwd=tmp_path, env=env).stdout)
    assert [row["name"] for row in listed] == ["two.txt"]
    several = inside("ingest", "files", "files", "--watch", "--tenant", "watched", cwd=tmp_path, env=env)
    assert several.returncode == 2
