"""What is read of hits after they were found: the passages themselves, marks, distances, vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.base import Vectors
from query import build
from query.candidate import Candidate, Passage, passage_of
from query.filters import Clause
from query.highlighting import marked
from query.profile import Profile
from query.retrieve import Answer, Plan, answers_of
from search_config import fields
from search_config.client import Engine


class PassageGone(LookupError):
    """A passage was replaced or deleted since it was found by its key, or is of a version that is not shown; a search
    that reads and compares all at once answers."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What only the hits of a page need."""

    passage: Passage
    highlights: tuple[str, ...]
    cosine: float | None


def with_passages(engine: Engine, plan: Plan, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with their passages; those that were not read are, in one `_msearch`.

    Raises:
        PassageGone: one was replaced or deleted since it was found.
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    unread = [one.chunk_id for one in candidates if not isinstance(one.found, Passage)]
    if not unread:
        return tuple(candidates)
    (answer,) = answers_of(engine, [(plan.header(), build.texts_body(unread, plan.filters))])
    passages = {row["_id"]: passage_of(row["_source"]) for row in answer["hits"]["hits"]}
    return tuple(with_text(one, passages) for one in candidates)


def with_text(candidate: Candidate, passages: Mapping[str, Passage]) -> Candidate:
    """A candidate with its passage, which is among those given where it was not read.

    Raises:
        PassageGone: it is not.
    """
    if isinstance(candidate.found, Passage):
        return candidate
    passage = passages.get(candidate.chunk_id)
    if passage is None:
        raise PassageGone(candidate.chunk_id)
    return candidate._replace(found=passage)


def details(
    engine: Engine,
    plan: Plan,
    hits: Sequence[Candidate],
    highlight: Clause,
    profile: Profile,
    more: Sequence[tuple[build.Body, build.Body]] = (),
) -> tuple[dict[str, Detail], list[Answer]]:
    """Texts, highlights and exact cosines of a page's hits, by chunk id; and the answers to other searches, sent with
    them.

    Asked for the page alone: marking all candidates takes the engine several times as long as finding them.

    Args:
        highlight: the `lexical_query` whose words are marked.
        more: header and body of each of the other searches.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    searches = list(more)
    if hits:
        body = build.details_body([hit.chunk_id for hit in hits], plan.filters, highlight, plan.vector, profile)
        searches.append((plan.header(), body))
    answers = answers_of(engine, searches)
    found = {}
    for row in answers[-1]["hits"]["hits"] if hits else ():
        variants = [text for texts in row.get("highlight", {}).values() for text in texts]
        passage = passage_of(row["_source"])
        whole = marked(passage.content, variants)
        cosine = None if plan.vector is None else build.cosine_of(row["_score"])
        found[row["_id"]] = Detail(passage, () if whole is None else (whole,), cosine)
    return found, answers[: len(more)]


def stored_vectors(engine: Engine, plan: Plan, ids: Sequence[str]) -> dict[str, Vectors]:
    """The vectors of chunks, `(dim,)` float32 by chunk id; a chunk that is gone is absent.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    (answer,) = answers_of(engine, [(plan.header(), build.vectors_body(ids, plan.filters))])
    return {
        row["_id"]: np.asarray(row["_source"][fields.EMBEDDING], dtype=np.float32) for row in answer["hits"]["hits"]
    }
