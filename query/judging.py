"""Decides whether a search refuses: looks up what the features need, asks the profile, says why."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol

from models.base import TokenCounter
from query import wording
from query.answer_type import unsaid
from query.beside import beside
from query.candidate import Candidate, Passage
from query.evidence import Counts, Evidence, content_words, counted, evidence
from query.features import COSINE, MAXSIM_MEAN, Features, QueryTokens
from query.profile import Profile
from query.reading import with_passages
from query.refusal import Decision, Judged, decide, features_of
from query.request import Degraded, Language
from query.reranking import POOL
from query.retrieve import Plan
from query.word_counts import WordCounts
from query.word_matches import rarity_unmatched
from query.wording import Tongue, told, tongue
from search_config.client import Engine

NOTHING_READ: Final[Mapping[str, Passage]] = MappingProxyType({})


class Ranking(Protocol):
    """What is judged: `query.search.StagedRanking`."""

    @property
    def language(self) -> Language: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def fused(self) -> tuple[Candidate, ...]: ...
    @property
    def reranked(self) -> tuple[Candidate, ...]: ...
    @property
    def features(self) -> Features: ...
    @property
    def tokens(self) -> QueryTokens | None: ...
    @property
    def degraded(self) -> Sequence[Degraded]: ...
    @property
    def counted(self) -> Callable[[], Counts] | None: ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a search says of itself: a decision, or a note why there is none."""

    decision: Decision | None = None
    note: str | None = None
    language: Tongue = "en"

    @property
    def refused(self) -> bool:
        return self.decision is not None and self.decision.refused

    @property
    def reason(self) -> str | None:
        """Why it refuses, in the language of the question; None where it does not."""
        return self.decision.reason(self.language) if self.decision is not None and self.decision.refused else None


def count_ahead(
    engine: Engine, plan: Plan, language: Language, profile: Profile, counts: WordCounts | None = None
) -> Callable[[], Counts] | None:
    """Begin to count a query's words, which needs nothing that a search finds; None where the profile does not judge
    this class of queries.

    Args:
        counts: of the last searches; None counts anew.

    Returns:
        Waits for the counts; raises what the request raised.
    """
    if profile.refusal is None or language not in profile.refusal.languages:
        return None
    header, filters, words = plan.header(), plan.filters, content_words(plan.query)
    if counts is None:
        return beside(partial(counted, engine, header, filters, words)).result
    if (known := counts.known(header, filters, words)) is not None:
        return lambda: known
    return beside(partial(counts.counted, engine, header, filters, words)).result


def judge(
    engine: Engine,
    ranking: Ranking,
    profile: Profile,
    counter: TokenCounter,
    *,
    own_order: bool = True,
    read: Mapping[str, Passage] = NOTHING_READ,
) -> Judgement:
    """Decide, where the profile is calibrated for this kind of search.

    Args:
        own_order: whether the profile's own stages made the order; a cross-encoder's scores are of another scale.
        read: passages that were read since, by chunk id.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    spec, language, label = profile.refusal, tongue(ranking.plan.query), profile.label
    if spec is None:
        why = wording.NO_PROFILE_THRESHOLD if profile.warning is None else wording.UNTUNED
        return Judgement(note=told(why, language, profile=label, model=profile.model))
    if not own_order:
        return Judgement(note=told(wording.OTHER_SCORES, language, profile=label))
    if ranking.language not in spec.languages:
        return Judgement(note=told(wording.OTHER_CLASS, language, profile=label, kind=ranking.language))
    # A missing leg's scores are missing from what the threshold was learnt on.
    if ranking.degraded or ranking.plan.lexical is None or ranking.plan.vector is None:
        return Judgement(note=told(wording.ONE_LEG, language))
    features = refusal_features(engine, ranking, counter, read)
    missing = sorted(spec.model_for(ranking.language).features.keys() - features.keys())
    if missing:
        return Judgement(note=told(wording.FEATURES_MISSING, language, names=", ".join(missing)))
    return Judgement(decision=decide(spec, features, label, ranking.language), language=language)


def refusal_features(
    engine: Engine, ranking: Ranking, counter: TokenCounter, read: Mapping[str, Passage] = NOTHING_READ
) -> dict[str, float]:
    """Features of one search, by name (`query.refusal.features_of`), by the scores that the order was made with.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    seen = ranking.features
    rows = {candidate.chunk_id: row for row, candidate in enumerate(ranking.fused[: len(seen.values)])}
    names = [name for name in (COSINE, MAXSIM_MEAN) if name in seen.names]
    columns: dict[str, list[float]] = {name: seen.column(name).tolist() for name in names}
    pool = [_judged(candidate, columns, rows.get(candidate.chunk_id)) for candidate in ranking.reranked[:POOL]]
    # Passages that hold an identifier stand before better scored ones; the first one is judged, whatever its score.
    best = [one._replace(found=read.get(one.chunk_id, one.found)) for one in ranking.reranked[:1]]
    first = next(iter(with_passages(engine, ranking.plan, best)), None)
    found = evidence(engine, ranking.plan, first, counter.count_tokens, ranking.counted)
    if first is None:
        return features_of(pool, found)
    passage = first.passage
    return features_of(
        pool,
        found,
        unsaid(ranking.plan.query, passage.content, f"{passage.title}\n{passage.section}"),
        _unmatched(ranking, rows.get(first.chunk_id), found, counter),
    )


def _unmatched(ranking: Ranking, row: int | None, found: Evidence, counter: TokenCounter) -> float:
    """`rarity_unmatched` of the first passage, by its row of features; 0 where its tokens were not compared."""
    compared = ranking.features.matches
    if compared is None or ranking.tokens is None or row is None:
        return 0.0
    texts = ranking.plan.query.split()
    pieces = counter.count_tokens(texts)
    return rarity_unmatched(found.words, texts, pieces, ranking.tokens.tokens, compared[row])


def _judged(candidate: Candidate, columns: Mapping[str, Sequence[float]], row: int | None) -> Judged:
    scores = candidate.scores
    score = next((value for value in (scores.rerank, scores.fused) if value is not None), 0.0)
    known = {} if candidate.cosine is None else {COSINE: candidate.cosine}
    if row is not None:
        known |= {name: values[row] for name, values in columns.items() if not math.isnan(values[row])}
    return Judged(candidate.chunk_id, score, known)
