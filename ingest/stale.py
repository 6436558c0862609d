"""Searchable documents by what they were made with."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from search_config import fields
from search_config.client import Engine
from search_config.names import Names
from search_config.records import Stamps

Json = dict[str, Any]

PAGE_GROUPS: Final = 1_000
_STAMPS: Final = tuple(Stamps.model_fields)


class StampGroup(BaseModel):
    """Documents of a tenant that were made in the same way."""

    model_config = ConfigDict(frozen=True)

    tenant: str
    stamps: Stamps
    documents: int
    chunks: int

    def differs(self, wanted: Stamps) -> tuple[str, ...]:
        """The names of the stamps that are not as they would be now."""
        return tuple(name for name in _STAMPS if getattr(self.stamps, name) != getattr(wanted, name))


def documents_by_stamp(engine: Engine, names: Names) -> tuple[StampGroup, ...]:
    """All searchable documents of all tenants, grouped; for operators alone.

    Raises:
        EngineError, EngineRejected
    """
    engine.request("POST", f"/{names.documents}/_refresh")
    sources = [
        {name: {"terms": {"field": field}}}
        for name, field in ((fields.TENANT, fields.TENANT), *((name, f"{fields.STAMPS}.{name}") for name in _STAMPS))
    ]
    composite: Json = {"size": PAGE_GROUPS, "sources": sources}
    body: Json = {
        "size": 0,
        "query": {"exists": {"field": fields.CONTENT_HASH}},
        "aggs": {
            "groups": {
                "composite": composite,
                "aggs": {"chunks": {"sum": {"field": fields.CHUNKS_INDEXED}}},
            }
        },
    }
    found: list[StampGroup] = []
    while True:
        page = engine.search(names.documents, body)["aggregations"]["groups"]
        for bucket in page["buckets"]:
            key = bucket["key"]
            found.append(
                StampGroup(
                    tenant=key[fields.TENANT],
                    stamps=Stamps(**{name: key[name] for name in _STAMPS}),
                    documents=bucket["doc_count"],
                    chunks=int(bucket["chunks"]["value"]),
                )
            )
        if "after_key" not in page:
            return tuple(found)
        composite["after"] = page["after_key"]
