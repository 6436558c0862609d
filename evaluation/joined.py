"""A data set whose short documents are joined into long ones: what the length of passages is decided on.

Each document becomes a section, under its title, of an HTML document; every paragraph keeps its text, so that needles
stay where they were in their paragraphs.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping, Sequence
from typing import Final

from evaluation.dataset import Dataset, DatasetDocument, Needle, Question
from ingest.extract.base import BlockKind
from ingest.extract.registry import extract
from search_config.errors import InvalidDataset

PARAGRAPH_BREAK: Final = "\n\n"
Places = dict[tuple[str, int], tuple[str, int]]


def joined(dataset: Dataset, characters: int, *, max_file_bytes: int) -> Dataset:
    """Join documents, in their order, until each has `characters` or more.

    Raises:
        InvalidDataset: a paragraph did not come out as it went in.
    """
    documents: list[DatasetDocument] = []
    texts: dict[str, str] = {}
    places: Places = {}
    for group in _groups(dataset, characters):
        name = f"joined-{len(documents):04d}"
        data = _page(name, group, dataset.canonical).encode()
        extracted = extract(data, name=f"{name}.html", max_bytes=max_file_bytes)
        texts[name] = extracted.text
        documents.append(DatasetDocument(id=name, title=name, data=data, file_name=f"{name}.html"))
        blocks = [block for block in extracted.blocks if block.kind is not BlockKind.HEADING]
        paragraphs = [
            (document.id, start, paragraph)
            for document in group
            for start, paragraph in _paragraphs(dataset.canonical[document.id])
        ]
        if len(blocks) != len(paragraphs):
            raise InvalidDataset("The paragraphs did not come out as they went in.", where=name)
        for (original, start, paragraph), block in zip(paragraphs, blocks, strict=True):
            if extracted.text[block.locator.from_ : block.locator.to] == paragraph:
                for offset in range(len(paragraph)):
                    places[original, start + offset] = (name, block.locator.from_ + offset)
    questions = [moved for question in dataset.questions if (moved := _moved(question, places)) is not None]
    return Dataset(
        name=f"{dataset.name}-joined-{characters}",
        documents=tuple(documents),
        questions=tuple(questions),
        canonical=texts,
        content_hash=hashlib.sha256(f"{dataset.content_hash}/{characters}".encode()).hexdigest(),
    )


def _groups(dataset: Dataset, characters: int) -> list[list[DatasetDocument]]:
    groups: list[list[DatasetDocument]] = [[]]
    length = 0
    for document in dataset.documents:
        if length >= characters:
            groups.append([])
            length = 0
        groups[-1].append(document)
        length += len(dataset.canonical[document.id])
    return groups


def _page(name: str, group: Sequence[DatasetDocument], canonical: Mapping[str, str]) -> str:
    parts = [f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{name}</title></head><body>"]
    for document in group:
        parts.append(f"<h2>{html.escape(document.title or document.id)}</h2>")
        parts += [f"<p>{html.escape(paragraph)}</p>" for _, paragraph in _paragraphs(canonical[document.id])]
    return "\n".join([*parts, "</body></html>"])


def _paragraphs(text: str) -> list[tuple[int, str]]:
    """Each paragraph with its offset."""
    found, start = [], 0
    for part in text.split(PARAGRAPH_BREAK):
        stripped = part.strip()
        if stripped:
            found.append((start + part.index(stripped), stripped))
        start += len(part) + len(PARAGRAPH_BREAK)
    return found


def _moved(question: Question, places: Places) -> Question | None:
    """The question with its needles' new places; None where white space of its paragraph was changed."""
    if not question.retrievable:
        return question.model_copy(update={"document_id": None}) if question.document_id else question
    moved = [
        Needle(text=needle.text, from_=places[key][1], document_id=places[key][0])
        for document, needle in question.needle_places()
        if (key := (document, needle.from_)) in places
    ]
    if not moved:
        return None
    return question.model_copy(update={"needles": tuple(moved), "document_id": moved[0].document_id})
