"""What `mafteach doctor` looks at beside the machine: how it reaches the engine, whom it lets in, how the engine is.

Each function gives a line of detail, or raises one of our errors, whose remedy is what to do.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from search_config.errors import EngineDiskFull, EngineOverloaded, IndexMissing, InvalidSettings, UnreadableDocument

if TYPE_CHECKING:
    from search_config.client import Engine
    from search_config.names import Names
    from search_config.settings import Settings

# The engine stops taking documents at 5% free by its own defaults (the flood stage); at 10% it moves shards away.
FREE_WANTED: Final = 0.10
# States that a person should look at, and the command that shows them.
TROUBLED: Final = ("failed", "quarantined")


def connection(settings: Settings) -> str:
    """How the engine is reached."""
    from search_config.connection import LOCAL_HOSTS, EngineAccess

    access = EngineAccess.of(settings)
    if settings.opensearch_url is None:
        return "embedded node, on this machine alone"
    address = urlsplit(str(settings.opensearch_url))
    secured = address.scheme == "https"
    local = address.hostname in LOCAL_HOSTS
    if not secured and not local and access.basic is not None:
        raise InvalidSettings(
            "The password for the engine crosses the network in the clear.",
            where="MAFTEACH_OPENSEARCH_URL",
            remedy="Use an https address; MAFTEACH_OPENSEARCH_CA_FILE names its certificate authority.",
        )
    if secured and not access.verify:
        raise InvalidSettings(
            "The engine's certificate is not checked: anyone between may read and change everything.",
            where="MAFTEACH_OPENSEARCH_VERIFY_CERTS",
            remedy="Set it to true, and MAFTEACH_OPENSEARCH_CA_FILE to the certificate authority.",
        )
    _ = access.tls if secured else None
    _ = access.authorize
    who = "signed for AWS" if access.aws else "with a password" if access.basic else "without a credential"
    return f"{'TLS' if secured else 'no TLS'}, {who}"


def credentials(settings: Settings) -> str:
    """Whom the service lets in."""
    from api.jwt import TokenVerifier

    if TokenVerifier.of(settings) is None:
        return "API keys"
    return f"API keys, and tokens of {settings.jwt_issuer} for {settings.jwt_audience} ({settings.jwt_algorithm})"


def traces(settings: Settings) -> str:
    """Where traces go."""
    from api.telemetry import Tracing

    tracing = Tracing.of(settings)
    if tracing is None:
        return "none (MAFTEACH_OTEL_ENDPOINT)"
    tracing.close()
    return f"to {settings.otel_endpoint}"


def spool(settings: Settings) -> str:
    """Where uploads wait."""
    folder = settings.spool_dir or settings.data_dir / "spool"
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    if not os.access(there, os.W_OK):
        raise UnreadableDocument(
            "Uploads can't be kept there.",
            where=str(there),
            remedy="Set MAFTEACH_SPOOL_DIR to a folder that this user may write.",
        )
    return str(folder)


def health(engine: Engine) -> str:
    """Whether all data are there."""
    found: dict[str, Any] = engine.request("GET", "/_cluster/health")
    if found["status"] == "red":
        raise EngineOverloaded(
            f"A part of the data is not available: {found['unassigned_shards']} shards are nowhere.",
            where=engine.url,
            remedy="See GET /_cluster/allocation/explain at the engine; start the nodes that are missing.",
        )
    return f"{found['status']}, {found['number_of_nodes']} node(s)"


def room(engine: Engine) -> str:
    """Whether the engine can take more documents."""
    nodes = engine.request("GET", "/_nodes/stats/fs")["nodes"].values()
    shares = {
        node["name"]: node["fs"]["total"]["available_in_bytes"] / max(1, node["fs"]["total"]["total_in_bytes"])
        for node in nodes
    }
    name, least = min(shares.items(), key=lambda item: item[1])
    if least < FREE_WANTED:
        raise EngineDiskFull(
            f"The engine's disk has {least:.0%} left; near 5% it stops taking documents.",
            where=name,
            remedy="Free some space there, or add a node.",
        )
    return f"{least:.0%} of the engine's disk is free"


def query_log(engine: Engine, names: Names, settings: Settings) -> str:
    """Whether requests are logged."""
    if not settings.query_log:
        return "off (MAFTEACH_QUERY_LOG)"
    if not engine.exists(f"/{names.queries}"):
        raise IndexMissing("There is no query log.", where=names.queries, remedy="Run: mafteach setup")
    words = "with the words of queries" if settings.query_log_text else "without the words of queries"
    return f"kept for {settings.query_log_days} days, {words}"


def documents(engine: Engine, names: Names) -> tuple[str, str | None]:
    """Documents of all tenants by state, and what to do where some need a person."""
    from search_config import fields
    from search_config.records import DocumentState

    body = {"size": 0, "aggs": {"states": {"terms": {"field": fields.STATE, "size": len(DocumentState)}}}}
    buckets = engine.search(names.documents, body)["aggregations"]["states"]["buckets"]
    counts = {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}
    troubled = [state for state in TROUBLED if counts.get(state)]
    remedy = f"mafteach documents list --tenant T --state {troubled[0]}" if troubled else None
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "none", remedy


def profile(path: Path | None) -> str:
    """The profile of searches."""
    from query.profile import load_profile

    return load_profile(path).label
