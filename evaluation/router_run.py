"""Questions of both kinds over one temporary index, by each way of choosing routes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final

from evaluation.dataset import Dataset, Question
from evaluation.index import TENANT, Progress, built_index
from evaluation.router import (
    EndToEndReport,
    MetadataQuestion,
    RightAnswer,
    RouterQuestion,
    StructuredDocument,
    compared,
)
from models.base import Embedder
from query.metadata_result import MetadataAnswer
from query.profile import Profile
from query.request import CONTEXT_SIZE, AskedRoute, Hit, SearchRequest
from query.routing import Router, RoutingExample
from query.search import SearchContext, search
from search_config.client import Engine
from search_config.document_fields import MINOR_UNITS
from search_config.errors import EngineRejected
from search_config.records import document_id
from search_config.settings import Settings

# When a structured document came in; nothing is asked of it.
CREATED: Final = "2025-01-01T00:00:00Z"
# Ways of choosing routes; the first one is compared with the others.
PREDICTED, LABELLED, BOTH = "predicted", "labelled", "always both"


def stored_row(document: StructuredDocument, tenant: str) -> dict[str, Any]:
    """A structured document as a row of the documents index."""
    flat = {
        "parties": [party["name"] for party in document.parties],
        "party_kinds": [f"{party['kind']}:{party['name']}" for party in document.parties],
        "signed_on": document.signed,
        "effective_on": document.effective,
        "expires_on": document.expires,
        "amount_minor": None if document.amount is None else int(document.amount * MINOR_UNITS),
        "currency": document.currency,
        "references": list(document.references),
        "superseded_by": document.superseded_by,
        "not_found": list(document.not_found),
        "stated_none": list(document.stated_none),
    }
    row = {
        "document_id": document.id,
        "tenant": tenant,
        "name": f"{document.id}.pdf",
        "title": document.name,
        "source": f"structured:{document.id}",
        "state": document.state,
        "attempts": 1,
        "chunks_generated": 0,
        "chunks_indexed": 0,
        "version": 1,
        "content_hash": "0" * 64,
        "language": document.language,
        "type": document.type,
        "tags": list(document.tags),
        "date": document.filed,
        "filter_fields": {name: value for name, value in flat.items() if value not in (None, [])},
        "created_at": CREATED,
        "updated_at": CREATED,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_documents(engine: Engine, index: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows into a documents index, and make them visible.

    Raises:
        EngineRejected: a row was refused.
    """
    lines = []
    for row in rows:
        lines.append(json.dumps({"index": {"_index": index, "_id": row["document_id"]}}))
        lines.append(json.dumps(row, ensure_ascii=False, default=str))
    failed = [item for item in engine.bulk(lines) if not item.ok]
    if failed:
        raise EngineRejected(f"{len(failed)} rows were refused: {failed[0].error}.", where=index)
    engine.request("POST", f"/{index}/_refresh")


def end_to_end(
    dataset: Dataset,
    labelled: Iterable[RouterQuestion],
    documents: Iterable[StructuredDocument],
    questions: Iterable[MetadataQuestion],
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    profile: Profile,
    progress: Progress,
) -> EndToEndReport:
    """Ask all questions three times.

    Structured documents belong to a tenant of their own, so that counts are of them alone.

    Args:
        dataset: documents with passages; its answerable questions are the semantic ones.
        labelled: gives the router its examples, by the `learn` split.
        documents: structured documents.
        questions: about them.
    """
    examples = [
        RoutingExample(question=question.question, route=question.route)
        for question in labelled
        if question.split == "learn"
    ]
    counted = list(questions)
    asked = [question for question in dataset.questions if question.retrievable]
    kinds = {question.id: "metadata" for question in counted} | {question.id: "semantic" for question in asked}
    right: dict[str, dict[str, bool]] = {PREDICTED: {}, LABELLED: {}, BOTH: {}}
    with built_index(dataset, engine=engine, embedder=embedder, settings=settings, progress=progress) as built:
        names = built.info.names
        write_documents(engine, names.documents, [stored_row(document, STRUCTURED) for document in documents])
        context = SearchContext(
            engine,
            built.info,
            embedder,
            profile.checked_for(built.info),
            built.settings,
            router=Router(examples, embedder),
        )
        for done, metadata_question in enumerate(counted, start=1):
            for way, route in _ways("metadata").items():
                given = _asked(context, STRUCTURED, metadata_question.question, route, metadata_question.as_of).metadata
                right[way][metadata_question.id] = is_right(given, metadata_question)
            progress(done, len(kinds), "questions")
        for done, question in enumerate(asked, start=len(counted) + 1):
            for way, route in _ways("semantic").items():
                hits = _asked(context, TENANT, question.query, route, None).hits
                right[way][question.id] = holds_needle(hits, question)
            progress(done, len(kinds), "questions")
    return compared(right, kinds)


STRUCTURED: Final = "structured"


def _ways(label: AskedRoute) -> dict[str, AskedRoute]:
    return {PREDICTED: "auto", LABELLED: label, BOTH: "both"}


def _asked(context: SearchContext, tenant: str, query: str, route: AskedRoute, as_of: date | None) -> Any:
    request = SearchRequest(tenant=tenant, query=query, size=CONTEXT_SIZE, route=route, as_of=as_of)
    return search(request, context)


def is_right(given: MetadataAnswer | None, question: MetadataQuestion) -> bool:
    """Whether an answer is the right one, or says that there is none where none is exact."""
    if given is None or not question.exact:
        return given is not None and not given.exact
    answer = question.answer or RightAnswer()
    value = answer.value is None or str(given.value) == answer.value
    ids = tuple(sorted(document.id for document in given.documents)) == tuple(sorted(answer.ids))
    names = answer.names is None or {entry.name: entry.documents for entry in given.values} == answer.names
    return given.exact and value and ids and names


def holds_needle(hits: Iterable[Hit], question: Question) -> bool:
    """Whether one of the passages holds a needle whole."""
    places = [(document_id(TENANT, document), needle.from_, needle.to) for document, needle in question.needle_places()]
    return any(
        hit.document_id == document and hit.locator.from_ <= start and end <= hit.locator.to
        for hit in hits
        for document, start, end in places
    )
