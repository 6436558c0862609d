"""The stages in order, from the query to the last ranking: legs, fusion, reranking, diversity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from query import build, wording
from query.candidate import Candidate, at_most, merged, scored, with_fused
from query.clock import Clock
from query.context import SearchContext
from query.diversity import OFF, diversified
from query.diversity import pool as pool_of
from query.embedding import EmbeddedQuery, embedded
from query.evidence import Counts
from query.exactness import asked_exactly, holders_first
from query.fusion import fuse, rule_for
from query.glossary import BOOST
from query.judging import count_ahead
from query.language import identifiers, identifiers_alone, query_language
from query.ranking import StagedRanking
from query.reading import stored_vectors
from query.request import Degraded, Expansion, Language, Leg, SearchRequest
from query.reranking import LinearBlend, Reranker
from query.reranking_stage import Reranked, reranked
from query.retrieve import Answer, Legs, Plan, Rows, found_by_legs, lexical_ahead, of_one_version, ordered
from query.superseded import filters_of
from query.validation import clean_query
from query.wording import either, told, tongue
from search_config.client import Engine
from search_config.errors import InvalidRequest

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


def rank(
    request: SearchRequest, context: SearchContext, *, judged: bool = False, whole: bool = True, alone: bool = False
) -> StagedRanking:
    """Run the stages and keep the order of each; no page is cut and nothing is highlighted.

    Args:
        judged: whether a refusal will be decided: its words are counted while candidates are fused and reranked.
        whole: whether every candidate's passage is read, and its version compared with the registry's. Else whoever
            cuts a page does both for it (`query.page`), and passages are read here only where a stage looks into them.
        alone: whether there are cores to spare: the lexical leg is then asked while the model embeds the query.

    Raises:
        as `query.search.search`.
    """
    clock = Clock()
    asked = _asked(request, context, clock, whole=whole, alone=alone)
    with clock.stage("engine"):
        found = _found(asked, context, whole=whole)
    counted = _counted(asked, context) if judged else None
    with clock.stage("fuse"):
        order = _fused(asked, context, found)
    if asked.reranker is not None:
        with clock.stage("rerank"):
            order = _reranked(asked, context, found.plan, order)
    return StagedRanking(
        query=asked.query,
        language=asked.language,
        weights=order.weights,
        plan=found.plan,
        lexical=order.legs.lexical,
        dense=order.legs.dense,
        fused=order.fused,
        reranked=order.after.candidates,
        features=order.after.features,
        tokens=asked.numbers.tokens,
        diversified=_diversified(
            order.after.candidates, request, context, found.plan, clock, pointed=bool(asked.identifiers)
        ),
        degraded=(*asked.degraded, *order.legs.degraded),
        notes=_notes(asked, found, order),
        took_ms=clock.took,
        expansions=asked.expansions,
        sparse=order.legs.sparse,
        counted=counted,
        uncompared=found.rows,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as it is searched.

    Attributes:
        identifiers: what the query asks for as it is written.
        lookup: identifiers that are all of the query: where passages hold one, no passage without it is a candidate.
        reranker: None where the fused order, or one leg's, is shown as it is.
        lexical: gives that leg's answer, where it was begun already.
    """

    query: str
    language: Language
    weights: Mapping[Leg, float]
    identifiers: tuple[str, ...]
    lookup: tuple[str, ...]
    reranker: Reranker | None
    numbers: EmbeddedQuery
    plan: Plan
    expansions: tuple[Expansion, ...]
    lexical: Callable[[], Answer] | None
    notes: tuple[str, ...]
    degraded: tuple[Degraded, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the legs found.

    Attributes:
        rows: where they were not compared with the registry yet; None where they were.
        note: why passages without the identifier were looked at after all.
    """

    plan: Plan
    legs: Legs
    rows: Rows | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Order:
    """The candidates in the order of the stages that were run.

    Attributes:
        weights: of the legs that answered.
        lifted: whether the holders of an identifier stand before what fusion put first.
    """

    legs: Legs
    weights: Mapping[Leg, float]
    fused: tuple[Candidate, ...]
    lifted: bool
    after: Reranked


def _asked(request: SearchRequest, context: SearchContext, clock: Clock, *, whole: bool, alone: bool) -> _Asked:
    """Everything that is known before candidates are."""
    notes, degraded = list[str](), list[Degraded]()
    query = clean_query(request.query, max_chars=context.settings.max_query_chars)
    language = query_language(query)
    own = request.weights.shares() if request.weights is not None else None
    weights = ONE_LEG.get(request.mode) or own or context.profile.weights[language]
    both = min(weights["bm25"], weights["knn"]) > 0
    _check_sparse(weights, context)
    lookup = identifiers_alone(query) if request.mode != "dense" else ()
    exactly = asked_exactly(query) if request.mode in HYBRID else ()
    reranker = None
    if both and request.mode in HYBRID and language != "identifier":
        # The profile's blend has weights of its own; weights of a request are those of the fused order.
        reranker = context.reranker if own else _reranker(context, language)
    # Only these look into every passage.
    looked_into = exactly or not (reranker is None or isinstance(reranker, LinearBlend))
    expansions = _expansions(query, request, weights, context)
    read, all_of_it = build.lexical_text(query, context.profile)
    plan = _plan(query, read, request, weights, context, expansions, texts=whole or bool(looked_into))
    lexical = lexical_ahead(context.engine, plan) if alone and both and not lookup else None
    with clock.stage("embed"):
        numbers = embedded(query, weights, context.embedder, context.info.model.dim, notes, degraded)
    if plan.lexical is not None and not all_of_it:
        notes.append(told(wording.LONG, tongue(query), count=len(read.split())))
    return _Asked(
        query=query,
        language=language,
        weights=weights,
        identifiers=exactly,
        lookup=lookup,
        reranker=reranker,
        numbers=numbers,
        plan=replace(plan, vector=numbers.vector, terms=numbers.terms),
        expansions=expansions,
        lexical=lexical,
        notes=tuple(notes),
        degraded=tuple(degraded),
    )


def _counted(asked: _Asked, context: SearchContext) -> Callable[[], Counts] | None:
    """Begin to count the query's words, where a refusal will be decided by them."""
    if min(asked.weights["bm25"], asked.weights["knn"]) == 0 or asked.lookup or context.reranker is not None:
        return None
    return count_ahead(context.engine, asked.plan, asked.language, context.profile, context.counts)


def _found(asked: _Asked, context: SearchContext, *, whole: bool) -> _Found:
    """All legs among the passages that hold an identifier; among all, where none does or nothing is looked up."""
    engine, plan, note = context.engine, asked.plan, None
    if asked.lookup:
        narrowed = _legs(engine, plan.narrowed(build.holds_any(asked.lookup)), whole=whole)
        if any(narrowed.legs.by_leg().values()):
            return narrowed
        spoken = tongue(plan.query)
        note = told(wording.NOT_HELD, spoken, words=either(asked.lookup, spoken))
    return replace(_legs(engine, plan, asked.lexical, whole=whole), note=note)


def _legs(engine: Engine, plan: Plan, lexical: Callable[[], Answer] | None = None, *, whole: bool) -> _Found:
    rows = found_by_legs(engine, plan, lexical)
    if whole:
        return _Found(plan, of_one_version(engine, plan, rows))
    return _Found(plan, ordered(plan, rows), rows)


def _fused(asked: _Asked, context: SearchContext, found: _Found) -> _Order:
    """The legs fused, holders of identifiers first."""
    rule, legs = rule_for(context.profile.fusion), found.legs
    weights = _used(asked.weights, (*asked.degraded, *legs.degraded))
    scores = {leg: scored(leg, hits) for leg, hits in legs.by_leg().items()}
    every = merged(legs.lexical, legs.dense, legs.sparse)
    if rule.missing_as_last:
        scores = at_most(scores, every, full=found.plan.candidates)
    by_score = with_fused(every, fuse(rule, scores, weights))
    first = holders_first(by_score, asked.identifiers, asked.query)
    return _Order(legs, weights, first, first != by_score, Reranked(first))


def _reranked(asked: _Asked, context: SearchContext, plan: Plan, order: _Order) -> _Order:
    """The fused order reranked; as it is where a leg failed, since the blend would weigh what is missing."""
    if asked.reranker is None or not order.fused or min(order.weights["bm25"], order.weights["knn"]) == 0:
        return order
    after = reranked(context.engine, plan, asked.query, order.fused, asked.reranker, asked.numbers.tokens)
    return replace(
        order, after=replace(after, candidates=holders_first(after.candidates, asked.identifiers, asked.query))
    )


def _notes(asked: _Asked, found: _Found, order: _Order) -> tuple[str, ...]:
    spoken = tongue(asked.query)
    notes = [*asked.notes, *([] if found.note is None else [found.note])]
    if order.lifted:
        notes.append(told(wording.HOLDERS_FIRST, spoken, words=either(asked.identifiers, spoken)))
    if order.weights["bm25"] > 0 and not order.legs.lexical:
        notes.append(told(wording.NO_WORD, spoken))
    return tuple(notes)


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
    read: str,
    request: SearchRequest,
    weights: Mapping[Leg, float],
    context: SearchContext,
    expansions: Sequence[Expansion],
    *,
    texts: bool,
) -> Plan:
    """What will be sent, but for what a model makes of the query; `read` is what the lexical leg takes of it."""
    filters, lexical = filters_of(context.engine, context.info.names.documents, request), None
    if weights["bm25"] > 0:
        equivalents = [equivalent for expansion in expansions for equivalent in expansion.equivalents]
        lexical = build.lexical_query(read, filters, context.profile, identifiers(query), equivalents, BOOST)
    return Plan(
        index=context.info.index,
        tenant=request.tenant,
        query=query,
        lexical=lexical,
        vector=None,
        filters=filters,
        candidates=max(MIN_CANDIDATES, CANDIDATES_PER_HIT * request.size),
        registry=context.info.names.documents,
        sparse=weights.get("sparse", 0.0) > 0,
        texts=texts,
    )


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
        vectors = stored_vectors(context.engine, plan, [candidate.chunk_id for candidate in pool_of(ranking)])
        return diversified(ranking, vectors, lam)


def _used(weights: Mapping[Leg, float], degraded: Sequence[Degraded]) -> dict[Leg, float]:
    """The weights of the legs that answered, summing to 1."""
    failed = {entry.leg for entry in degraded}
    left: dict[Leg, float] = {leg: 0.0 if leg in failed else weight for leg, weight in weights.items()}
    return {leg: weight / sum(left.values()) for leg, weight in left.items()} if failed else left
