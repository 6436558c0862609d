"""Decides whether a search refuses: looks up what the features need, asks the profile, says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.candidate import Candidate
from query.evidence import evidence
from query.profile import Profile
from query.refusal import COSINE, TOP, Decision, Judged, decide, features_of
from query.request import Degraded, Language
from query.retrieve import Plan
from search_config.client import Engine

# Candidates among which the first must stand out: those that are reranked.
POOL: Final = 50


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
    engine: Engine,
    plan: Plan,
    candidates: Sequence[Candidate],
    profile: Profile,
    *,
    language: Language,
    degraded: Sequence[Degraded],
) -> Judgement:
    """Decide, where the profile is calibrated for this kind of search.

    Args:
        engine: the engine.
        plan: of the search.
        candidates: in the deciding order, best first.
        profile: with or without a refusal.
        language: class of the query.
        degraded: legs that failed: their scores are missing, and the threshold is of all of them.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    spec = profile.refusal
    if spec is None:
        return Judgement(note=f"uncalibrated: the profile {profile.label} has no threshold of refusal.")
    if language not in spec.languages:
        return Judgement(
            note=f"uncalibrated: the threshold of the profile {profile.label} is not for queries of class {language}."
        )
    if degraded or plan.lexical is None or plan.vector is None:
        return Judgement(note="uncalibrated: the threshold of refusal is for searches with both legs.")
    features = refusal_features(engine, plan, candidates)
    missing = sorted(spec.features.keys() - features.keys())
    if missing:
        return Judgement(note=f"uncalibrated: the index lacks what {', '.join(missing)} needs.")
    return Judgement(decision=decide(spec, features, profile.label))


def refusal_features(engine: Engine, plan: Plan, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Features of one search, by name (`query.refusal.features_of`).

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    pool = [_judged(candidate) for candidate in candidates[:POOL]]
    return features_of(pool, evidence(engine, plan, [judged.chunk_id for judged in pool[:TOP]]))


def _judged(candidate: Candidate) -> Judged:
    scores = candidate.scores
    score = next((value for value in (scores.rerank, scores.fused) if value is not None), 0.0)
    features = {} if candidate.cosine is None else {COSINE: candidate.cosine}
    return Judged(candidate.chunk_id, score, features)
