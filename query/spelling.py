"""Another spelling of a query that found nothing good: the other keyboard layout, or one wrong letter.

What is offered is made of words that stand in documents which the asker may see; no other tenant's word is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from query import build
from query.evidence import EDGES, Counts, analyses_of, content_words, holds
from query.filters import Clause
from query.highlighting import CLOSE, OPEN
from query.question_text import FINALS, one_slip, without_prefixes
from query.retrieve import Plan, answers_of
from search_config import fields
from search_config.client import Engine

# The standard Hebrew layout over the Latin one, key by key.
LATIN: Final = "qwertyuiopasdfghjkl;'zxcvbnm,./"
HEBREW: Final = "/'קראטוןםפשדגכעיחלךף,זסבהנמצתץ."
TO_HEBREW: Final = str.maketrans(LATIN, HEBREW)
TO_LATIN: Final = str.maketrans(HEBREW, LATIN)
# Words of a query that are looked at; a longer one is no slip of the pen.
MAX_WORDS: Final = 8
# A longer word is a text without blanks, and takes the engine's clauses up.
MAX_LETTERS: Final = 40
# A word shorter than this is another word when one letter changes.
MIN_LETTERS: Final = 4
# Passages in which a near word is looked for, and terms that the engine compares in each shard: the dictionary is
# shared, and other tenants' terms must not crowd ours out.
PASSAGES: Final = 20
MAX_TERMS: Final = 1_000
_MARKED: Final = re.compile(f"{OPEN}([^{CLOSE}]+){CLOSE}")
_FIELDS: Final = (fields.CONTENT, fields.TITLE)


def did_you_mean(engine: Engine, plan: Plan, counted: Callable[[], Counts] | None = None) -> str | None:
    """A spelling whose words the visible documents hold; None where there is none.

    Three requests at most: which words are known, which of their other layouts, then near words for those that are
    not; mostly one or none, since the search has counted the words that say something.

    Args:
        plan: of the search: its index, query and filters, the asker's groups among them.
        counted: gives how many passages hold each content word of the query, where that is known.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    words = plan.query.split()
    if not 0 < len(words) <= MAX_WORDS or max(map(len, words)) > MAX_LETTERS:
        return None
    bare = [word.strip(EDGES) for word in words]
    counts = () if counted is None else counted().holding
    known = {word: count > 0 for word, count in zip(content_words(plan.query) if counts else (), counts, strict=True)}
    known |= _known(engine, plan, [word for word in dict.fromkeys(bare) if word and word not in known])
    if all(known[word] for word in bare if word):
        return None
    layouts = [_other_layout(word) for word in words]
    wrong = [word for word in bare if len(word) >= MIN_LETTERS and not known[word]]
    others = [word for word in dict.fromkeys(layouts) if word and word not in known]
    # Near words are a search apart: they take the engine several times as long, and a layout needs none.
    known |= _known(engine, plan, others)
    if all(layout and known[layout] for layout in layouts):
        return " ".join(layout or "" for layout in layouts)
    near = _near(engine, plan, wrong)
    said = [
        _replaced(word, core, near.get(core) or (layout if layout and known[layout] else None))
        for word, core, layout in zip(words, bare, layouts, strict=True)
    ]
    return " ".join(said) if said != words else None


def _replaced(word: str, core: str, other: str | None) -> str:
    return word if other is None or not core else word.replace(core, other)


def _other_layout(word: str) -> str | None:
    """The word as the other layout writes the same keys; None for a word of both, or of neither."""
    small = word.lower()
    hebrew = any("\u05d0" <= letter <= "\u05ea" for letter in small)
    latin = any("a" <= letter <= "z" for letter in small)
    if hebrew == latin:
        return None
    return small.translate(TO_LATIN if hebrew else TO_HEBREW).strip(EDGES) or None


def _known(engine: Engine, plan: Plan, words: Sequence[str]) -> dict[str, bool]:
    """Whether each word stands in a passage that the filters let through."""
    if not words:
        return {}
    bodies = [_one([*plan.filters, holds(word, analyses_of(word))]) for word in words]
    answers = answers_of(engine, [(plan.header(), body) for body in bodies])
    return {word: bool(answer["hits"]["total"]["value"]) for word, answer in zip(words, answers, strict=True)}


def _one(filters: Sequence[Clause]) -> build.Body:
    return {"query": {"bool": {"filter": list(filters)}}, "size": 0, "track_total_hits": 1}


def _near(engine: Engine, plan: Plan, words: Sequence[str]) -> Mapping[str, str]:
    """For each word the commonest one of the visible passages that is one letter away."""
    if not words:
        return {}
    answers = answers_of(engine, [(plan.header(), _near_body(word, plan.filters)) for word in words])
    found = {}
    for word, answer in zip(words, answers, strict=True):
        counts: Counter[str] = Counter()
        for row in answer["hits"]["hits"]:
            marked = {
                match.strip(EDGES).lower()
                for texts in row.get("highlight", {}).values()
                for text in texts
                for match in _MARKED.findall(text)
            }
            counts.update({other for held in marked for other in _one_letter_away(word.lower(), held)})
        if counts:
            found[word] = min(counts, key=lambda other: (-counts[other], other))
    return found


def _one_letter_away(word: str, held: str) -> set[str]:
    """Spellings of the query's word by a word of a passage, with the prefixes that the query's word has."""
    spellings = set()
    for core in without_prefixes(word):
        if len(core) < MIN_LETTERS:
            continue
        prefix = word[: len(word) - len(core)]
        for other in without_prefixes(held):
            if one_slip(core.translate(FINALS), other.translate(FINALS)):
                spellings.add(prefix + other)
    return spellings


def _near_body(word: str, filters: Sequence[Clause]) -> build.Body:
    spelt = [core for core in dict.fromkeys(without_prefixes(word.lower())) if len(core) >= MIN_LETTERS]
    near = [
        {"fuzzy": {field: {"value": core, "fuzziness": 1, "prefix_length": 0, "max_expansions": MAX_TERMS}}}
        for core in spelt
        for field in (*_FIELDS, *(fields.sub(field, fields.EXACT) for field in _FIELDS))
    ]
    should = {"bool": {"should": near, "minimum_should_match": 1}}
    analyses = [*_FIELDS, *(fields.sub(field, fields.EXACT) for field in _FIELDS)]
    return {
        "query": {"bool": {"filter": [*filters], "must": [should]}},
        "size": PASSAGES,
        "track_total_hits": False,
        "_source": False,
        "highlight": {
            "type": "unified",
            "number_of_fragments": 0,
            "pre_tags": [OPEN],
            "post_tags": [CLOSE],
            "fields": {field: {} for field in analyses},
            "highlight_query": should,
        },
    }
