"""Decides whether a search refuses: looks up what the features need, asks the profile, says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from models.base import TokenCounter
from query.candidate import Candidate
from query.evidence import evidence
from query.features import COSINE, Features
from query.profile import Profile
from query.refusal import Decision, Judged, decide, features_of
from query.request import Degraded, Language
from query.reranking import POOL
from query.retrieve import Plan
from search_config.client import Engine


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
    def degraded(self) -> Sequence[Degraded]: ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a search says of itself: a decision, or a note why there is none."""

    decision: Decision | None = None
    note: str | None = None

    @property
    def refused(self) -> bool:
        return self.decision is not None and self.decision.refused

    @property
    def reason(self) -> str | None:
        """Why it refuses; None where it does not."""
        return self.decision.reason if self.decision is not None and self.decision.refused else None


def judge(
    engine: Engine, ranking: Ranking, profile: Profile, counter: TokenCounter, *, own_order: bool = True
) -> Judgement:
    """Decide, where the profile is calibrated for this kind of search.

    Args:
        own_order: whether the profile's own stages made the order; a cross-encoder's scores are of another scale.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    spec = profile.refusal
    if spec is None:
        return Judgement(note=f"uncalibrated: the profile {profile.label} has no threshold of refusal.")
    if not own_order:
        return Judgement(
            note=f"uncalibrated: the threshold of the profile {profile.label} is not for a cross-encoder's scores."
        )
    if ranking.language not in spec.languages:
        return Judgement(
            note=f"uncalibrated: the threshold of the profile {profile.label} is not for queries of class "
            f"{ranking.language}."
        )
    # A missing leg's scores are missing from what the threshold was learnt on.
    if ranking.degraded or ranking.plan.lexical is None or ranking.plan.vector is None:
        return Judgement(note="uncalibrated: the threshold of refusal is for searches with both legs.")
    features = refusal_features(engine, ranking, counter)
    missing = sorted(spec.model_for(ranking.language).features.keys() - features.keys())
    if missing:
        return Judgement(note=f"uncalibrated: the index lacks what {', '.join(missing)} needs.")
    return Judgement(decision=decide(spec, features, profile.label, ranking.language))


def refusal_features(engine: Engine, ranking: Ranking, counter: TokenCounter) -> dict[str, float]:
    """Features of one search, by name (`query.refusal.features_of`), by the scores that the order was made with.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    rows = {
        candidate.chunk_id: ranking.features.of(row)
        for row, candidate in enumerate(ranking.fused[: len(ranking.features.values)])
    }
    pool = [_judged(candidate, rows.get(candidate.chunk_id, {})) for candidate in ranking.reranked[:POOL]]
    # Passages that hold an identifier stand before better scored ones; the first one is judged, whatever its score.
    first = ranking.reranked[0] if ranking.reranked else None
    return features_of(pool, evidence(engine, ranking.plan, first, counter.count_tokens))


def _judged(candidate: Candidate, features: dict[str, float]) -> Judged:
    scores = candidate.scores
    score = next((value for value in (scores.rerank, scores.fused) if value is not None), 0.0)
    known = {} if candidate.cosine is None else {COSINE: candidate.cosine}
    return Judged(candidate.chunk_id, score, known | features)
