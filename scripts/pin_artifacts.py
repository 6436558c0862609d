"""Resolve the embedded node's packages once, and write `search_config/local_node/pins.json`.

Run it by hand when the engine's version changes: `.venv/bin/python scripts/pin_artifacts.py`, then run the engine's
tests and commit the table. The running software never resolves anything: it fetches exactly the files of the table and
compares each with its SHA-256.

Every module gets only those jars that its artifact asks for and the server's `lib/` does not have already: a class in
both places would be loaded twice, and the engine refuses such a home ("jar hell").
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from jgo.maven import Artifact, MavenContext

from search_config.local_node.artifacts import PINS_PATH
from search_config.settings import load_settings

ENGINE = "3.6.0"
PLUGINS = f"{ENGINE}.0"

# What `lib/` is resolved from. log4j-core is optional in the server's POM, but it does not start without it;
# icu4j-localespi carries the locale data that the trimmed Java runtime lacks (the `thai` analyzer asks for it).
SERVER_ROOTS = (
    f"org.opensearch:opensearch:{ENGINE}",
    f"org.opensearch:opensearch-plugin-classloader:{ENGINE}",
    "org.apache.logging.log4j:log4j-core:2.25.3",
    "com.ibm.icu:icu4j-localespi:77.1",
)
MODULE_ROOTS = {
    "analysis-common": f"org.opensearch.plugin:analysis-common:{ENGINE}",
    "lang-painless": f"org.opensearch.plugin:lang-painless:{ENGINE}",
    "mapper-extras": f"org.opensearch.plugin:mapper-extras-client:{ENGINE}",
    "transport-netty4": f"org.opensearch.plugin:transport-netty4-client:{ENGINE}",
    "transport-grpc": f"org.opensearch.plugin:transport-grpc:{ENGINE}",
}
# The agent puts the other two on the class path by their place beside it.
AGENT_ROOTS = (
    f"org.opensearch:opensearch-agent:{ENGINE}",
    f"org.opensearch:opensearch-agent-bootstrap:{ENGINE}",
)
# Native QUIC libraries of five platforms, 12 MB: asked for by the HTTP/3 codec, which no setting of ours turns on.
UNUSED = frozenset({"netty-codec-native-quic"})
PLUGIN_ROOTS = {
    "opensearch-knn": ("org.opensearch.plugin", "opensearch-knn", PLUGINS),
    "opensearch-neural-search": ("org.opensearch.plugin", "neural-search", PLUGINS),
}


@dataclass
class Table:
    """The artifacts found so far, each with the places it goes to."""

    places: dict[tuple[str, str, str, str, str], set[str]] = field(default_factory=dict)
    files: dict[tuple[str, str, str, str, str], Path] = field(default_factory=dict)

    def add(self, artifact: Artifact, place: str) -> None:
        """Note that the artifact belongs to that folder of the home; downloads it where it is not cached."""
        self.files[artifact.key] = artifact.resolve()
        self.places.setdefault(artifact.key, set()).add(place)

    def rows(self) -> list[dict[str, object]]:
        """The table's rows, sorted by coordinate."""
        rows: list[dict[str, object]] = []
        for key in sorted(self.places):
            group, name, version, classifier, packaging = key
            content = self.files[key].read_bytes()
            rows.append(
                {
                    "group": group,
                    "artifact": name,
                    "version": version,
                    "classifier": classifier,
                    "packaging": packaging,
                    "size": len(content),
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "places": sorted(self.places[key]),
                }
            )
        return rows


def closure(context: MavenContext, *coordinates: str) -> list[Artifact]:
    """All jars that the coordinates need at run time, themselves included."""
    inputs, transitive = context.resolver.resolve([context.create_dependency(item) for item in coordinates])
    found = (*inputs, *transitive)
    return [item.artifact for item in found if item.type == "jar" and item.artifactId not in UNUSED]


def build(context: MavenContext) -> Table:
    """Resolve every part of the node."""
    table = Table()
    server = closure(context, *SERVER_ROOTS)
    for artifact in server:
        table.add(artifact, "lib")
    in_server = {(item.groupId, item.artifactId) for item in server}
    for name, root in MODULE_ROOTS.items():
        for artifact in closure(context, root):
            if (artifact.groupId, artifact.artifactId) not in in_server:
                table.add(artifact, f"modules/{name}")
    for artifact in closure(context, *AGENT_ROOTS):
        table.add(artifact, "agent")
    for name, (group, artifact_id, version) in PLUGIN_ROOTS.items():
        table.add(context.project(group, artifact_id).at_version(version).artifact(packaging="zip"), f"plugins/{name}")
    return table


def main() -> None:
    """Write the table and print what changed in size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PINS_PATH, help="where the table goes")
    out: Path = parser.parse_args().out
    cache = load_settings().cache_dir / "engine" / "pinning"
    rows = build(MavenContext(repo_cache=cache)).rows()
    out.write_text(json.dumps({"engine": ENGINE, "artifacts": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} files, {sum(int(str(row['size'])) for row in rows) / 1e6:.1f} MB -> {out}")


if __name__ == "__main__":
    main()
