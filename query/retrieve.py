"""Sends what `build` made, and reads every answer: all legs in one `_msearch`, scores and highlights on demand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from models.base import Terms, Vectors
from query import build
from query.candidate import Candidate, Passage, newest_versions, passage_of, ranked
from query.filters import Clause
from query.highlighting import marked
from query.profile import Profile
from query.published import ATTEMPTS, Published, published_in, published_search
from query.request import Degraded, Leg
from search_config import fields
from search_config.client import OVERLOADED_STATUSES, Engine, reason_of
from search_config.errors import EngineOverloaded, EngineRejected, IndexMissing, MafteachError

Answer = Mapping[str, Any]
Row = tuple[Passage, float]

NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Plan:
    """One retrieval, ready to be sent.

    Attributes:
        index: the concrete index, not the alias: an alias may move to another model's index between two requests.
        lexical: the `lexical_query`, None when that leg is not wanted.
        vector: the query's unit vector, None when the dense leg is not wanted.
        filters: of all legs, the tenant's first.
        candidates: hits wanted of each leg.
        registry: index of the documents' rows, which name the version of each that is shown; None shows all.
        terms: the query's sparse terms, None where the index has none or the query gives none.
        sparse: whether the sparse leg is wanted; its terms may be read for reranking alone.
    """

    index: str
    tenant: str
    query: str
    lexical: Clause | None
    vector: tuple[float, ...] | None
    filters: tuple[Clause, ...]
    candidates: int
    registry: str | None = None
    terms: Terms | None = None
    sparse: bool = False

    def narrowed(self, clause: Clause) -> Plan:
        """The same, with one more filter in all legs."""
        filters = (*self.filters, clause)
        return replace(
            self, filters=filters, lexical=None if self.lexical is None else build.with_filters(self.lexical, [clause])
        )

    def header(self, *, global_statistics: bool = False) -> build.Body:
        return build.header(self.index, tenant=self.tenant, query=self.query, global_statistics=global_statistics)


@dataclass(frozen=True, slots=True)
class Legs:
    """The ordered candidates of each leg, and the legs that failed.

    Attributes:
        more: scores that the legs did not give themselves, by chunk id: BM25 of dense hits, cosines of lexical hits.
    """

    lexical: tuple[Candidate, ...] = ()
    dense: tuple[Candidate, ...] = ()
    sparse: tuple[Candidate, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    more: Mapping[Leg, Mapping[str, float]] = field(default_factory=dict)

    def by_leg(self) -> dict[Leg, tuple[Candidate, ...]]:
        """The candidates by their leg's name."""
        return {"bm25": self.lexical, "knn": self.dense, "sparse": self.sparse}


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the legs found, in any order."""

    lexical: list[Row]
    dense: list[Row]
    sparse: list[Row]
    degraded: tuple[Degraded, ...]

    def all(self) -> list[Row]:
        return [*self.lexical, *self.dense, *self.sparse]


@dataclass(frozen=True, slots=True)
class Detail:
    """What only the hits of a page need."""

    highlights: tuple[str, ...]
    cosine: float | None


def retrieve(engine: Engine, plan: Plan, *, complete: bool = False) -> Legs:
    """Ask the wanted legs in one `_msearch`.

    Args:
        complete: ask, where several legs answered, for the scores that one of them did not give. They are asked for
            while the registry is, which leaves out few passages and mostly none.

    Returns:
        Each leg by score, then chunk id. A leg that failed is named as long as another one answered.

    Raises:
        EngineRejected, EngineOverloaded, IndexMissing: every leg that was asked failed.
        EngineUnreachable: no answer at all.
    """
    rows = _asked(engine, plan)
    documents = {passage.document_id for passage, _ in rows.all()}
    legs, now = _completed(engine, plan, _ordered(plan, rows), documents, complete=complete)
    if not now.hides(passage for passage, _ in rows.all()):
        return legs
    rows = _one_version(engine, plan, rows, now)
    return _completed(engine, plan, _ordered(plan, rows), (), complete=complete)[0]


def _completed(
    engine: Engine, plan: Plan, legs: Legs, documents: Collection[str], *, complete: bool
) -> tuple[Legs, Published]:
    """The legs with the scores that they miss, where more than one of them counts; and what the registry says of
    documents. One `_msearch`."""
    failed = {entry.leg for entry in legs.degraded}
    asked = {"bm25": plan.lexical is not None, "knn": plan.vector is not None, "sparse": plan.sparse}
    several = sum(wanted for leg, wanted in asked.items() if leg not in failed) > 1
    searches = _missing(plan, legs) if complete and several else {}
    requests = list(searches.values())
    looked_up = plan.registry is not None and bool(documents)
    if plan.registry is not None and documents:
        requests.append(published_search(plan.registry, plan.filters[0], documents))
    if not requests:
        return legs, Published()
    answers = engine.msearch(requests)
    for answer, (header, _) in zip(answers, requests, strict=True):
        raise_failure(answer, str(header["index"]))
    now = published_in(answers.pop()) if looked_up else Published()
    more = {
        leg: {build.chunk_of(row): _score(leg, row) for row in answer["hits"]["hits"]}
        for leg, answer in zip(searches, answers, strict=True)
    }
    return replace(legs, more=more), now


def _ordered(plan: Plan, rows: _Rows) -> Legs:
    lexical, dense, sparse = newest_versions(rows.lexical, rows.dense, rows.sparse)
    return Legs(
        lexical=ranked("bm25", lexical, limit=plan.candidates),
        dense=ranked("knn", dense, limit=plan.candidates),
        sparse=ranked("sparse", sparse, limit=plan.candidates),
        degraded=rows.degraded,
    )


def _one_version(engine: Engine, plan: Plan, rows: _Rows, now: Published) -> _Rows:
    """Rows of the version of each document that the registry names; asked again where leaving others out left a gap.

    Args:
        now: what the registry says of the documents of these rows.
    """
    left_out: dict[str, Passage] = {}
    asked_without = Published()
    for attempt in range(1, ATTEMPTS + 1):
        passages = [passage for passage, _ in rows.all()]
        if attempt > 1:
            now = _published(engine, plan, {passage.document_id for passage in passages} | left_out.keys())
        hidden = [passage for passage in passages if not now.shows(passage)]
        moved = any(now.versions.get(document) != version for document, version in asked_without.versions.items())
        full = max(len(rows.lexical), len(rows.dense), len(rows.sparse)) >= plan.candidates
        gap = bool(hidden) and (full or any(now.replaced(passage) for passage in hidden))
        if not (gap or moved) or attempt == ATTEMPTS:
            break
        left_out |= {passage.document_id: passage for passage in hidden}
        asked_without = Published({document: now.versions.get(document) for document in left_out})
        rows = _asked(engine, plan.narrowed(asked_without.without_hidden(left_out.values())))
    return replace(
        rows,
        lexical=[row for row in rows.lexical if now.shows(row[0])],
        dense=[row for row in rows.dense if now.shows(row[0])],
        sparse=[row for row in rows.sparse if now.shows(row[0])],
    )


def _asked(engine: Engine, plan: Plan) -> _Rows:
    """The wanted legs, once."""
    searches: dict[Leg, tuple[build.Body, build.Body]] = {}
    if plan.lexical is not None:
        body = build.lexical_body(plan.lexical, candidates=plan.candidates)
        searches["bm25"] = (plan.header(global_statistics=True), body)
    if plan.vector is not None:
        body = build.dense_body(plan.vector, plan.filters, candidates=plan.candidates)
        searches["knn"] = (plan.header(), body)
    if plan.sparse and plan.terms:
        body = build.sparse_body(plan.terms, plan.filters, candidates=plan.candidates)
        searches["sparse"] = (plan.header(), body)
    if not searches:
        # The sparse leg alone, for a query without terms.
        return _Rows([], [], [], ())
    answers: dict[Leg, Answer] = dict(zip(searches, engine.msearch(list(searches.values())), strict=True))
    failures = {leg: error for leg, answer in answers.items() if (error := failure_of(answer, plan.index)) is not None}
    if len(failures) == len(searches):
        raise next(iter(failures.values()))
    answered = answers.keys() - failures.keys()
    return _Rows(
        lexical=_lexical_rows(engine, plan, answers["bm25"]) if "bm25" in answered else [],
        dense=_rows("knn", answers["knn"]) if "knn" in answered else [],
        sparse=_rows("sparse", answers["sparse"]) if "sparse" in answered else [],
        degraded=tuple(Degraded(leg=leg, reason=str(error)) for leg, error in failures.items()),
    )


def _published(engine: Engine, plan: Plan, documents: Collection[str]) -> Published:
    if plan.registry is None or not documents:
        return Published()
    (answer,) = engine.msearch([published_search(plan.registry, plan.filters[0], documents)])
    raise_failure(answer, plan.registry)
    return published_in(answer)


def _missing(plan: Plan, legs: Legs) -> dict[Leg, tuple[build.Body, build.Body]]:
    """Searches for the scores that a leg did not give since it did not return the hit: BM25 of dense hits, cosines of
    lexical hits.

    A chunk that a leg's query does not match has no score and stays absent. Legs that failed are left out.
    """
    returned = {leg: {one.passage.chunk_id for one in candidates} for leg, candidates in legs.by_leg().items()}
    everything = set[str]().union(*returned.values())
    failed = {entry.leg for entry in legs.degraded}
    missing = {leg: sorted(everything - own) for leg, own in returned.items() if leg not in failed and everything - own}
    searches: dict[Leg, tuple[build.Body, build.Body]] = {}
    if "bm25" in missing and plan.lexical is not None:
        searches["bm25"] = (plan.header(global_statistics=True), build.bm25_body(missing["bm25"], plan.lexical))
    if "knn" in missing and plan.vector is not None:
        searches["knn"] = (plan.header(), build.cosines_body(missing["knn"], plan.vector, plan.filters))
    if "sparse" in missing and plan.sparse and plan.terms:
        searches["sparse"] = (plan.header(), build.sparse_scores_body(missing["sparse"], plan.terms, plan.filters))
    return searches


def details(
    engine: Engine,
    plan: Plan,
    hits: Sequence[Candidate],
    highlight: Clause,
    profile: Profile,
    beside: tuple[build.Body, build.Body] | None = None,
) -> tuple[dict[str, Detail], Answer]:
    """Highlights and exact cosines of a page's hits, by chunk id; and the answer to one more search, sent with them.

    Asked for the page alone: marking all candidates takes the engine several times as long as finding them.

    Args:
        highlight: the `lexical_query` whose words are marked.
        beside: header and body of the other search; without one its answer is empty.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    contents = {hit.chunk_id: hit.passage.content for hit in hits}
    searches = [] if beside is None else [beside]
    if hits:
        body = build.details_body(list(contents), plan.filters, highlight, plan.vector, profile)
        searches.append((plan.header(), body))
    answers = list(engine.msearch(searches)) if searches else []
    for answer, (header, _) in zip(answers, searches, strict=True):
        raise_failure(answer, str(header["index"]))
    found = {}
    for row in answers[-1]["hits"]["hits"] if hits else ():
        variants = [text for texts in row.get("highlight", {}).values() for text in texts]
        whole = marked(contents[row["_id"]], variants)
        cosine = None if plan.vector is None else build.cosine_of(row["_score"])
        found[row["_id"]] = Detail(() if whole is None else (whole,), cosine)
    return found, {} if beside is None else answers[0]


def stored_vectors(engine: Engine, plan: Plan, ids: Sequence[str]) -> dict[str, Vectors]:
    """The vectors of chunks, `(dim,)` float32 by chunk id; a chunk that is gone is absent.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    (answer,) = engine.msearch([(plan.header(), build.vectors_body(ids, plan.filters))])
    raise_failure(answer, plan.index)
    return {
        row["_id"]: np.asarray(row["_source"][fields.EMBEDDING], dtype=np.float32) for row in answer["hits"]["hits"]
    }


def failure_of(answer: Answer, index: str) -> MafteachError | None:
    """Our error for one failed answer of an `_msearch`; None for a good one. An answer in part (a shard or the time
    ran out) is a failure."""
    if "error" in answer:
        status, reason = int(answer.get("status", 0)), reason_of(answer)
        if status in OVERLOADED_STATUSES:
            return EngineOverloaded(f"OpenSearch is overloaded: {reason}.", where=index, remedy="Try again later.")
        if status == NOT_FOUND:
            return IndexMissing(
                f"The index is gone: {reason}.",
                where=index,
                remedy="Run `mafteach setup`; restart a service after a migration.",
            )
        return EngineRejected(f"OpenSearch refused a search ({status}): {reason}.", where=index)
    if answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
        return EngineOverloaded("OpenSearch answered in part.", where=index, remedy="Try again later.")
    return None


def raise_failure(answer: Answer, index: str) -> None:
    """Raise `failure_of(answer)`, if any."""
    error = failure_of(answer, index)
    if error is not None:
        raise error


def _lexical_rows(engine: Engine, plan: Plan, answer: Answer) -> list[Row]:
    """The leg's rows. When equal scores reach over the cut and the margin, the engine is asked again, sorted by chunk
    id."""
    rows = answer["hits"]["hits"]
    asked = plan.candidates + build.TIE_MARGIN
    if plan.lexical is not None and len(rows) == asked and rows[-1]["_score"] == rows[plan.candidates - 1]["_score"]:
        body = build.lexical_body(plan.lexical, candidates=plan.candidates, sorted_by_id=True)
        (answer,) = engine.msearch([(plan.header(global_statistics=True), body)])
        raise_failure(answer, plan.index)
        rows = answer["hits"]["hits"]
    return [(passage_of(row["_source"]), _score("bm25", row)) for row in rows]


def _rows(leg: Leg, answer: Answer) -> list[Row]:
    return [(passage_of(row["_source"]), _score(leg, row)) for row in answer["hits"]["hits"]]


def _score(leg: Leg, row: Mapping[str, Any]) -> float:
    return build.cosine_of(float(row["_score"])) if leg == "knn" else float(row["_score"])
