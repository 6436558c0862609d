"""The embedded node by way of the command line: started where it is needed, and where it is asked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.worker import BATCH_DOCUMENTS
from search_config.client import Engine
from search_config.local_node import LocalNode, free_port
from search_config.settings import Settings
from tests.cli.conftest import COMMAND, PARKING, TIMEOUT_S, Completed, environment, run


@pytest.fixture(scope="module")
def own_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of a node of this module's own, not running at first; removed at the end."""
    port, data = free_port(), tmp_path_factory.mktemp("own") / "node"
    yield environment(MAFTEACH_NODE_PORT=str(port), MAFTEACH_NODE_HEAP_MB="512", MAFTEACH_DATA_DIR=str(data))
    node_of(port, data).remove()


def node_of(port: int, data: Path) -> LocalNode:
    return LocalNode(Settings(_env_file=None, node_port=port, data_dir=data))


@pytest.mark.slow
def test_the_embedded_node_starts_when_it_is_needed(own_node: dict[str, str], tmp_path: Path) -> None:
    def call(*arguments: str) -> Completed:
        return run(*arguments, cwd=tmp_path, env=own_node)

    down = call("node", "status", "--json")
    assert down.returncode == 0, down.stderr
    assert json.loads(down.stdout) | {"url": "", "data_dir": ""} == {
        "running": False, "url": "", "version": None, "nodes": 0, "pid": None, "data_dir": ""
    }  # fmt: skip
    status = call("status", "--json")
    assert status.returncode == 3
    assert json.loads(status.stdout)["engine"]["running"] is False
    assert json.loads(call("node", "stop", "--json").stdout) == {"stopped": False}

    (tmp_path / "parking.md").write_text(PARKING, encoding="utf-8")
    ingested = call("ingest", "parking.md", "--tenant", "demo", "--json")
    assert ingested.returncode == 0, ingested.stderr
    assert "starting it" in ingested.stderr
    assert json.loads(ingested.stdout)["ready"] == 1

    up = json.loads(call("node", "status", "--json").stdout)
    assert up["running"] is True
    assert up["nodes"] == 1
    assert up["version"]
    found = call("search", "אישור חניה", "--tenant", "demo", "--json")
    assert found.returncode == 0
    assert found.stderr == ""
    assert json.loads(found.stdout)["hits"]
    assert json.loads(call("node", "logs", "--lines", "3", "--json").stdout)["lines"]
    assert call("doctor").returncode == 0
    assert json.loads(call("node", "stop", "--json").stdout) == {"stopped": True}
    assert json.loads(call("node", "status", "--json").stdout)["running"] is False


@pytest.mark.slow
def test_a_node_that_goes_away_in_the_middle(own_node: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    # Several batches, so that the first is written long before the last.
    documents = 3 * BATCH_DOCUMENTS
    for number in range(documents):
        (folder / f"{number:03}.md").write_text(f"# נוהל\n\nנספח מספר {number} לנוהל החניה.", encoding="utf-8")
    assert run("setup", cwd=tmp_path, env=own_node).returncode == 0
    node = node_of(int(own_node["MAFTEACH_NODE_PORT"]), Path(own_node["MAFTEACH_DATA_DIR"]))
    command = [str(COMMAND), "ingest", "many", "--tenant", "broken", "--json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=own_node, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    engine = Engine(node.url, timeout_s=30)
    query = {"query": {"term": {"tenant": "broken"}}}
    while process.poll() is None and not engine.request("POST", "/mafteach-chunks/_count", body=query)["count"]:
        pass
    engine.close()
    node.kill()
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 3, output + errors
    assert output == ""
    assert json.loads(errors)["error"]["code"] == "engine_unreachable"

    again = run("ingest", "many", "--tenant", "broken", "--json", cwd=tmp_path, env=own_node)
    assert again.returncode == 0, again.stderr
    report = json.loads(again.stdout)
    assert report["documents"] == documents
    assert report["failed"] == []
    summary = json.loads(run("documents", "summary", "--tenant", "broken", "--json", cwd=tmp_path, env=own_node).stdout)
    assert summary["by_state"] == {"ready": documents}


def test_a_port_that_is_taken_is_named(settings: Settings, tmp_path: Path) -> None:
    taken, data = settings.node_port, tmp_path / "node"
    env = environment(MAFTEACH_NODE_PORT=str(taken), MAFTEACH_DATA_DIR=str(data))
    done = run("node", "start", "--json", cwd=tmp_path, env=env)
    node_of(taken, data).remove()
    assert done.returncode == 3
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert error["code"] == "port_busy"
    assert str(taken) in error["where"]
