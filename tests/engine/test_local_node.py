"""The embedded node for real: its process, its data, its errors. Every test has a node and a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from search_config.client import Engine
from search_config.errors import InvalidSettings, NodeDied, PortBusy
from search_config.local_node import ClusterSpec, LocalCluster, LocalNode, free_port
from search_config.local_node.artifacts import load_pins
from search_config.settings import Settings

HEAP_MB = 256
INDEX = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}}
# What a second process runs: the same node by the same settings, its status on standard output.
START = """
import sys
from pathlib import Path
from search_config.local_node import LocalNode
from search_config.settings import Settings
port, heap = int(sys.argv[1]), int(sys.argv[2])
settings = Settings(_env_file=None, node_port=port, node_heap_mb=heap, data_dir=Path(sys.argv[3]))
print(LocalNode(settings).start().model_dump_json())
"""

MakeNode = Callable[..., LocalNode]


@pytest.fixture
def base(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, node_port=free_port(), node_heap_mb=HEAP_MB, data_dir=tmp_path / "data")


@pytest.fixture
def make_node(base: Settings) -> Iterator[MakeNode]:
    """`make_node(cluster=None)` gives a node on the test's folder; it is removed at the end."""
    made: list[LocalNode] = []

    def make(cluster: ClusterSpec | None = None) -> LocalNode:
        made.append(LocalNode(base, cluster=cluster))
        return made[-1]

    yield make
    for node in made:
        node.remove()


def put_document(url: str) -> None:
    engine = Engine(url, timeout_s=30)
    engine.request("PUT", "/kept", body=INDEX)
    engine.request("PUT", "/kept/_doc/1", body={"text": "שלום"}, params={"refresh": "true"})
    engine.close()


def get_document(url: str) -> object:
    engine = Engine(url, timeout_s=30)
    found = engine.request("GET", "/kept/_doc/1")["_source"]
    engine.close()
    return found


@pytest.mark.slow
def test_a_life(base: Settings, make_node: MakeNode) -> None:
    """Start, start again, stop, start with the data kept, a power cut, and start again."""
    node = make_node()
    assert node.status().running is False
    assert node.stop() is False
    lines: list[str] = []
    first = node.start(lines.append)
    assert (first.running, first.version, first.nodes) == (True, load_pins().engine, 1)
    assert first.url == node.url == f"http://127.0.0.1:{base.node_port}"
    assert any(first.url in line for line in lines)
    assert first.pid is not None
    process = psutil.Process(first.pid)
    assert process.uids().real != 0
    assert {connection.laddr.ip for connection in process.net_connections("inet")} <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert make_node().start() == first, "a second start must find the node, not make another"
    assert "started" in node.logs()

    put_document(node.url)
    assert node.stop() is True
    assert node.status().running is False
    assert node.status().pid is None
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE

    again: list[str] = []
    second = node.start(again.append)
    assert second.pid != first.pid
    assert not [line for line in again if "Downloading" in line or "Unpacking" in line]
    assert get_document(node.url) == {"text": "שלום"}

    node.kill()
    assert node.status().running is False
    third = node.start()
    assert third.running
    assert get_document(node.url) == {"text": "שלום"}


@pytest.mark.slow
def test_two_starts_at_once_make_one_node_that_outlives_them(base: Settings, make_node: MakeNode) -> None:
    command = [sys.executable, "-c", START, str(base.node_port), str(HEAP_MB), str(base.data_dir)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    node = make_node()  # registered first, so that it is removed whatever happens
    outputs = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    one, other = (json.loads(output) for output in outputs)
    assert one == other
    assert node.status().pid == one["pid"]
    assert node.status().running


@pytest.mark.slow
def test_the_bundled_runtime_builds_every_analyzer(make_node: MakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search_config.local_node.runtime.system_javas", list)
    node = make_node()
    put_document(node.start().url)
    assert get_document(node.url) == {"text": "שלום"}


def test_a_busy_port_is_named(base: Settings, make_node: MakeNode) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", base.node_port))
        other.listen()
        with pytest.raises(PortBusy, match=str(base.node_port)):
            make_node().start()


def test_a_node_that_dies_gives_the_logs_reason(make_node: MakeNode) -> None:
    node = make_node(ClusterSpec(name="not:allowed"))
    with pytest.raises(NodeDied, match=r"\[cluster\.name\] must not contain") as caught:
        node.start()
    assert caught.value.where is not None
    assert "must not contain" in node.logs()
    assert Path(caught.value.where).is_dir()
    assert node.status().pid is None


def test_faiss_is_refused_before_a_node_can_die_of_it(base: Settings) -> None:
    with pytest.raises(InvalidSettings, match="faiss"):
        LocalNode(base.model_copy(update={"knn_engine": "faiss"})).start()


@pytest.mark.slow
def test_a_node_that_hangs_is_killed(make_node: MakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search_config.local_node.process.STOP_TIMEOUT_S", 0.5)
    node = make_node()
    pid = node.start().pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    assert node.stop() is True
    assert node.status().pid is None


@pytest.mark.slow
def test_three_nodes_lose_nothing_with_one(base: Settings, tmp_path: Path) -> None:
    with LocalCluster(base, base_dir=tmp_path / "cluster", heap_mb=HEAP_MB) as cluster:
        engine = Engine(cluster.urls[1], timeout_s=60)
        engine.request("PUT", "/kept", body={"settings": {"number_of_shards": 3, "number_of_replicas": 1}})
        for number in range(20):
            engine.request("PUT", f"/kept/_doc/{number}", body={"n": number}, params={"refresh": "true"})
        engine.request("GET", "/_cluster/health", params={"wait_for_status": "green"})
        cluster.kill(0)
        engine.request("GET", "/_cluster/health", params={"wait_for_nodes": "2"})
        engine.request("GET", "/_cluster/health/kept", params={"wait_for_status": "yellow"})
        assert engine.request("GET", "/kept/_count")["count"] == 20
        engine.close()
        assert [status.nodes for status in cluster.start()] == [3, 3, 3]
