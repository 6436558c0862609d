"""Who belongs to which fold, by content alone: the same in every run, whatever folders and ids are called. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.dataset import Dataset, Question
from evaluation.tuning import fold_of
from query.profile import Profile
from query.profile_parts import HASH_DIGITS


def content_hash(text: str) -> str:
    """The name of a text in a profile."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class Folds:
    """Fold of every document and of every query without one, by content hash."""

    documents: Mapping[str, int]
    queries: Mapping[str, int]

    def of(self, question: Question, dataset: Dataset) -> int | None:
        """The fold of a question; None where its content is not known here."""
        document = document_of(question, dataset)
        if document is not None:
            return self.documents.get(document)
        return self.queries.get(content_hash(question.query))


def document_of(question: Question, dataset: Dataset) -> str | None:
    """Content hash of a question's document; None where it has none."""
    if question.document_id is None or question.document_id not in dataset.canonical:
        return None
    return content_hash(dataset.canonical[question.document_id])


def folds_of(datasets: Sequence[Dataset]) -> Folds:
    """Folds over several data sets.

    A query without a document that has one in another data set follows that document: else what was learnt from its
    answerable twin would be measured on it.
    """
    documents = {
        content_hash(text): fold_of(content_hash(text)) for data in datasets for text in data.canonical.values()
    }
    twins = {
        content_hash(question.query): documents[document]
        for data in datasets
        for question in data.questions
        if (document := document_of(question, data)) is not None
    }
    queries = {}
    for data in datasets:
        for question in data.questions:
            if document_of(question, data) is None:
                name = content_hash(question.query)
                queries[name] = twins.get(name, fold_of(name))
    return Folds(documents=documents, queries=queries)


def learnt_from(profile: Profile) -> Folds:
    """The folds that a profile keeps; empty where it keeps none."""
    if profile.trained_on is None or not profile.folds:
        return Folds({}, {})
    return Folds(documents=profile.trained_on.documents, queries=profile.trained_on.queries)


def held_out_profile(profile: Profile, question: Question, dataset: Dataset) -> Profile:
    """The profile that a question may be measured with: of its own fold where it took part in the learning."""
    fold = learnt_from(profile).of(question, dataset)
    return profile if fold is None else profile.of_fold(fold)
