"""The one function that runs the stages in order; `rank` for those who measure them, `search` for those who ask."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from query import wording
from query.beside import searches
from query.clock import Clock
from query.comparison import compared, sides_of
from query.context import SearchContext as SearchContext
from query.judging import Judgement, judge
from query.language import query_language
from query.layers import decided, fields_say, taken
from query.page import Page, Ranked, page_of
from query.ranking import StagedRanking as StagedRanking
from query.reading import PassageGone
from query.request import Filters, IndexIdentity, Language, SearchRequest, SearchResult
from query.reranking import POOL
from query.routing import RouteDecision
from query.spelling import did_you_mean
from query.staging import MIN_CANDIDATES as MIN_CANDIDATES
from query.staging import rank as rank
from query.validation import clean_query
from query.wording import told, tongue


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
    with searches.joined() as alone:
        if request.from_ + request.size <= POOL:
            with suppress(PassageGone):
                return _passages(request, context, whole=False, alone=alone)
        # Behind the pool, or where something found by its key was replaced before it was read: what is read and
        # compared at once can't be missed.
        return _passages(request, context, whole=True, alone=alone)


def _passages(request: SearchRequest, context: SearchContext, *, whole: bool, alone: bool) -> SearchResult:
    clock = Clock()
    with clock.stage("total"):
        ranking = rank(request, context, judged=True, whole=whole, alone=alone)
        page, judgement = _page_and_judgement(request, context, ranking, clock)
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


def _page_and_judgement(
    request: SearchRequest, context: SearchContext, ranking: StagedRanking, clock: Clock
) -> tuple[Page, Judgement]:
    """What is shown, and whether it answers, by a passage that was read for the page."""
    ranked = Ranked(
        ranking.query,
        ranking.language,
        ranking.plan,
        ranking.weights,
        (ranking.fused, ranking.reranked, ranking.diversified),
        ranking.expansions,
        reranker=bool(ranking.features.values.size),
        uncompared=ranking.uncompared,
    )
    with clock.stage("engine"):
        page = page_of(context.engine, context.info.names.documents, request, ranked, context.profile)
    with clock.stage("refusal"):
        judgement = judge(
            context.engine,
            ranking,
            context.profile,
            context.embedder,
            own_order=context.reranker is None,
            read=page.passages,
        )
    return page, judgement
