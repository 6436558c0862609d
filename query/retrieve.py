"""Sends what `build` made, and reads every answer: all legs in one `_msearch`, but for one that went ahead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from models.base import Terms
from query import build
from query.beside import beside
from query.candidate import Candidate, Found, key_of, newest_versions, passage_of, ranked
from query.filters import Clause
from query.published import ATTEMPTS, Published, published_in, published_search
from query.request import Degraded, Leg
from search_config.client import OVERLOADED_STATUSES, Engine, reason_of
from search_config.errors import EngineOverloaded, EngineRejected, IndexMissing, MafteachError

Answer = Mapping[str, Any]
Row = tuple[Found, float]
# Header and body.
Search = tuple[build.Body, build.Body]

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
        texts: whether the legs read the passages, or their keys alone; then `query.reading` gives those that are
            shown.
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
    texts: bool = True

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
    """The ordered candidates of each leg, and the legs that failed."""

    lexical: tuple[Candidate, ...] = ()
    dense: tuple[Candidate, ...] = ()
    sparse: tuple[Candidate, ...] = ()
    degraded: tuple[Degraded, ...] = ()

    def by_leg(self) -> dict[Leg, tuple[Candidate, ...]]:
        """The candidates by their leg's name."""
        return {"bm25": self.lexical, "knn": self.dense, "sparse": self.sparse}


@dataclass(frozen=True, slots=True)
class Rows:
    """What the legs found, in any order, of whatever version."""

    lexical: list[Row]
    dense: list[Row]
    sparse: list[Row]
    degraded: tuple[Degraded, ...]

    def found(self) -> list[Found]:
        """Every hit of every leg."""
        return [found for leg in (self.lexical, self.dense, self.sparse) for found, _ in leg]

    def documents(self) -> set[str]:
        """The ids of their documents."""
        return {found.document_id for found in self.found()}


def retrieve(engine: Engine, plan: Plan) -> Legs:
    """Ask the wanted legs in one `_msearch`, and the registry which versions of their documents are shown.

    Returns:
        Each leg by score, then chunk id. A leg that failed is named as long as another one answered.

    Raises:
        EngineRejected, EngineOverloaded, IndexMissing: every leg that was asked failed.
        EngineUnreachable: no answer at all.
    """
    return of_one_version(engine, plan, found_by_legs(engine, plan))


def of_one_version(engine: Engine, plan: Plan, rows: Rows) -> Legs:
    """The legs of what was found, each document in the version that the registry shows.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    now = published(engine, plan, rows.documents())
    return ordered(plan, one_version(engine, plan, rows, now) if now.hides(rows.found()) else rows)


def ordered(plan: Plan, rows: Rows) -> Legs:
    """Each leg by score, then chunk id."""
    lexical, dense, sparse = newest_versions(rows.lexical, rows.dense, rows.sparse)
    return Legs(
        lexical=ranked("bm25", lexical, limit=plan.candidates),
        dense=ranked("knn", dense, limit=plan.candidates),
        sparse=ranked("sparse", sparse, limit=plan.candidates),
        degraded=rows.degraded,
    )


def one_version(engine: Engine, plan: Plan, rows: Rows, now: Published) -> Rows:
    """Rows of the version of each document that the registry names; asked again where leaving others out left a gap.

    Args:
        now: what the registry says of the documents of these rows.
    """
    left_out: dict[str, Found] = {}
    asked_without = Published()
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            now = published(engine, plan, rows.documents() | left_out.keys())
        hidden = [found for found in rows.found() if not now.shows(found)]
        moved = any(now.versions.get(document) != version for document, version in asked_without.versions.items())
        full = max(len(rows.lexical), len(rows.dense), len(rows.sparse)) >= plan.candidates
        gap = bool(hidden) and (full or any(now.replaced(found) for found in hidden))
        if not (gap or moved) or attempt == ATTEMPTS:
            break
        left_out |= {found.document_id: found for found in hidden}
        asked_without = Published({document: now.versions.get(document) for document in left_out})
        rows = found_by_legs(engine, plan.narrowed(asked_without.without_hidden(left_out.values())))
    return replace(
        rows,
        lexical=[row for row in rows.lexical if now.shows(row[0])],
        dense=[row for row in rows.dense if now.shows(row[0])],
        sparse=[row for row in rows.sparse if now.shows(row[0])],
    )


def lexical_ahead(engine: Engine, plan: Plan) -> Callable[[], Answer] | None:
    """Begin the lexical leg, which needs no vector; None where it is not wanted.

    Returns:
        Waits for its answer, for `found_by_legs`; raises what the request raised.
    """
    return (
        None if plan.lexical is None else beside(partial(_answer, engine, _lexical_search(plan, plan.lexical))).result
    )


def _answer(engine: Engine, search: Search) -> Answer:
    """The answer to one search, which may be a failure."""
    answers: list[Answer] = engine.msearch([search])
    return answers[0]


def _lexical_search(plan: Plan, query: Clause) -> Search:
    body = build.lexical_body(query, candidates=plan.candidates, texts=plan.texts)
    return plan.header(global_statistics=True), body


def found_by_legs(engine: Engine, plan: Plan, lexical: Callable[[], Answer] | None = None) -> Rows:
    """The wanted legs in one `_msearch`; nothing is compared with the registry.

    Args:
        lexical: gives the answer of the lexical leg, where it was begun before.

    Raises:
        as `retrieve`.
    """
    searches: dict[Leg, Search] = {}
    if plan.lexical is not None and lexical is None:
        searches["bm25"] = _lexical_search(plan, plan.lexical)
    if plan.vector is not None:
        body = build.dense_body(plan.vector, plan.filters, candidates=plan.candidates, texts=plan.texts)
        searches["knn"] = (plan.header(), body)
    if plan.sparse and plan.terms:
        body = build.sparse_body(plan.terms, plan.filters, candidates=plan.candidates, texts=plan.texts)
        searches["sparse"] = (plan.header(), body)
    answers: dict[Leg, Answer] = dict(
        zip(searches, engine.msearch([*searches.values()]) if searches else (), strict=True)
    )
    if lexical is not None:
        answers["bm25"] = lexical()
    if not answers:
        # The sparse leg alone, for a query without terms.
        return Rows([], [], [], ())
    failures = {leg: error for leg, answer in answers.items() if (error := failure_of(answer, plan.index)) is not None}
    if len(failures) == len(answers):
        raise next(iter(failures.values()))
    answered = answers.keys() - failures.keys()
    return Rows(
        lexical=_lexical_rows(engine, plan, answers["bm25"]) if "bm25" in answered else [],
        dense=_rows("knn", answers["knn"]) if "knn" in answered else [],
        sparse=_rows("sparse", answers["sparse"]) if "sparse" in answered else [],
        degraded=tuple(Degraded(leg=leg, reason=str(error)) for leg, error in failures.items()),
    )


def published(engine: Engine, plan: Plan, documents: Collection[str]) -> Published:
    """What the registry says of documents.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    if plan.registry is None or not documents:
        return Published()
    (answer,) = answers_of(engine, [published_search(plan.registry, plan.filters[0], documents)])
    return published_in(answer)


def answers_of(engine: Engine, searches: Sequence[Search]) -> list[Answer]:
    """The answers to searches (header and body) in one `_msearch`, in order; nothing is sent where there are none.

    Raises:
        EngineRejected, EngineOverloaded, IndexMissing: one of them failed.
        EngineUnreachable
    """
    answers: list[Answer] = list(engine.msearch(searches)) if searches else []
    for answer, (header, _) in zip(answers, searches, strict=True):
        raise_failure(answer, str(header["index"]))
    return answers


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
        body = build.lexical_body(plan.lexical, candidates=plan.candidates, sorted_by_id=True, texts=plan.texts)
        (answer,) = answers_of(engine, [(plan.header(global_statistics=True), body)])
        rows = answer["hits"]["hits"]
    return [(_found(row), _score("bm25", row)) for row in rows]


def _rows(leg: Leg, answer: Answer) -> list[Row]:
    return [(_found(row), _score(leg, row)) for row in answer["hits"]["hits"]]


def _found(row: Mapping[str, Any]) -> Found:
    return passage_of(row["_source"]) if "_source" in row else key_of(row["fields"])


def _score(leg: Leg, row: Mapping[str, Any]) -> float:
    return build.cosine_of(float(row["_score"])) if leg == "knn" else float(row["_score"])
