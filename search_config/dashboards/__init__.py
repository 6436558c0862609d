"""Saved objects of OpenSearch Dashboards: data views, searches, visualisations and one dashboard, with fixed ids.

`objects.ndjson` is written by `scripts/write_dashboards.py` for the prefix `mafteach`; the functions here put another
one in. Data views name indices; everything else names data views by their id.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from search_config.names import Names
from search_config.templates import DEFAULT_PREFIX

Json = dict[str, Any]

OBJECTS_FILE: Final = "objects.ndjson"
# The kind of objects whose title is a pattern of indices.
DATA_VIEW: Final = "index-pattern"


def saved_objects(names: Names) -> list[Json]:
    """All objects for a prefix, each behind those that it refers to."""
    text = files(__package__).joinpath(OBJECTS_FILE).read_text(encoding="utf-8")
    return [_renamed(json.loads(line), names) for line in text.splitlines()]


def _renamed(found: Json, names: Names) -> Json:
    attributes = dict(found["attributes"])
    if found["type"] == DATA_VIEW:
        attributes["title"] = _own(attributes["title"], names)
    elif names.prefix != DEFAULT_PREFIX:
        # Several installations may share one Dashboards, and people choose by title.
        attributes["title"] = f"{attributes['title']} ({names.prefix})"
    references = [{**reference, "id": _own(reference["id"], names)} for reference in found["references"]]
    return {**found, "id": _own(found["id"], names), "attributes": attributes, "references": references}


def _own(name: str, names: Names) -> str:
    return names.prefix + name.removeprefix(DEFAULT_PREFIX)
