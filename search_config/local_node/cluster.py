"""Several nodes of this machine as one cluster, for tests of replicas, failures and snapshots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from search_config.errors import NodeTimeout
from search_config.local_node.artifacts import Progress
from search_config.local_node.config import LOOPBACK, ClusterSpec
from search_config.local_node.node import LocalNode, NodeStatus
from search_config.local_node.resources import free_ports
from search_config.settings import Settings

# Enough for a test's index; three such nodes fit a machine with 4 GB.
HEAP_MB = 512
# All nodes answer already; the last ones only have to join.
JOIN_TIMEOUT_S = 60.0
POLL_S = 0.1


class LocalCluster:
    """Nodes on free ports of loopback, all able to manage the cluster.

    Used as a context manager it starts them, and removes them with their data at the end.

    Args:
        settings: as for `LocalNode`; the heap is `heap_mb` for each node.
        nodes: how many.
        base_dir: the nodes' folders go below it, `node-1` and so on.
        repo_paths: folders that snapshots may be written to, by every node.
        heap_mb: Java heap of each node, in MiB.
    """

    def __init__(
        self,
        settings: Settings,
        nodes: int = 3,
        *,
        base_dir: Path,
        repo_paths: Sequence[Path] = (),
        heap_mb: int = HEAP_MB,
    ) -> None:
        ports = free_ports(2 * nodes)
        http, transport = ports[:nodes], ports[nodes:]
        names = tuple(f"node-{number}" for number in range(1, nodes + 1))
        hosts = tuple(f"{LOOPBACK}:{port}" for port in transport)
        # Of two neither could outvote the other: the first one manages alone, and outlives the second.
        managers = names if nodes > 2 else names[:1]
        self._settings = settings.model_copy(update={"node_heap_mb": heap_mb})
        self.nodes = tuple(
            LocalNode(
                self._settings,
                port=http[index],
                data_dir=base_dir / name,
                cluster=ClusterSpec(
                    name="mafteach-cluster",
                    node_name=name,
                    transport_port=transport[index],
                    seed_hosts=hosts,
                    initial_managers=managers,
                    repo_paths=tuple(repo_paths),
                ),
            )
            for index, name in enumerate(names)
        )

    @property
    def urls(self) -> tuple[str, ...]:
        """Base URL of every node, whether it runs or not."""
        return tuple(node.url for node in self.nodes)

    def start(self, progress: Progress | None = None) -> tuple[NodeStatus, ...]:
        """Start the nodes that are down, at once, and wait until all have joined.

        Raises:
            NodeTimeout: they live, but do not find each other.
            NodeError: as `LocalNode.start`.
        """
        with ThreadPoolExecutor(len(self.nodes), thread_name_prefix="node") as pool:
            list(pool.map(lambda node: node.start(progress), self.nodes))
        deadline = time.monotonic() + JOIN_TIMEOUT_S
        while True:
            statuses = tuple(node.status() for node in self.nodes)
            if all(status.nodes == len(self.nodes) for status in statuses):
                return statuses
            if time.monotonic() > deadline:
                raise NodeTimeout(
                    f"Not all of the {len(self.nodes)} nodes joined within {JOIN_TIMEOUT_S:.0f} s: "
                    f"they see {', '.join(str(status.nodes) for status in statuses)}.",
                    where=", ".join(status.data_dir for status in statuses),
                    remedy="Read the nodes' logs.",
                )
            time.sleep(POLL_S)

    def stop(self) -> None:
        """End all nodes; their data stays."""
        with ThreadPoolExecutor(len(self.nodes), thread_name_prefix="node") as pool:
            list(pool.map(LocalNode.stop, self.nodes))

    def kill(self, index: int) -> None:
        """End one node (numbered from 0) as a power cut would; `start` brings it back."""
        self.nodes[index].kill()

    def kill_all(self) -> None:
        """End every node as a power cut would."""
        for node in self.nodes:
            node.kill()

    def logs(self, lines: int = 100) -> str:
        """The last lines of every node's log, each under the node's URL."""
        return "\n".join(f"== {node.url}\n{node.logs(lines)}" for node in self.nodes)

    def remove(self) -> None:
        """End all nodes and delete their data."""
        with ThreadPoolExecutor(len(self.nodes), thread_name_prefix="node") as pool:
            list(pool.map(LocalNode.remove, self.nodes))

    def __enter__(self) -> LocalCluster:
        try:
            self.start()
        except BaseException:
            # The block is not entered, so that nobody else would remove those that did start.
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()
