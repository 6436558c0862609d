"""A data set: documents and questions with verbatim answers, checked before anything is measured.

Layout of a folder
    documents.jsonl   one document a line: id, title, text (its text is the canonical text), or instead of this file
    documents/ (or the folder itself) holding files that are ingested; a document's id is its path below that folder
    queries.jsonl     one question a line; offsets are into the canonical text
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.extract.registry import extract
from search_config.errors import DocumentError, InvalidDataset

DOCUMENTS_FILE: Final = "documents.jsonl"
QUERIES_FILE: Final = "queries.jsonl"
DOCUMENTS_FOLDER: Final = "documents"
# More problems than this help nobody to mend a file; the first ones are shown and the rest counted.
PROBLEMS_SHOWN: Final = 10
PLAIN_TEXT: Final = "text/plain"
Kind = Literal["main", "english", "aspects", "unanswerable"]


class _Line(BaseModel):
    """Lines may carry more than is read here: the layout is shared with other tools."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Needle(_Line):
    """An answer, verbatim: `text` stands at `from` in the canonical text of its document."""

    text: str = Field(min_length=1)
    from_: int = Field(alias="from", ge=0)
    document_id: str | None = Field(None, description="Only where it is not the question's own document.")

    @property
    def to(self) -> int:
        return self.from_ + len(self.text)


class Question(_Line):
    """One question. Answerable ones have needles; `document_id` is null where the corpus says nothing of it."""

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    language: str = "he"
    answerable: bool
    document_id: str | None = None
    needles: tuple[Needle, ...] = ()
    phrasing: str | None = None
    kind: Kind = "main"
    near: bool | None = Field(None, description="Unanswerable, but near the corpus's subjects.")

    @property
    def retrievable(self) -> bool:
        """Whether it counts in retrieval figures."""
        return self.answerable and bool(self.needles)

    @property
    def out_of_domain(self) -> bool:
        """Whether the corpus has nothing of it, so that a refusal is right."""
        return not self.answerable and self.document_id is None

    def needle_places(self) -> Iterator[tuple[str, Needle]]:
        """Every needle with the id of its document."""
        for needle in self.needles:
            yield needle.document_id or self.document_id or "", needle


class DatasetDocument(_Line):
    """A document as it is handed to ingest."""

    id: str = Field(min_length=1)
    title: str | None = None
    data: bytes
    file_name: str
    media_type: str | None = Field(None, description="Overrides the detection: a line's text is plain text.")


class Dataset(BaseModel):
    """Documents and questions that fit each other."""

    model_config = ConfigDict(frozen=True)

    name: str
    documents: tuple[DatasetDocument, ...]
    questions: tuple[Question, ...]
    canonical: Mapping[str, str]
    content_hash: str = Field(description="SHA-256 over documents and questions: what was measured.")

    def limited(self, questions: int) -> Dataset:
        """The same with the first `questions` questions only; documents stay."""
        return self.model_copy(update={"questions": self.questions[:questions]})


def load_dataset(folder: Path, *, max_file_bytes: int) -> Dataset:
    """Read and check a folder.

    Raises:
        InvalidDataset: a missing file, a line that is not what it should be, a needle that is not at its place; the
            first problems by line, the rest counted.
    """
    if not (folder / QUERIES_FILE).is_file():
        raise InvalidDataset(
            f"There is no {QUERIES_FILE} here.", where=str(folder), remedy="docs/evaluation.md shows the layout."
        )
    problems: list[str] = []
    documents = _documents(folder, problems)
    questions = _questions(folder / QUERIES_FILE, problems)
    canonical = _canonical_texts(documents, max_file_bytes, problems)
    problems += _misfits(questions, canonical)
    if not documents:
        problems.append("no documents")
    if problems:
        shown = "; ".join(problems[:PROBLEMS_SHOWN])
        more = f"; and {len(problems) - PROBLEMS_SHOWN} more" if len(problems) > PROBLEMS_SHOWN else ""
        raise InvalidDataset(f"{len(problems)} problem(s): {shown}{more}.", where=str(folder))
    return Dataset(
        name=folder.resolve().name,
        documents=tuple(documents),
        questions=tuple(questions),
        canonical=canonical,
        content_hash=_hash(documents, questions),
    )


def _documents(folder: Path, problems: list[str]) -> list[DatasetDocument]:
    lines = folder / DOCUMENTS_FILE
    if lines.is_file():
        return [_line_document(raw) for raw in _json_lines(lines, problems) if _has_text(raw, problems)]
    root = folder / DOCUMENTS_FOLDER if (folder / DOCUMENTS_FOLDER).is_dir() else folder
    return [
        DatasetDocument(id=path.relative_to(root).as_posix(), data=path.read_bytes(), file_name=path.name)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != QUERIES_FILE and not path.name.startswith(".")
    ]


def _has_text(raw: dict[str, object], problems: list[str]) -> bool:
    good = isinstance(raw.get("id"), str) and isinstance(raw.get("text"), str)
    if not good:
        problems.append(f"{DOCUMENTS_FILE}: a document without a string `id` and `text`")
    return good


def _line_document(raw: dict[str, object]) -> DatasetDocument:
    title = raw.get("title")
    return DatasetDocument(
        id=str(raw["id"]),
        title=str(title) if title else None,
        data=str(raw["text"]).encode(),
        file_name=f"{raw['id']}.txt",
        media_type=PLAIN_TEXT,
    )


def _questions(path: Path, problems: list[str]) -> list[Question]:
    questions: list[Question] = []
    for number, raw in enumerate(_json_lines(path, problems), start=1):
        try:
            questions.append(Question.model_validate(raw))
        except ValidationError as error:
            wrong = ", ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            problems.append(f"{path.name}, question {number}: {wrong}")
    duplicated = len(questions) - len({question.id for question in questions})
    if duplicated:
        problems.append(f"{path.name}: {duplicated} question id(s) occur twice")
    return questions


def _json_lines(path: Path, problems: list[str]) -> Iterator[dict[str, object]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(f"{path.name}, line {number}: no JSON ({error.msg})")
            continue
        if isinstance(raw, dict):
            yield raw
        else:
            problems.append(f"{path.name}, line {number}: not an object")


def _canonical_texts(documents: list[DatasetDocument], max_file_bytes: int, problems: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for document in documents:
        try:
            texts[document.id] = extract(
                document.data, name=document.file_name, max_bytes=max_file_bytes, media_type=document.media_type
            ).text
        except DocumentError as error:
            problems.append(f"document {document.id}: {error}")
    return texts


def _misfits(questions: list[Question], canonical: Mapping[str, str]) -> list[str]:
    problems = []
    for question in questions:
        for document, needle in question.needle_places():
            if document not in canonical:
                problems.append(f"question {question.id}: no document {document!r}")
            elif canonical[document][needle.from_ : needle.to] != needle.text:
                problems.append(f"question {question.id}: {needle.text!r} is not at {needle.from_} of {document}")
    return problems


def _hash(documents: list[DatasetDocument], questions: list[Question]) -> str:
    digest = hashlib.sha256()
    for document in documents:
        digest.update(f"{document.id}\0{document.title}\0".encode())
        digest.update(document.data)
    for question in questions:
        digest.update(question.model_dump_json().encode())
    return digest.hexdigest()
