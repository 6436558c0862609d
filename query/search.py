"""The one function that runs the stages in order; `rank` for those who measure them, `search` for those who ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Final

from models.base import Embedder
from query import build, wording
from query.beside import beside
from query.candidate import Candidate, merged, scored, with_fused
from query.clock import Clock
from query.comparison import compared, sides_of
from query.diversity import OFF, diversified, pool
from query.embedding import EmbeddedQuery, embedded
from query.exactness import asked_exactly, holders_first
from query.filters import Clause
from query.fusion import fuse, rule_for
from query.glossary import BOOST, Glossaries
from query.judging import count_ahead, judge
from query.language import identifiers, identifiers_alone, query_language
from query.layers import decided, fields_say, taken
from query.page import Ranked, page_of
from query.profile import Profile
from query.ranking import StagedRanking as StagedRanking
from query.request import Degraded, Expansion, Filters, IndexIdentity, Language, Leg, SearchRequest, SearchResult
from query.reranking import LinearBlend, Reranker
from query.reranking_stage import Reranked, reranked
from query.retrieve import Legs, Plan, retrieve, stored_vectors
from query.routing import RouteDecision, Router
from query.spelling import did_you_mean
from query.superseded import filters_of
from query.validation import clean_query
from query.wording import either, told, tongue
from search_config.client import Engine
from search_config.errors import IndexMismatch, InvalidRequest
from search_config.install import IndexInfo
from search_config.settings import Settings

# Candidates of each leg: 100, or twice the page where that is more, so that fusion has something to choose from.
MIN_CANDIDATES: Final = 100
CANDIDATES_PER_HIT: Final = 2
# A longer query has its own words for what it means, and needs the engine's clauses for them.
MAX_EXPANDED_WORDS: Final = 30
# Modes in which both legs are joined; a mode of one leg shows that leg's order as it is.
HYBRID: Final = frozenset({"auto", "hybrid"})
ONE_LEG: Final[dict[str, dict[Leg, float]]] = {
    "lexical": {"bm25": 1.0, "knn": 0.0},
    "dense": {"bm25": 0.0, "knn": 1.0},
}


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Everything a search needs beside its request; made once, used by all threads.

    Attributes:
        reranker: decides the order of the pool instead of the profile's blend.
        router: chooses the layer of a question; None asks passages alone.
        glossaries: of the tenants; None widens no query.

    Raises:
        IndexMismatch: the embedder is not the model of the index.
        InvalidProfile: the profile was tuned for another model or analyzer.
    """

    engine: Engine
    info: IndexInfo
    embedder: Embedder
    profile: Profile
    settings: Settings
    reranker: Reranker | None = None
    router: Router | None = None
    glossaries: Glossaries | None = None

    def __post_init__(self) -> None:
        ours, theirs = self.embedder.description.identity, self.info.model.identity
        if ours != theirs:
            raise IndexMismatch(
                f"The index has vectors of {theirs}, the configured model is {ours}.",
                where=self.info.index,
                remedy="Configure the index's model, or choose another MAFTEACH_INDEX_PREFIX and ingest again.",
            )
        self.profile.checked_for(self.info)


def search(request: SearchRequest, context: SearchContext) -> SearchResult:
    """Answer a question by the layer that it asks for: passages, the documents' fields, or both.

    Raises:
        EmptyQuery, QueryTooLong, InvalidRequest: the query or a filter.
        TenantError: tenancy fails closed.
        ModelError: the embedder failed and the lexical leg was not asked.
        IndexMissing, EngineRejected, EngineOverloaded, EngineUnreachable: no leg answered.
    """
    clock = Clock()
    with clock.stage("total"):
        query = clean_query(request.query, max_chars=context.settings.max_query_chars)
        as_of = request.as_of or date.today()
        with clock.stage("route"):
            decision = decided(request, query, as_of, context.router)
        result = _by_layers(request, context, query, as_of, decision, clock)
    routed = taken(request, decision) if context.router is not None else None
    took = {**result.took_ms, **clock.took}
    return result.model_copy(update={"filters": request.filters, "routed": routed, "took_ms": took})


def _by_layers(
    request: SearchRequest,
    context: SearchContext,
    query: str,
    as_of: date,
    decision: RouteDecision,
    clock: Clock,
) -> SearchResult:
    """The layers of a decision; what the fields can't tell is looked for in passages too."""
    if decision.route == "semantic":
        return passages(request, context)
    names, language = context.info.names, query_language(query)
    with clock.stage("metadata"):
        said = fields_say(context.engine, names.documents, request, query, as_of, language)
    more = {"metadata": said.answer, "as_of": as_of, "derived": said.derived}
    if decision.route == "metadata" and said.answer is not None and not said.answer.not_understood:
        return _without_passages(request, context, language).model_copy(update={**more, "route": "metadata"})
    sides = sides_of(context.engine, names.documents, request.tenant, request.groups, query, said.understanding)
    if sides:
        found = compared(request, sides, lambda own: passages(own, context))
        # What names the sides narrows each of them, and not the others.
        more["derived"] = Filters()
    else:
        found = passages(request.model_copy(update={"filters": said.narrowed}), context)
        if said.derived.given() and (found.refused or not found.hits):
            wider = passages(request, context)
            if wider.hits and not wider.refused:
                note = told(wording.NOT_NARROWED, tongue(query))
                found = wider.model_copy(update={"notes": (*wider.notes, note)})
                more["derived"] = Filters()
    if said.answer is not None and said.answer.not_understood and found.hits and not found.refused:
        # Good passages answer; that the fields could not is for who asks why.
        more["metadata"] = said.answer if request.explain else None
    return found.model_copy(update={**more, "route": "both"})


def _without_passages(request: SearchRequest, context: SearchContext, language: Language) -> SearchResult:
    """A result in which nothing was searched."""
    return SearchResult(
        query=request.query,
        language=language,
        filters=request.filters,
        profile=context.profile.label,
        index=_identity(context),
        weights={"bm25": 0.0, "knn": 0.0},
        total=0,
        took_ms={},
        hits=(),
    )


def _identity(context: SearchContext) -> IndexIdentity:
    return IndexIdentity(name=context.info.index, model=context.info.model.identity, pipeline=context.info.pipeline)


def passages(request: SearchRequest, context: SearchContext) -> SearchResult:
    """Find the passages that answer a query best.

    Raises:
        as `search`.
    """
    clock = Clock()
    with clock.stage("total"):
        ranking = rank(request, context, judged=True)
        ranked = Ranked(
            ranking.query,
            ranking.language,
            ranking.plan,
            ranking.weights,
            (ranking.fused, ranking.reranked, ranking.diversified),
            ranking.expansions,
            reranker=bool(ranking.features.values.size),
        )
        # Neither needs the other, and the engine's part of both is about as long.
        cut = beside(partial(page_of, context.engine, context.info.names.documents, request, ranked, context.profile))
        try:
            with clock.stage("refusal"):
                judgement = judge(
                    context.engine,
                    ranking,
                    context.profile,
                    context.embedder,
                    own_order=context.reranker is None,
                )
        finally:
            with clock.stage("engine"):
                page = cut.result()
        suggestion = None
        # Another spelling is looked for where nothing good was found, and at no cost elsewhere.
        wordless = ranking.weights["bm25"] > 0 and not ranking.lexical
        if judgement.refused or wordless:
            with clock.stage("spelling"):
                suggestion = did_you_mean(context.engine, ranking.plan, ranking.counted)
    took = {**ranking.took_ms, **clock.took, "engine": ranking.took_ms["engine"] + clock.took["engine"]}
    return SearchResult(
        query=request.query,
        language=ranking.language,
        filters=request.filters,
        refused=judgement.refused,
        reason=judgement.reason,
        profile=context.profile.label,
        index=_identity(context),
        weights=dict(ranking.weights),
        degraded=ranking.degraded,
        notes=ranking.notes if judgement.note is None else (*ranking.notes, judgement.note),
        total=page.total,
        took_ms=took,
        hits=page.hits,
        facets=page.facets,
        glossary=ranking.expansions,
        did_you_mean=suggestion,
    )


def rank(request: SearchRequest, context: SearchContext, *, judged: bool = False) -> StagedRanking:
    """Run the stages and keep the order of each; no page is cut and nothing is highlighted.

    Args:
        judged: whether a refusal will be decided: its words are counted while the model embeds the query.

    Raises:
        as `search`.
    """
    clock, notes, degraded = Clock(), list[str](), list[Degraded]()
    query = clean_query(request.query, max_chars=context.settings.max_query_chars)
    language, spoken = query_language(query), tongue(query)
    own = request.weights.shares() if request.weights is not None else None
    weights = ONE_LEG.get(request.mode) or own or context.profile.weights[language]
    # An identifier alone is looked up: where passages hold it, no passage without it is a candidate of either leg.
    lookup = identifiers_alone(query) if request.mode != "dense" else ()
    filters = filters_of(context.engine, context.info.names.documents, request)
    counting = None
    if judged and min(weights["bm25"], weights["knn"]) > 0 and not lookup and context.reranker is None:
        index, tenant = context.info.index, request.tenant
        counting = count_ahead(context.engine, index, tenant, query, language, context.profile, filters)
    with clock.stage("embed"):
        numbers = embedded(query, weights, context.embedder, context.info.model.dim, notes, degraded)
    _check_sparse(weights, context)
    expansions = _expansions(query, request, weights, context)
    plan = _plan(query, request, weights, numbers, context, notes, expansions, filters)
    with clock.stage("engine"):
        rule = rule_for(context.profile.fusion)
        plan, legs = _retrieve(context.engine, plan, lookup, notes, complete=rule.needs_all_scores)
        degraded += legs.degraded
        used = _used(weights, degraded)
        more = legs.more
    with clock.stage("fuse"):
        scores = {leg: scored(leg, candidates, more.get(leg)) for leg, candidates in legs.by_leg().items()}
        found = merged(legs.lexical, legs.dense, legs.sparse)
        by_score = with_fused(found, fuse(rule, scores, used), more.get("knn", {}))
        asked = asked_exactly(query) if request.mode in HYBRID else ()
        fused = holders_first(by_score, asked, query)
    if fused != by_score:
        notes.append(told(wording.HOLDERS_FIRST, spoken, words=either(asked, spoken)))
    if used["bm25"] > 0 and not legs.lexical:
        notes.append(told(wording.NO_WORD, spoken))
    # One leg's order is shown as it is; where a leg failed, the blend would weigh what is missing.
    both = request.mode in HYBRID and language != "identifier" and used["bm25"] > 0 and used["knn"] > 0
    after = Reranked(fused)
    # The profile's blend has weights of its own; weights of a request are those of the fused order.
    reranker = context.reranker if own else _reranker(context, language)
    if both and fused and reranker is not None:
        with clock.stage("rerank"):
            after = reranked(context.engine, plan, query, fused, reranker, numbers.tokens)
            after = replace(after, candidates=holders_first(after.candidates, asked, query))
    return StagedRanking(
        query=query,
        language=language,
        weights=used,
        plan=plan,
        lexical=legs.lexical,
        dense=legs.dense,
        fused=fused,
        reranked=after.candidates,
        features=after.features,
        tokens=numbers.tokens,
        diversified=_diversified(after.candidates, request, context, plan, clock, pointed=bool(asked)),
        degraded=tuple(degraded),
        notes=tuple(notes),
        took_ms=clock.took,
        expansions=expansions,
        sparse=legs.sparse,
        counted=counting,
    )


def _check_sparse(weights: Mapping[Leg, float], context: SearchContext) -> None:
    """Weights of a request may ask for a leg that the index does not have; a profile that does is refused before."""
    if weights.get("sparse", 0.0) > 0 and context.info.model.sparse_terms is None:
        raise InvalidRequest(
            "This index has no sparse terms.",
            where="weights.sparse",
            remedy="Leave that weight out, or ingest into a new index with MAFTEACH_SPARSE on.",
        )


def _expansions(
    query: str, request: SearchRequest, weights: Mapping[Leg, float], context: SearchContext
) -> tuple[Expansion, ...]:
    """What the tenant's glossary says of the query's words; nothing for a text that takes the engine's clauses up."""
    if context.glossaries is None or weights["bm25"] == 0 or len(query.split()) > MAX_EXPANDED_WORDS:
        return ()
    return context.glossaries.of(request.tenant).expansions(query)


def _reranker(context: SearchContext, language: Language) -> Reranker | None:
    """The configured one, or the profile's blend for a class of queries."""
    if context.reranker is not None:
        return context.reranker
    weights = context.profile.blend_for(language)
    return None if weights is None else LinearBlend(weights)


def _plan(
    query: str,
    request: SearchRequest,
    weights: Mapping[Leg, float],
    numbers: EmbeddedQuery,
    context: SearchContext,
    notes: list[str],
    expansions: Sequence[Expansion],
    filters: tuple[Clause, ...],
) -> Plan:
    lexical = None
    if weights["bm25"] > 0:
        text, whole = build.lexical_text(query, context.profile)
        equivalents = [equivalent for expansion in expansions for equivalent in expansion.equivalents]
        lexical = build.lexical_query(text, filters, context.profile, identifiers(query), equivalents, BOOST)
        if not whole:
            notes.append(told(wording.LONG, tongue(query), count=len(text.split())))
    return Plan(
        index=context.info.index,
        tenant=request.tenant,
        query=query,
        lexical=lexical,
        vector=numbers.vector,
        filters=filters,
        candidates=max(MIN_CANDIDATES, CANDIDATES_PER_HIT * request.size),
        registry=context.info.names.documents,
        terms=numbers.terms,
        sparse=weights.get("sparse", 0.0) > 0,
    )


def _retrieve(
    engine: Engine, plan: Plan, lookup: Sequence[str], notes: list[str], *, complete: bool
) -> tuple[Plan, Legs]:
    """All legs among the passages that hold an identifier; among all, where none does or nothing is looked up."""
    if lookup:
        narrowed = plan.narrowed(build.holds_any(lookup))
        legs = retrieve(engine, narrowed, complete=complete)
        if any(legs.by_leg().values()):
            return narrowed, legs
        spoken = tongue(plan.query)
        notes.append(told(wording.NOT_HELD, spoken, words=either(lookup, spoken)))
    return plan, retrieve(engine, plan, complete=complete)


def _diversified(
    ranking: tuple[Candidate, ...],
    request: SearchRequest,
    context: SearchContext,
    plan: Plan,
    clock: Clock,
    *,
    pointed: bool,
) -> tuple[Candidate, ...]:
    """The ranking by MMR. As it is, and at no cost, where that is off, where one leg's order was asked for, and in a
    question that names an identifier: its holders stand first."""
    lam = context.profile.mmr_lambda if request.mmr_lambda is None else request.mmr_lambda
    if lam >= OFF or pointed or request.mode not in HYBRID or not ranking:
        return ranking
    with clock.stage("diversify"):
        vectors = stored_vectors(context.engine, plan, [candidate.chunk_id for candidate in pool(ranking)])
        return diversified(ranking, vectors, lam)


def _used(weights: Mapping[Leg, float], degraded: Sequence[Degraded]) -> dict[Leg, float]:
    """The weights of the legs that answered, summing to 1."""
    failed = {entry.leg for entry in degraded}
    left: dict[Leg, float] = {leg: 0.0 if leg in failed else weight for leg, weight in weights.items()}
    return {leg: weight / sum(left.values()) for leg, weight in left.items()} if failed else left
