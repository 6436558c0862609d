"""A tenant's marks as a data set: the folder that `mafteach evaluate` and `mafteach tune` read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from evaluation.dataset import DOCUMENTS_FILE, PLAIN_TEXT, QUERIES_FILE
from evaluation.feedback.labels import LabelledQuestion, labels
from evaluation.feedback.store import FeedbackStore
from ingest.extract.registry import extract
from ingest.registry import Registry
from query.language import query_language
from search_config.client import Engine
from search_config.errors import DocumentError, InvalidRequest
from search_config.names import Names
from search_config.records import DocumentRecord, DocumentState

# Only whoever exports reads what is exported: it is the tenant's text.
FOLDER_MODE: Final = 0o700


class Exported(BaseModel):
    """What an export wrote, and what it left out."""

    model_config = ConfigDict(frozen=True)

    documents: int
    questions: int
    answerable: int
    unanswerable: int
    stale: int = 0
    undecided: int = 0
    documents_left_out: int = 0


def export_feedback(
    tenant: str, out: Path, *, engine: Engine, names: Names, registry: Registry, max_file_bytes: int
) -> Exported:
    """Write `documents.jsonl` (every ready document of the tenant) and `queries.jsonl` (its labelled questions).

    Raises:
        InvalidRequest: the folder holds something, can't be written, or there is no labelled question.
        TenantError, EngineError
    """
    _prepare(out)
    documents = {one.document_id: one for one in _ready(registry, tenant) if _is_plain(one, max_file_bytes)}
    ready = registry.summary(tenant).by_state.get(DocumentState.READY, 0)

    def text_of(document_id: str, content_hash: str) -> str | None:
        record = documents.get(document_id)
        return record.text if record is not None and record.content_hash == content_hash else None

    found = labels(FeedbackStore(engine, names).iterate(tenant), text_of)
    if not found.questions:
        raise InvalidRequest(
            f"There are no labelled questions: {found.undecided} without a decision, {found.stale} on versions of "
            "documents that are not there any more.",
            where=tenant,
            remedy="Mark passages and answers on the page, or by POST /feedback.",
        )
    _write(out / DOCUMENTS_FILE, (_document(one) for one in documents.values()))
    _write(out / QUERIES_FILE, (_question(number, one) for number, one in enumerate(found.questions, start=1)))
    answerable = sum(question.answerable for question in found.questions)
    return Exported(
        documents=len(documents),
        questions=len(found.questions),
        answerable=answerable,
        unanswerable=len(found.questions) - answerable,
        stale=found.stale,
        undecided=found.undecided,
        documents_left_out=max(0, ready - len(documents)),
    )


def _prepare(out: Path) -> None:
    try:
        out.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        there = next(out.iterdir(), None)
    except OSError as error:
        raise _unwritable(out, error) from error
    if there is not None:
        raise InvalidRequest("The folder is not empty.", where=str(out), remedy="Name a new one.")


def _ready(registry: Registry, tenant: str) -> Iterator[DocumentRecord]:
    """Ready documents with their text; one that is deleted meanwhile is left out."""
    for row in registry.iterate(tenant, state=DocumentState.READY):
        record = registry.get(tenant, row.document_id)
        if record is not None and record.text is not None:
            yield record


def _is_plain(record: DocumentRecord, max_file_bytes: int) -> bool:
    """Whether the text comes out of a data set's reader as it goes in, so that offsets hold."""
    text = record.text or ""
    try:
        name = f"{record.document_id}.txt"
        return extract(text.encode(), name=name, max_bytes=max_file_bytes, media_type=PLAIN_TEXT).text == text
    except DocumentError:
        return False


def _document(record: DocumentRecord) -> dict[str, Any]:
    return {"id": record.document_id, "title": record.title or record.name, "text": record.text}


def _question(number: int, question: LabelledQuestion) -> dict[str, Any]:
    home = question.needles[0][0] if question.needles else None
    return {
        "id": f"feedback-{number:06d}",
        "query": question.query,
        "language": query_language(question.query),
        "answerable": question.answerable,
        "document_id": home,
        "needles": [
            {"text": text, "from": start, **({} if document == home else {"document_id": document})}
            for document, start, text in question.needles
        ],
        "marked_by": list(question.callers),
        "marked_at": question.at.isoformat(),
    }


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                # Escapes for what some readers of lines take as the end of one (U+2028 and the like).
                file.write(f"{json.dumps(row)}\n")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InvalidRequest:
    return InvalidRequest(
        f"The data set can't be written: {error.strerror}.", where=str(path), remedy="Name a folder that can be."
    )
