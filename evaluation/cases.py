"""Case sets: single queries that tempt with a wrong passage, judged by the passage that stands first.

Layout of a folder, beside what `evaluation.dataset` reads there
    cases/*.jsonl      one case a line
    cases/documents/   more documents, indexed together with the folder's own; their ids begin with `cases/`
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evaluation.dataset import DOCUMENTS_FOLDER, PROBLEMS_SHOWN, Dataset, DatasetDocument, load_dataset
from ingest.extract.registry import extract
from search_config.errors import DocumentError, InvalidDataset

CASES_FOLDER: Final = "cases"
CaseKind = Literal["negation", "identifiers", "same-name", "verbatim"]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Quote(_Line):
    """Words that stand exactly once in a document's canonical text."""

    document_id: str = Field(min_length=1)
    text: str = Field(min_length=1)


class Case(_Line):
    """One query with what must stand first, or nothing, and with the passage that tempts."""

    id: str = Field(min_length=1)
    kind: CaseKind
    query: str = Field(min_length=1)
    right: tuple[Quote, ...] = Field((), description="One of these must stand in the first passage.")
    refuse: bool = Field(False, description="Nothing answers: a refusal is right.")
    wrong: Quote = Field(description="Where the tempting passage is.")

    @model_validator(mode="after")
    def _answers_or_refuses(self) -> Case:
        if self.refuse == bool(self.right):
            raise ValueError("a case has either `right` quotes or `refuse: true`")
        return self


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a document's canonical text."""

    document_id: str
    from_: int
    to: int

    def holds(self, other: Span) -> bool:
        """Whether the other stands in it whole."""
        return self.document_id == other.document_id and self.from_ <= other.from_ and other.to <= self.to


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases that fit their documents.

    Attributes:
        dataset: all documents; it has no questions.
        spans: where each quote stands.
    """

    dataset: Dataset
    cases: tuple[Case, ...]
    spans: Mapping[Quote, Span]


def load_cases(folder: Path, *, max_file_bytes: int) -> CaseSet:
    """Read and check the cases of a folder.

    Raises:
        InvalidDataset: the folder itself (as `load_dataset`), no cases, a line that is not one, a quote that does not
            stand exactly once in its document; the first problems by line, the rest counted.
    """
    base = load_dataset(folder, max_file_bytes=max_file_bytes)
    root = folder / CASES_FOLDER
    problems: list[str] = []
    more = list(_documents(root / DOCUMENTS_FOLDER))
    canonical = {**base.canonical, **_canonical(more, max_file_bytes, problems)}
    cases = list(_cases(root, problems))
    twice = [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    problems += [f"the id {name} occurs twice" for name in twice]
    spans = _spans(cases, canonical, problems)
    if not cases and not problems:
        problems.append("no cases")
    if problems:
        shown = "; ".join(problems[:PROBLEMS_SHOWN])
        rest = f"; and {len(problems) - PROBLEMS_SHOWN} more" if len(problems) > PROBLEMS_SHOWN else ""
        raise InvalidDataset(
            f"{len(problems)} problem(s): {shown}{rest}.", where=str(root), remedy="docs/cases.md shows the layout."
        )
    dataset = base.model_copy(
        update={
            "name": f"{base.name}/{CASES_FOLDER}",
            "documents": (*base.documents, *more),
            "questions": (),
            "canonical": canonical,
            "content_hash": _hash(base, more, cases),
        }
    )
    return CaseSet(dataset=dataset, cases=tuple(cases), spans=spans)


def _documents(root: Path) -> Iterator[DatasetDocument]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            name = f"{CASES_FOLDER}/{path.relative_to(root).as_posix()}"
            yield DatasetDocument(id=name, data=path.read_bytes(), file_name=path.name)


def _canonical(documents: Sequence[DatasetDocument], max_file_bytes: int, problems: list[str]) -> dict[str, str]:
    texts = {}
    for document in documents:
        try:
            texts[document.id] = extract(document.data, name=document.file_name, max_bytes=max_file_bytes).text
        except DocumentError as error:
            problems.append(f"document {document.id}: {error}")
    return texts


def _cases(root: Path, problems: list[str]) -> Iterator[Case]:
    for path in sorted(root.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield Case.model_validate(json.loads(line))
            except json.JSONDecodeError as error:
                problems.append(f"{path.name}, line {number}: no JSON ({error.msg})")
            except ValidationError as error:
                wrong = ", ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
                problems.append(f"{path.name}, line {number}: {wrong}")


def _spans(cases: Sequence[Case], canonical: Mapping[str, str], problems: list[str]) -> dict[Quote, Span]:
    spans = {}
    for case in cases:
        for quote in (*case.right, case.wrong):
            found = canonical.get(quote.document_id, "").count(quote.text)
            if found != 1:
                problems.append(f"{case.id}: {quote.text!r} stands {found} times in {quote.document_id}")
                continue
            at = canonical[quote.document_id].index(quote.text)
            spans[quote] = Span(quote.document_id, at, at + len(quote.text))
    return spans


def _hash(base: Dataset, documents: Sequence[DatasetDocument], cases: Sequence[Case]) -> str:
    digest = hashlib.sha256(base.content_hash.encode())
    for document in documents:
        digest.update(f"{document.id}\0".encode())
        digest.update(document.data)
    for case in cases:
        digest.update(case.model_dump_json().encode())
    return digest.hexdigest()
