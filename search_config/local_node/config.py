"""What a node is told: its settings, its logging, its command line. Pure functions of their arguments."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from search_config.local_node.placement import Placement
from search_config.local_node.runtime import VECTOR_MODULE, JavaRuntime

LOOPBACK = "127.0.0.1"
# The engine stops allocating shards at 85% of a disk and makes indices read-only at 95%, shares made for servers: on
# a nearly full laptop nothing could be indexed. Free bytes say what matters: `low` leaves room for a new index,
# `flood_stage` for the merges in flight (segments of an index of 100,000 chunks are about 150 MB each at most).
WATERMARK_LOW = "600mb"
WATERMARK_HIGH = "400mb"
WATERMARK_FLOOD = "250mb"
# Two old logs of 10 MB are more than a month of a quiet node.
LOG_SIZE = "10MB"
LOGS_KEPT = 2
LOG_NAME = "node.log"
PREVIOUS_LOG_NAME = "previous.log"
CONSOLE_NAME = "console.log"
JVM_CRASH_NAME = "jvm-crash-%p.log"


class ClusterSpec(BaseModel):
    """How a node is part of a cluster; the default is a cluster of one.

    Attributes:
        name: the cluster's name; nodes of other names never join.
        node_name: this node's name.
        transport_port: port between the nodes; None: chosen free at the start.
        seed_hosts: `host:port` of the other nodes' transport. Empty: a single node that looks for nobody.
        initial_managers: names of the nodes that elect the first cluster manager.
        repo_paths: folders that snapshots may be written to.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "mafteach"
    node_name: str = "mafteach-1"
    transport_port: int | None = None
    seed_hosts: tuple[str, ...] = ()
    initial_managers: tuple[str, ...] = ()
    repo_paths: tuple[Path, ...] = ()


def engine_settings(placement: Placement, spec: ClusterSpec, *, port: int, transport_port: int) -> str:
    """`opensearch.yml`. JSON is YAML, so every value is quoted as it must be."""
    values: dict[str, object] = {
        "cluster.name": spec.name,
        "node.name": spec.node_name,
        "path.data": str(placement.data),
        "path.logs": str(placement.logs),
        "network.host": LOOPBACK,
        "http.port": port,
        "transport.port": transport_port,
        # A misspelt index name in a write is an error, not a new index with a guessed mapping.
        "action.auto_create_index": False,
        "cluster.routing.allocation.disk.watermark.low": WATERMARK_LOW,
        "cluster.routing.allocation.disk.watermark.high": WATERMARK_HIGH,
        "cluster.routing.allocation.disk.watermark.flood_stage": WATERMARK_FLOOD,
    }
    if spec.repo_paths:
        values["path.repo"] = [str(path) for path in spec.repo_paths]
    if spec.seed_hosts:
        values["discovery.seed_hosts"] = list(spec.seed_hosts)
        values["cluster.initial_cluster_manager_nodes"] = list(spec.initial_managers)
    else:
        values["discovery.type"] = "single-node"
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


def logging_settings(placement: Placement) -> str:
    """`log4j2.properties`: one rolling file. (What the Java runtime itself prints goes to the console's file.)"""
    log = (placement.logs / LOG_NAME).as_posix()
    return f"""\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {log}
appender.file.filePattern = {log}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d{{ISO8601}}][%-5p][%c{{1.}}] %marker%m%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = {LOG_SIZE}
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = {LOGS_KEPT}
# Some 60 lines of converter registrations at every start, for a transport that is off.
logger.grpc.name = org.opensearch.transport.grpc
logger.grpc.level = warn
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


def java_command(placement: Placement, home: Path, runtime: JavaRuntime, *, heap_mb: int) -> list[str]:
    """The node's whole command line."""
    agent = next((home / "agent").glob("opensearch-agent-[0-9]*.jar"))
    modules = ["--add-modules", VECTOR_MODULE] if runtime.has_vector else []
    return [
        str(runtime.java),
        f"-javaagent:{agent}",
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        # Off-heap buffers, by default as much as the heap again; half of it is what the engine's own distribution sets.
        f"-XX:MaxDirectMemorySize={heap_mb // 2}m",
        *modules,
        "--enable-native-access=ALL-UNNAMED",
        # The trimmed runtime lacks locale data that the `thai` analyzer asks for; ICU brings it.
        "-Djava.locale.providers=SPI,CLDR",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        f"-Djava.io.tmpdir={placement.tmp}",
        f"-Djna.tmpdir={placement.tmp}",
        f"-XX:ErrorFile={placement.logs / JVM_CRASH_NAME}",
        # A node without memory left must end, not limp: the next start says so.
        "-XX:+ExitOnOutOfMemoryError",
        f"-Dopensearch.path.home={home}",
        config_argument(placement),
        "-Dopensearch.distribution.type=tar",
        "-Dlog4j2.disable.jmx=true",
        "-cp",
        f"{home / 'lib'}/*",
        "org.opensearch.bootstrap.OpenSearch",
    ]


def config_argument(placement: Placement) -> str:
    """The one argument that no other node's command line has; a process is known by it."""
    return f"-Dopensearch.path.conf={placement.config}"
