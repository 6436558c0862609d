"""Whether a corpus is still the one that a profile was learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from query.profile import Profile
from search_config import fields
from search_config.client import Engine
from search_config.install import IndexInfo

# What has changed by more than a fifth is worth another tuning.
MOST_CHANGE: Final = 0.2
LANGUAGES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """What an index holds.

    Attributes:
        passages: of all tenants: word statistics are theirs together.
        language_mix: share of the passages by language.
    """

    passages: int
    language_mix: Mapping[str, float]


def corpus_of(engine: Engine, info: IndexInfo) -> CorpusSize:
    """Count an index.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    languages = {"terms": {"field": fields.LANGUAGE, "size": LANGUAGES_MAX}}
    body = {"size": 0, "track_total_hits": True, "aggs": {"languages": languages}}
    answer = engine.search(info.index, body)
    total = int(answer["hits"]["total"]["value"])
    buckets = answer["aggregations"]["languages"]["buckets"]
    return CorpusSize(total, {bucket["key"]: bucket["doc_count"] / total for bucket in buckets})


def drift(profile: Profile, now: CorpusSize) -> tuple[str, ...]:
    """What of the corpus has changed by more than a fifth since the profile was learnt, with the way out.

    Nothing is said of an empty index, nor of a profile that does not know what it was learnt from.
    """
    then = profile.trained_on
    if then is None or not now.passages or not then.passages:
        return ()
    found = []
    change = abs(now.passages - then.passages) / then.passages
    if change > MOST_CHANGE:
        found.append(f"the index has {now.passages} passages, {then.name} had {then.passages}")
    learnt: Mapping[str, float] = {str(name): share for name, share in then.language_mix.items()}
    for language in sorted({*learnt, *now.language_mix}):
        share, before = now.language_mix.get(language, 0.0), learnt.get(language, 0.0)
        if abs(share - before) > MOST_CHANGE:
            found.append(f"{share:.0%} of it is in {language}, {before:.0%} was")
    remedy = "Tune on questions of your own: mafteach tune DIR --out PROFILE, then set MAFTEACH_PROFILE."
    return tuple(
        f"The profile {profile.label} was learnt on {then.date} from another corpus: {change}. {remedy}"
        for change in (["; ".join(found)] if found else [])
    )
