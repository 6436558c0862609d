"""Decides whether a search refuses: looks up what the features need, asks the profile, says why."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol

from models.base import TokenCounter
from query import wording
from query.answer_forms import plain
from query.answer_type import unsaid
from query.answer_wanted import UNWANTED
from query.beside import beside
from query.candidate import Candidate, Passage
from query.evidence import Counts, Evidence, Word, content_words, counted, evidence
from query.features import COSINE, MAXSIM_MEAN, Features, QueryTokens
from query.profile import Profile
from query.reading import with_passages
from query.refusal import Decision, Judged, decide, features_of
from query.request import Degraded, Language
from query.reranking import POOL
from query.retrieve import Plan
from query.word_counts import WordCounts
from query.word_expectation import seen_words
from query.word_kin import akin
from query.word_matches import rarity_unmatched
from query.word_model import SeenWords
from query.wording import Tongue, told, tongue
from search_config.client import Engine

# What a word's rarity counts where it only asks, or names the kind of what is asked for ("how long", "which year"): an
# answer may be told without it. A quarter does as well; at nothing, questions with hardly any other word are refused.
ASKING: Final = 0.5
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
    found, model = observe(engine, ranking, counter, read), spec.model_for(ranking.language)
    features = model.completed(found.features, found.words)
    missing = sorted(model.features.keys() - features.keys())
    if missing:
        return Judgement(note=told(wording.FEATURES_MISSING, language, names=", ".join(missing)))
    return Judgement(decision=decide(spec, features, label, ranking.language), language=language)


@dataclass(frozen=True, slots=True)
class Observed:
    """What one search is judged by.

    Attributes:
        features: by name (`query.refusal.features_of`).
        words: of the query, for a profile that tells from each how likely it stands in an answer; None where the
            index has no token vectors.
    """

    features: Mapping[str, float]
    words: SeenWords | None = None


def observe(
    engine: Engine, ranking: Ranking, counter: TokenCounter, read: Mapping[str, Passage] = NOTHING_READ
) -> Observed:
    """Look at one search's pool and first passage, by the scores that the order was made with.

    Args:
        read: passages that were read since, by chunk id.

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
    found = _weighed(evidence(engine, ranking.plan, first, counter.count_tokens, ranking.counted))
    texts = ranking.plan.query.split()
    pieces = counter.count_tokens(texts)
    if first is None:
        return Observed(features_of(pool, found), _seen(ranking, found, texts, pieces))
    passage = first.passage
    headings = f"{passage.title}\n{passage.section}"
    kin = _kin(found, f"{headings}\n{passage.content}")
    found = replace(found, loosely=found.loosely | kin)
    # A word whose kin stands there is matched, however little its vector is like it.
    others = [word for place, word in enumerate(found.words) if place not in kin]
    return Observed(
        features_of(
            pool,
            found,
            unsaid(ranking.plan.query, passage.content, headings),
            _unmatched(ranking, rows.get(first.chunk_id), others, texts, pieces),
        ),
        _seen(ranking, found, texts, pieces),
    )


def _weighed(found: Evidence) -> Evidence:
    """The evidence with words that ask at a part of their rarity."""
    words = (
        replace(word, rarity=word.rarity * ASKING) if plain(word.text.lower()) in UNWANTED else word
        for word in found.words
    )
    return replace(found, words=tuple(words))


def _kin(found: Evidence, text: str) -> frozenset[int]:
    """Places of the words of which the text has no inflection, but another word of the same root."""
    missing = [place for place in range(len(found.words)) if place not in found.loosely]
    return frozenset(missing[number] for number in akin([found.words[place].text for place in missing], text))


def _unmatched(
    ranking: Ranking, row: int | None, words: Sequence[Word], texts: Sequence[str], pieces: Sequence[int]
) -> float:
    """`rarity_unmatched` of the first passage, by its row of features; 0 where its tokens were not compared."""
    compared = ranking.features.matches
    if compared is None or ranking.tokens is None or row is None:
        return 0.0
    return rarity_unmatched(words, texts, pieces, ranking.tokens.tokens, compared[row])


def _seen(ranking: Ranking, found: Evidence, texts: Sequence[str], pieces: Sequence[int]) -> SeenWords | None:
    """The query's words with their tokens; None where the index has none."""
    if ranking.tokens is None:
        return None
    return seen_words(found.words, found.loosely, texts, pieces, ranking.tokens.tokens)


def _judged(candidate: Candidate, columns: Mapping[str, Sequence[float]], row: int | None) -> Judged:
    scores = candidate.scores
    score = next((value for value in (scores.rerank, scores.fused) if value is not None), 0.0)
    known = {} if candidate.cosine is None else {COSINE: candidate.cosine}
    if row is not None:
        known |= {name: values[row] for name, values in columns.items() if not math.isnan(values[row])}
    return Judged(candidate.chunk_id, score, known)
