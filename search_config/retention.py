"""How long the query log stays: by the cluster's own index state management, where it has that plugin.

The log is a data stream. The policy begins a new index behind it from time to time, and deletes an index once all of
its rows are too old. Where the plugin is missing (the embedded node has none) nothing is put; in both cases
`api.query_log` deletes rows that are too old once a day, so that none stays longer for being in a young index.
"""

from __future__ import annotations

from typing import Any, Final

from search_config.client import Engine
from search_config.errors import EngineRejected
from search_config.names import Names

Json = dict[str, Any]

PLUGIN: Final = "opensearch-index-management"
POLICIES: Final = "/_plugins/_ism/policies"
# Indices that the days of retention are spread over: fewer, and rows wait long for their index to go; more, and a
# small log has many nearly empty shards.
INDICES: Final = 10
# An index of this size is followed by a new one whatever its age: what a shard should have at most.
MAX_SIZE: Final = "30gb"
# Above the engine's own policies, and below what an operator may lay over them.
PRIORITY: Final = 200


def has_state_management(engine: Engine) -> bool:
    """Whether every node of the cluster has the plugin.

    Raises:
        EngineRejected, EngineError
    """
    plugins = engine.request("GET", "/_cat/plugins", params={"format": "json"})
    nodes = {node["name"] for node in engine.request("GET", "/_cat/nodes", params={"format": "json", "h": "name"})}
    return {plugin["name"] for plugin in plugins if plugin["component"] == PLUGIN} >= nodes


def policy(names: Names, days: int) -> Json:
    """The policy of the query log.

    Args:
        names: of the installation.
        days: that every row stays at least.
    """
    step = max(1, days // INDICES)
    return {
        "policy": {
            "description": f"The query log of {names.prefix}: {days} days",
            "default_state": "written",
            "states": [
                {
                    "name": "written",
                    "actions": [{"rollover": {"min_index_age": f"{step}d", "min_size": MAX_SIZE}}],
                    # Counted from the index's begin: its last row may be as young as the next index.
                    "transitions": [{"state_name": "old", "conditions": {"min_index_age": f"{days + step}d"}}],
                },
                {"name": "old", "actions": [{"delete": {}}], "transitions": []},
            ],
            # By the name of the data stream, for every index behind it.
            "ism_template": [{"index_patterns": [names.queries], "priority": PRIORITY}],
        }
    }


def put_retention(engine: Engine, names: Names, days: int) -> bool:
    """Put the policy, and the indices that there are under it; gives whether the cluster has such policies.

    Raises:
        EngineRejected, EngineError
    """
    if not has_state_management(engine):
        return False
    path, wanted = f"{POLICIES}/{names.queries}", policy(names, days)
    there = engine.request("GET", path, params={"ignore": 404})
    if "policy" not in there:
        engine.request("PUT", path, body=wanted)
    elif not _is_same(there["policy"], wanted["policy"]):
        place = {"if_seq_no": there["_seq_no"], "if_primary_term": there["_primary_term"]}
        engine.request("PUT", path, body=wanted, params=place)
    if is_stream(engine, names.queries):
        # What has a policy already keeps it; the answer names those, and fails for none.
        engine.request("POST", f"/_plugins/_ism/add/{names.queries}", body={"policy_id": names.queries})
    return True


def drop_retention(engine: Engine, names: Names) -> None:
    """Delete the policy, where there is one.

    Raises:
        EngineRejected, EngineError
    """
    if has_state_management(engine):
        engine.request("DELETE", f"{POLICIES}/{names.queries}", params={"ignore": 404})


def is_stream(engine: Engine, name: str) -> bool:
    """Whether it is a data stream; an installation of before there were streams has an index, which no policy rolls.

    Raises:
        EngineRejected, EngineError
    """
    try:
        return bool(engine.request("GET", f"/_data_stream/{name}")["data_streams"])
    except EngineRejected:
        if not engine.exists(f"/{name}") or name in engine.request("GET", f"/{name}/_settings"):
            return False
        raise


def _is_same(there: Any, wanted: Any) -> bool:
    """Whether everything that is wanted is there; the engine adds fields of its own."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(_is_same(there.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return (
            isinstance(there, list)
            and len(there) == len(wanted)
            and all(_is_same(one, other) for one, other in zip(there, wanted, strict=True))
        )
    return bool(there == wanted)
