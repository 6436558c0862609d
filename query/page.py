"""From a ranking to the page that is shown: what is reachable, versions in force first, marks, facets, reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.vectors import cosine_distance
from query import build
from query.candidate import Candidate, Passage, hit_of
from query.cut import relevant
from query.exactness import asked_exactly
from query.explain import Stages, explained, places
from query.facets import facets
from query.filters import Clause, tenant_filter
from query.glossary import BOOST
from query.grouping import group_by_document
from query.language import identifiers
from query.profile import Profile
from query.published import published_in, published_search
from query.reading import Detail, PassageGone, details, with_text
from query.request import Expansion, Facet, Hit, Language, Leg, Replacement, SearchRequest
from query.reranking import POOL
from query.retrieve import Answer, Plan, Rows
from query.superseded import filters_of, in_force_first, replaced_body, replaced_by, replacements
from search_config.client import Engine


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a page is cut from.

    Attributes:
        orders: the fused, reranked and diversified candidates; the last order is what is paged through.
        uncompared: as in `query.ranking.StagedRanking`.
    """

    query: str
    language: Language
    plan: Plan
    weights: Mapping[Leg, float]
    orders: tuple[tuple[Candidate, ...], tuple[Candidate, ...], tuple[Candidate, ...]]
    expansions: tuple[Expansion, ...]
    reranker: bool
    uncompared: Rows | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of hits, and how many can be reached by paging.

    Attributes:
        passages: what was read for it, by chunk id.
    """

    hits: tuple[Hit, ...]
    total: int
    facets: tuple[Facet, ...]
    passages: Mapping[str, Passage]


def page_of(engine: Engine, documents: str, request: SearchRequest, ranked: Ranked, profile: Profile) -> Page:
    """Cut the page that was asked for.

    One request for texts, highlights, distances, versions and replaced documents together; another one only where a
    page changes because of a replaced document, and for facets.

    Args:
        documents: the documents index.

    Raises:
        PassageGone: what was found by its key is not there any more, or not to be shown, or behind the pool.
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    rows = relevant(ranked.orders[-1], profile.relative_cut)
    rows = group_by_document(rows) if request.group else rows
    visible = tenant_filter(request.tenant, groups=request.groups)
    ids = list(dict.fromkeys(row.document_id for row in rows))
    page, known, replaced = _cut(rows, request), dict[str, Detail](), dict[str, str]()
    words = _highlighted(ranked, profile)
    if ids:
        versions = _versions(ranked)
        more = [({"index": documents, "allow_partial_search_results": False}, replaced_body(visible, ids)), *versions]
        known, (answer, *compared) = details(engine, ranked.plan, page, words, profile, more)
        replaced = replaced_by(answer)
        _check_versions(ranked, compared)
    if replaced:
        rows = in_force_first(rows, replaced)
        moved, page = page, _cut(rows, request)
        if {row.chunk_id for row in page} != {row.chunk_id for row in moved}:
            known, _ = details(engine, ranked.plan, page, words, profile)
    if ranked.uncompared is not None and (other := {row.document_id for row in page} - _pool_documents(ranked)):
        raise PassageGone(f"versions of {', '.join(sorted(other))}")
    marks = replacements(engine, documents, request.tenant, request.groups, _of_page(replaced, page))
    stages = _stages(ranked, rows) if request.explain else None
    texts = {chunk: detail.passage for chunk, detail in known.items()}
    hits = tuple(
        _hit(place, with_text(row, texts), known, marks.get(row.document_id), stages)
        for place, row in enumerate(page, start=request.from_ + 1)
    )
    counted: tuple[Facet, ...] = ()
    if request.facets:
        counted = facets(engine, documents, request.facets, filters_of(engine, documents, request), ids)
    return Page(hits, len(rows), counted, texts)


def _pool_documents(ranked: Ranked) -> set[str]:
    return {row.document_id for row in ranked.orders[0][:POOL]}


def _versions(ranked: Ranked) -> list[tuple[build.Body, build.Body]]:
    """Asks the registry which versions of the pool's documents are shown, where nobody did: a page may not reach behind
    the pool then, and what stands there need not be compared."""
    registry = ranked.plan.registry
    if ranked.uncompared is None or registry is None:
        return []
    return [published_search(registry, ranked.plan.filters[0], _pool_documents(ranked))]


def _check_versions(ranked: Ranked, answers: Sequence[Answer]) -> None:
    found = [] if ranked.uncompared is None else ranked.uncompared.found()
    if any(published_in(answer).hides(found) for answer in answers):
        raise PassageGone("A version that is not shown was found.")


def _cut(rows: Sequence[Candidate], request: SearchRequest) -> Sequence[Candidate]:
    return rows[request.from_ : request.from_ + request.size]


def _of_page(replaced: Mapping[str, str], page: Sequence[Candidate]) -> dict[str, str]:
    shown = {row.document_id for row in page}
    return {document: by for document, by in replaced.items() if document in shown}


def _highlighted(ranked: Ranked, profile: Profile) -> Clause:
    """The query whose words are marked: those of the question, and the glossary's."""
    text, _ = build.lexical_text(ranked.query, profile)
    return build.lexical_query(
        text,
        ranked.plan.filters,
        profile,
        identifiers(ranked.query),
        [equivalent for expansion in ranked.expansions for equivalent in expansion.equivalents],
        BOOST,
    )


def _stages(ranked: Ranked, rows: Sequence[Candidate]) -> Stages:
    fused, reranked, diversified = map(places, ranked.orders)
    return Stages(
        fused=fused,
        reranked=reranked,
        diversified=diversified,
        shown=places(rows),
        weights=ranked.weights,
        language=ranked.language,
        exact=asked_exactly(ranked.query),
        expansions=ranked.expansions,
        reranker=ranked.reranker,
    )


def _hit(
    place: int,
    candidate: Candidate,
    known: Mapping[str, Detail],
    superseded: Replacement | None,
    stages: Stages | None,
) -> Hit:
    """A hit with its highlights and, in a search with a vector, its distance."""
    detail = known.get(candidate.chunk_id)
    cosine = candidate.cosine
    if detail is not None and cosine is None:
        cosine = detail.cosine
    highlights = detail.highlights if detail else ()
    hit = hit_of(candidate, place, highlights=highlights, distance=None if cosine is None else cosine_distance(cosine))
    reasons = explained(candidate, stages, highlights, superseded) if stages else ()
    return hit.model_copy(update={"superseded": superseded, "explanation": reasons})
