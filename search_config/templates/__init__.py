"""Templates and pipelines as plain JSON: what a person can PUT from Dashboards' Dev Tools, and what `install` sends.

The files carry the defaults (prefix `mafteach`, 384 dimensions, Lucene, one shard); the functions put the settings in.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from search_config import fields
from search_config.names import Names
from search_config.settings import Settings

Json = dict[str, Any]

COMPONENTS: Final = {"analysis": "component/analysis.json"}
# Only where the sparse leg is on: the field's type is of a module that not every node has.
SPARSE: Final = "sparse"
SPARSE_COMPONENT: Final = {SPARSE: "component/sparse.json"}
INDICES: Final = {
    "chunks": "index/chunks.json",
    "documents": "index/documents.json",
    "keys": "index/keys.json",
    "workers": "index/workers.json",
    "migrations": "index/migrations.json",
    "queries": "index/queries.json",
    "evidence": "index/evidence.json",
    "glossary": "index/glossary.json",
    "feedback": "index/feedback.json",
}
QUERY_CLASSES: Final = ("hebrew", "english", "identifier")
SEARCH_PIPELINES: Final = {
    f"{rule}-{queries}": f"search_pipeline/{rule}-{queries}.json"
    for rule in ("rrf", "min-max", "z-score")
    for queries in QUERY_CLASSES
}
DEFAULT_PREFIX: Final = "mafteach"


def read(path: str) -> Json:
    """One of the packaged JSON files."""
    content: Json = json.loads(files(__package__).joinpath(path).read_text(encoding="utf-8"))
    return content


def component_templates(names: Names, *, sparse: bool = False) -> dict[str, Json]:
    """Bodies of all component templates by their full name."""
    wanted = COMPONENTS | SPARSE_COMPONENT if sparse else COMPONENTS
    return {names.component(name): read(path) for name, path in wanted.items()}


def index_templates(names: Names, settings: Settings, dim: int, *, sparse: bool = False) -> dict[str, Json]:
    """Bodies of all index templates by their full name, for vectors of `dim` values, with sparse terms or without."""
    bodies: dict[str, Json] = {}
    for name, path in INDICES.items():
        body = read(path)
        body["index_patterns"] = [_renamed(pattern, names) for pattern in body["index_patterns"]]
        index = body["template"]["settings"]["index"]
        index["number_of_replicas"] = settings.replicas
        if name == "chunks":
            body["composed_of"] = [_renamed(part, names) for part in body["composed_of"]]
            body["composed_of"] += [names.component(SPARSE)] if sparse else []
            index["number_of_shards"] = settings.shards
            vector = body["template"]["mappings"]["properties"][fields.EMBEDDING]
            vector["dimension"] = dim
            vector["method"]["engine"] = settings.knn_engine
        bodies[names.template(name)] = body
    return bodies


def search_pipelines(names: Names) -> dict[str, Json]:
    """Bodies of all search pipelines by their full name."""
    return {names.search_pipeline(name): read(path) for name, path in SEARCH_PIPELINES.items()}


def _renamed(name: str, names: Names) -> str:
    return names.prefix + name.removeprefix(DEFAULT_PREFIX)
