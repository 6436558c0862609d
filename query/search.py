"""The one function that runs the stages in order; `rank` for those who measure them, `search` for those who ask."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from models.base import Embedder, Vectors, token_coder
from models.vectors import checked, cosine_distance
from query import build
from query.candidate import Candidate, hit_of, merged, scored, with_fused
from query.cut import relevant
from query.diversity import OFF, diversified, pool
from query.exactness import asked_exactly, holders_first
from query.features import Features, QueryTokens
from query.filters import tenant_filter
from query.fusion import Scored, fuse, rule_for
from query.grouping import group_by_document
from query.judging import judge
from query.language import identifiers, identifiers_alone, query_language
from query.profile import Profile
from query.request import Degraded, Hit, IndexIdentity, Language, Leg, SearchRequest, SearchResult
from query.reranking import LinearBlend, Reranker
from query.reranking_stage import Reranked, reranked
from query.retrieve import Detail, Legs, Plan, details, missing_scores, retrieve, stored_vectors
from query.validation import clean_query
from search_config.client import Engine
from search_config.errors import IndexMismatch, ModelError
from search_config.install import IndexInfo
from search_config.settings import Settings

# Candidates of each leg: 100, or twice the page where that is more, so that fusion has something to choose from.
MIN_CANDIDATES: Final = 100
CANDIDATES_PER_HIT: Final = 2
MS_PER_S: Final = 1000.0
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

    def __post_init__(self) -> None:
        ours, theirs = self.embedder.description.identity, self.info.model.identity
        if ours != theirs:
            raise IndexMismatch(
                f"The index has vectors of {theirs}, the configured model is {ours}.",
                where=self.info.index,
                remedy="Configure the index's model, or choose another MAFTEACH_INDEX_PREFIX and ingest again.",
            )
        self.profile.checked_for(self.info)


@dataclass(frozen=True, slots=True)
class StagedRanking:
    """The ordered candidates of every stage, best first.

    Attributes:
        query: as it was searched, cleaned.
        weights: as they were used: 0 for a leg that was not asked or failed.
        plan: what was sent.
        reranked: the fused order, its first candidates by the reranker; the fused order itself where none ran.
        features: of those first candidates, in their fused order; without rows where no reranker ran.
        tokens: of the query, where the model compares tokens.
        diversified: what `search` pages through; the stage before it, where MMR is off.
        took_ms: `embed`, `engine`, `fuse`; `rerank` and `diversify` where they were done.
    """

    query: str
    language: Language
    weights: Mapping[Leg, float]
    plan: Plan
    lexical: tuple[Candidate, ...]
    dense: tuple[Candidate, ...]
    fused: tuple[Candidate, ...]
    reranked: tuple[Candidate, ...]
    features: Features
    tokens: QueryTokens | None
    diversified: tuple[Candidate, ...]
    degraded: tuple[Degraded, ...]
    notes: tuple[str, ...]
    took_ms: Mapping[str, float]


class _Clock:
    """Milliseconds by stage; a stage that runs twice adds up."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.took[name] = self.took.get(name, 0.0) + (time.perf_counter() - start) * MS_PER_S


def search(request: SearchRequest, context: SearchContext) -> SearchResult:
    """Find the passages that answer a query best.

    Raises:
        EmptyQuery, QueryTooLong, InvalidRequest: the query or a filter.
        TenantError: tenancy fails closed.
        ModelError: the embedder failed and the lexical leg was not asked.
        IndexMissing, EngineRejected, EngineOverloaded, EngineUnreachable: no leg answered.
    """
    clock = _Clock()
    with clock.stage("total"):
        ranking = rank(request, context)
        with clock.stage("refusal"):
            judgement = judge(context.engine, ranking, context.profile, context.embedder)
        rows = relevant(ranking.diversified, context.profile.relative_cut)
        rows = group_by_document(rows) if request.group else rows
        page = rows[: request.size]
        with clock.stage("engine"):
            text, _ = build.lexical_text(ranking.query, context.profile)
            words = build.lexical_query(text, ranking.plan.filters, context.profile, identifiers(ranking.query))
            known = details(context.engine, ranking.plan, page, words, context.profile)
        hits = tuple(_hit(place, candidate, known) for place, candidate in enumerate(page, start=1))
    took = {**ranking.took_ms, **clock.took, "engine": ranking.took_ms["engine"] + clock.took["engine"]}
    return SearchResult(
        query=request.query,
        language=ranking.language,
        filters=request.filters,
        refused=judgement.refused,
        reason=judgement.reason,
        profile=context.profile.label,
        index=IndexIdentity(name=context.info.index, model=context.info.model.identity, pipeline=context.info.pipeline),
        weights=dict(ranking.weights),
        degraded=ranking.degraded,
        notes=ranking.notes if judgement.note is None else (*ranking.notes, judgement.note),
        total=len(rows),
        took_ms=took,
        hits=hits,
    )


def rank(request: SearchRequest, context: SearchContext) -> StagedRanking:
    """Run the stages and keep the order of each; no page is cut and nothing is highlighted.

    Raises:
        as `search`.
    """
    clock, notes, degraded = _Clock(), list[str](), list[Degraded]()
    query = clean_query(request.query, max_chars=context.settings.max_query_chars)
    language = query_language(query)
    weights = ONE_LEG.get(request.mode) or context.profile.weights[language]
    with clock.stage("embed"):
        vector, tokens = _embedded(query, weights, context, notes, degraded)
    plan = _plan(query, request, weights, vector, context, notes)
    # An identifier alone is looked up: where passages hold it, no passage without it is a candidate of either leg.
    lookup = identifiers_alone(query) if request.mode != "dense" else ()
    with clock.stage("engine"):
        plan, legs = _retrieve(context.engine, plan, lookup, notes)
        degraded += legs.degraded
        used = _used(weights, degraded)
        rule = rule_for(context.profile.fusion)
        complete = rule.needs_all_scores and all(used.values())
        more = missing_scores(context.engine, plan, legs.lexical, legs.dense) if complete else {}
    with clock.stage("fuse"):
        scores: dict[Leg, list[Scored]] = {
            "bm25": scored("bm25", legs.lexical, more.get("bm25")),
            "knn": scored("knn", legs.dense, more.get("knn")),
        }
        by_score = with_fused(merged(legs.lexical, legs.dense), fuse(rule, scores, used), more.get("knn", {}))
        asked = asked_exactly(query) if request.mode in HYBRID else ()
        fused = holders_first(by_score, asked)
    if fused != by_score:
        notes.append(f"Passages that hold {' or '.join(asked)} as it is written stand first.")
    if used["bm25"] > 0 and not legs.lexical:
        notes.append("The lexical leg found no word of the query in a passage.")
    # One leg's order is shown as it is; where a leg failed, the blend would weigh what is missing.
    joined = request.mode in HYBRID and language != "identifier" and all(used.values())
    after = Reranked(fused)
    if joined and fused and (reranker := _reranker(context, language)) is not None:
        with clock.stage("rerank"):
            after = reranked(context.engine, plan, query, fused, reranker, tokens)
            after = replace(after, candidates=holders_first(after.candidates, asked))
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
        tokens=tokens,
        diversified=_diversified(after.candidates, request, context, plan, clock, pointed=bool(asked)),
        degraded=tuple(degraded),
        notes=tuple(notes),
        took_ms=clock.took,
    )


def _reranker(context: SearchContext, language: Language) -> Reranker | None:
    """The configured one, or the profile's blend for a class of queries."""
    if context.reranker is not None:
        return context.reranker
    weights = context.profile.blend_for(language)
    return None if weights is None else LinearBlend(weights)


def _embedded(
    query: str, weights: Mapping[Leg, float], context: SearchContext, notes: list[str], degraded: list[Degraded]
) -> tuple[tuple[float, ...] | None, QueryTokens | None]:
    """The query's vector, and its tokens where the model compares tokens; None where the dense leg is not wanted, or
    cannot be asked while the lexical one can."""
    if weights["knn"] == 0:
        return None, None
    embedder = context.embedder
    try:
        (count,) = embedder.count_tokens([query])
        made, tokens = _made(query, embedder)
        vectors = checked(made, dim=context.info.model.dim, where=embedder.description.identity)
    except ModelError as error:
        if weights["bm25"] == 0:
            raise
        degraded.append(Degraded(leg="knn", reason=str(error)))
        return None, None
    if count > embedder.query_window:
        rest = "the rest was used by the lexical leg only" if weights["bm25"] > 0 else "the rest was not used"
        notes.append(f"The query has {count} tokens, the model reads {embedder.query_window}: {rest}.")
    return tuple(float(value) for value in vectors[0]), tokens


def _made(query: str, embedder: Embedder) -> tuple[Vectors, QueryTokens | None]:
    """One pass of the model."""
    coder = token_coder(embedder)
    if coder is None:
        return embedder.embed_queries([query]), None
    encoded = coder.encode_queries([query])
    return encoded.vectors, QueryTokens(coder, encoded.tokens[0])


def _plan(
    query: str,
    request: SearchRequest,
    weights: Mapping[Leg, float],
    vector: tuple[float, ...] | None,
    context: SearchContext,
    notes: list[str],
) -> Plan:
    filters = tuple(tenant_filter(request.tenant, request.filters))
    lexical = None
    if weights["bm25"] > 0:
        text, whole = build.lexical_text(query, context.profile)
        lexical = build.lexical_query(text, filters, context.profile, identifiers(query))
        if not whole:
            notes.append(f"The query is long: the lexical leg read its first {len(text.split())} different words.")
    return Plan(
        index=context.info.index,
        tenant=request.tenant,
        query=query,
        lexical=lexical,
        vector=vector,
        filters=filters,
        candidates=max(MIN_CANDIDATES, CANDIDATES_PER_HIT * request.size),
    )


def _retrieve(engine: Engine, plan: Plan, lookup: Sequence[str], notes: list[str]) -> tuple[Plan, Legs]:
    """Both legs among the passages that hold an identifier; among all, where none does or nothing is looked up."""
    if lookup:
        narrowed = plan.narrowed(build.holds_any(lookup))
        legs = retrieve(engine, narrowed)
        if legs.lexical or legs.dense:
            return narrowed, legs
        notes.append(f"No passage holds {' or '.join(lookup)} as it is written; these are the nearest.")
    return plan, retrieve(engine, plan)


def _diversified(
    ranking: tuple[Candidate, ...],
    request: SearchRequest,
    context: SearchContext,
    plan: Plan,
    clock: _Clock,
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


def _hit(place: int, candidate: Candidate, known: Mapping[str, Detail]) -> Hit:
    """A hit with its highlights and, in a search with a vector, its distance."""
    detail = known.get(candidate.chunk_id)
    cosine = candidate.cosine
    if detail is not None and cosine is None:
        cosine = detail.cosine
    return hit_of(
        candidate,
        place,
        highlights=detail.highlights if detail else (),
        distance=None if cosine is None else cosine_distance(cosine),
    )
