"""The embedded OpenSearch node: packages, home, process. See docs/local-node.md."""

from search_config.local_node.cluster import LocalCluster
from search_config.local_node.config import ClusterSpec
from search_config.local_node.node import LocalNode, NodeStatus
from search_config.local_node.resources import free_port

__all__ = ["ClusterSpec", "LocalCluster", "LocalNode", "NodeStatus", "free_port"]
