"""A sample of queries asked of two versions of the chunks, before one takes the other's place.

Each query is the beginning of a passage of the live index, asked as its document's tenant; what is looked for is that
passage's document. The words of both versions are the same, so their lexical legs must find about the same; the vectors
of the next one are another model's, and must find something at all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from models.base import Embedder, Vectors
from query import build
from query.filters import tenant_filter
from query.profile import Profile
from query.retrieve import Plan, retrieve
from search_config import fields
from search_config.client import Engine
from search_config.install import IndexInfo
from search_config.migration import Sample

Json = dict[str, Any]

QUERIES: Final = 24
# Words of a query: a sentence.
QUERY_WORDS: Final = 12
# A document is found among so many passages: the first page.
FIRST: Final = 10
# The sample is drawn from so many documents, the first ones behind a random place in the order of their ids.
NEIGHBOURS: Final = 4
ID_HEX_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class _Query:
    tenant: str
    document: str
    text: str


def sample_queries(
    engine: Engine, source: str, target: IndexInfo, embedder: Embedder, profile: Profile, *, seed: int = 0
) -> Sample:
    """Ask.

    Args:
        engine: has both versions; both must be refreshed.
        source: name of the live index.
        target: the next version.
        embedder: the next version's.
        profile: whose fields the lexical legs read.
        seed: of the choice of passages.

    Raises:
        ModelError, EngineError, EngineRejected
    """
    queries = list(_drawn(engine, source, random.Random(seed)))  # noqa: S311  a sample, no secret
    vectors = embedder.embed_queries([query.text for query in queries])
    before = after = dense = 0
    for query, vector in zip(queries, vectors, strict=True):
        lexical = build.lexical_query(query.text, tenant_filter(query.tenant), profile)
        before += _found(engine, query, Plan(source, query.tenant, query.text, lexical, None, _own(query), FIRST))
        after += _found(engine, query, Plan(target.index, query.tenant, query.text, lexical, None, _own(query), FIRST))
        dense += _found(
            engine, query, Plan(target.index, query.tenant, query.text, None, _values(vector), _own(query), FIRST)
        )
    return Sample(queries=len(queries), found_before=before, found_after=after, found_by_vectors=dense)


def _own(query: _Query) -> tuple[Json, ...]:
    return tuple(tenant_filter(query.tenant))


def _values(vector: Vectors) -> tuple[float, ...]:
    return tuple(float(value) for value in vector)


def _found(engine: Engine, query: _Query, plan: Plan) -> int:
    legs = retrieve(engine, plan)
    found = {candidate.document_id for candidate in (*legs.lexical, *legs.dense)}
    return int(query.document in found)


def _drawn(engine: Engine, source: str, chance: random.Random) -> Iterator[_Query]:
    """Passages from all over the index, each once."""
    seen: set[str] = set()
    for _ in range(QUERIES):
        place = f"{chance.getrandbits(4 * ID_HEX_DIGITS):0{ID_HEX_DIGITS}x}"
        hits = _behind(engine, source, place) or _behind(engine, source, "")
        hits = [hit for hit in hits if hit["_id"] not in seen]
        if not hits:
            continue
        hit = chance.choice(hits)
        seen.add(hit["_id"])
        row = hit["_source"]
        yield _Query(
            tenant=row[fields.TENANT],
            document=row[fields.DOCUMENT_ID],
            text=" ".join(row[fields.CONTENT].split()[:QUERY_WORDS]),
        )


def _behind(engine: Engine, source: str, place: str) -> list[Json]:
    body = {
        "size": NEIGHBOURS,
        "query": {"match_all": {}},
        "sort": [{fields.CHUNK_ID: "asc"}],
        "search_after": [place],
        "_source": [fields.TENANT, fields.DOCUMENT_ID, fields.CONTENT],
    }
    hits: list[Json] = engine.search(source, body)["hits"]["hits"]
    return hits
